# SPDX-License-Identifier: MIT
# Turns table files into C: awk -f embed.awk FILE... >tables.c
# Each line of a table becomes one string literal, so that the C reads as the table does.
# The declarations are in src/lang/builtin.h; the array ends with an empty entry, which is not counted.

BEGIN { print "/* Made by src/tables/embed.awk. */\n#include \"lang/builtin.h\"\n" }

FNR == 1 {
    if (files) print "    ;"
    files++
    name[files] = FILENAME
    sub(/.*\//, "", name[files]) # messages name the file, not its folder
    if (name[files] in seen) { print "#error two tables are called " name[files]; exit 1 }
    seen[name[files]]
    print "static const char text_" files "[] ="
}

{
    gsub(/\\/, "&&")
    gsub(/["?]/, "\\\\&") # "?" so that no trigraph forms
    print "    \"" $0 "\\n\""
}

END {
    if (files) print "    ;\n"
    print "const struct sp_builtin_file sp_builtin_files[] = {"
    for (i = 1; i <= files; i++) printf "    {\"%s\", text_%d, sizeof text_%d - 1},\n", name[i], i, i
    print "    {0},\n};\nconst size_t sp_builtin_file_count = " files + 0 ";"
}
