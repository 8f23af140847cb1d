# SPDX-License-Identifier: MIT
# Turns the library of published models into C: LC_ALL=C awk -f embed.awk FILE.json... >models.c
# One string has all files: a name, a NUL, the text of the file, a NUL, the next name. The declarations are in
# src/config/published.h.

function put_quoted(text, ending) {
    gsub(/\\/, "&&", text)
    gsub(/["?]/, "\\\\&", text) # "?" so that no trigraph forms
    print "    \"" text ending "\""
}

BEGIN {
    print "/* Made by src/models/embed.awk. */\n#include \"config/published.h\"\n"
    print "const char sp_published_text[] ="
}

FNR == 1 {
    if (files++) put_quoted("", "\\0")
    name = FILENAME
    sub(/.*\//, "", name)
    put_quoted(name, "\\0")
}

{ put_quoted($0, "\\n") }

END {
    put_quoted("", "\\0")
    print "    ;\n\nconst size_t sp_published_file_count = " files + 0 ";"
}
