# shapeproof: `make help` lists the targets.
VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
MODE    ?= release
BUILD   ?= build
CC      ?= cc

# ---- flags, one object directory per mode --------------------------------------------------------------------
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
MODE_FLAGS_release := -O2 -g
MODE_FLAGS_asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -DSP_ARENA_MALLOC
PKGS := libzip libcjson hdf5 libseccomp
OBJ  := $(BUILD)/$(MODE)

SP_CPPFLAGS = -Iinclude -Isrc -DSP_VERSION='"$(VERSION)"' $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
SP_CFLAGS   = -std=c11 -fPIC -fvisibility=hidden $(WARN) $(MODE_FLAGS_$(MODE)) $(CFLAGS)
SP_LIBS     = $(shell pkg-config --libs $(PKGS) 2>/dev/null)

LIB_SRC := $(sort $(shell find src -name '*.c' -not -path 'src/cli/*'))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(OBJ)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(OBJ)/%.o)

.PHONY: all
all: $(BUILD)/shapeproof

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(SP_CPPFLAGS) $(SP_CFLAGS) -MMD -MP -c $< -o $@

$(OBJ)/libshapeproof.a: $(LIB_OBJ)
	rm -f $@ && ar rcs $@ $^

$(OBJ)/shapeproof: $(CLI_OBJ) $(OBJ)/libshapeproof.a
	$(CC) $(SP_CFLAGS) $(LDFLAGS) $^ $(SP_LIBS) -o $@

$(BUILD)/shapeproof: $(OBJ)/shapeproof
	cp $< $@

# ---- tests: tests/<room>/test_*.c, each one program -----------------------------------------------------------
TEST_SRC := $(sort $(shell find tests -name 'test_*.c'))
TEST_BIN := $(TEST_SRC:tests/%.c=$(OBJ)/tests/%)

$(OBJ)/tests/%: tests/%.c $(OBJ)/libshapeproof.a
	@mkdir -p $(@D)
	$(CC) $(SP_CPPFLAGS) -Itests $(SP_CFLAGS) -MMD -MP $< $(OBJ)/libshapeproof.a $(SP_LIBS) -lcmocka -o $@

.PHONY: unit
unit: $(TEST_BIN)  ## unit: build and run the unit tests
	@set -e; for t in $(TEST_BIN); do echo "$$t"; $$t; done

.PHONY: clean
clean:  ## clean: remove what was built
	rm -rf $(BUILD)

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
