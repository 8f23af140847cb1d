#!/bin/sh
# SPDX-License-Identifier: MIT
# Each message with which src/read refuses a file must be in a test: as a string of a unit test or in recorded output,
# with anything in place of what is printed into it. It must stand there from its beginning, or behind ": ", to the end
# of a line or of what is in brackets or quoted. So a new refusal without a test fails here, but for a text that is a
# parameter of a function. That a test really causes it, only `make coverage` can tell (tests/coverage.sh --refusals).
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C

# Those without a test, below the reason: FILE<tab>MESSAGE.
untested() {
    grep '^src/' <<'END'
A file or memory of hundreds of megabytes, or seconds, would be needed:
src/read/dcp/metadata.c	chunks that need more than %d bytes
src/read/dcp/metadata.c	more than %d chunks
src/read/dcp/metadata.c	names and shapes of more than %d bytes
src/read/dcp/storage.c	storage_data needs more than %d bytes
src/read/nested.c	names and shapes of more than %d bytes
src/read/ranks/reader.c	more than %d tensors in all ranks
src/read/torch/legacy.c	the pickles are longer than %d bytes
src/read/torch/model_states.c	more than %d shapes in param_shapes
src/read/torch/package.c	names and shapes of more than %d bytes
src/read/torch/storage.c	too many storages: %zu
src/read/torch/tar.c	too many storages
src/read/torch/walk.c	more than %d paths through the objects
src/read/torch/walk.c	more than %d tensors cannot be read
Reading the file finds the fault first; it is looked for again when data are read:
src/read/pieces.c	no piece has element %zu
src/read/torch/zip.c	record '%s' is shorter than its tensors
Fewer than LITERAL letters to be found by; most are in a test:
src/read/directory.c	open: %s
src/read/flax/reader.c	%s
src/read/hdf5/index.c	%s
src/read/hdf5/index.c	read: %s
src/read/mxnet/reader.c	%s: dimension %
src/read/onnx/reader.c	%s
src/read/pickle/machine.c	%s: %s: %s
src/read/proto.c	%s: %s
src/read/ranks/files.c	open: %s
src/read/registry.c	empty file
src/read/registry.c	this is %s
src/read/safetensors/reader.c	'%s' is missing
src/read/subfolders.c	this is %s
END
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046 # names without blanks
awk -f tests/refusals.awk $(find tests -name '*.c') >"$work/said"
cat tests/cli/*.test >>"$work/said"
# shellcheck disable=SC2046
awk -v calls='sp_(malformed|fail)[(]' -f tests/refusals.awk $(find src/read -name '*.c') | sort -u >"$work/messages"
cut -f2- "$work/messages" |
    sed 's/[][\.^$*+?(){}|]/\\&/g; s/%[-0-9]*\(\\\.[\*0-9]*\)*[hlzj]*[a-zA-Z]/.*/g; s/%'"$(printf '\001')"'/.*/g
         s/'"$(printf '\001')"'/.*/g; s/%%/%/g' >"$work/patterns"
failed=0
LITERAL=10 # letters and digits: shorter texts are in strings of other tests, too
exec 3<"$work/patterns"
while IFS= read -r message; do
    IFS= read -r pattern <&3
    words=$(printf '%s' "$pattern" | sed 's/\.\*//g; s/[^A-Za-z0-9]//g')
    [ "${#words}" -ge $LITERAL ] && grep -qE -- "(^|: )$pattern(\$|[)\"])" "$work/said" || printf '%s\n' "$message"
done <"$work/messages" | tr -d '\001' >"$work/found"
passed=$(($(wc -l <"$work/messages") - $(wc -l <"$work/found")))
untested | sort -u >"$work/expected"
sort -u -o "$work/found" "$work/found"
if ! diff "$work/expected" "$work/found" >"$work/diff"; then
    failed=1
    echo 'refusals without a test (>), and refusals of the list that have one or are gone (<):'
    grep '^[<>]' "$work/diff"
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
