# SPDX-License-Identifier: MIT
# What tests/cli/run.sh and tests/docs.sh share: run a command line, compare, count. To be read with `.` by sh, in the
# root of the project.
# shellcheck shell=sh

. tests/count.sh
status=0

# The command under test is found first, and nothing of the caller's terminal or language shows in its output.
mkdir "$work/bin"
ln -s "$(cd "$(dirname "${SHAPEPROOF:-build/shapeproof}")" && pwd)/$(basename "${SHAPEPROOF:-build/shapeproof}")" \
    "$work/bin/shapeproof"
ln -s "$PWD/tests/cli/safetensors.sh" "$work/bin/make_safetensors"
PATH=$work/bin:$PATH
LC_ALL=C.UTF-8
tmp=$work/tmp # for files that a case makes
export PATH LC_ALL tmp
mkdir "$tmp"
unset NO_COLOR COLUMNS
[ -x "$work/bin/shapeproof" ] || { echo "no command at ${SHAPEPROOF:-build/shapeproof}: run make"; exit 1; }

# What the command under test lacks, of the features that a case can need: `make PORTABLE=yes`, `make BROWSE=no` and
# `make asan`.
lacking=
! shapeproof --version | grep -q '^portable build' || lacking="$lacking sandbox"
! shapeproof browse . 2>&1 | grep -q 'built without a browser' || lacking="$lacking browser"
(ulimit -v 40000 && shapeproof --version) >/dev/null 2>&1 || lacking="$lacking memory-limit" # sanitizers need more
case ${OBJ:-} in *asan) slow=speed ;; *) slow= ;; esac # what it writes is the same: it records as well
lacks() { case " $lacking $slow " in *" $1 "*) true ;; *) false ;; esac }

# Without a sandbox there is a warning of each file that the HDF5 library reads, in text and in JSON; the recorded
# output is that of the usual build.
forget_warnings() {
    unsafe='the HDF5 library read it without a sandbox: '
    sed -i "/^warning: .*: $unsafe/d; s/\"warnings\": \[\"${unsafe}[^\"]*\"\]/\"warnings\": []/" "$1"
}
lacks sandbox || forget_warnings() { :; }

# A file that does not end its last line says so, as in a diff.
mark_open_end() {
    [ ! -s "$1" ] || [ -z "$(tail -c 1 "$1")" ] || printf '\n\\ no newline at the end\n' >>"$1"
}

# run_case LINE: stdout, stderr and $status of a command line; $? within it is the status of the one before.
run_case() {
    sh -c "(exit $status); $1" >"$work/stdout" 2>"$work/stderr" </dev/null
    status=$?
    forget_warnings "$work/stdout"
    forget_warnings "$work/stderr"
    mark_open_end "$work/stdout"
    mark_open_end "$work/stderr"
}

# judge WHAT EXPECTED ACTUAL
judge() {
    if cmp -s "$2" "$3"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s (- expected, + actual)\n' "$1"
        diff -u "$2" "$3" | sed 1,2d
    fi
}
