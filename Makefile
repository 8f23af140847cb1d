# shapeproof: `make help` lists the targets. Plain `make` builds build/shapeproof and the libraries.
VERSION := 0.1.0
SONAME  := libshapeproof.so.0
PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
MODE    ?= release
OBJ     := $(BUILD)/$(MODE)
# PORTABLE=yes: nothing but POSIX, and no libseccomp (docs/install.md). SYSTEM is a file of src/base/system.
PORTABLE ?= no
SYSTEM   := $(if $(filter yes,$(PORTABLE)),posix,linux)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# ---- flags ------------------------------------------------------------------------------------------------------
HDF5 := $(if $(shell pkg-config --exists hdf5 2>/dev/null || echo no),hdf5-serial,hdf5)
PKGS := libzip zlib yaml-0.1 $(HDF5) $(if $(filter linux,$(SYSTEM)),libseccomp)
DEPS_CPPFLAGS := $(shell pkg-config --cflags $(PKGS) libcurl 2>/dev/null)
DEPS_LIBS     := $(shell pkg-config --libs $(PKGS) 2>/dev/null && pkg-config --exists libcurl && echo -lm -ldl)

# Only the command links ncurses, for `browse`; with BROWSE=no it has none. The code around ncurses is not POSIX alone.
BROWSE      ?= $(if $(filter yes,$(PORTABLE)),no,yes)
BROWSE_LIBS := $(if $(filter yes,$(BROWSE)),$(shell pkg-config --libs ncursesw 2>/dev/null || echo missing))

# gcc cannot see across files that sp_fail returns false, hence its "maybe": clang and the sanitizers watch that.
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror \
        $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),,-Wno-maybe-uninitialized)
# What makes an error in the code harder to exploit, as far as this compiler has it (docs/safety.md): checks of the
# stack and of buffers whose size is known, and indirect jumps to marked places alone. Without optimization the headers
# of glibc refuse the checks of buffers. zig leaves an object file in the current folder.
FORTIFY := $(if $(findstring -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
HARDEN  := $(shell folder=$$(mktemp -d) && cd "$$folder" && for flag in -fstack-protector-strong \
    -fstack-clash-protection -fcf-protection -mbranch-protection=standard; do \
    echo 'int x;' | $(CC) -Werror $$flag -c -x c - -o /dev/null 2>/dev/null && echo $$flag; done; rm -rf "$$folder")
FLAGS_release := -O2 -g1 $(HARDEN) $(FORTIFY)
FLAGS_asan    := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_fuzz    := $(FLAGS_asan) -fsanitize=fuzzer-no-link
FLAGS_tsan    := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
FLAGS_coverage := -O0 -g --coverage -Wl,--wrap=_exit,--wrap=sp_system_confine,--wrap=sp_child_limit
FLAGS = -std=c11 -fPIC -fvisibility=hidden $(WARN) $(FLAGS_$(MODE)) -Iinclude -Isrc $(DEPS_CPPFLAGS) \
        -DSP_VERSION=\"$(VERSION)\" $(if $(filter yes,$(BROWSE)),,-DSP_NO_BROWSE) $(CPPFLAGS) $(CFLAGS)
COMPILE = $(CC) $(FLAGS) -MMD -MP -MT $@ -MF $@.d

# Addresses of functions are looked up when the program starts, and are read-only from then on.
READ_ONLY_release := -Wl,-z,relro,-z,now
READ_ONLY = $(READ_ONLY_$(MODE))

# $(call stamp,TEXT) writes the target only when the text is new: what depends on it is rebuilt then, and only then.
stamp = @mkdir -p $(@D) && { printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' >$@; }

# $(call say,CC file.c) at the head of a command shows that in its place; V=1 shows the command.
say = $(if $(V),,@echo '  $(1)'; )

# ---- what is built: sources are found, never listed ---------------------------------------------------------------
HEADERS := $(sort $(wildcard include/shapeproof/*.h))
TABLES  := $(shell find src/tables -name '*.shapes' | awk -F/ '{ print $$NF, $$0 }' | LC_ALL=C sort | cut -d' ' -f2)
MODELS  := $(sort $(wildcard src/models/*.json))
SYSTEMS := $(filter-out src/base/system/$(SYSTEM).c,$(wildcard src/base/system/*.c))
LIB_SRC := $(filter-out $(SYSTEMS),$(sort $(shell find src -name '*.c' ! -path 'src/cli/*' ! -path 'src/tables/*' \
    ! -path 'src/web/*')))
CLI_SRC := $(sort $(shell find src/cli -name '*.c' 2>/dev/null))
# WASI=yes, which `make web` sets: without what needs processes, sockets, a terminal or libhdf5, which src/web/wasi.c
# replaces.
ifeq ($(WASI),yes)
LIB_SRC := $(filter-out src/net/% src/read/hdf5/% src/base/process/% src/base/system/% src/fleet/pool.c,$(LIB_SRC))
CLI_SRC := $(filter-out src/cli/output_file.c src/cli/pager.c src/cli/system_limits.c \
    src/cli/progress.c,$(CLI_SRC)) src/web/wasi.c
endif
PRE_OBJ := $(LIB_SRC:%.c=$(OBJ)/%.o) $(OBJ)/gen/tables.o $(OBJ)/gen/models.o $(OBJ)/gen/page.o $(OBJ)/gen/words.o \
    $(if $(filter coverage,$(MODE)),$(OBJ)/tests/coverage.o)
LIB_OBJ := $(PRE_OBJ) $(OBJ)/gen/index.o
CLI_OBJ := $(CLI_SRC:%.c=$(OBJ)/%.o)
LIB     := $(OBJ)/libshapeproof.a
SO      := $(OBJ)/$(SONAME)
COMMAND := $(OBJ)/shapeproof

.PHONY: all FORCE
all: $(LIB) $(SO) $(COMMAND) $(if $(filter release,$(MODE)),$(BUILD)/shapeproof)  ## all: the command and libraries

$(OBJ)/flags: FORCE
	$(if $(and $(DEPS_LIBS),$(if $(filter missing,$(BROWSE_LIBS)),,yes)),,$(error libraries are missing; `make deps` installs them))
	$(call stamp,$(CC) $(FLAGS) $(READ_ONLY) $(DEPS_LIBS) $(BROWSE_LIBS) $(LDFLAGS) HDF5_STATIC=$(HDF5_STATIC) $(STATIC_LIBS))

$(OBJ)/sources: FORCE
	$(call stamp,$(LIB_OBJ) $(CLI_OBJ))

$(BUILD)/gen/list: FORCE
	$(call stamp,$(TABLES) $(MODELS))

# libFuzzer is told with what the readers compare bytes of their input. In other modules that would tell it little,
# and take two fifths of the time.
TRACED   := src/read/% src/config/% src/net/% src/base/json_%
UNTRACED  = $(if $(filter fuzz,$(MODE)),$(if $(filter $(TRACED),$<),,-fno-sanitize-coverage=trace-cmp))

$(OBJ)/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(call say,CC $<)$(COMPILE) $(UNTRACED) -c $< -o $@

$(OBJ)/gen/tables.o $(OBJ)/gen/models.o $(OBJ)/gen/page.o $(OBJ)/gen/words.o: $(OBJ)/gen/%.o: $(BUILD)/gen/%.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(call say,CC $<)$(COMPILE) -c $< -o $@

# The index of the tables is what the library itself finds in them, printed by a program that is linked with it. It is
# written again when any of the library changes, and compiled again when it says something else. For a processor whose
# programs do not run here, INDEX is the index that a build for this one has written: it is the same.
ifneq ($(INDEX),)
$(OBJ)/gen/index.c: $(INDEX)
	@mkdir -p $(@D) && cp $< $@
else
$(OBJ)/gen/make_index: src/tables/make_index.c $(PRE_OBJ) $(OBJ)/sources
	$(call say,LINK $@)$(COMPILE) $< $(PRE_OBJ) $(LDFLAGS) $(DEPS_LIBS) -o $@

$(OBJ)/gen/index.new: $(OBJ)/gen/make_index
	$(call say,INDEX $@)$< >$@ && { cmp -s $@ $(@D)/index.c || cp $@ $(@D)/index.c; }

$(OBJ)/gen/index.c: $(OBJ)/gen/index.new ;
endif

$(OBJ)/gen/index.o: $(OBJ)/gen/index.c $(OBJ)/flags
	$(call say,CC $<)$(COMPILE) -c $< -o $@

$(BUILD)/gen/tables.c: src/tables/embed.awk $(TABLES) $(BUILD)/gen/list
	$(call say,TABLES $@)LC_ALL=C awk -f src/tables/embed.awk $(TABLES) </dev/null >$@

$(BUILD)/gen/models.c: src/models/embed.awk $(MODELS) $(BUILD)/gen/list
	$(call say,MODELS $@)LC_ALL=C awk -f src/models/embed.awk $(MODELS) </dev/null >$@

# The style and the script of HTML reports, with their hashes for the Content Security Policy.
PAGE := src/report/html/page.css src/report/html/page.js
$(BUILD)/gen/page.c: src/report/html/embed.awk $(PAGE) $(BUILD)/gen/list
	$(call say,PAGE $@)LC_ALL=C awk -v style_hash="$$(sha256sum <src/report/html/page.css)" \
	    -v script_hash="$$(sha256sum <src/report/html/page.js)" -f src/report/html/embed.awk $(PAGE) </dev/null >$@

# The words that `inspect --redact` keeps. They are collected from the tables and from the texts of the sources, and
# compiled again only when they differ.
WORD_SRC := include/shapeproof/dtype.h $(filter-out src/report/% src/redact/%,$(LIB_SRC) $(CLI_SRC))
$(BUILD)/gen/words.new: src/redact/words.sh $(TABLES) $(WORD_SRC) $(BUILD)/gen/list
	@printf '%s\n' $(TABLES) >$@.tables && printf '%s\n' $(WORD_SRC) >$@.sources
	$(call say,WORDS $@)sh src/redact/words.sh $@.tables $@.sources >$@ && \
	    { cmp -s $@ $(@D)/words.c || cp $@ $(@D)/words.c; }

$(BUILD)/gen/words.c: $(BUILD)/gen/words.new ;

$(LIB): $(LIB_OBJ) $(OBJ)/sources
	$(call say,AR $@)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

# It exports what the public headers mark with SHAPEPROOF_API, and nothing else: tests/install.sh compares.
$(SO): $(LIB_OBJ) $(OBJ)/sources
	$(call say,LINK $@)$(CC) $(FLAGS) $(READ_ONLY) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) $(SO_FLAGS) $(LIB_OBJ) $(DEPS_LIBS) -o $@

# The command takes HDF5 from its static archive where that links: the shared one brings some 35 libraries along,
# curl and Kerberos among them, and loading those takes longer than reading a checkpoint. HDF5_STATIC=no for shared.
# From 1.14 on the archive has a driver that needs curl, too: for files on S3, where none is ever opened.
HDF5_STATIC  ?= yes
HDF5_ARCHIVE := $(wildcard $(patsubst -L%,%/libhdf5.a,$(shell pkg-config --libs-only-L $(HDF5) 2>/dev/null)))
NO_S3        := -Wl,--defsym=H5FD_ros3_init=H5FD_sec2_init
STATIC_LIBS  := -Wl,--as-needed $(filter-out -lhdf5,$(DEPS_LIBS)) $(NO_S3) $(HDF5_ARCHIVE) -lsz -lz -ldl -lm

# Addresses in constant data are packed where the system's loader knows that (glibc 2.36): a tenth of the command.
PACKED := -Wl,-z,pack-relative-relocs

$(OBJ)/command.packed: $(OBJ)/flags
	@echo 'int main(void) { return 0; }' >$@.c
	@if [ -n "$(PACKED)" ] && $(CC) $(FLAGS) $(LDFLAGS) $(PACKED) $@.c -o $@.try 2>/dev/null && \
	    $(abspath $@.try) 2>/dev/null; \
	    then echo '$(PACKED)'; else echo; fi >$@
	@rm -f $@.c $@.try

$(OBJ)/command.libs: $(OBJ)/flags
	@echo 'int H5open(void); int main(void) { return H5open(); }' >$@.c
	@if [ "$(HDF5_STATIC)" = yes ] && $(CC) $@.c $(STATIC_LIBS) -o $@.try 2>/dev/null; \
	    then echo '$(STATIC_LIBS)'; else echo '$(DEPS_LIBS)'; fi >$@
	@rm -f $@.c $@.try

$(COMMAND): $(CLI_OBJ) $(LIB) $(OBJ)/sources $(OBJ)/command.libs $(OBJ)/command.packed
	$(call say,LINK $@)$(CC) $(FLAGS) $(READ_ONLY) $(LDFLAGS) $$(cat $(OBJ)/command.packed) $(CLI_OBJ) $(LIB) \
	    $$(cat $(OBJ)/command.libs) $(BROWSE_LIBS) -o $@

$(BUILD)/shapeproof: $(COMMAND)
	@cp $< $@

# ---- tests: each tests/MODULE/test_*.c is one program --------------------------------------------------------------
TEST_SRC := $(filter-out $(if $(filter linux,$(SYSTEM)),,tests/base/test_filter.c),$(sort $(shell find tests -name 'test_*.c')))
TEST_BIN := $(TEST_SRC:%.c=$(OBJ)/%)
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(FUZZ_SRC:%.c=$(OBJ)/%)
BENCH_BIN := $(patsubst %.c,$(OBJ)/%,$(sort $(wildcard tests/bench/*.c)))
EXAMPLE  := $(OBJ)/docs/example
JOBS     := $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 1))
SELF     := $(MAKE) --no-print-directory
RUN_ENV  = SHAPEPROOF="$(CURDIR)/$(COMMAND)" BUILD=$(BUILD) OBJ=$(OBJ) CC="$(CC)" DEPS_CPPFLAGS="$(DEPS_CPPFLAGS)" \
           MAKE="$(MAKE)"

# The programs are compiled without optimization, in a third of the time. The library that they test has it.
TEST_FLAGS := -O0 -U_FORTIFY_SOURCE -Itests

$(TEST_BIN): $(OBJ)/%: %.c $(LIB)
	@mkdir -p $(@D)
	$(call say,TEST $@)$(COMPILE) $(TEST_FLAGS) $< $(LIB) $(LDFLAGS) $(DEPS_LIBS) -lcmocka -o $@

# In this test the calls of the library fail (tests/api/test_memory.c).
ifeq ($(MODE),asan)
$(OBJ)/tests/api/test_memory: TEST_FLAGS += -DWRAPPED -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
endif

$(FUZZ_BIN): $(OBJ)/%: %.c tests/fuzz/replay.c $(LIB)
	@mkdir -p $(@D)
	$(call say,TEST $@)$(COMPILE) $(UNTRACED) -Itests $< \
	    $(if $(filter fuzz,$(MODE)),-fsanitize=fuzzer -DFUZZ_TIMED,tests/fuzz/replay.c) $(LIB) \
	    $(LDFLAGS) $(DEPS_LIBS) -o $@

$(EXAMPLE): docs/example.c $(LIB)
	@mkdir -p $(@D)
	$(call say,TEST $@)$(COMPILE) $< $(LIB) $(LDFLAGS) $(DEPS_LIBS) -o $@

$(BENCH_BIN): $(OBJ)/%: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(call say,CC $<)$(COMPILE) $< $(LDFLAGS) -o $@

.PHONY: deps deps-lint deps-dist deps-site demo test asan run-tests unit lint fuzz-replay fuzz bench check-install install uninstall \
        clean help
deps:  ## deps: install what building and testing needs (Debian, Ubuntu)
	@CC="$(CC)" sh .ci/deps build

deps-lint:  ## deps-lint: install what linting needs
	@sh .ci/deps lint

# What these need from Debian, PyPI or the sources of Debian 12: with it, the builds themselves need no network.
deps-dist:  ## deps-dist: install and fetch what `make static`, `manylinux` and `web` need
	@sh .ci/deps dist
	@sh src/dist/libraries.sh --fetch $(MUSL) $(LIBRARIES)/$(MUSL)

deps-site:  ## deps-site: install what `make site` needs
	@sh .ci/deps venv
	@sh src/site/build.sh --fetch $(BUILD)

demo: deps  ## demo: build, then read and check real checkpoints
	@$(SELF) $(JOBS) all
	@SHAPEPROOF=$(BUILD)/shapeproof sh tests/demo.sh

test: deps  ## test: build, then run every test
	@$(SELF) $(JOBS) run-tests

# Recording 8 callers of each allocation, and not 30, saves an eighth of the time; a report shows enough with them.
asan: export ASAN_OPTIONS ?= malloc_context_size=8
asan: deps  ## asan: the same tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(SELF) $(JOBS) MODE=asan run-tests

run-tests: all $(TEST_BIN) $(FUZZ_BIN) $(EXAMPLE)
	@$(RUN_ENV) sh tests/run.sh $(TEST_BIN)

unit: $(TEST_BIN)  ## unit: the unit tests alone
	@$(RUN_ENV) sh tests/run.sh --unit $(TEST_BIN)

# test-cli: the recorded output of the command, which is no program but a script.
MODULES := $(sort $(patsubst tests/%/,%,$(dir $(TEST_SRC))))
.PHONY: $(MODULES:%=test-%) test-cli test-faults
$(MODULES:%=test-%): test-%: deps  ## test-MODULE: the tests of one module: test-infer, test-read, ..., test-cli
	@$(SELF) $(JOBS) all $(filter $(OBJ)/tests/$*/%,$(TEST_BIN))
	@$(RUN_ENV) sh tests/run.sh --unit $(filter $(OBJ)/tests/$*/%,$(TEST_BIN))

test-cli: deps
	@$(SELF) $(JOBS) all
	@$(RUN_ENV) sh tests/cli/run.sh

# inject.c is linked into the command, in place of LD_PRELOAD: AddressSanitizer must be the first of all libraries.
# libhdf5 is the shared one, so that its calls do not fail: where it gets no memory, it uses some that it has freed.
FAULTY     := $(OBJ)/faults/shapeproof
FAULT_WRAP  = $(shell sed -n 's/^FAILING.[^,]*, [^,]*, [^,]*, \([a-z0-9_]*\),.*/-Wl,--wrap=\1/p; \
    s/^OPENING.\([a-z0-9]*\),.*/-Wl,--wrap=\1/p' tests/faults/inject.c)

$(FAULTY): tests/faults/inject.c tests/faults/plan.h $(CLI_OBJ) $(LIB) $(OBJ)/sources
	@mkdir -p $(@D)
	$(call say,LINK $@)$(CC) $(FLAGS) $(LDFLAGS) -DWRAPPED $< $(CLI_OBJ) $(LIB) $(FAULT_WRAP) $(DEPS_LIBS) \
	    $(BROWSE_LIBS) -o $@

test-faults: all  ## test-faults: let each call of the system fail in turn; takes minutes, and is no part of `make test`
test-faults: $(if $(filter asan,$(MODE)),$(FAULTY))
	@$(RUN_ENV) $(if $(filter asan,$(MODE)),FAULTY=$(FAULTY)) sh tests/faults/run.sh $(FAULTS)

tsan: deps  ## tsan: the tests with threads under ThreadSanitizer
	@$(SELF) $(JOBS) MODE=tsan $(BUILD)/tsan/tests/api/test_threads
	@$(BUILD)/tsan/tests/api/test_threads

# Without optimization the lines of a program are those of its source. The tests of the command run it, too.
COVERED ?= $(TEST_SRC:%.c=$(BUILD)/coverage/%)
coverage: deps  ## coverage: run the tests and print by module which lines they reach; COVERED names programs of tests
	@$(SELF) $(JOBS) MODE=coverage all $(COVERED)
	@find $(BUILD)/coverage -name '*.gcda' -delete
	@$(SELF) MODE=coverage run-coverage
	@sh tests/coverage.sh $(BUILD)/coverage

.PHONY: tsan coverage run-coverage
run-coverage:
	-@$(RUN_ENV) sh tests/run.sh --unit $(COVERED)
	-@$(RUN_ENV) sh tests/cli/run.sh
	-@$(RUN_ENV) sh tests/fuzz/replay.sh

lint:  ## lint: layering, banned functions, format, static analysis
	@sh tests/lint/run.sh

fuzz-replay: $(FUZZ_BIN)  ## fuzz-replay: the fuzz targets over every fixture
	@$(RUN_ENV) sh tests/fuzz/replay.sh

fuzz:  ## fuzz: fuzz each target for TIME seconds (60) with clang's libFuzzer
	@CC=clang sh .ci/deps build fuzz
	@$(SELF) $(JOBS) MODE=fuzz CC=clang fuzz-bin
	@OBJ=$(BUILD)/fuzz TIME=$(TIME) sh tests/fuzz/fuzz.sh

.PHONY: fuzz-bin
fuzz-bin: $(FUZZ_BIN)

bench: all $(BENCH_BIN)  ## bench: time and memory of `inspect` and `check`, beside Python peers when there are any
	@$(RUN_ENV) sh tests/bench/run.sh

check-install: all  ## check-install: install into a temporary root, build against it, uninstall
	@$(RUN_ENV) sh tests/install.sh

# ---- for any Linux --------------------------------------------------------------------------------------------------
# $(call portable,TARGET) is make with the compiler and libraries of src/dist/libraries.sh: for another C library than
# this machine's, or another processor. The linker strips (-s), so that no path of this machine is in what it writes.
# MACHINE=aarch64 or MACHINE=x86_64 is for that processor.
HOST      := $(shell uname -m)
MACHINE   ?= $(HOST)
MACHINES  ?= $(HOST)
FOREIGN   := $(filter-out $(HOST),$(MACHINE))
MUSL      := $(MACHINE)-linux-musl
STATIC    := $(BUILD)/shapeproof-$(MACHINE)-linux$(if $(filter posix,$(SYSTEM)),-portable)
LIBRARIES := $(abspath $(BUILD))/libraries
HOSTINDEX := $(OBJ)/gen/index.c
portable   = $(SELF) $(JOBS) MODE=release BUILD=$(BUILD)/$(1) CC=$(LIBRARIES)/$(1)/cc AR=$(LIBRARIES)/$(1)/ar \
    DEPS_CPPFLAGS=-I$(LIBRARIES)/$(1)/include LDFLAGS=-s HDF5_STATIC=no BROWSE=no PACKED= FORTIFY= \
    INDEX=$(if $(FOREIGN),$(HOSTINDEX)) CPPFLAGS=$(if $(findstring musl,$(1)),-DSP_STATIC) \
    DEPS_LIBS='-L$(LIBRARIES)/$(1)/lib -lzip -lyaml -lhdf5 -lz $(if $(filter linux,$(SYSTEM)),-lseccomp) \
    -lm -ldl' SO_FLAGS=-Wl,--version-script=$(CURDIR)/src/dist/exports.map

.PHONY: static static-test dist package-test
static:  ## static: one command that needs no library, for any Linux: build/shapeproof-x86_64-linux
static: $(if $(FOREIGN),$(HOSTINDEX))
	@sh src/dist/libraries.sh $(MUSL) $(LIBRARIES)/$(MUSL)
	@$(call portable,$(MUSL)) $(BUILD)/$(MUSL)/release/shapeproof
	@cp $(BUILD)/$(MUSL)/release/shapeproof $(STATIC)

static-test: all static  ## static-test: that command in an empty root, against the one of this machine
	@$(RUN_ENV) sh tests/static.sh $(STATIC)

dist:  ## dist: archives of the sources and of the static command for MACHINES, with SHA256SUMS: build/dist
	@$(SELF) $(JOBS) $(MANPAGES) # which are listed further down
	@for machine in $(MACHINES); do \
	    $(SELF) static MACHINE=$$machine && sh src/dist/archive.sh $(VERSION) $$machine \
	    $(BUILD)/shapeproof-$$machine-linux $(LIBRARIES)/$$machine-linux-musl/licenses $(OBJ)/man $(BUILD)/dist || \
	    exit; done
	@cat $(BUILD)/dist/SHA256SUMS

package-test: all  ## package-test: what `make deb` and `make dist` write, with the command of this machine
	@$(RUN_ENV) sh tests/packages.sh

# features.h is a header of glibc and musl that HDF5's headers include, as they were configured for one of these.
.PHONY: macos-objects objects
macos-objects: $(HOSTINDEX)  ## macos-objects: compile the portable build for macOS on arm64; nothing is linked or run
	@sh src/dist/libraries.sh $(HOST)-linux-musl $(LIBRARIES)/$(HOST)-linux-musl
	@mkdir -p $(BUILD)/macos/include && : >$(BUILD)/macos/include/features.h
	@ZIG_GLOBAL_CACHE_DIR=$(LIBRARIES)/zig/cache ZIG_LOCAL_CACHE_DIR=$(LIBRARIES)/zig/cache $(SELF) $(JOBS) \
	    MODE=release PORTABLE=yes BUILD=$(BUILD)/macos CC='$(LIBRARIES)/zig/zig cc -target aarch64-macos' FORTIFY= \
	    DEPS_CPPFLAGS='-isystem $(LIBRARIES)/$(HOST)-linux-musl/include -isystem $(BUILD)/macos/include' \
	    DEPS_LIBS=none BROWSE=no INDEX=$(HOSTINDEX) objects
objects: $(LIB_OBJ) $(CLI_OBJ)

# ---- Python -------------------------------------------------------------------------------------------------------
# The wheel is for this machine: the library in it needs the C library and the libraries that it was linked with.
.PHONY: wheel manylinux python-test
wheel: all  ## wheel: the Python package with library and command, for this machine: build/shapeproof-*.whl
	@command -v python3 >/dev/null || { echo 'make wheel: there is no python3' >&2; exit 1; }
	@mkdir -p $(OBJ)/wheel && strip -o $(OBJ)/wheel/$(SONAME) $(SO) && strip -o $(OBJ)/wheel/shapeproof $(COMMAND)
	@python3 -B src/python/make_wheel.py $(VERSION) $(OBJ)/wheel/$(SONAME) $(OBJ)/wheel/shapeproof $(BUILD)

# Library and command contain the libraries, so they need only a C library that is not older than glibc 2.17.
OLD_GLIBC = $(MACHINE)-linux-gnu.2.17
manylinux:  ## manylinux: the same for every Linux with glibc 2.17: build/shapeproof-*-manylinux2014_MACHINE.whl
manylinux: $(if $(FOREIGN),$(HOSTINDEX))
	@command -v python3 >/dev/null || { echo 'make manylinux: there is no python3' >&2; exit 1; }
	@sh src/dist/libraries.sh $(OLD_GLIBC) $(LIBRARIES)/$(OLD_GLIBC)
	@$(call portable,$(OLD_GLIBC)) $(BUILD)/$(OLD_GLIBC)/release/shapeproof \
	    $(BUILD)/$(OLD_GLIBC)/release/$(SONAME)
	@python3 -B src/python/make_wheel.py $(VERSION) $(BUILD)/$(OLD_GLIBC)/release/$(SONAME) \
	    $(BUILD)/$(OLD_GLIBC)/release/shapeproof $(BUILD) manylinux2014_$(MACHINE) $(LIBRARIES)/$(OLD_GLIBC)/licenses

# ---- in a browser ---------------------------------------------------------------------------------------------------
# The command as a program for WASI, and the page that runs it: docs/web.md.
WASM       := wasm32-wasi
WASM_OBJ   := $(BUILD)/$(WASM)/release
WASI_FLAGS := -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_PROCESS_CLOCKS \
              -Wno-deprecated-declarations -include src/web/posix.h
WASI_LIBS  := -lzip -lyaml -lz -lwasi-emulated-signal -lwasi-emulated-mman -lwasi-emulated-getpid -lm
# Bytes, as a process of Linux has. zig puts it first in memory, so that a stack that is too deep is a trap.
WASM_STACK := 8388608

.PHONY: web
web: all  ## web: a page that reads checkpoints in a browser: build/web/shapeproof.html
	@sh src/dist/libraries.sh $(WASM) $(LIBRARIES)/$(WASM)
	@$(SELF) $(JOBS) WASI=yes BROWSE=no INDEX=$(abspath $(OBJ)/gen/index.c) MODE=release BUILD=$(BUILD)/$(WASM) \
	    CC=$(LIBRARIES)/$(WASM)/cc AR=$(LIBRARIES)/$(WASM)/ar CPPFLAGS='$(WASI_FLAGS)' HDF5_STATIC=no PACKED= \
        HARDEN= FORTIFY= READ_ONLY= \
	    DEPS_CPPFLAGS=-I$(LIBRARIES)/$(WASM)/include DEPS_LIBS='-L$(LIBRARIES)/$(WASM)/lib $(WASI_LIBS)' \
	    LDFLAGS='-s -Wl,-z,stack-size=$(WASM_STACK)' \
	    $(WASM_OBJ)/shapeproof
	@sh src/web/build.sh $(WASM_OBJ)/shapeproof $(VERSION) $(LIBRARIES)/$(WASM)/licenses $(BUILD)/web/shapeproof.html

python-test: all  ## python-test: the tests of the Python package
	@$(RUN_ENV) sh tests/python.sh

# ---- the site -----------------------------------------------------------------------------------------------------
.PHONY: site
site: all $(filter web,$(MAKECMDGOALS))  ## site: the documentation as a site: build/site; needs python3, and pip to install the generator
	@sh src/site/build.sh $(abspath $(COMMAND)) $(BUILD)

# ---- install ------------------------------------------------------------------------------------------------------
COMMA      := ,
BINDIR     := $(DESTDIR)$(PREFIX)/bin
LIBDIR     := $(DESTDIR)$(PREFIX)/lib
HDRDIR     := $(DESTDIR)$(PREFIX)/include/shapeproof
MANDIR     := $(DESTDIR)$(PREFIX)/share/man/man1
BASHDIR    := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
FISHDIR    := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
# Debian's zsh looks below /usr in a folder of its own name.
ZSHDIR     := $(DESTDIR)$(PREFIX)/share/zsh/$(if $(and $(filter /usr,$(PREFIX)),$(wildcard \
              /etc/debian_version)),vendor-completions,site-functions)
CMAKEFILES := shapeproofConfig.cmake shapeproofConfigVersion.cmake
COMMANDS   := $(shell sed -n 's/^ *X(\([a-z]*\)).*/\1/p' src/cli/commands.c)
MANPAGES   := $(COMMANDS:%=$(OBJ)/man/shapeproof-%.1)

# A program finds the library where it is installed: by its run path, but for /usr/lib, which the system's loader
# searches by itself. ldconfig is for those that load it by its name; it needs root, and concerns no staged tree.
RPATH := $(if $(filter /usr,$(PREFIX)),,-Wl$(COMMA)-rpath$(COMMA)$${libdir} )

# Renewed after a change of options: the pages and scripts that are checked in.
.PHONY: man
man: all  ## man: write docs/man anew, the manual page and the completion of shells
	$(COMMAND) help --man >docs/man/shapeproof.1
	for shell in bash zsh fish; do $(COMMAND) help --completion $$shell >docs/man/shapeproof.$$shell; done

$(MANPAGES): $(OBJ)/man/shapeproof-%.1: $(COMMAND)
	@mkdir -p $(@D)
	$(call say,MAN $@)$(COMMAND) help --man $* >$@

install: all $(MANPAGES)  ## install: into PREFIX (/usr/local), below DESTDIR
	install -d $(BINDIR) $(LIBDIR)/pkgconfig $(LIBDIR)/cmake/shapeproof $(HDRDIR) $(MANDIR) $(BASHDIR) $(FISHDIR) $(ZSHDIR)
	install -m 755 $(COMMAND) $(BINDIR)/shapeproof
	install -m 644 $(LIB) $(LIBDIR)/libshapeproof.a
	install -m 755 $(SO) $(LIBDIR)/libshapeproof.so.$(VERSION)
	ln -sf libshapeproof.so.$(VERSION) $(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(LIBDIR)/libshapeproof.so
	install -m 644 $(HEADERS) $(HDRDIR)
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|; s|@PKGS@|$(PKGS)|; s|@RPATH@|$(RPATH)|' src/shapeproof.pc.in \
	    >$(LIBDIR)/pkgconfig/shapeproof.pc
	for file in $(CMAKEFILES); do \
	    sed 's|@VERSION@|$(VERSION)|; s|@SONAME@|$(SONAME)|' src/$$file.in >$(LIBDIR)/cmake/shapeproof/$$file; done
	install -m 644 docs/man/shapeproof.1 $(MANPAGES) $(MANDIR)
	install -m 644 docs/man/shapeproof.bash $(BASHDIR)/shapeproof
	install -m 644 docs/man/shapeproof.zsh $(ZSHDIR)/_shapeproof
	install -m 644 docs/man/shapeproof.fish $(FISHDIR)/shapeproof.fish
	$(if $(DESTDIR),,-[ "$$(id -u)" != 0 ] || ldconfig)

uninstall:  ## uninstall: remove what install wrote
	rm -f $(BINDIR)/shapeproof $(LIBDIR)/libshapeproof.a $(LIBDIR)/libshapeproof.so* \
	    $(LIBDIR)/pkgconfig/shapeproof.pc $(CMAKEFILES:%=$(LIBDIR)/cmake/shapeproof/%) \
	    $(HEADERS:include/shapeproof/%=$(HDRDIR)/%) \
	    $(MANDIR)/shapeproof.1 $(MANPAGES:$(OBJ)/man/%=$(MANDIR)/%) $(BASHDIR)/shapeproof $(ZSHDIR)/_shapeproof \
	    $(FISHDIR)/shapeproof.fish
	-rmdir $(HDRDIR) $(LIBDIR)/cmake/shapeproof 2>/dev/null

deb: deps  ## deb: Debian packages for this release, into build/deb
	@sh .ci/deps deb
	@$(SELF) $(JOBS) all
	@rm -rf $(BUILD)/deb
	@$(SELF) install DESTDIR=$(abspath $(BUILD))/deb/staged PREFIX=/usr >/dev/null
	@sh src/deb/build.sh $(BUILD)/deb/staged $(VERSION) $(BUILD)/deb
	@rm -rf $(BUILD)/deb/staged

clean:  ## clean: remove what was built
	rm -rf $(BUILD)

help:  ## help: this list
	@sed -n 's/^.*  ## \([A-Za-z-]*\): /    make \1@/p' Makefile | awk -F@ '{ printf "%-24s %s\n", $$1, $$2 }'

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
