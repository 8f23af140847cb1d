# SPDX-License-Identifier: MIT
# What tests in shell share: a folder that is removed at the end, and checks that are counted. To be read with `.` by
# sh.
# shellcheck shell=sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# expect WHAT COMMAND...: counts whether the command succeeds; of one that fails, the end of its output is shown.
expect() {
    what=$1
    shift
    if "$@" >"$work/log" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        tail -n 40 "$work/log"
        echo "FAILED: $what"
    fi
}

# The closing line, and the status: nothing run is a failure too.
conclude() {
    echo "$passed passed, $failed failed"
    [ $failed = 0 ] && [ $passed != 0 ]
}
