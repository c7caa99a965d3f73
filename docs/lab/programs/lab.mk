# The programs of docs/lab, each built by a line that a reader could type: $(LAB)/NAME is NAME.c. Included by the Makefile;
# in a directory without a checkout it is the Makefile, see docs/lab/README.md.
BUILD ?= build
say ?= @:
Q ?=
LAB := $(BUILD)/lab
LAB_CFLAGS := -O2 -g -Wall -Wextra -Iinclude
LAB_PROGRAMS := users shop report market queue ticker large sorter

lab: $(LAB_PROGRAMS:%=$(LAB)/%)

$(LAB)/%: docs/lab/programs/%.c include/btgen/usdt.h
	$(say) LAB $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LAB_CFLAGS) -o $@ $<

$(LAB)/libscale.so: docs/lab/programs/scale.c include/btgen/usdt.h
	$(say) LAB $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LAB_CFLAGS) -fPIC -shared -o $@ $<

$(LAB)/market: docs/lab/programs/market.c $(LAB)/libscale.so
	$(say) LAB $@
	$(Q)$(CC) $(LAB_CFLAGS) -o $@ $< -L$(LAB) -lscale -Wl,-rpath,'$$ORIGIN'
