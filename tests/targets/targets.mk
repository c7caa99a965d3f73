# The programs under test. Included by the Makefile; adds to `targets` and to TARGET_FILES (removed by clean).
TARGET_CFLAGS = -std=gnu11 -O2 -g -D_GNU_SOURCE $(WARNINGS) -Iinclude -Itests/targets \
	-pthread $(if $(filter no,$(USDT)),-DUSDT_DISABLE)
TARGET_FILES :=

# nvmf_tgt: an SPDK target in miniature, twice. In the one all probes are in the executable, in the other
# they are in three shared libraries beside it, the way SPDK's --with-shared build has them.
NVMF_TGT_MAIN := main.c rpc.c commands.c
NVMF_TGT_THREAD := thread.c io_channel.c reactor.c scheduler.c log.c
NVMF_TGT_BDEV := bdev.c bdev_nvme.c
NVMF_TGT_NVMF := target.c poll_group.c subsystem.c subsystem_ops.c ctrlr.c
nvmf_tgt_src = $(addprefix tests/targets/,$(1))
NVMF_TGT_HDR := $(addprefix tests/targets/,probes.h thread.h thread_internal.h bdev.h nvmf.h rpc.h commands.h) \
	$(wildcard include/btgen/*.h) config.mak

TARGET_FILES += tests/targets/nvmf_tgt tests/targets/nvmf_tgt_shared \
	tests/targets/libnvmf.so tests/targets/libbdev_nvme.so tests/targets/libthread.so

tests/targets/nvmf_tgt: $(call nvmf_tgt_src,$(NVMF_TGT_MAIN) $(NVMF_TGT_NVMF) $(NVMF_TGT_BDEV) $(NVMF_TGT_THREAD)) \
		$(NVMF_TGT_HDR)
	$(say) TARGET $@
	$(Q)$(CC) $(TARGET_CFLAGS) -o $@ $(filter %.c,$^)

tests/targets/libthread.so: $(call nvmf_tgt_src,$(NVMF_TGT_THREAD)) $(NVMF_TGT_HDR)
	$(say) TARGET $@
	$(Q)$(CC) $(TARGET_CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@ $(filter %.c,$^)

tests/targets/libbdev_nvme.so: $(call nvmf_tgt_src,$(NVMF_TGT_BDEV)) $(NVMF_TGT_HDR) tests/targets/libthread.so
	$(say) TARGET $@
	$(Q)$(CC) $(TARGET_CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -o $@ $(filter %.c %.so,$^)

tests/targets/libnvmf.so: $(call nvmf_tgt_src,$(NVMF_TGT_NVMF)) $(NVMF_TGT_HDR) tests/targets/libbdev_nvme.so \
		tests/targets/libthread.so
	$(say) TARGET $@
	$(Q)$(CC) $(TARGET_CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -o $@ $(filter %.c %.so,$^)

tests/targets/nvmf_tgt_shared: $(call nvmf_tgt_src,$(NVMF_TGT_MAIN)) $(NVMF_TGT_HDR) tests/targets/libnvmf.so \
		tests/targets/libbdev_nvme.so tests/targets/libthread.so
	$(say) TARGET $@
	$(Q)$(CC) $(TARGET_CFLAGS) -Wl,-rpath,'$$ORIGIN' -o $@ $(filter %.c %.so,$^)

targets: $(TARGET_FILES)
