#!/bin/sh
# SPDX-License-Identifier: MIT
# The directories are the architecture: fails on every #include that is not an allowed dependency between modules.
#
#   sh tests/lint/layers.sh [ROOT]
set -eu
cd "${1:-.}"

# Files (the longest beginning counts), the module they are in, and what they may include besides their own module, the
# system and the public headers: modules, or single headers of one.
rules='
include/                -            -
src/base/               base         -
src/base/system/linux   linux        base
src/model/              model        base
src/math/               math         base
src/read/               read  read/zip/archive.h read/torch/zip.h read/hdf5/keras_zip.h read/numpy/npz.h model base
src/read/nested.c       read         read/gzip model base
src/read/agent.c        read         read/zip/archive.h read/torch/judge.h model base
src/read/bundle.c       read         read/zip/archive.h read/tar model base
src/read/unlisted.c     read         read/gzip read/tar read/torch/judge.h model base
src/read/registry.c     read         read/tar/archive.h model base
src/read/gzip/          read/gzip    base
src/read/tar/           read/tar     model base
src/read/data           read  read/dcp/folder.h read/ranks/folder.h model base
src/read/directory      read  read/torch/judge.h read/dcp/folder.h read/ranks/folder.h model base
src/read/open           read  read/dcp/folder.h model base
src/read/safetensors/   read/safetensors  read model base
src/read/gguf/          read/gguf    read model base
src/read/flax/          read/flax    read model base
src/read/mxnet/         read/mxnet   read model base
src/read/numpy/         read/numpy   read model base
src/read/numpy/npz      read/numpy   read/zip read model base
src/read/onnx/          read/onnx    read model base
src/read/tensorflow/    read/tensorflow  read model base
src/read/pickle/        read/pickle  base
src/read/zip/           read/zip     read model base
src/read/torch/         read/torch   read/zip read/tar read/pickle read model base
src/read/ranks/         read/ranks   read model base
src/read/dcp/           read/dcp     read/torch/torch.h read/torch/judge.h read/pickle read model base
src/read/hdf5/          read/hdf5    read/hdf5/library.h read model base
src/read/hdf5/library   libhdf5      -
src/read/hdf5/keras_zip read/hdf5    read/zip read model base
src/net/                net          read model base
src/lang/syntax/        lang/syntax  base
src/lang/               lang         lang/syntax base
src/tables/             lang         -
src/tables/make_index.c tables       infer lang base
src/config/             config       model/keras_code.h model/format.h names lang base
src/keras/              keras        config lang model base
src/names/              names        base
src/match/              match        names model base
src/expect/             expect       explain/causes.def names lang/syntax base
src/stored/             stored       solve names config lang lang/syntax model base
src/check/              check        stored match expect names config lang lang/syntax model base
src/explain/            explain      load infer stored solve check match names config lang model base
src/load/               load         stored check match expect names config lang lang/syntax model base
src/diff/               diff         load/conversion.h load/loader.h load/renaming.h stored expect names model base
src/solve/              solve        names lang lang/syntax base
src/infer/              infer        load/loader.h stored solve match names config lang lang/syntax model base
src/infer/config.c      infer        load/value_kinds.h stored solve names lang base
src/learn/terms/      learn/terms  names config lang base
src/learn/rows/         learn/rows   learn/terms names config lang base
src/learn/              learn        learn/rows learn/terms names config lang base
src/prove/symbolic/     prove/symbolic  config lang math base
src/prove/              prove        prove/symbolic names config lang base
src/prove/shorten       prove        prove/symbolic lang/syntax/lexer.h lang base
src/prove/latex         prove        lang/syntax/parser.h lang base
src/prove/fit           prove        prove/symbolic lang/syntax/parser.h config lang base
src/verify/             verify       prove check names config lang model base
src/figures/            figures      verify prove/printed.h config lang model base
src/redact/             redact       model base
src/breakdown/          breakdown    names base
src/report/             report       names base
src/browse/             browse       report/common.h report/name_tree.h report/table.h report/wrap.h names base
src/fleet/              fleet        base
src/run/                run          read read/ranks/ranks.h model base
src/run/resume/ run/resume read/torch/contents.h read/ranks/ranks.h read/pickle read config/tokenizer.h names model base
src/run/resume/configuration  run/resume load/memory_names.h model base
src/cli/                cli          fleet browse base/suggest.h base/dtype_word.h base/utf8.h config/settings.h
src/cli/pager.c         cli          base/process/child.h base/system/system.h
src/cli/memory.c        cli          base/fault.h base/process/child.h
src/web/                web          cli fleet read/hdf5/keras_zip.h read/zip/archive.h read model base
'
# Foreign libraries stay behind the one module that wraps them.
foreign='
zip.h                   read/zip
zlib.h                  read/gzip
hdf5.h                  libhdf5
yaml.h                  config
curl/curl.h             net
curses.h                cli
term.h                  cli
seccomp.h               linux
linux/landlock.h        linux
linux/memfd.h           linux
sched.h                 linux
sys/auxv.h              linux
sys/prctl.h             linux
sys/signalfd.h          linux
sys/syscall.h           linux
'

find src include -name '*.[ch]' | sort | xargs awk -v rules="$rules" -v foreign="$foreign" '
function rule_of(path,   prefix, best) {
    for (prefix in module) if (index(path, prefix) == 1 && length(prefix) > length(best)) best = prefix
    return best
}
function blame(why) { print FILENAME ":" FNR ": " why; count++ }
BEGIN {
    lines = split(rules, line, "\n")
    for (i = 1; i <= lines; i++)
        if (split(line[i], word, " ")) { module[word[1]] = word[2]; allowed[word[1]] = " " line[i] " " }
    lines = split(foreign, line, "\n")
    for (i = 1; i <= lines; i++) if (split(line[i], word, " ")) wrapper[word[1]] = word[2]
}
FNR == 1 {
    files++
    rule = rule_of(FILENAME)
    here = module[rule]
    if (!rule) blame("belongs to no module of tests/lint/layers.sh")
}
/^[ \t]*#[ \t]*include[ \t]*</ {
    header = $0
    gsub(/^[^<]*<|>.*$/, "", header)
    if (header in wrapper && wrapper[header] != here) blame("<" header "> belongs to " wrapper[header])
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    header = $0
    gsub(/^[^"]*"|"[^"]*$/, "", header)
    if (header ~ /^shapeproof\/[a-z0-9_]+\.h$/) next
    there = module[rule_of("src/" header)]
    if (!there || header ~ /\.\./) blame("\"" header "\": write the path from src/ or include/")
    else if (there != here && !index(allowed[rule], " " header " ") && !index(allowed[rule], " " there " "))
        blame("\"" header "\": " here " may not include " there)
}
END {
    if (!files) { print "no sources"; count++ }
    exit count > 0
}' || exit 1
