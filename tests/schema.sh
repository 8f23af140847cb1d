#!/bin/sh
# SPDX-License-Identifier: MIT
# Holds what the command writes against the schemas of its documents: JSON against docs/schema, SARIF and JUnit XML
# against the schemas that OASIS and Jenkins publish. tests/schema.py is the judge.
#
#   SHAPEPROOF_SCHEMAS=DIR sh tests/schema.sh
#
# DIR has the published schemas, which are not in this repository: sarif-schema-2.1.0.json of
# github.com/oasis-tcs/sarif-spec (in Schemata; OASIS grants no licence that fits here), and junit-10.xsd of
# github.com/jenkinsci/xunit-plugin. Without them SARIF and JUnit are skipped, and without python3-jsonschema
# everything is. JUnit also needs xmllint.
#
# The documents are those of every command line of tests/cli/*.test, run once more with --json, and those of inspect
# and check about each file and folder in fixtures. SHAPEPROOF_SAMPLE says that another machine has held all of them;
# that this one writes the same documents is told by the recorded output, so that nothing is held once more.
set -u
cd "$(dirname "$0")/.." || exit 1
OBJ=${OBJ:-build/release}
. tests/cli/harness.sh

skip() {
    echo "[  SKIPPED ] schemas: $1"
    echo '0 passed, 0 failed'
    exit 0
}
case $OBJ in *asan) skip 'not under AddressSanitizer, where tests/cli/run.sh runs the same command lines' ;; esac
[ -z "${SHAPEPROOF_SAMPLE:-}" ] || skip 'another machine has held these documents (SHAPEPROOF_SAMPLE)'
python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null ||
    skip 'there is no python3-jsonschema 4 (Debian), jsonschema (PyPI)'

out=$work/documents
real=$(readlink "$work/bin/shapeproof")
mkdir "$out"

# In the place of the command: it is run with --json, unless it has a format or no JSON, and what it writes is kept.
rm "$work/bin/shapeproof"
cat >"$work/bin/shapeproof" <<END
#!/bin/sh
kept=\$(mktemp "$out/XXXXXX")
json=--json
case " \$* " in *" --format"* | *" --json "* | *" --csv "* | *" --markdown "* | *" - "* | *" -- "*) json= ;; esac
[ \$# -gt 0 ] || json=
status=2
[ ! "\$json" ] || { "$real" "\$@" \$json >"\$kept" 2>"\$kept.messages"; status=\$?; }
if [ \$status = 2 ]; then "$real" "\$@" >"\$kept"; status=\$?; else cat "\$kept.messages" >&2; fi
rm -f "\$kept.messages"
cat "\$kept"
exit \$status
END
chmod +x "$work/bin/shapeproof"

# solve.test takes as long as all others together: what its documents can have is below.
for file in tests/cli/*.test; do
    case $file in */solve.test | */frame.test | */manual.test | */harness.test | */trace.test) continue ;; esac
    sed -n 's/^\$ //p' "$file" >"$work/lines"
    status=0
    while IFS= read -r line; do run_case "$line"; done <"$work/lines"
    rm -rf "$tmp"
    mkdir "$tmp"
done

find fixtures -type f | sort | xargs "$real" inspect --json >"$out/inspect" 2>/dev/null
find fixtures -mindepth 2 | sort >"$work/paths"
"$real" check --list "$work/paths" >"$out/check" 2>/dev/null
"$real" check --list "$work/paths" --format sarif >"$out/sarif" 2>/dev/null
"$real" check --list "$work/paths" --format junit >"$out/junit" 2>/dev/null
claims=docs/examples/publications.shapes
"$real" prove --list "$work/paths" --claims $claims >"$out/prove" 2>/dev/null
for format in sarif junit; do
    "$real" prove --list "$work/paths" --claims $claims --format $format >"$out/prove.$format" 2>/dev/null
    "$real" prove --format $format >"$out/book.$format"
done
# What those command lines leave out.
shapeproof check fixtures/models/tiny-gpt2 --fit 1GiB --tokens 4 >/dev/null
shapeproof derive ace_step >/dev/null
shapeproof diff fixtures/torch/bad/one_broken.pt fixtures/torch/ok/flat.pt >/dev/null
shapeproof diff fixtures/models/tiny-gpt2/pytorch_model.bin fixtures/models/odd-gpt2 >/dev/null
shapeproof eval gpt2 '12*L*d^2' total --for n_embd=96,x >/dev/null
shapeproof learn --like llama --name mine fixtures/models/tiny-llama >/dev/null
printf 'table t\nn = n default 2\n\n[all]\na (n, n) F32\n' >"$work/t.shapes"
shapeproof predict --table "$work/t.shapes" t --stored >/dev/null
shapeproof predict --config fixtures/models/tiny-llama/config.json --stored \
    --set quantization_config.quant_method=gptq --set quantization_config.bits=4 \
    --set quantization_config.group_size=8 >/dev/null
shapeproof solve gpt2 --total 124439808 --set vocab_size=50000 >/dev/null
shapeproof solve gpt2 --total 163037184 >/dev/null
shapeproof solve gpt2 --total 350000000 --within 2 >/dev/null
shapeproof solve --config fixtures/models/tiny-llama/config.json --measure 'cache(tokens=8, dtype=bf16)' \
    --at-most 1024 >/dev/null
shapeproof solve attention_is_all_you_need --rounds-to 53M --set filter_size=1024 >/dev/null
shapeproof solve gpt2 --set n_head=12 --total 354823168 --free n_layer,n_embd --keep n_embd/n_head >/dev/null
shapeproof solve gpt2 --set n_head=12 --rounds-to 350M --free n_layer,n_embd --keep n_embd/n_head >/dev/null
shapeproof solve gpt2 --set n_head=12 --total 354823168 --within 0.1 --free n_layer,n_embd >/dev/null

schemas=${SHAPEPROOF_SCHEMAS-}
if [ -f "$schemas/sarif-schema-2.1.0.json" ]; then
    python3 tests/schema.py --sarif "$schemas/sarif-schema-2.1.0.json" "$out"/* >"$work/judged"
else
    echo '[  SKIPPED ] SARIF: SHAPEPROOF_SCHEMAS has no sarif-schema-2.1.0.json'
    python3 tests/schema.py "$out"/* >"$work/judged"
fi
cat "$work/judged"
counts=$(tail -n 1 "$work/judged")
passed=${counts%% *}
failed=$(echo "$counts" | cut -d ' ' -f 3)

# An attribute that JUnit does not have shows that the judge looks.
if [ -f "$schemas/junit-10.xsd" ] && command -v xmllint >/dev/null; then
    sed 's/<testcase /&colour="red" /' "$out/junit" >"$work/wrong"
    for file in $(grep -l '^<?xml' "$out"/*); do
        if xmllint --noout --schema "$schemas/junit-10.xsd" "$file" 2>"$work/why"; then passed=$((passed + 1)); else
            failed=$((failed + 1))
            head -n 3 "$work/why"
        fi
    done
    if xmllint --noout --schema "$schemas/junit-10.xsd" "$work/wrong" 2>/dev/null; then
        failed=$((failed + 1))
        echo 'FAILED: JUnit with an attribute of another kind is valid'
    else passed=$((passed + 1)); fi
else
    echo '[  SKIPPED ] JUnit: SHAPEPROOF_SCHEMAS has no junit-10.xsd, or there is no xmllint'
fi
conclude
