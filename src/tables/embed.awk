# SPDX-License-Identifier: MIT
# Turns table files into C: LC_ALL=C awk -f embed.awk FILE... >tables.c
# Each line of a table becomes one string literal, so that the C reads as the table does. Behind the texts stands what
# is in them, so that a table can be chosen without a look at the others. The declarations are in src/lang/builtin.h;
# the arrays end with an empty entry, which is not counted.

function quoted(text) {
    gsub(/\\/, "&&", text)
    gsub(/["?]/, "\\\\&", text) # "?" so that no trigraph forms
    return "\"" text "\""
}

function joined(list, more) { return list ? list ", " more : more }

# The texts in quotes of a directive, as the elements of an array: "a", "b".
function texts_of(line,   list, end) {
    list = ""
    sub(/^[ \t]*[a-z_]+/, "", line)
    while (line ~ /^[ \t,]*"/) {
        sub(/^[ \t,]*"/, "", line)
        end = index(line, "\"")
        list = joined(list, quoted(substr(line, 1, end - 1)))
        line = substr(line, end + 1)
    }
    return list
}

function counted(list, array) { return list ? array ", sizeof " array " / sizeof *" array : "NULL, 0" }

function end_unit(at) { if (units && from[units] == files - 1) end[units] = at }

# table NAME, part NAME(...), claims for NAME
function begin_unit(word, name) {
    end_unit(comment_at)
    units++
    kind[units] = word
    unit[units] = name
    if (word != "claims") {
        if (name in known) { print "#error two tables are called " name; exit 1 }
        known[name]
    }
    from[units] = files - 1
    begin[units] = comment_at
    lines[units] = FNR
    title[units] = comment
}

BEGIN { print "/* Made by src/tables/embed.awk. */\n#include \"lang/builtin.h\"\n" }

FNR == 1 {
    if (files) print "    ;"
    end_unit(offset)
    files++
    name[files] = FILENAME
    sub(/.*\//, "", name[files]) # messages name the file, not its folder
    if (name[files] in seen) { print "#error two tables are called " name[files]; exit 1 }
    seen[name[files]]
    folder[files] = FILENAME
    sub(/.*\/tables\//, "", folder[files]) # the kind is the folder below this one, whatever it is divided into
    sub(/\/.*/, "", folder[files])
    print "static const char text_" files "[] ="
    offset = 0
    comment = ""
}

!/^#/ && !commented { comment_at = offset; comment = "" }
/^#/ && !commented {
    comment_at = offset
    comment = $0
    sub(/^# */, "", comment)
    commented = 1
}
/^[ \t]*(table|part)[ \t]+[A-Za-z_]/ {
    match($0, /[ \t][A-Za-z_][A-Za-z0-9_]*/)
    begin_unit($1, substr($0, RSTART + 1, RLENGTH - 1))
}
/^[ \t]*claims[ \t]+for[ \t]+[A-Za-z_]/ { begin_unit("claims", $3) }
/^[ \t]*model_type[ \t]+"/ { model_types[units] = joined(model_types[units], texts_of($0)) }
/^[ \t]*architectures[ \t]+"/ { classes[units] = joined(classes[units], texts_of($0)) }
!/^#/ { commented = 0 }

{
    offset += length($0) + 1
    print "    " substr(quoted($0), 1, length(quoted($0)) - 1) "\\n\""
}

END {
    if (files) print "    ;\n"
    end_unit(offset)
    print "const struct sp_builtin_file sp_builtin_files[] = {"
    for (i = 1; i <= files; i++)
        printf "    {\"%s\", \"%s\", text_%d, sizeof text_%d - 1},\n", name[i], folder[i], i, i
    print "    {0},\n};\nconst size_t sp_builtin_file_count = " files + 0 ";\n"
    for (i = 1; i <= units; i++) {
        if (model_types[i]) print "static const char *const types_" i "[] = {" model_types[i] "};"
        if (classes[i]) print "static const char *const classes_" i "[] = {" classes[i] "};"
    }
    print "\nconst struct sp_builtin_unit sp_builtin_units[] = {"
    for (i = 1; i <= units; i++) {
        claims = kind[i] == "claims"
        printf "    {{%s, %s, %s, ", quoted((claims ? "claims for " : "") unit[i]), quoted(title[i]),
            claims ? quoted(unit[i]) : "NULL"
        printf "%s, %s, %s}, ", counted(model_types[i], "types_" i), counted(classes[i], "classes_" i),
            kind[i] == "table" ? "true" : "false"
        printf "%d, %d, %d, %d},\n", from[i], begin[i], end[i], lines[i]
    }
    print "    {.file = 0},\n};\nconst size_t sp_builtin_unit_count = " units + 0 ";"
}
