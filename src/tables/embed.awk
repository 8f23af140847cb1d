# SPDX-License-Identifier: MIT
# Turns table files into C: LC_ALL=C awk -f embed.awk FILE... >tables.c
# Each line of a table becomes one string literal, so that the C reads as the table does. Behind the texts stands what
# is in them, so that a table can be chosen without a look at the others. The declarations are in src/lang/builtin.h;
# the arrays of numbers end with an empty entry, which is not counted.

function put_quoted(text, ending) {
    gsub(/\\/, "&&", text)
    gsub(/["?]/, "\\\\&", text) # "?" so that no trigraph forms
    print "    \"" text ending "\""
}

# The texts in quotes of a directive, behind others, each with a line feed at its end.
function texts_of(list, line,   end) {
    sub(/^[ \t]*[a-z_]+/, "", line)
    while (line ~ /^[ \t,]*"/) {
        sub(/^[ \t,]*"/, "", line)
        end = index(line, "\"")
        list = list substr(line, 1, end - 1) "\n"
        line = substr(line, end + 1)
    }
    return list
}

function put_word(word) {
    put_quoted(word, "\\0")
    place[words++] = place_behind + 0
    place_behind += length(word) + 1
}

# So many words.
function put_words(list,   count, i, word) {
    count = split(list, word, "\n") - 1
    for (i = 1; i <= count; i++) put_word(word[i])
    return count > 0 ? count : 0
}

function end_file() {
    if (!files) return
    end_unit(offset)
    put_quoted("", "\\0")
    size[files] = offset
    text[files + 1] = text[files] + offset + 1
}

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

BEGIN {
    print "/* Made by src/tables/embed.awk. */\n#include \"lang/builtin.h\"\n"
    print "const char sp_builtin_text[] = \"\""
}

FNR == 1 {
    end_file()
    files++
    name[files] = FILENAME
    sub(/.*\//, "", name[files]) # messages name the file, not its folder
    if (name[files] in seen) { print "#error two tables are called " name[files]; exit 1 }
    seen[name[files]]
    folder[files] = FILENAME
    sub(/.*\/tables\//, "", folder[files]) # the kind is the folder below this one, whatever it is divided into
    sub(/\/.*/, "", folder[files])
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
/^[ \t]*(claim|erratum|example)[ \t]/ { claimed[units] = 1 }
/^[ \t]*model_type[ \t]+"/ { types[units] = texts_of(types[units], $0) }
/^[ \t]*architectures[ \t]+"/ { classes[units] = texts_of(classes[units], $0) }
!/^#/ { commented = 0 }

{
    offset += length($0) + 1
    put_quoted($0, "\\n")
}

END {
    end_file()
    print "    ;\n\nconst char sp_builtin_names[] = \"\""
    for (i = 1; i <= files; i++) {
        file_words[i] = words
        put_words(name[i] "\n" folder[i] "\n")
    }
    for (i = 1; i <= units; i++) {
        unit_words[i] = words
        put_words((kind[i] == "claims" ? "claims for " : "") unit[i] "\n" title[i] "\n")
        type_count[i] = put_words(types[i])
        class_count[i] = put_words(classes[i])
    }
    print "    ;\n\nconst uint32_t sp_builtin_words[] = {"
    for (i = 0; i < words; i++) print "    " place[i] ","
    print "    0};\nconst size_t sp_builtin_word_count = " words + 0 ";\n"
    print "const struct sp_builtin_file sp_builtin_files[] = {"
    for (i = 1; i <= files; i++) printf "    {%d, %d, %d},\n", file_words[i], text[i], size[i]
    print "    {0}};\nconst size_t sp_builtin_file_count = " files + 0 ";\n"
    print "const struct sp_builtin_unit sp_builtin_units[] = {"
    for (i = 1; i <= units; i++)
        printf "    {%d, %d, %d, %d, %d, %d, %d, %d, %d, %d},\n", unit_words[i], type_count[i], class_count[i],
            kind[i] == "table", kind[i] == "claims", i in claimed, from[i], begin[i], end[i], lines[i]
    print "    {0}};\nconst size_t sp_builtin_unit_count = " units + 0 ";"
}
