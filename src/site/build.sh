#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the site: sh src/site/build.sh COMMAND BUILD, for `make site`. It is written to BUILD/site; the generator is
# installed below BUILD, by pip, if it is not there yet. With --fetch as COMMAND it only installs the generator.
set -eu
command=$1 build=$2
command -v python3 >/dev/null || { echo 'make site: there is no python3' >&2; exit 1; }

generator=$build/site-generator
if ! cmp -s src/site/requirements.txt "$generator/requirements.txt"; then
    rm -rf "$generator"
    python3 -m venv "$generator"
    "$generator/bin/pip" install --quiet --disable-pip-version-check -r src/site/requirements.txt
    cp src/site/requirements.txt "$generator"
fi

[ "$command" != --fetch ] || exit 0
work=$build/site-work
rm -rf "$work"
mkdir -p "$work"
cp -R docs "$work/pages"
cp .github/SECURITY.md .github/CODE_OF_CONDUCT.md src/site/site.css src/site/worker.js "$work/pages"
cp -R src/site/mkdocs.yml src/site/theme "$work"
"$generator/bin/python" -B src/site/make_pages.py "$command" "$work/pages" "$build/web/shapeproof.html"
# With --quiet it would not count warnings, and --strict would accept them.
NO_MKDOCS_2_WARNING=1 "$generator/bin/mkdocs" build --strict -f "$work/mkdocs.yml" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
rm -f "$work/html/404.html" # its links are for a site at the root of a host
rm -rf "$build/site"
mv "$work/html" "$build/site"
rm -rf "$work"
echo "$build/site/index.html"
