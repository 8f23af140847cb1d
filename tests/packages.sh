#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian packages of `make deb`, and the archives of `make dist`: two builds have the same bytes, whatever the umask
# and the times of the files are, and hold what they should. lintian judges the packages, where it is installed. In
# place of the static command, which takes minutes to build, the archive gets the command of this machine. Packages
# and archives are compressed fast.
#
# From the environment: SHAPEPROOF, the command of this machine.
set -u

unset MAKEFLAGS MAKELEVEL
. tests/count.sh
version=$(sed -n 's/^VERSION := //p' Makefile)
export DEB_COMPRESSION=gzip DIST_COMPRESSION='gzip -1n'

# ---- Debian packages ----

install_files() {
    "${MAKE:-make}" --no-print-directory BUILD="${BUILD:-build}" CC="${CC:-cc}" DESTDIR="$work/staged" PREFIX=/usr \
        install
}
# Builds them in $work/N from copies of the installed files that are older with each build.
build_packages() { # N UMASK
    (
        umask "$2"
        cp -R "$work/staged" "$work/staged$1" && find "$work/staged$1" -exec touch -h -d "-$1 days" {} + &&
            sh src/deb/build.sh "$work/staged$1" "$version" "$work/$1"
    )
}
same_files() { # FOLDER FOLDER
    (cd "$1" && sha256sum -- *) >"$1.sums" && (cd "$2" && sha256sum -- *) >"$2.sums" && [ -s "$1.sums" ] &&
        diff "$1.sums" "$2.sums"
}
unpack_packages() {
    for package in "$work"/1/*.deb; do dpkg-deb -x "$package" "$work/unpacked" || return; done
}
packages_lint() {
    lintian --no-cfg --allow-root "$work"/1/*.deb >"$work/lint"
    [ ! -s "$work/lint" ] || { cat "$work/lint"; return 1; }
}
shared_library_is_found() {
    [ -e "$work/unpacked/usr/lib/$multiarch/libshapeproof.so.0" ] &&
        [ -e "$work/unpacked/usr/lib/$multiarch/libshapeproof.so" ] &&
        grep -q "^libdir=.*/$multiarch\$" "$work/unpacked/usr/lib/$multiarch/pkgconfig/shapeproof.pc"
}

if command -v dpkg-deb >/dev/null && multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null); then
    expect "Debian packages: the files" install_files
    expect "Debian packages: built" build_packages 1 022
    expect "Debian packages: built again" build_packages 2 077
    expect "Debian packages: both are equal" same_files "$work/1" "$work/2"
    expect "Debian packages: unpacked" unpack_packages
    expect "Debian packages: the command runs" "$work/unpacked/usr/bin/shapeproof" check fixtures/models/tiny-llama
    expect "Debian packages: the library is where the linker looks" shared_library_is_found
    if command -v lintian >/dev/null; then expect "Debian packages: lintian is silent" packages_lint
    else echo "[  SKIPPED ] the Debian packages in lintian: it is not installed"; fi
else echo "[  SKIPPED ] the Debian packages: there is no dpkg-deb or no dpkg-dev"; fi

# ---- archives ----

# In folders of other names, with other times and another umask.
build_archives() { # N UMASK
    (
        umask "$2"
        mkdir "$work/licenses$1" "$work/pages$1" "$work/command$1" && echo MIT >"$work/licenses$1/zlib" &&
            shapeproof_page >"$work/pages$1/shapeproof-check.1" &&
            cp "$SHAPEPROOF" "$work/command$1/shapeproof" &&
            find "$work/licenses$1" "$work/pages$1" "$work/command$1" -exec touch -d "-$1 days" {} + &&
            sh src/dist/archive.sh "$version" "$(uname -m)" "$work/command$1/shapeproof" "$work/licenses$1" \
                "$work/pages$1" "$work/archives$1"
    )
}
shapeproof_page() { "$SHAPEPROOF" help --man check; }
sums_agree() { (cd "$work/archives1" && sha256sum --check --quiet SHA256SUMS && [ "$(wc -l <SHA256SUMS)" = 2 ]); }
unpack_archive() {
    gzip -dc "$work/archives1/shapeproof-$version-$(uname -m)-linux.tar.xz" | tar -xf - -C "$work"
    tree=$work/shapeproof-$version-$(uname -m)-linux
    for file in share/man/man1/shapeproof.1 share/man/man1/shapeproof-check.1 share/doc/shapeproof/LICENSE \
        share/doc/shapeproof/libraries/zlib share/bash-completion/completions/shapeproof; do
        [ -s "$tree/$file" ] || { echo "there is no $file"; return 1; }
    done
    "$tree/bin/shapeproof" --version
}

if git rev-parse HEAD >/dev/null 2>&1; then
    expect "archives: built" build_archives 1 022
    expect "archives: built again" build_archives 2 077
    expect "archives: both are equal" same_files "$work/archives1" "$work/archives2"
    expect "archives: SHA256SUMS has them" sums_agree
    expect "archives: the command and its pages are in one of them" unpack_archive
else echo "[  SKIPPED ] the archives: this is no clone"; fi
conclude
