#!/bin/sh
# SPDX-License-Identifier: MIT
# Proves the promise of the README: on a machine with only git and make, one command installs what is missing,
# builds and runs. The first command gets a fresh root of each release (debootstrap, variant minbase), a clone of HEAD
# and nothing else: no terminal, no stdin, no pkg-config, no environment but PATH, HOME and the proxy variables. Those
# behind it go on where it ended; all of them install by the same `make deps`.
#
#   sudo sh tests/bare.sh [--release NAME]... [--static FILE] [--wheel FILE] [--host-ran COMMAND] [COMMAND...]
#
# FILEs are what `make static` and `make manylinux` have built on the host. The static command runs in a root before
# anything is installed there. The wheel gets a root of its own, where only python3-venv is installed, and python3-torch
# if that is possible.
#
# The releases are bookworm and trixie by default, on a host that is not Debian its own; the commands "make demo", the
# installation and the program of the README, "make test" and "make test CC=clang". Another command is .ci/run. What
# the host itself has run just now is left out in the root of the host's own release, where it would be the same
# compiler, libraries and tests once more. The tests of clang run in that root alone then: the others compile by
# clang, a fuzz target among it, and run the tests of gcc. Of the thousands of tables and claims that the host has
# tried, the roots try a sample (SHAPEPROOF_SAMPLE, tests/sample.h): the compiler and the libraries are others there,
# the tables are the same.
#
# Needs root and a Debian or Ubuntu host, whose mirror and apt settings are used. Where the system does not let root
# mount (in most containers), it says "skipped: ..." and ends with status 77.
#   BARE_DIR=/var/tmp/shapeproof-bare   where the roots go (about 3 GB); the base roots in it are kept for the next run
set -eu

dir=${BARE_DIR:-/var/tmp/shapeproof-bare}
cd "$(dirname "$0")/.."
. /etc/os-release

releases=
while [ "${1:-}" = --release ]; do
    releases="$releases ${2:?--release needs a name}"
    shift 2
done
static=
if [ "${1:-}" = --static ]; then
    static=$(realpath "${2:?--static needs a file}")
    shift 2
fi
wheel=
if [ "${1:-}" = --wheel ]; then
    wheel=$(realpath "${2:?--wheel needs a file}")
    shift 2
fi
host_ran=
if [ "${1:-}" = --host-ran ]; then
    host_ran=${2:?--host-ran needs a command}
    shift 2
fi
if [ -z "$releases" ] && [ "$ID" = debian ]; then releases=' bookworm trixie'; fi
releases=${releases:- ${VERSION_CODENAME:-}}
if [ $# = 0 ]; then
    # shellcheck disable=SC2016 # it is the root's shell that expands it
    compile='cc docs/example.c $(pkg-config --cflags --libs shapeproof) -o example'
    example="./example fixtures/models/tiny-llama fixtures/models/tiny-llama/config.json"
    set -- "make demo" "make install && $compile && $example" "make test" "make test CC=clang"
fi

# Deletes a root; before that, what a run that was killed left mounted in it, the innermost first.
discard() { # ROOT
    awk -v below="$1/" 'index($2, below) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n 1 umount &&
        rm -rf --one-file-system "$1"
}

# What making and entering a root takes, tried out, whatever a run that was killed has left.
can_make_roots() {
    discard "$dir/probe" && mkdir -p "$dir/probe/proc" && mount -t proc proc "$dir/probe/proc" &&
        mknod "$dir/probe/null" c 1 3 && echo >"$dir/probe/null" && chroot / true
}

skip() {
    echo "skipped: bare roots of$releases, needs root and mount (and device nodes in $dir)"
    exit 77
}

# The archive of the host's release in its apt sources, in either of apt's two notations; it has the others, too.
host_mirror() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
        awk -v release="${VERSION_CODENAME:-}" '
            $1 == "URIs:" { uri = $2 }
            $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^(https?|file):/) { uri = $i; break } }
            $1 == "deb" || $1 == "Suites:" { for (i = 2; i <= NF; i++) if ($i == release) { print uri; exit } }'
}

# What apt goes through, debootstrap and the commands go through.
host_proxies() {
    [ -n "${http_proxy:-}" ] || eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
    [ -n "${https_proxy:-}" ] || eval "$(apt-config shell https_proxy Acquire::https::Proxy)"
    export http_proxy https_proxy
}

make_base() { # RELEASE
    base=$dir/$1-git-make
    [ ! -e "$base/.complete" ] || return 0
    discard "$base"
    echo "making a root of $1"
    mirror=$(host_mirror)
    debootstrap --variant=minbase --include=git,make "$1" "$base" ${mirror:+"$mirror"} \
        >"$base.log" 2>&1 || { tail "$base.log" >&2; exit 1; }
    apt-config dump |
        grep -E '^Acquire::(http|https|ftp|Check|Retries)[^ ]* "[^"]' >"$base/etc/apt/apt.conf.d/99host" || :
    echo force-unsafe-io >"$base/etc/dpkg/dpkg.cfg.d/bare" # what lives for minutes need not reach the disk
    rm -f "$base"/var/cache/apt/archives/*.deb # a third of what is copied for each command
    touch "$base/.complete"
}

fresh_root() { # RELEASE
    discard "$dir/run"
    cp -a "$dir/$1-git-make" "$dir/run"
    cp -L /etc/resolv.conf /etc/hosts "$dir/run/etc/"
    git bundle create -q "$dir/run/shapeproof.bundle" HEAD
    mount -t proc proc "$dir/run/proc"
    # Pseudo-terminals of its own, for the tests of pager, progress and browser.
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$dir/run/dev/pts" 2>/dev/null ||
        echo "left out $1: tests at a terminal: this system does not mount devpts"
}

enter() { # COMMAND
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${http_proxy+http_proxy="$http_proxy"} \
        ${https_proxy+https_proxy="$https_proxy"} ${no_proxy+no_proxy="$no_proxy"} \
        ${host_ran:+SHAPEPROOF_SAMPLE=32} \
        chroot "$dir/run" /bin/sh -ec "cd /root
            [ -d shapeproof ] || git clone -q -c advice.detachedHead=false /shapeproof.bundle shapeproof
            cd shapeproof
            $1" </dev/null 9>&- # what it leaves running does not keep the lock
}

passed=0 failed=0
run() { # RELEASE COMMAND
    log=$dir/$(echo "$1 $2" | tr -cs 'a-z0-9\n' - | cut -c 1-60).log
    start=$(date +%s)
    if enter "$2" >"$log" 2>&1; then
        passed=$((passed + 1))
        grep -E '^(\[  SKIPPED \]|import )' "$log" || :
        echo "ok       $1: $2: $(tail -n 1 "$log") ($(($(date +%s) - start)) s)"
    else
        failed=$((failed + 1))
        tail -n 60 "$log" # tests/run.sh repeats there what failed
        echo "FAILED   $1: $2: see $log"
    fi
}

[ "$(id -u)" = 0 ] || skip
mkdir -p "$dir"
exec 9>"$dir/lock"
flock -n 9 || { echo "waiting for another run in $dir"; flock 9; }
trap 'discard "$dir/probe"; discard "$dir/run"' EXIT
trap 'exit 1' INT TERM HUP
can_make_roots || skip
discard "$dir/probe"
sh .ci/deps bare
host_proxies
for release in $releases; do
    make_base "$release"
    if [ -n "$wheel" ]; then
        fresh_root "$release"
        cp "$wheel" "$dir/run/"
        run "$release" "sh .ci/deps venv && { sh .ci/deps torch || :; } && sh tests/wheel.sh /$(basename "$wheel")"
    fi
    fresh_root "$release"
    if [ -n "$static" ]; then
        mkdir "$dir/run/static"
        cp "$static" "$dir/run/static/shapeproof"
        run "$release" 'SHAPEPROOF=/static/shapeproof sh tests/demo.sh'
    fi
    for command in "$@"; do
        if [ "$release" = "${VERSION_CODENAME:-}" ] && [ "$command" = "$host_ran" ]; then
            echo "left out $release: $command: the host has run it"
        elif [ -n "$host_ran" ] && [ "$release" != "${VERSION_CODENAME:-}" ] &&
            [ "$command" = "make test CC=clang" ]; then
            # shellcheck disable=SC2016 # it is the root's shell that expands it
            run "$release" 'make deps CC=clang && make -j"$(nproc)" all build/release/tests/fuzz/fuzz_check CC=clang'
        else run "$release" "$command"; fi
    done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
