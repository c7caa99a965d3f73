# The programs under test. Included by the Makefile; adds to `targets` and to TARGET_FILES (removed by clean).
TARGET_CFLAGS = -std=gnu11 -O2 -g -Wall -Wextra -Iinclude $(if $(filter no,$(USDT)),-DUSDT_DISABLE)
TARGET_FILES :=

targets: $(TARGET_FILES)
