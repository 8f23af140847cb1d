#!/bin/sh
# SPDX-License-Identifier: MIT
# The archives of a release: the sources of HEAD, and the static command with its manual pages and completions.
#
#   sh src/dist/archive.sh VERSION MACHINE COMMAND LICENSES PAGES OUTPUT
#
# COMMAND is the static command for MACHINE, LICENSES the folder of the licences of what is linked into it, PAGES the
# folder of the manual pages of each command. OUTPUT gets both archives and SHA256SUMS of all archives in it. Names are
# sorted, and all times are SOURCE_DATE_EPOCH, or that of the commit, so that two builds of it are equal.
set -eu
version=$1 machine=$2 command=$3 licenses=$4 pages=$5 output=$6
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$output"

# One thread: what xz writes depends on how many there are.
compress() { ${DIST_COMPRESSION:-xz -9 -T1}; }

git archive --format=tar --prefix="shapeproof-$version/" HEAD | compress >"$output/shapeproof-$version.tar.xz"

name=shapeproof-$version-$machine-linux
tree=$work/$name
mkdir -p "$tree/bin" "$tree/share/man/man1" "$tree/share/doc/shapeproof" "$tree/share/zsh/site-functions" \
    "$tree/share/bash-completion/completions" "$tree/share/fish/vendor_completions.d"
cp "$command" "$tree/bin/shapeproof"
cp docs/man/shapeproof.1 "$pages"/*.1 "$tree/share/man/man1/"
cp docs/man/shapeproof.bash "$tree/share/bash-completion/completions/shapeproof"
cp docs/man/shapeproof.fish "$tree/share/fish/vendor_completions.d/shapeproof.fish"
cp docs/man/shapeproof.zsh "$tree/share/zsh/site-functions/_shapeproof"
cp README.md LICENSE "$tree/share/doc/shapeproof/"
cp -r "$licenses" "$tree/share/doc/shapeproof/libraries"
(cd "$work" && tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode='u=rwX,go=rX' --format=gnu -cf - "$name") | compress >"$output/$name.tar.xz"

(cd "$output" && sha256sum -- *.tar.xz >SHA256SUMS)
