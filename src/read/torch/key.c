/* SPDX-License-Identifier: MIT
 * Keys of dictionaries as parts of names. Any text is one: what UTF-8 cannot say keeps the bytes that Python gives it,
 * as sp_utf8_decode_odd takes them, so that two keys that differ give two names. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/real.h"
#include "base/utf8.h"
#include "read/torch/torch.h"

enum { MAX_BIG_BYTES = 64, SHOWN = 200, DIGITS_OF_A_LIMB = 9, LIMB = 1000 * 1000 * 1000 };

/* Bytes as protocol 2 writes them: _codecs.encode(text, 'latin1'). The text, or NULL. */
static const struct sp_pickle_value *encoded_text(const struct sp_pickle_value *call)
{
    const struct sp_pickle_value *text = sp_pickle_arg(call, 0);
    const char *name = sp_pickle_name(call);
    return name && !strcmp(name, "_codecs.encode") && sp_pickle_is(text, SP_PICKLE_STR) ? text : NULL;
}

/* Into as many bytes as the text has at most; false when a character is not of Latin-1. */
static bool encode_latin1(const struct sp_pickle_value *text, char *out, size_t *length)
{
    *length = 0;
    for (uint32_t i = 0; i < text->length; i++) {
        const unsigned char c = (unsigned char)text->as.text[i];
        if (c >= 0xc4 || (c >= 0x80 && (c < 0xc2 || i + 1 == text->length))) return false;
        out[(*length)++] = (char)(c < 0x80 ? c : (c & 3) << 6 | (text->as.text[++i] & 0x3f));
    }
    return true;
}

bool sp_torch_bytes(struct sp_torch *torch, const struct sp_pickle_value *value, const char **bytes, size_t *length)
{
    const struct sp_pickle_value *text = encoded_text(value);
    if (text) {
        char *out = sp_arena_alloc(&torch->arena, text->length);
        *bytes = out;
        return encode_latin1(text, out, length);
    }
    if (!sp_pickle_is(value, SP_PICKLE_BYTES) && !sp_pickle_is(value, SP_PICKLE_STR)) return false;
    *bytes = value->as.text;
    *length = value->length;
    return true;
}

/* ---- texts ---- */

/* Python 2 wrote its byte strings without saying in which encoding. */
static void append_latin1(struct sp_text *name, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        const char two[] = {(char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f))};
        if (c && c < 0x80) sp_text_append(name, text + i, 1);
        else sp_text_append(name, two, 2);
    }
}

/* UTF-8 but for lone surrogates, which Python pickles as if they were characters. */
static bool is_python_text(const char *text, size_t length)
{
    uint32_t code;
    for (size_t i = 0; (i += sp_utf8_check(text + i, length - i)) < length; i += 3)
        if (sp_utf8_decode_odd(text + i, length - i, &code) != 3) return false;
    return true;
}

static bool append_text_key(struct sp_text *name, const char *text, size_t length)
{
    if (length > SP_MAX_NAME) {
        sp_text_append(name, text, SHOWN); /* for the message */
        return false;
    }
    if (!is_python_text(text, length)) {
        append_latin1(name, text, length);
        return true;
    }
    for (size_t i = 0; i < length; i++) {
        const char *nul = memchr(text + i, 0, length - i);
        const size_t plain = nul ? (size_t)(nul - text) - i : length - i;
        sp_text_append(name, text + i, plain);
        if (nul) sp_text_append(name, "\xc0\x80", 2);
        i += plain;
    }
    return true;
}

/* Bytes of protocol 2: false when they are none. */
static bool append_encoded_key(struct sp_text *name, const struct sp_pickle_value *text, bool *short_enough)
{
    size_t length;
    char *bytes = sp_realloc(NULL, (size_t)text->length + 1, 1);
    const bool ok = encode_latin1(text, bytes, &length);
    if (ok) *short_enough = append_text_key(name, bytes, length);
    sp_free(bytes);
    return ok;
}

/* ---- integers of more than 64 bits ---- */

/* Divides the bits, the highest limb first, by 10^9 until nothing is left; the remainders are the digits. */
static void append_digits(struct sp_text *name, uint32_t *limbs, size_t count)
{
    uint32_t digits[MAX_BIG_BYTES * 3 / DIGITS_OF_A_LIMB + 2];
    size_t groups = 0;
    while (count) {
        uint64_t rest = 0;
        for (size_t i = count; i-- > 0;) {
            rest = rest << 32 | limbs[i];
            limbs[i] = (uint32_t)(rest / LIMB);
            rest %= LIMB;
        }
        digits[groups++] = (uint32_t)rest;
        while (count && !limbs[count - 1]) count--;
    }
    if (!groups) digits[groups++] = 0;
    sp_text_printf(name, "%" PRIu32, digits[--groups]);
    while (groups) sp_text_printf(name, "%09" PRIu32, digits[--groups]);
}

/* Appends an integer of more than 64 bits in decimal, from its two's complement or its decimal text (SP_PICKLE_BIG). A
 * negative number is negated by inverting the bytes and adding 1. False when it has more than MAX_BIG_BYTES. */
static bool append_big(struct sp_text *name, const struct sp_pickle_value *key)
{
    uint32_t limbs[MAX_BIG_BYTES / 4] = {0};
    if (key->length > MAX_BIG_BYTES) return false;
    if (key->capacity) { /* its decimal text */
        sp_text_append(name, key->as.text, key->length);
        return true;
    }
    const bool negative = key->length && (key->as.text[key->length - 1] & 0x80);
    uint32_t carry = negative;
    for (size_t i = 0; i < sizeof limbs; i++) {
        uint32_t byte = i < key->length ? (unsigned char)key->as.text[i] : negative ? 0xff : 0;
        if (negative) byte = (byte ^ 0xff) + carry;
        carry = byte >> 8;
        limbs[i / 4] |= (byte & 0xff) << 8 * (i % 4);
    }
    if (negative) sp_text_puts(name, "-");
    append_digits(name, limbs, sizeof limbs / sizeof *limbs);
    return true;
}

bool sp_torch_put_key(struct sp_text *name, const struct sp_pickle_value *key, size_t index)
{
    const struct sp_pickle_value *text = encoded_text(key);
    bool short_enough = true;
    if (key->type == SP_PICKLE_STR || key->type == SP_PICKLE_BYTES)
        return append_text_key(name, key->as.text, key->length);
    if (text && append_encoded_key(name, text, &short_enough)) return short_enough;
    if (key->type == SP_PICKLE_INT) sp_text_printf(name, "%" PRId64, key->as.integer);
    else if (key->type == SP_PICKLE_FLOAT) sp_text_puts(name, sp_real_text(key->as.real, 6).text);
    else if (key->type == SP_PICKLE_BOOL) sp_text_puts(name, key->as.integer ? "True" : "False");
    else if (key->type == SP_PICKLE_NONE) sp_text_puts(name, "None");
    else if (key->type != SP_PICKLE_BIG || !append_big(name, key)) sp_text_printf(name, "<key %zu>", index);
    return true;
}

/* ---- keys that are equal for Python ---- */

enum { MAX_TUPLES = 8 /* in one another, of a key */, MAX_IDENTITY = 4096 /* bytes: longer keys are not compared */ };

/* NUL and the backslash escaped: the identity of a key is a string. */
static void put_identity_bytes(struct sp_text *out, char kind, const char *bytes, size_t length)
{
    sp_text_append(out, &kind, 1);
    for (size_t i = 0; i < length; i++)
        if (bytes[i] && bytes[i] != '\\') sp_text_append(out, bytes + i, 1);
        else sp_text_puts(out, bytes[i] ? "\\\\" : "\\0");
}

/* Appends the same text for two keys exactly when Python takes them for the same key of a dictionary: 1, 1.0 and True
 * are one. The text begins with the kind: - None, n integer, f other number, s text, b bytes, ( tuple. False for a key
 * that nothing is known of, such as an object, or NaN, which equals nothing. */
static bool put_identity(struct sp_torch *torch, struct sp_text *out, const struct sp_pickle_value *key, unsigned depth)
{
    const char *bytes;
    size_t length;
    if (out->length > MAX_IDENTITY) return false;
    switch ((enum sp_pickle_type)key->type) {
    case SP_PICKLE_NONE:
        sp_text_puts(out, "-");
        return true;
    case SP_PICKLE_BOOL:
    case SP_PICKLE_INT:
        sp_text_printf(out, "n%" PRId64, key->as.integer);
        return true;
    case SP_PICKLE_BIG:
        sp_text_puts(out, "n");
        return append_big(out, key);
    case SP_PICKLE_FLOAT:
        if (isnan(key->as.real)) return false;
        if (key->as.real == 0) sp_text_puts(out, "n0");
        else if (isfinite(key->as.real) && floor(key->as.real) == key->as.real)
            sp_text_printf(out, "n%.0f", key->as.real);
        else sp_text_printf(out, "f%s", sp_real_text(key->as.real, 17).text);
        return true;
    case SP_PICKLE_STR:
    case SP_PICKLE_BYTES:
        if (key->length > MAX_IDENTITY) return false;
        put_identity_bytes(out, key->type == SP_PICKLE_STR ? 's' : 'b', key->as.text, key->length);
        return true;
    case SP_PICKLE_TUPLE:
        if (depth == MAX_TUPLES) return false;
        sp_text_printf(out, "(%" PRIu32 ":", key->length);
        for (uint32_t i = 0; i < key->length; i++) {
            struct sp_text item = {0};
            const bool known = put_identity(torch, &item, key->as.items[i], depth + 1);
            if (known) sp_text_printf(out, "%zu:%s", item.length, item.data);
            sp_text_free(&item);
            if (!known || out->length > MAX_IDENTITY) return false;
        }
        return true;
    default:
        if (!encoded_text(key) || !sp_torch_bytes(torch, key, &bytes, &length) || length > MAX_IDENTITY) return false;
        put_identity_bytes(out, 'b', bytes, length);
        return true;
    }
}

/* Notes two equal keys, as names. */
static void note_equal_keys(struct sp_torch *torch, const struct sp_pickle_value *first,
                            const struct sp_pickle_value *second)
{
    if (torch->equal_keys++) return;
    struct sp_text one = {0}, other = {0};
    sp_torch_put_key(&one, first, 0);
    sp_torch_put_key(&other, second, 0);
    sp_inventory_warn(
        torch->inventory,
        "a dictionary has the key %s twice, the second time as %s: the last value counts, as it does for Python",
        sp_quote(one.data ? one.data : "").text, sp_quote(other.data ? other.data : "").text);
    sp_text_free(&one);
    sp_text_free(&other);
}

void sp_torch_settle_keys(struct sp_torch *torch, struct sp_pickle_value *dict)
{
    struct sp_map known = {0};
    struct sp_arena names = {0};
    struct sp_pickle_value **items = dict->as.items;
    uint32_t kept = 0;
    for (uint32_t i = 0; i + 1 < dict->length; i += 2) {
        struct sp_text text = {0};
        const bool comparable = put_identity(torch, &text, items[i], 0);
        const char *name = comparable ? sp_text_keep(&text, &names) : NULL;
        if (!comparable) sp_text_free(&text);
        const size_t place = name ? sp_map_get(&known, name) : SIZE_MAX;
        if (place != SIZE_MAX) {
            note_equal_keys(torch, items[place], items[i]);
            items[place + 1] = items[i + 1];
            continue;
        }
        if (name) sp_map_add(&known, name, kept);
        items[kept] = items[i];
        items[kept + 1] = items[i + 1];
        kept += 2;
    }
    dict->length = kept;
    sp_map_free(&known);
    sp_arena_free(&names);
}
