#!/bin/sh
# SPDX-License-Identifier: MIT
# Debian packages of what `make install` installs, for the release and the machine that they are built on:
#
#   shapeproof          the command, its manual pages and completions
#   libshapeproof0      the shared library
#   libshapeproof-dev   headers, the static library, the files for pkg-config and CMake
#
#   sh src/deb/build.sh STAGED VERSION OUTPUT
#
# STAGED is a tree of `make install DESTDIR=STAGED PREFIX=/usr`, which is taken apart; OUTPUT the folder for the
# packages. The times in them are SOURCE_DATE_EPOCH, or that of the commit, so that two builds of it are equal.
set -eu
mkdir -p "$3"
staged=$(cd "$1" && pwd) version=$2 output=$(cd "$3" && pwd)
license=$(cd "$(dirname "$0")/../.." && pwd)/LICENSE
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
machine=$(dpkg-architecture -qDEB_HOST_ARCH)
maintainer="${DEBFULLNAME:-shapeproof authors} <${DEBEMAIL:-shapeproof@users.noreply.github.com}>"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The files of a package, from below /usr: take PACKAGE FILE...
take() {
    package=$1
    shift
    for file; do
        mkdir -p "$work/$package/usr/$(dirname "$file")"
        mv "$staged/usr/$file" "$work/$package/usr/$file"
    done
}

# What every package has: a change log, and the licence.
put_documents() { # PACKAGE
    documents=$work/$1/usr/share/doc/$1
    mkdir -p "$documents"
    {
        printf 'shapeproof (%s) unstable; urgency=medium\n\n  * Built from the sources.\n\n' "$version"
        printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -R -u -d "@$SOURCE_DATE_EPOCH")"
    } | gzip -9n >"$documents/changelog.gz"
    {
        printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n'
        printf 'Upstream-Name: shapeproof\n\nFiles: *\n'
        sed -n 's/^Copyright (c) /Copyright: /p' "$license"
        printf 'License: Expat\n'
        sed '1,/^Copyright/d' "$license" | sed 's/^$/./; s/^/ /' | tail -n +2
    } >"$documents/copyright"
}

# The libraries that the program or library needs: "libc6 (>= 2.34), libzip4".
needs() { # PACKAGE FILE
    (cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "$1/$2" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
}

# build PACKAGE SECTION DEPENDS SUMMARY [FIELD...]; the long description is the standard input.
build() {
    package=$1 section=$2 depends=$3 summary=$4
    shift 4
    put_documents "$package"
    mkdir -p "$work/$package/DEBIAN"
    size=$(du -sk "$work/$package/usr" | cut -f1)
    {
        printf 'Package: %s\nSource: shapeproof\nVersion: %s\nArchitecture: %s\n' "$package" "$version" "$machine"
        printf 'Maintainer: %s\nInstalled-Size: %s\nSection: %s\nPriority: optional\n' "$maintainer" "$size" "$section"
        [ -z "$depends" ] || printf 'Depends: %s\n' "$depends"
        for field; do printf '%s\n' "$field"; done
        printf 'Description: %s\n' "$summary"
        sed 's/^/ /'
    } >"$work/$package/DEBIAN/control"
    (cd "$work/$package" && find usr -type f | LC_ALL=C sort | xargs md5sum >DEBIAN/md5sums)
    find "$work/$package" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    chmod -R u=rwX,go=rX "$work/$package"
    dpkg-deb --root-owner-group -Z"${DEB_COMPRESSION:-xz}" --build "$work/$package" "$output" >/dev/null
    echo "$output/${package}_${version}_$machine.deb"
}

cd "$staged/usr"
mkdir -p "lib/$multiarch/pkgconfig" # libraries are in the folder of the machine
mv lib/libshapeproof* lib/cmake "lib/$multiarch/"
sed "s|^libdir=.*|libdir=\${prefix}/lib/$multiarch|" lib/pkgconfig/shapeproof.pc \
    >"lib/$multiarch/pkgconfig/shapeproof.pc"
rm -r lib/pkgconfig
strip --strip-unneeded bin/shapeproof "lib/$multiarch/libshapeproof.so.$2"
strip --strip-debug --enable-deterministic-archives "lib/$multiarch/libshapeproof.a"
chmod 644 "lib/$multiarch/libshapeproof.so.$2"
find share/man -type f -exec gzip -9n {} +
mkdir -p "$work/debian"
printf 'Source: shapeproof\n\nPackage: shapeproof\nArchitecture: any\n' >"$work/debian/control" # for dpkg-shlibdeps

take libshapeproof0 "lib/$multiarch/libshapeproof.so.0" "lib/$multiarch/libshapeproof.so.$2"
# shellcheck disable=SC2046 # a name a line, without spaces
take libshapeproof-dev $(find include "lib/$multiarch" ! -type d | LC_ALL=C sort)
# shellcheck disable=SC2046
take shapeproof $(find . ! -type d | LC_ALL=C sort)

mkdir -p "$work/libshapeproof0/DEBIAN"
printf 'libshapeproof 0 libshapeproof0 (>= %s)\n' "$2" >"$work/libshapeproof0/DEBIAN/shlibs"
printf 'activate-noawait ldconfig\n' >"$work/libshapeproof0/DEBIAN/triggers"
build libshapeproof0 libs "$(needs libshapeproof0 "usr/lib/$multiarch/libshapeproof.so.$2")" \
    'tensor names, shapes and parameter counts of model checkpoints' 'Multi-Arch: same' <<'END'
Reads the names, types and shapes of the tensors in a checkpoint of a machine
learning model, and compares them with what its configuration promises.
END
build libshapeproof-dev libdevel "libshapeproof0 (= $version), libzip-dev, zlib1g-dev, libyaml-dev, \
libhdf5-dev, libseccomp-dev, libcurl4-gnutls-dev | libcurl4-openssl-dev" \
    'tensors of model checkpoints (development files)' 'Multi-Arch: same' <<'END'
The headers, the static library, and the files for pkg-config and CMake.
END
# The command loads libcurl only for remote checkpoints. The package of libcurl has another name since Debian 13.
build shapeproof science "$(needs shapeproof usr/bin/shapeproof)" \
    'checks the tensors of model checkpoints against their configuration' \
    'Recommends: libcurl4t64 | libcurl4, ca-certificates' 'Suggests: less' <<'END'
Reads the names, types and shapes of the tensors in a checkpoint of a machine
learning model, predicts from its hyper-parameters what it should hold, and
reports each difference together with its cause. Proves or refutes formulas
for the number of parameters.
END
