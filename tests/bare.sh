#!/bin/sh
# SPDX-License-Identifier: MIT
# Proves the promise of the README: on a machine with only git, gcc and make, one command installs what is missing,
# builds and runs. Each command gets its own fresh root (debootstrap, variant minbase), a clone of HEAD and nothing
# else: no terminal, no stdin, no pkg-config, no environment but PATH, HOME and the proxy variables.
#
#   sudo sh tests/bare.sh [COMMAND...]        (default: "make test" "make demo"; another is .ci/run)
#
# Needs root, debootstrap and a Debian or Ubuntu host, whose release, mirror and apt settings are used.
#   BARE_DIR=/var/tmp/shapeproof-bare   where the roots go (about 1 GB); the base root in it is kept for the next run
set -eu

dir=${BARE_DIR:-/var/tmp/shapeproof-bare}
cd "$(dirname "$0")/.."

[ "$(id -u)" = 0 ] || { echo "bare.sh: needs root" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "bare.sh: needs debootstrap" >&2; exit 2; }

# The first archive of the host's apt sources, in either of apt's two notations.
host_mirror() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
        awk '$1 == "URIs:" { print $2; exit }
             $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^[a-z]+:\/\//) { print $i; exit } }'
}

make_base() {
    [ -e "$dir/base/.complete" ] && return
    rm -rf "$dir/base"
    mkdir -p "$dir"
    debootstrap --variant=minbase --include=git,gcc,make "$(. /etc/os-release; echo "$VERSION_CODENAME")" \
        "$dir/base" "$(host_mirror)" >"$dir/debootstrap.log" 2>&1 || { tail "$dir/debootstrap.log" >&2; exit 1; }
    apt-config dump |
        grep -E '^Acquire::(http|https|ftp|Check|Retries)[^ ]* "[^"]' >"$dir/base/etc/apt/apt.conf.d/99host" || :
    touch "$dir/base/.complete"
}

root=
release() {
    [ -n "$root" ] || return 0
    umount "$root/proc" 2>/dev/null || :
    mountpoint -q "$root/proc" || rm -rf "$root"
    root=
}
trap release EXIT
trap 'exit 1' INT TERM HUP

run() { # COMMAND LOG
    root=$dir/run
    release # what a run that was killed left behind, and never the /proc that is still mounted there
    root=$dir/run
    [ ! -e "$root" ] || { echo "bare.sh: $root/proc is still mounted" >&2; exit 1; }
    cp -a "$dir/base" "$root"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    git bundle create -q "$root/shapeproof.bundle" HEAD
    mount -t proc proc "$root/proc"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${http_proxy+http_proxy="$http_proxy"} \
        ${https_proxy+https_proxy="$https_proxy"} ${no_proxy+no_proxy="$no_proxy"} \
        chroot "$root" /bin/sh -ec "cd /root
            git clone -q -c advice.detachedHead=false /shapeproof.bundle shapeproof
            cd shapeproof
            $1" \
        </dev/null >"$2" 2>&1
}

[ $# -gt 0 ] || set -- "make test" "make demo"
make_base
passed=0 failed=0
for command in "$@"; do
    log=$dir/$(echo "$command" | tr -c 'a-z0-9\n' -).log
    if run "$command" "$log"; then
        passed=$((passed + 1))
        echo "ok       $command: $(tail -n 1 "$log")"
    else
        failed=$((failed + 1))
        tail -n 20 "$log"
        echo "FAILED   $command: see $log"
    fi
    release
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
