#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into a temporary root, builds docs/example.c against it with what pkg-config says (shared, static, and as C++
# where there is a compiler), runs each, compares what the shared library exports with what the headers declare, and
# uninstalls.
set -u

CC=${CC:-cc}
unset MAKEFLAGS MAKELEVEL
. tests/count.sh
root=$work/root # what is installed
mkdir "$root"
prefix=/opt/shapeproof

# The installed tree is where DESTDIR put it, so pkg-config is told to prepend that to every path of shapeproof.pc.
pc() { PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig pkg-config --define-variable=prefix="$root$prefix" "$@"; }

# shellcheck disable=SC2046,SC2086 # flags are words
build_shared() { $CC docs/example.c $(pc --cflags --libs shapeproof) -o "$root/shared"; }
# Not pkg-config --static, which asks for the static libraries that those libraries need in turn.
private_libs() { sed -n 's/^Libs.private: //p' "$root$prefix/lib/pkgconfig/shapeproof.pc"; }
# shellcheck disable=SC2046,SC2086
build_static() {
    $CC docs/example.c $(pc --cflags shapeproof) "$root$prefix/lib/libshapeproof.a" \
        $(pkg-config --libs $(pc --print-requires-private shapeproof)) $(private_libs) -o "$root/static"
}
# There zero is written {}.
# shellcheck disable=SC2046
build_cxx() {
    sed 's/= {0};/= {};/' docs/example.c >"$root/example.cc" &&
        c++ -std=c++11 -Wall -Wextra -Werror "$root/example.cc" $(pc --cflags --libs shapeproof) -o "$root/cxx"
}
# The projects of docs/examples, in copies: they build beside their sources.
build_with_make() {
    PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig "${MAKE:-make}" -C "$root/docs/examples/pkg-config" CC="$CC" \
        "CFLAGS=$(pc --cflags shapeproof)" "LDLIBS=$(pc --libs shapeproof)"
}
build_with_cmake() {
    cmake -S "$root/docs/examples/cmake" -B "$root/cmake" -DCMAKE_C_COMPILER="${CC%% *}" \
        -DCMAKE_PREFIX_PATH="$root$prefix" && cmake --build "$root/cmake"
}
refused_by_cmake() { # VERSION
    sed "s/find_package(shapeproof 0.1/find_package(shapeproof $1/" docs/examples/cmake/CMakeLists.txt \
        >"$root/docs/examples/cmake/CMakeLists.txt"
    ! cmake -S "$root/docs/examples/cmake" -B "$root/cmake-$1" -DCMAKE_PREFIX_PATH="$root$prefix"
}
run_example() { # PROGRAM
    "$1" fixtures/models/tiny-gpt2 fixtures/models/tiny-gpt2/config.json |
        grep -x 'match: all 28 tensors, 7,872 elements' && "$1" fixtures/gguf/models/llama.gguf | grep '^match: '
}
# The two must differ, or one of them was not what it says.
needs_library() { readelf -d "$root/shared" | grep -q libshapeproof.so.0; }
needs_no_library() { ! readelf -d "$root/static" | grep -q libshapeproof; }
exports_as_declared() {
    nm -D --defined-only "$root$prefix/lib/libshapeproof.so" | awk '{ print $3 }' | sort >"$root/exported"
    cat "$root$prefix"/include/shapeproof/*.h | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*SHAPEPROOF_API \([^(]*\)(.*/\1/p' | sed -n 's/.*[ *]\(shapeproof_[a-z0-9_]*\)$/\1/p' |
        sort -u >"$root/declared"
    diff "$root/declared" "$root/exported"
}
has_pages() {
    pages=$root$prefix/share/man/man1
    commands=$("$root$prefix/bin/shapeproof" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p')
    for command in $commands; do
        grep -q "^shapeproof\\\\-$command" "$pages/shapeproof-$command.1" || return
        grep -q "shapeproof\\\\-$command (1)" "$pages/shapeproof.1" || return
    done
    [ "$(find "$pages" -name 'shapeproof-*.1' | wc -l)" -ge 10 ]
}
pages_are_clean() {
    for page in "$root$prefix"/share/man/man1/*.1; do
        LC_ALL=C.UTF-8 man --warnings -l "$page" || return
    done >/dev/null 2>"$root/warnings"
    [ ! -s "$root/warnings" ] || { cat "$root/warnings"; false; }
}
# There is no date in the pages, so that the same source gives the same bytes.
pages_lint() { ! mandoc -T lint -W warning "$root$prefix"/share/man/man1/*.1 | grep -v 'missing date'; }
has_completions() {
    cmp docs/man/shapeproof.bash "$root$prefix/share/bash-completion/completions/shapeproof" &&
        cmp docs/man/shapeproof.fish "$root$prefix/share/fish/vendor_completions.d/shapeproof.fish" &&
        cmp docs/man/shapeproof.zsh "$root$prefix/share/zsh/site-functions/_shapeproof"
}
# Where `make install PREFIX=...` puts the function, and where the shells look for such files.
zsh_folder() {
    "${MAKE:-make}" --no-print-directory -n install DESTDIR= PREFIX="$1" | sed -n 's|.* \(.*\)/_shapeproof$|\1|p'
}
zsh_searches() {
    for at in /usr /usr/local; do zsh -fc 'print -l $fpath' | grep -qxF "$(zsh_folder $at)" || return; done
}
fish_searches() {
    mkdir -p "$root/home" && PATH=$root$prefix/bin:$PATH HOME=$root/home XDG_DATA_DIRS=$root$prefix/share \
        fish -c 'complete -C "shapeproof insp"' | grep '^inspect'
}
nothing_left() { [ -z "$(find "$root$prefix" ! -type d)" ] || { find "$root$prefix" ! -type d; false; }; }

run_make() {
    "${MAKE:-make}" --no-print-directory BUILD="${BUILD:-build}" CC="$CC" DESTDIR="$root" PREFIX=$prefix "$@"
}

expect "make install" run_make install
expect "the command runs" "$root$prefix/bin/shapeproof" --version
expect "a manual page for each command" has_pages
if command -v man >/dev/null; then expect "man takes the pages without a warning" pages_are_clean
else echo "[  SKIPPED ] the manual pages in man: it is not installed"; fi
if command -v mandoc >/dev/null; then expect "mandoc takes the pages without a warning" pages_lint
else echo "[  SKIPPED ] the manual pages in mandoc: it is not installed"; fi
expect "completion of shells" has_completions
if command -v zsh >/dev/null; then expect "zsh searches its folders" zsh_searches
else echo "[  SKIPPED ] whether zsh searches its folder: it is not installed"; fi
if command -v fish >/dev/null; then expect "fish searches its folder" fish_searches
else echo "[  SKIPPED ] whether fish searches its folder: it is not installed"; fi
expect "version in shapeproof.pc" pc --exists 'shapeproof >= 0.1'
expect "shared: builds" build_shared
expect "shared: runs" run_example "$root/shared"
expect "shared: uses libshapeproof.so.0" needs_library
expect "shared: exports what the headers declare" exports_as_declared
if command -v c++ >/dev/null; then
    expect "C++: builds" build_cxx
    expect "C++: runs" run_example "$root/cxx"
fi
mkdir -p "$root/docs/examples" && cp -r docs/examples/cmake docs/examples/pkg-config "$root/docs/examples" &&
    cp docs/example.c "$root/docs"
expect "the project with make and pkg-config: builds" build_with_make
expect "the project with make and pkg-config: runs" run_example "$root/docs/examples/pkg-config/example"
if command -v cmake >/dev/null; then
    expect "the project with CMake: builds" build_with_cmake
    expect "the project with CMake: runs" run_example "$root/cmake/example"
    expect "CMake: refuses a later version" refused_by_cmake 0.9
    expect "CMake: refuses another major version" refused_by_cmake 1.0
else echo "[  SKIPPED ] the project with CMake: it is not installed"; fi
expect "static: builds" build_static
expect "static: runs" run_example "$root/static"
expect "static: needs no libshapeproof.so" needs_no_library
expect "make uninstall" run_make uninstall
expect "uninstall leaves nothing" nothing_left
conclude
