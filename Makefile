# btgen: one Makefile, not recursive. `make demo` and `make check` do their own set-up.
#
#   make              build/btgen and the programs in tests/targets
#   make demo         builds, starts a program with probes and traces it; where that is not allowed, or with DEMO=vm, in an emulated machine
#   make check        the test suite; T='tests/cli/*.t' runs a part of it, PROVE_FLAGS=-v shows each claim
#   make check-matrix the live tests once per bpftrace version, installing the others
#   make check-chroot SUITE=trixie      make demo and make check in a bare Debian of that suite
#   make check-sandbox   make demo and make check where nothing may be traced, as in docker by default; root
#   make check-spdk SPDK=DIR   SPDK's scripts and ours against a built SPDK, MATRIX=1: with each bpftrace; 8 minutes each
#   make check-head   the live tests with bpftrace built of its newest source (HEAD_SOURCE=PATH|ADDRESS); root, an hour
#   make check-vm     NVMe scripts, and a few live tests, in emulated machines with their own kernels, 4 to 6 minutes
#   make check-vm-all live tests with kernels and bpftraces of several Debian suites, hours; VM='bullseye:trixie' T=... chooses
#   make soak            what goes on for long: millions of records, restarts, rotations, full disks; 20 minutes or SOAK_SECONDS=N, root
#   make check-fleet  what others do with our output, and metrics of many hosts: the tools of others, a minute; root
#   make check-others    scripts that packages here ship, or those in OTHERS_DIR=FOLDER, beside bpftrace alone; 2 minutes, root
#   make check-gdb       variables at lines of generated programs of gcc and clang, as gdb shows them; 4 minutes, root
#   make check-package   packages for Debian and for RPM, built from the tarball alone, and what their checkers say; 10 minutes, root
#   make release      that, and programs for systems without a package: what is published; 20 to 30 minutes, root
#   make selftest     the tests that the build of a package can run: no root, nothing is installed
#   make dist         build/btgen-VERSION.tar.gz of what is committed, or of TAG=vVERSION, the same bytes each time
#   make lab          the programs of docs/lab
#   make pictures     the README's pictures, of real runs; root, a minute
#   make bench        what btgen costs; make bench-scripts: what the scripts cost the programs they trace (10 minutes, root)
#   make lint asan fuzz gen-enums install uninstall clean
#
# V=1 shows the commands, WERROR=1 makes warnings errors, BUILD=dir builds elsewhere.

# The one place; tests/cli/version.t compares what cannot take it from here.
VERSION := 0.2.0
BUILD ?= build
DESTDIR ?=
T ?=
VM ?=
PROVE_FLAGS ?=

# These goals install missing packages before anything else, configure included; not under make -n.
SETUP_GOALS := demo check release asan lint bench bench-scripts $(filter check-%,$(MAKECMDGOALS))
DRY_RUN := $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
# A goal is made by all processors, unless -j says otherwise; of several goals one may need the other (clean).
PROCESSORS := $(shell nproc)
ifeq ($(word 2,$(MAKECMDGOALS))$(MAKELEVEL),0)
MAKEFLAGS += -j$(PROCESSORS)
endif
ifneq ($(if $(DRY_RUN),,$(filter $(SETUP_GOALS),$(MAKECMDGOALS))),)
# The demo takes minutes to build: what it cannot show on this machine is said first.
$(if $(filter demo,$(MAKECMDGOALS)),$(shell DEMO=$(DEMO) tests/demo.sh --rights >&2))
SETUP := $(shell scripts/pkgdep.sh $(if $(filter demo check-chroot check-package release,$(MAKECMDGOALS)),,--test) \
	$(if $(filter lint,$(MAKECMDGOALS)),--lint) $(if $(filter check-matrix check-head,$(MAKECMDGOALS))$(MATRIX),--matrix) $(if $(filter bench,$(MAKECMDGOALS)),--bench) \
	$(if $(filter check-chroot check-head check-package release,$(MAKECMDGOALS)),--chroot) $(if $(filter check-package release,$(MAKECMDGOALS)),--package) \
	$(if $(filter check-vm check-vm-all,$(MAKECMDGOALS)),--vm --matrix) $(if $(filter check-fleet,$(MAKECMDGOALS)),--fleet) >&2 || echo failed)
ifneq ($(strip $(SETUP)),)
$(error the packages above could not be installed)
endif
endif

# Where to install, by GNU's names. configure's choices are in config.mak; make's command line wins over both.
PREFIX = /usr/local
prefix = $(PREFIX)
exec_prefix = $(prefix)
bindir = $(exec_prefix)/bin
datarootdir = $(prefix)/share
datadir = $(datarootdir)
includedir = $(prefix)/include
mandir = $(datarootdir)/man
docdir = $(datarootdir)/doc/btgen
pkgdatadir = $(datadir)/btgen
pkgconfigdir = $(datadir)/pkgconfig
cmakedir = $(datadir)/cmake/btgen
compdir = $(datadir)/bash-completion/completions
zshdir = $(datadir)/zsh/site-functions
fishdir = $(datadir)/fish/vendor_completions.d

ifneq ($(if $(filter clean,$(MAKECMDGOALS)),,$(filter-out dist,$(or $(MAKECMDGOALS),all))),)
-include config.mak
endif

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings \
	-Wpointer-arith -Wformat=2
ifeq ($(WERROR),1)
WARNINGS += -Werror
endif
GEN_CFLAGS = -std=gnu11 $(WARNINGS) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DBTGEN_VERSION='"$(VERSION)"' \
	-DBTGEN_BPFTRACE='"$(BPFTRACE)"' -Igen $(if $(STATIC),-DIS_STATIC) \
	$(if $(filter -liberty,$(LIBS)),-DHAS_LIBIBERTY) $(CFLAGS)
GEN_LIBS := $(LIBS) -ldw -lelf -lz $(STATIC)

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

LAYERS := base code elf process text ctype dwarf btf conf usdt source probe lang bind sema check lock emit template dialect value record convert kernel run setup listing doctor
LIB_SRC := $(wildcard $(patsubst %,gen/%/*.c,$(LAYERS)))
CMD_SRC := $(wildcard gen/cmd/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
CMD_OBJ := $(CMD_SRC:%.c=$(BUILD)/%.o)
UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT_T := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/unit/%.t)

.PHONY: all demo check check-matrix check-chroot check-sandbox check-spdk soak check-head check-vm check-vm-all check-fleet check-others check-gdb check-package release selftest dist lab pictures asan fuzz lint bench bench-scripts install uninstall install-dirs \
	gen-enums clean targets
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/btgen targets

# What is said to make itself (CFLAGS=..., as `make asan` does) counts this once and is not remembered.
config.mak: configure
	@env $(foreach v,CC CXX CFLAGS LDFLAGS,$(if $(findstring command,$(origin $v)),-u $v)) ./configure $(CONFIGURE_ARGS)

# As old as its beginning: what changes while it is compiled, as in a pull, is compiled again.
$(BUILD)/%.o: %.c config.mak
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)touch $@.begun && $(CC) $(GEN_CFLAGS) -MMD -MP -c -o $@ $< && touch -r $@.begun $@ && rm $@.begun

$(BUILD)/libbtgen.a: $(LIB_OBJ)
	$(say) AR $@
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/btgen: $(CMD_OBJ) $(BUILD)/libbtgen.a
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(GEN_LIBS)

$(BUILD)/gen/cmd/main.o $(BUILD)/gen/convert/convert.o: Makefile # have VERSION

-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d)

# Programs under test: rules of their own, built with the compiler's plain flags (no sanitizers: they are traced).
-include tests/targets/targets.mk
-include docs/lab/programs/lab.mk

# Unit tests: one program a file, each prints TAP.
$(BUILD)/tests/unit/%.t: tests/unit/%.c tests/unit/tap.h $(BUILD)/libbtgen.a
	$(say) TEST $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(GEN_CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libbtgen.a $(GEN_LIBS)

# Preprocesses a file and prints it, for the tests in tests/pp.
PPCAT := $(BUILD)/tests/ppcat
$(PPCAT): tests/pp/ppcat.c $(BUILD)/libbtgen.a
	$(say) TEST $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(GEN_CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libbtgen.a $(GEN_LIBS)

# btgen that says what its checks took, for make bench
BENCH_CHECK := $(BUILD)/checkcost
$(BENCH_CHECK): tests/bench/checkcost.c $(CMD_OBJ) $(BUILD)/libbtgen.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(GEN_CFLAGS) $(LDFLAGS) -Wl,--wrap=check_script -o $@ $^ $(GEN_LIBS)

# Records through the decoder and the writer, for make bench
BENCH_RELAY := $(BUILD)/relaycost
$(BENCH_RELAY): tests/bench/relay.c $(BUILD)/libbtgen.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(GEN_CFLAGS) $(LDFLAGS) -o $@ $^ $(GEN_LIBS)

# Fuzz targets as programs that damage a file themselves, for the test suite; make fuzz builds them for libFuzzer.
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/tests/fuzz/%)
FUZZ_SECONDS ?= 60

$(BUILD)/tests/fuzz/%: tests/fuzz/%.c $(wildcard tests/fuzz/*.h) $(BUILD)/libbtgen.a
	$(say) FUZZ $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(GEN_CFLAGS) -DFUZZ_MUTATE $(LDFLAGS) -o $@ $< $(BUILD)/libbtgen.a $(GEN_LIBS)

# For libFuzzer: one instrumented library that all targets link.
FUZZ_CFLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DBTGEN_VERSION='"$(VERSION)"' -DBTGEN_BPFTRACE='"$(BPFTRACE)"' -DARENA_MALLOC \
	-Igen -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_OBJ := $(LIB_SRC:%.c=$(BUILD)-fuzz/%.o)

$(FUZZ_OBJ): $(BUILD)-fuzz/%.o: %.c config.mak
	$(say) FUZZ-CC $<
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(BUILD)-fuzz/libbtgen.a: $(FUZZ_OBJ)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)-fuzz/%: tests/fuzz/%.c $(wildcard tests/fuzz/*.h) $(BUILD)-fuzz/libbtgen.a
	$(say) FUZZ $@
	$(Q)clang $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $< $(BUILD)-fuzz/libbtgen.a $(GEN_LIBS)

-include $(FUZZ_OBJ:.o=.d)

# Bounded: FUZZ_SECONDS for each target, from seeds that the compiler makes; NUMBERS_SECONDS=600 for the expressions
fuzz: all $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)-fuzz/%)
	$(Q)BTGEN_BUILD=$(abspath $(BUILD)) NUMBERS_SECONDS='$(or $(NUMBERS_SECONDS),$(FUZZ_SECONDS))' tests/fuzz/run.sh '$(BUILD)-fuzz' $(FUZZ_SECONDS)

# What takes longest begins first; then tests that wait (live) and tests that compute take turns.
LONG_T := $(addprefix tests/,vm/anywhere.t check/right.t header/matrix.t obj/limits.t obj/several.t obj/types.t obj/layouts.t live/trace-all.t live/numbers.t live/schema.t live/lifecycle.t \
	live/beside.t obj/infer.t obj/dwfind.t live/equal.t live/equal-languages.t live/spdk-releases.t)
LIVE_T := $(filter-out $(LONG_T),$(wildcard tests/live/*.t))
OTHER_T := $(UNIT_T) $(filter-out $(LONG_T),$(wildcard $(patsubst %,tests/%/*.t,lang pp obj cli check header)))
TESTS = $(if $(T),$(wildcard $(T)),$(LONG_T) $(subst |, ,$(join $(addsuffix |,$(LIVE_T)),$(OTHER_T))))
# $(call prove,N,COMMAND): runs tests under COMMAND, N at once unless PROVE_FLAGS is given
prove = BTGEN_BUILD=$(abspath $(BUILD)) $(2) tests/prove.sh $(or $(PROVE_FLAGS),-j$(1))
# Live tests wait for the kernel more than they compute: four for each processor.
MANY = $(shell expr $(PROCESSORS) \* 4)

check: all $(UNIT_T) $(FUZZ_BIN) $(PPCAT)
	$(Q)$(call prove,$(MANY),AGAIN=6 AGAIN_OF='$(or $(AGAIN_OF),tests/live/*)' tests/matrix/tracefs.sh) $(TESTS)

# The tests that the build of a package can run, with what that build has: no root, no network, nothing installed for them.
# Those of tests/live, and these, need more, or are about this checkout.
NO_SELFTEST := $(addprefix tests/,vm/*.t live/*.t header/*.t $(addprefix cli/,install.t pkgdep.t documents.t))
selftest: all $(UNIT_T) $(FUZZ_BIN) $(PPCAT)
	$(say) SKIP '$(NO_SELFTEST)'
	$(Q)$(call prove,$(PROCESSORS)) $(filter-out $(wildcard $(NO_SELFTEST)),$(TESTS))

# The live tests with each bpftrace that we support: the system's and those of other Debian suites. With OTHERS=1, for which check
# has run with the system's, those about values and words run with each of the others, and of the rest a third; those about
# pages, files and processors, which no bpftrace changes, with none.
SAME_T := $(patsubst %,tests/live/%.t,adding-probes beside cost coverage lab namesakes overhead own-probe readers service suite)
EACH_T := $(patsubst %,tests/live/%.t,args beyond broken builtins constants dialect enumjoin enums enumtext headers joined json lang lengths lists \
	literals members numbers predicates printf refused samples scripts signs since stores structs texts types unreadable unsure variables widths words)
check-matrix: all
	$(Q)EACH='$(if $(T),,$(if $(OTHERS),$(EACH_T)))' $(call prove,$(MANY),AGAIN=6 AGAIN_OF='tests/live/*' tests/matrix/tracefs.sh tests/matrix/run.sh) \
		$(or $(T),$(filter-out $(if $(OTHERS),$(SAME_T)),$(filter tests/live/% tests/header/%,$(LONG_T)) $(LIVE_T)))

# The same with the bpftrace that is not released yet.
check-head: all
	$(Q)BTGEN_BPFTRACE=$$(HEAD_SOURCE='$(HEAD_SOURCE)' tests/matrix/head.sh) && export BTGEN_BPFTRACE && \
		$(call prove,$(MANY),AGAIN=6 AGAIN_OF='tests/live/*' tests/matrix/tracefs.sh) $(or $(T),$(filter tests/live/% tests/header/%,$(LONG_T)) $(LIVE_T))

# The system as a new user may have it: nothing installed but make and gcc.
check-chroot:
	$(Q)tests/chroot/run.sh $(or $(SUITE),$(error say which suite, as in: make check-chroot SUITE=trixie))

# A machine that may not trace: what needs no tracing must pass, what does must say why not.
check-sandbox:
	$(Q)tests/sandbox.sh

# Packages, as a distribution makes them.
check-package: dist
	$(Q)tests/package/run.sh $(abspath $(TARBALL))

# What is published: the tarball, the packages beside it, and programs that need nothing of a system but bpftrace.
release: check-package
	$(Q)tests/package/static.sh $(abspath $(TARBALL))

# What needs a real SPDK: its scripts and ours, against what its RPCs do.
soak: all
	$(Q)BTGEN_BUILD=$(abspath $(BUILD)) SOAK_SECONDS=$(or $(SOAK_SECONDS),1200) LIMIT=$$(($(or $(SOAK_SECONDS),1200) + 1200)) \
		tests/matrix/tracefs.sh tests/prove.sh -v $(or $(T),$(wildcard tests/soak/*.t))

check-spdk: all
	$(Q)BTGEN_BUILD=$(abspath $(BUILD)) MATRIX='$(MATRIX)' tests/matrix/tracefs.sh tests/spdk/run.sh $(call quote,$(SPDK)) \
		$(or $(T),$(wildcard tests/spdk/*.t))

# What needs another kernel than this machine's: one with an NVMe driver, older and newer ones. One machine at a time.
check-vm: all
	$(Q)$(call prove,1,CHECK_VM=1) -j1 $(or $(T),$(wildcard tests/vm/*.t))

check-vm-all: all
	$(Q)tests/vm/live.sh $(VM) $(if $(T),-- $(T))

# What the tools of others make of our output: viewers, stores, metrics of many hosts.
check-fleet: all
	$(Q)$(call prove,2,AGAIN=6 AGAIN_OF='tests/fleet/*' tests/matrix/tracefs.sh) $(or $(T),$(wildcard tests/fleet/*.t))

# Scripts that other projects ship, unchanged: those of the packages here, or OTHERS_DIR='FOLDER...'.
check-others: all
	$(Q)BTGEN_BUILD=$(abspath $(BUILD)) OTHERS_DIR='$(OTHERS_DIR)' LIMIT=7200 tests/matrix/tracefs.sh tests/prove.sh -v tests/others/shipped.t

# What is read at lines of generated programs is what gdb shows and the program logs, or is refused: GDB='--seed 7 --only clang'.
check-gdb: all
	$(Q)tests/matrix/tracefs.sh tests/gdb/check.py --btgen $(abspath $(BUILD))/btgen $(GDB)

# The same tests with every program of ours under AddressSanitizer and UndefinedBehaviorSanitizer.
asan:
	$(Q)LSAN_OPTIONS=suppressions=$(abspath tests/lsan.supp):print_suppressions=0 $(MAKE) --no-print-directory BUILD=build-asan \
		CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DARENA_MALLOC' \
		LDFLAGS='-fsanitize=address,undefined' check

demo: all
	$(Q)BTGEN_BUILD=$(abspath $(BUILD)) tests/demo.sh

lint:
	$(Q)tests/lint.sh

pictures: all
	$(Q)BTGEN_BUILD=$(abspath $(BUILD)) tests/pictures.sh

bench: all $(BENCH_CHECK) $(BENCH_RELAY)
	$(Q)BTGEN_BUILD=$(abspath $(BUILD)) tests/bench/run.sh

bench-scripts: all
	$(Q)BTGEN_BUILD=$(abspath $(BUILD)) tests/bench/overhead.sh

# make gen-enums EXE=program [OUT=file] [CONF=list]: the tables of bpf/enums.conf out of a program's debug information
gen-enums: $(BUILD)/btgen
	@test -n $(call quote,$(EXE)) || { echo "make gen-enums: say which program: EXE=path [OUT=file]" >&2; exit 2; }
	$(Q)$(BUILD)/btgen enums -x $(call quote,$(EXE)) --conf $(call quote,$(or $(CONF),bpf/enums.conf)) \
		$(if $(OUT),-o $(call quote,$(OUT)))

# What is installed; documents find what they link to by symbolic links. DESTDIR may contain blanks and quotes, the
# directories may not.
INSTALL_BIN := scripts/bpftrace.sh scripts/btgen-report scripts/qpair-lifetime
INSTALL_MAN := $(wildcard docs/man/*.[1-9])
INSTALL_DOC := README.md CONTRIBUTING.md LICENSE $(wildcard $(addprefix docs/,*.md *.json dev/*.md pictures/*.png fleet/* lab/*.md \
	lab/programs/* adding-probes/README.md adding-probes/c/* adding-probes/c++/*))
INSTALL_DIRS := bindir pkgdatadir includedir mandir docdir pkgconfigdir cmakedir compdir zshdir fishdir
man_section = $(mandir)/man$(subst .,,$(suffix $(1)))
put = install -m $(1) $(2) $(call dest,$(3))/
quote = '$(subst ','\'',$(1))'
dest = $(call quote,$(DESTDIR)$(1))
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))
# The way from one directory to another: what is installed finds the rest wherever it was moved to.
way = $(shell realpath -ms --relative-to=$(1) $(2))
# $(call fill,FILE,FOLDER): without a .in, and with what only this Makefile knows; a page's footer has the version, too
fill = sed 's|@PREFIX@|$(prefix)|; s|@INCLUDEDIR@|$(patsubst $(prefix)/%,$${prefix}/%,$(includedir))|; s|@VERSION@|$(VERSION)|; \
	s|@INCLUDE@|$(call way,$(cmakedir),$(includedir))|; s|^\.Os btgen$$|& $(VERSION)|' $(1) | \
	install -m 644 /dev/stdin $(call dest,$(2)/$(notdir $(1:.in=)))

# btgen and btgen-report find their files by the way from their own directory, so that a tree can be moved.
install-dirs:
	@for dir in $(foreach dir,$(INSTALL_DIRS),$(call quote,$(dir)=$($(dir)))); do case $${dir#*=} in \
		/*[!A-Za-z0-9/._+@%,:=~-]* | [!/]* | '') \
		echo "make: $$dir: not an absolute path of letters, digits and /._+@%,:=~-" >&2; exit 2 ;; esac; done
	@test $(abspath $(bindir)/../share/btgen) = $(abspath $(pkgdatadir)) || { \
		echo "make: btgen finds its scripts in ../share/btgen from its own directory ($(abspath $(bindir)/../share/btgen))," \
		"not in $(pkgdatadir): give bindir and datadir one parent, as in bindir=/opt/x/bin datadir=/opt/x/share" >&2; exit 2; }

install: $(BUILD)/btgen install-dirs
	$(say) INSTALL $(call quote,$(DESTDIR)$(prefix))
	$(Q)install -d $(foreach dir,$(bindir) $(pkgdatadir)/bpf $(pkgdatadir)/babeltrace $(pkgdatadir)/python $(docdir)/docs/man $(addprefix $(docdir)/,$(sort $(dir $(INSTALL_DOC)))) \
		$(includedir)/btgen/compat/sys $(includedir)/btgen/compat/folly/tracing $(pkgconfigdir) $(cmakedir) $(compdir) $(zshdir) $(fishdir) \
		$(sort $(foreach page,$(INSTALL_MAN),$(call man_section,$(page)))),$(call dest,$(dir)))
	$(Q)$(call put,755,$(BUILD)/btgen $(INSTALL_BIN),$(bindir))
	$(Q)$(call put,755,scripts/percentiles.py scripts/pcp-bpftrace.py,$(pkgdatadir))
	$(Q)$(call put,644,scripts/babeltrace/bt_plugin_btgen.py,$(pkgdatadir)/babeltrace)
	$(Q)$(call put,644,scripts/report.html,$(pkgdatadir))
	$(Q)$(call put,644,$(wildcard scripts/python/*.py),$(pkgdatadir)/python)
	$(Q)$(call put,644,$(wildcard bpf/*),$(pkgdatadir)/bpf)
	$(Q)$(call put,644,$(wildcard include/btgen/*.h),$(includedir)/btgen)
	$(Q)$(call put,644,$(wildcard include/btgen/compat/sys/*.h),$(includedir)/btgen/compat/sys)
	$(Q)$(call put,644,$(wildcard include/btgen/compat/folly/tracing/*.h),$(includedir)/btgen/compat/folly/tracing)
	$(Q)$(call fill,packaging/btgen.pc.in,$(pkgconfigdir))
	$(Q)$(call fill,packaging/btgen-config.cmake.in,$(cmakedir))
	$(Q)$(call fill,packaging/btgen-config-version.cmake.in,$(cmakedir))
	$(Q)install -m 644 scripts/completion.bash $(call dest,$(compdir)/btgen)
	$(Q)ln -sf btgen $(call dest,$(compdir)/bpftrace.sh)
	$(Q)install -m 644 scripts/completion.zsh $(call dest,$(zshdir)/_btgen)
	$(Q)install -m 644 scripts/completion.fish $(call dest,$(fishdir)/btgen.fish)
	$(Q)ln -sf btgen.fish $(call dest,$(fishdir)/bpftrace.sh.fish)
	$(Q)$(foreach dir,$(sort $(dir $(INSTALL_DOC))),$(call put,644,$(foreach file,$(INSTALL_DOC),$(if $(filter $(dir),$(dir $(file))),$(file))),$(docdir)/$(dir)) &&) :
	$(Q)$(foreach page,$(INSTALL_MAN),$(call fill,$(page),$(call man_section,$(page))) &&) :
	$(Q)ln -srfn $(call dest,$(pkgdatadir)/bpf) $(call dest,$(docdir)/bpf)
	$(Q)$(foreach page,$(INSTALL_MAN),ln -srf $(call dest,$(call man_section,$(page))/$(notdir $(page))) $(call dest,$(docdir)/docs/man)/ &&) :

# A directory that is not ours alone keeps what others have put there.
uninstall: install-dirs
	$(say) REMOVE $(call quote,$(DESTDIR)$(prefix))
	$(Q)rm -f $(foreach file,btgen $(notdir $(INSTALL_BIN)),$(call dest,$(bindir)/$(file)))
	$(Q)rm -f $(foreach page,$(INSTALL_MAN),$(call dest,$(call man_section,$(page))/$(notdir $(page))) $(call dest,$(docdir)/docs/man/$(notdir $(page))))
	$(Q)rm -f $(foreach file,$(pkgconfigdir)/btgen.pc $(compdir)/btgen $(compdir)/bpftrace.sh $(zshdir)/_btgen \
		$(fishdir)/btgen.fish $(fishdir)/bpftrace.sh.fish $(cmakedir)/btgen-config.cmake $(cmakedir)/btgen-config-version.cmake \
		$(docdir)/bpf $(addprefix $(docdir)/,$(INSTALL_DOC)),$(call dest,$(file)))
	$(Q)rm -rf $(foreach dir,$(pkgdatadir) $(includedir)/btgen,$(call dest,$(dir)))
	$(Q)for dir in $(foreach dir,$(cmakedir) $(docdir)/docs/man $(call reverse,$(patsubst %/./,%,$(addprefix $(docdir)/,$(sort $(dir $(INSTALL_DOC)))))),$(call dest,$(dir))); do \
		test ! -d "$$dir" || rmdir --ignore-fail-on-non-empty "$$dir" || exit; done

# What is committed, whatever else lies here, and whatever git is configured to do with what it checks out.
TARBALL := $(BUILD)/btgen-$(VERSION).tar.gz
dist:
	@test -e .git || { echo "make dist: this is no git checkout" >&2; exit 1; }
	@test '$(or $(TAG),v$(VERSION))' = 'v$(VERSION)' || { echo "make dist: this checkout is version $(VERSION): git checkout $(TAG) first" >&2; exit 1; }
	$(say) DIST $(TARBALL)
	@mkdir -p $(BUILD)
	$(Q)git -c core.autocrlf=false -c tar.umask=022 archive --prefix=btgen-$(VERSION)/ $(or $(TAG),HEAD) >$(TARBALL:.gz=)
	$(Q)gzip -9nf $(TARBALL:.gz=)

clean:
	$(Q)rm -rf build build-asan build-fuzz $(BUILD) config.mak config.log
	$(Q)rm -f $(TARGET_FILES)
