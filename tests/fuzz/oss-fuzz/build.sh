#!/bin/bash -eu
# SPDX-License-Identifier: MIT
# Builds the fuzz targets as OSS-Fuzz wants them: each with its seeds in $OUT, and the shared libraries that it needs
# beside it. CC, CFLAGS, CXX, CXXFLAGS, LIB_FUZZING_ENGINE and OUT are those of OSS-Fuzz. On another machine:
#
#   OUT=/tmp/out CC=clang CXX=clang++ CFLAGS="-O1 -g -fsanitize=address,fuzzer-no-link" CXXFLAGS="$CFLAGS" \
#       LIB_FUZZING_ENGINE=-fsanitize=fuzzer bash tests/fuzz/oss-fuzz/build.sh

# MODE is none of the Makefile's, so that the flags are those of OSS-Fuzz alone. The compiler is newer than that of
# `make`: its warnings are no errors.
flags="$CFLAGS -Wno-error"
build="make -j$(nproc) MODE=oss-fuzz BUILD=build/oss-fuzz FORTIFY= HARDEN= BROWSE=no"
$build CC="$CC" CFLAGS="$flags" build/oss-fuzz/oss-fuzz/libshapeproof.a

packages='libzip zlib yaml-0.1 libseccomp'
if pkg-config --exists hdf5; then packages="$packages hdf5"; else packages="$packages hdf5-serial"; fi
# shellcheck disable=SC2086,SC2046 # flags are words
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    $CC $flags -std=c11 -Iinclude -Isrc -Itests $(pkg-config --cflags $packages) -c "$source" -o "build/$name.o"
    $CXX $CXXFLAGS "build/$name.o" $LIB_FUZZING_ENGINE build/oss-fuzz/oss-fuzz/libshapeproof.a \
        $(pkg-config --libs $packages) -lm -ldl -o "$OUT/$name"
    folders=$(sh tests/fuzz/seeds.sh "$name" "build/seeds/$name")
    # Files of several folders have one name; in the archive each has its checksum for a name.
    mkdir -p "build/corpus/$name"
    find "build/seeds/$name" $folders -maxdepth 1 -type f -size -64k ! -name '*.py' ! -name '*.md' |
        while read -r file; do cp "$file" "build/corpus/$name/$(sha1sum <"$file" | cut -c1-40)"; done
    (cd "build/corpus/$name" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
    printf '[libfuzzer]\nmax_len = 65536\nrss_limit_mb = 1024\ntimeout = 30\n' >"$OUT/$name.options"
    # The machine that runs the targets has no libraries but those of the C compiler.
    mkdir -p "$OUT/lib"
    ldd "$OUT/$name" | awk '/=> \// { print $3 }' | grep -vE '/(ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))[.-]' |
        xargs -r cp -u -t "$OUT/lib"
    patchelf --set-rpath '$ORIGIN/lib' "$OUT/$name"
done
