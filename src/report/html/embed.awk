# SPDX-License-Identifier: MIT
# Turns the style and the script of HTML reports into C:
#
#   LC_ALL=C awk -v style_hash=HEX -v script_hash=HEX -f embed.awk page.css page.js >page.c
#
# Each line becomes one string literal. The hashes are SHA-256 of the files, which the Content Security Policy of a
# report names in base64: a browser applies and runs these two alone. The declarations are in html.h.

function put_quoted(text, ending) {
    gsub(/\\/, "&&", text)
    gsub(/["?]/, "\\\\&", text) # "?" so that no trigraph forms
    print "    \"" text ending "\""
}

# Base64 of bytes in hexadecimal: 32 bytes are 10 times three, and two.
function base64(hex,   digits, text, i, bits, k) {
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (i = 1; i <= 60; i += 3) {
        bits = value(hex, i) * 256 + value(hex, i + 1) * 16 + value(hex, i + 2)
        text = text substr(digits, int(bits / 64) + 1, 1) substr(digits, bits % 64 + 1, 1)
    }
    bits = (value(hex, 61) * 4096 + value(hex, 62) * 256 + value(hex, 63) * 16 + value(hex, 64)) * 4
    for (k = 4096; k >= 1; k /= 64) text = text substr(digits, int(bits / k) % 64 + 1, 1)
    return text "="
}

function value(hex, at) { return index("0123456789abcdef", substr(hex, at, 1)) - 1 }

BEGIN { print "/* Made by src/report/html/embed.awk. */\n#include \"report/html/html.h\"" }

FNR == 1 {
    if (files++) print "    ;"
    print "\nconst char " (files == 1 ? "sp_html_style" : "sp_html_script") "[] ="
}

{ put_quoted($0, "\\n") }

END {
    print "    ;\n\nconst char sp_html_style_hash[] = \"" base64(style_hash) "\";"
    print "const char sp_html_script_hash[] = \"" base64(script_hash) "\";"
}
