#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the libraries of docs/dependencies.md as static archives for another C library than that of this machine, from
# the source packages of Debian 12, with zig's C compiler. Debian has no static libzip, and no library that needs
# only an old glibc or musl.
#
#   sh src/dist/libraries.sh [--fetch] TARGET FOLDER
#
# With --fetch it only fetches what needs a network: the sources and the compiler.
# TARGET is one of zig's: x86_64-linux-musl, aarch64-linux-musl, x86_64-linux-gnu.2.17; or wasm32-wasi, which has no
# processes and therefore neither libseccomp nor libhdf5. FOLDER gets cc, ar and ranlib, which are the compiler for
# TARGET; include and lib; and licenses, with the versions and licences of what was built.
# What is there already is not built again. FOLDER/../sources and FOLDER/../zig are shared by all targets: the sources,
# in the versions of sources.txt, and the compiler from PyPI, which pip verifies by the hash in zig.txt. sources.txt has
# the hash of each package's .dsc file, which has the hashes of its archives; apt verifies it by Debian's keys, too.
#
# It needs apt, dpkg-source, cmake, gperf, python3 with venv, and a network for what is not in those folders yet. For
# another processor than this machine's it needs qemu-user as well: the build of HDF5 runs programs that look at the
# processor's types. Those for glibc need one to run with, which is not the one that they are linked with.
set -eu
unset MAKEFLAGS MAKELEVEL MFLAGS # what make was called with is not meant for the libraries
only_fetch=false
[ "$1" != --fetch ] || { only_fetch=true; shift; }
target=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shared=$(dirname "$folder")
here=$(cd "$(dirname "$0")" && pwd)
log=$folder/log
packages=$(cut -d' ' -f1 "$here/sources.txt" | tr '\n' ' ')
[ "$target" != wasm32-wasi ] || packages='zlib libzip libyaml' # for `make web`

machine=${target%%-*}
foreign= # what cmake has to know of another processor, or nothing
debian='cmake dpkg-dev gperf python3-venv'
tools='apt-get dpkg-source cmake gperf python3'
if [ "$machine" != "$(uname -m)" ] && [ "$target" != wasm32-wasi ]; then
    roots=/usr/$machine-linux-gnu
    foreign="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$machine"
    foreign="$foreign -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-$machine;-L;$roots"
    tools="$tools qemu-$machine"
    debian="$debian qemu-user"
    case $target in *-gnu*)
        debian="$debian libc6-$(echo "$machine" | sed 's/aarch64/arm64/')-cross"
        [ -e "$roots/lib/libc.so.6" ] || missing=" $roots"
        ;;
    esac
fi
for tool in $tools; do
    command -v "$tool" >/dev/null || missing="${missing:-} $tool"
done
if [ -n "${missing:-}" ]; then
    echo "the static libraries need:$missing (Debian: apt-get install $debian)" >&2
    exit 1
fi

# ---- what is fetched ----

fetch_compiler() {
    [ ! -x "$shared/zig/zig" ] || return 0
    python3 -m venv "$shared/zig"
    "$shared/zig/bin/pip" install -q --disable-pip-version-check --require-hashes --only-binary :all: \
        -r "$here/zig.txt"
    ln -sf "$("$shared/zig/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig" \
        "$shared/zig/zig"
}

# apt with a configuration of its own, so that the machine's stays what it is, and needs no root.
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$shared/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$shared/apt/lists" -o Dir::State::status="$shared/apt/status" \
        -o Dir::Cache="$shared/apt/cache" -o APT::Sandbox::User= "$@"
}

pinned() { awk -v name="$1" -v column="$2" '$1 == name { print $column }' "$here/sources.txt"; }

refuse_source() { # PACKAGE WHY
    rm -rf "$shared/sources/new"
    echo "$1 $(pinned "$1" 2) of src/dist/sources.txt: $2" >&2
    exit 1
}

# A source that is there, but in another version than sources.txt has, is fetched again.
fetch_sources() {
    for package in $packages; do
        [ "$(cat "$shared/sources/$package.version" 2>/dev/null)" = "$(pinned "$package" 2)" ] && continue
        rm -rf "$shared/sources/$package" "$shared"/*/build/"$package.done"
        wanted="${wanted:-} $package"
    done
    [ -n "${wanted:-}" ] || return 0
    mkdir -p "$shared/sources" "$shared/apt/lists/partial" "$shared/apt/cache/archives/partial"
    : >"$shared/apt/status"
    for suite in 'debian bookworm' 'debian bookworm-updates' 'debian-security bookworm-security'; do
        echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/$suite main"
    done >"$shared/apt/sources.list"
    apt update
    for package in $wanted; do
        version=$(pinned "$package" 2)
        mkdir -p "$shared/sources/new"
        (cd "$shared/sources/new" && apt source --only-source "$package=$version") >"$shared/sources/log" 2>&1 ||
            { cat "$shared/sources/log" >&2; refuse_source "$package" "Debian 12 does not offer it any more"; }
        echo "$(pinned "$package" 3)  $(echo "$shared"/sources/new/*.dsc)" | sha256sum --check --quiet >&2 ||
            refuse_source "$package" "its .dsc file has another hash"
        mv "$shared"/sources/new/*/ "$shared/sources/$package"
        echo "$version" >"$shared/sources/$package.version"
        rm -r "$shared/sources/new"
    done
}

# ---- what is built ----

# Paths of this machine must not be in what is built, so that two machines build the same bytes.
write_tools() {
    mkdir -p "$folder/build" "$folder/include" "$folder/lib"
    for tool in ar ranlib; do printf '#!/bin/sh\nexec %s %s "$@"\n' "$shared/zig/zig" $tool >"$folder/$tool"; done
    cat >"$folder/cc" <<END
#!/bin/sh
ZIG_GLOBAL_CACHE_DIR=$shared/zig/cache ZIG_LOCAL_CACHE_DIR=$shared/zig/cache \\
    exec $shared/zig/zig cc -target $target -fno-sanitize=undefined -isystem $folder/include "\$@"
END
    chmod +x "$folder/cc" "$folder/ar" "$folder/ranlib"
}

flags="-O2 -fPIC -ffile-prefix-map=$shared=."

# with_cmake PACKAGE OPTION...: builds it and installs it into the folder. What HDF5's checks write, it looks for where
# cmake was called. Options for CMake 4 go unused by older ones.
with_cmake() {
    package=$1
    shift
    # shellcheck disable=SC2086 # options
    mkdir -p "$folder/build/$package" && cd "$folder/build/$package" &&
        cmake -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$folder" \
            -DCMAKE_FIND_ROOT_PATH="$folder" -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
            -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_C_COMPILER="$folder/cc" -DCMAKE_AR="$folder/ar" \
            -DCMAKE_RANLIB="$folder/ranlib" -DCMAKE_C_FLAGS="$flags" -DCMAKE_BUILD_TYPE=None \
            -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF $foreign "$@" \
            "$shared/sources/$package" &&
        cmake --build . -j "$(nproc)" && cmake --install .
}

with_configure() { # PACKAGE OPTION...
    package=$1
    shift
    mkdir -p "$folder/build/$package"
    (cd "$folder/build/$package" && CC=$folder/cc AR=$folder/ar RANLIB=$folder/ranlib CFLAGS=$flags \
        "$shared/sources/$package/configure" --host="$machine-linux" --prefix="$folder" "$@" &&
        make -j "$(nproc)" && make install)
}

# Only what shapeproof uses: inflating, no encryption; reading HDF5, with no tools and no second language.
build() {
    case $1 in
    zlib)
        cp -r "$shared/sources/zlib" "$folder/build/" && # its configure writes beside the sources
            (cd "$folder/build/zlib" && CC=$folder/cc AR=$folder/ar RANLIB=$folder/ranlib CFLAGS=$flags \
                ./configure --static --prefix="$folder" && make -j "$(nproc)" libz.a && make install)
        ;;
    libzip)
        # WASI has no dup(); only zip_fdopen calls it, which nothing links.
        [ "$target" != wasm32-wasi ] || flags="$flags -Wno-implicit-function-declaration"
        with_cmake libzip -DENABLE_COMMONCRYPTO=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DENABLE_OPENSSL=OFF \
            -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF -DENABLE_ZSTD=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF \
            -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF
        ;;
    libyaml) with_cmake libyaml -DINSTALL_CMAKE_DIR=lib/cmake/yaml ;;
    libseccomp) with_configure libseccomp --disable-shared --disable-python ;;
    hdf5)
        flags="$flags -w -Wno-implicit-int" # as clang 16 and later demand of a C that HDF5 1.10 is not
        with_cmake hdf5 -DHDF5_BUILD_HL_LIB=OFF -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_FORTRAN=OFF \
            -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_ENABLE_Z_LIB_SUPPORT=ON \
            -DHDF5_ENABLE_EMBEDDED_LIBINFO=OFF -DHDF5_ENABLE_SZIP_SUPPORT=OFF
        ;;
    curl) cp -r "$shared/sources/curl/include/curl" "$folder/include/" ;; # the header: see docs/dependencies.md
    esac
}

fetch_compiler
fetch_sources
! $only_fetch || exit 0
write_tools
for package in $packages; do
    [ ! -e "$folder/build/$package.done" ] || continue
    echo "  LIBRARY $target $package $(cat "$shared/sources/$package.version")"
    rm -rf "$folder/build/$package"
    (build "$package") >"$log" 2>&1 || { tail -n 40 "$log" >&2; echo "see $log" >&2; exit 1; }
    touch "$folder/build/$package.done"
done

# What a file that contains them has to say: which they are, and under which licences.
mkdir -p "$folder/licenses"
for package in $packages; do
    [ "$package" != curl ] || continue
    echo "$package $(cat "$shared/sources/$package.version")"
    cp "$shared/sources/$package/debian/copyright" "$folder/licenses/$package"
done >"$folder/licenses/versions"
echo "zig $("$shared/zig/zig" version) (its C library: $target)" >>"$folder/licenses/versions"
