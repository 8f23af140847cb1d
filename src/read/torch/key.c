/* SPDX-License-Identifier: MIT
 * Keys of dictionaries as parts of names. Any text is one: what UTF-8 cannot say keeps the bytes that Python gives it,
 * as sp_utf8_decode_odd takes them, so that two keys that differ give two names. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/names.h"
#include "base/real.h"
#include "base/utf8.h"
#include "read/torch/torch.h"

enum { MAX_BIG_BYTES = 64, SHOWN = 200, DIGITS_OF_A_LIMB = 9, LIMB = 1000 * 1000 * 1000 };

/* Bytes as protocol 2 writes them: _codecs.encode(text, 'latin1'). The text, or NULL; another encoding gives other
 * bytes. */
static const struct sp_pickle_value *encoded_text(const struct sp_pickle_value *call)
{
    const struct sp_pickle_value *text = sp_pickle_arg(call, 0);
    const char *name = sp_pickle_name(call);
    const bool latin1 = sp_pickle_is(call, SP_PICKLE_OBJECT) && !sp_pickle_item(call->as.object->args, 2) &&
                        sp_pickle_is_text(sp_pickle_arg(call, 1), "latin1");
    return name && !strcmp(name, "_codecs.encode") && latin1 && sp_pickle_is(text, SP_PICKLE_STR) ? text : NULL;
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
static void put_escaped(struct sp_text *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] && bytes[i] != '\\') sp_text_append(out, bytes + i, 1);
        else sp_text_puts(out, bytes[i] ? "\\\\" : "\\0");
}

static void put_identity_bytes(struct sp_text *out, char kind, const char *bytes, size_t length)
{
    sp_text_append(out, &kind, 1);
    put_escaped(out, bytes, length);
}

static bool put_identity(struct sp_torch *torch, struct sp_text *out, const struct sp_pickle_value *key,
                         unsigned depth);

/* The identity of a value that equals itself alone: NaN, and objects of other classes. */
static bool put_itself(struct sp_text *out, const struct sp_pickle_value *key)
{
    sp_text_printf(out, "@%p", (const void *)key);
    return true;
}

static void put_real(struct sp_text *out, double value)
{
    if (value == 0) sp_text_puts(out, "n0");
    else if (isfinite(value) && floor(value) == value) sp_text_printf(out, "n%.0f", value);
    else sp_text_printf(out, "f%s", sp_real_text(value, 17).text);
}

/* A complex number equals a real one if it has no imaginary part. */
static bool put_complex(struct sp_text *out, const struct sp_pickle_value *key, double real, double imaginary)
{
    if (isnan(real) || isnan(imaginary)) return put_itself(out, key);
    put_real(out, real);
    if (imaginary == 0) return true;
    sp_text_puts(out, "+");
    put_real(out, imaginary);
    sp_text_puts(out, "j");
    return true;
}

static bool put_sequence(struct sp_torch *torch, struct sp_text *out, const struct sp_pickle_value *sequence,
                         unsigned depth)
{
    if (depth == MAX_TUPLES) return false;
    sp_text_printf(out, "(%" PRIu32 ":", sequence->length);
    for (uint32_t i = 0; i < sequence->length; i++) {
        struct sp_text item = {0};
        const bool known = put_identity(torch, &item, sequence->as.items[i], depth + 1);
        if (known) sp_text_printf(out, "%zu:%s", item.length, item.data);
        sp_text_free(&item);
        if (!known || out->length > MAX_IDENTITY) return false;
    }
    return true;
}

/* ---- scalars of NumPy ---- */

/* An unsigned integer of 1 to 8 bytes. */
static uint64_t load_unsigned(const char *bytes, size_t size, bool is_big_endian)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value = value << 8 | (unsigned char)bytes[is_big_endian ? i : size - 1 - i];
    return value;
}

static double half_to_double(uint64_t bits)
{
    enum { FRACTION = 10, BIAS = 15, LARGEST = 31 };
    const int exponent = (int)(bits >> FRACTION & LARGEST);
    const double sign = bits >> 15 ? -1 : 1;
    const double fraction = (double)(bits & 0x3ff) / 1024;
    if (exponent == LARGEST) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1 + fraction, exponent - BIAS) : ldexp(fraction, 1 - BIAS));
}

static double load_real(const char *bytes, size_t size, bool is_big_endian)
{
    const uint64_t bits = load_unsigned(bytes, size, is_big_endian);
    const uint32_t low = (uint32_t)bits;
    float single;
    double real;
    memcpy(&single, &low, sizeof single);
    memcpy(&real, &bits, sizeof real);
    return size == 2 ? half_to_double(bits) : size == 4 ? (double)single : real;
}

/* Text in UTF-32, without the zeros at its end. */
static bool put_utf32(struct sp_text *out, const char *bytes, size_t length, bool is_big_endian)
{
    while (length >= 4 && !load_unsigned(bytes + length - 4, 4, is_big_endian)) length -= 4;
    sp_text_puts(out, "s");
    for (size_t i = 0; i + 4 <= length; i += 4) {
        const uint64_t code = load_unsigned(bytes + i, 4, is_big_endian);
        char text[4];
        size_t size = 0;
        if (code > 0x10ffff) return false;
        if (code < 0x80) text[size++] = (char)code;
        else {
            const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes that follow the first */
            static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
            text[size++] = (char)(first[more] | code >> 6 * more);
            for (int left = more - 1; left >= 0; left--) text[size++] = (char)(0x80 | (code >> 6 * left & 0x3f));
        }
        put_escaped(out, text, size);
    }
    return true;
}

/* numpy.core.multiarray.scalar(dtype, bytes), which equals the number or text that it holds. The dtype is
 * numpy.dtype('i8', False, True) with the state (3, '<', ...). False for one of another kind. */
static bool put_scalar(struct sp_torch *torch, struct sp_text *out, const struct sp_pickle_value *key)
{
    const struct sp_pickle_value *type = sp_pickle_arg(key, 0), *word = sp_pickle_arg(type, 0);
    const char *name = sp_pickle_name(type), *bytes;
    size_t length;
    if (!name || strcmp(name, "numpy.dtype") || !sp_pickle_is(word, SP_PICKLE_STR) || !word->length ||
        !sp_torch_bytes(torch, sp_pickle_arg(key, 1), &bytes, &length) || length > MAX_IDENTITY)
        return false;
    const bool is_big_endian = sp_pickle_is_text(sp_pickle_item(type->as.object->state, 1), ">");
    const bool is_integer = length == 1 || length == 2 || length == 4 || length == 8;
    const uint64_t bits = is_integer ? load_unsigned(bytes, length, is_big_endian) : 0;
    const unsigned above = is_integer ? 64 - 8 * (unsigned)length : 0; /* bits */
    switch (*word->as.text) {
    case 'b':
    case '?':
    case 'u':
        if (is_integer) sp_text_printf(out, "n%" PRIu64, bits);
        return is_integer;
    case 'i':
        if (is_integer) sp_text_printf(out, "n%" PRId64, (int64_t)(bits << above) >> above);
        return is_integer;
    case 'f':
        return is_integer && length > 1 && put_complex(out, key, load_real(bytes, length, is_big_endian), 0);
    case 'c':
        return (length == 8 || length == 16) && put_complex(out, key, load_real(bytes, length / 2, is_big_endian),
                                                            load_real(bytes + length / 2, length / 2, is_big_endian));
    case 'S':
        while (length && !bytes[length - 1]) length--;
        put_identity_bytes(out, 'b', bytes, length);
        return true;
    default:
        return *word->as.text == 'U' && put_utf32(out, bytes, length, is_big_endian);
    }
}

/* ---- objects ---- */

/* The real number of an argument; 0 for none. False for another value. */
static bool read_real(const struct sp_pickle_value *value, double *real)
{
    const bool is_integer = sp_pickle_is(value, SP_PICKLE_INT) || sp_pickle_is(value, SP_PICKLE_BOOL);
    *real = !value ? 0 : is_integer ? (double)value->as.integer : value->as.real;
    return !value || is_integer || sp_pickle_is(value, SP_PICKLE_FLOAT);
}

/* Whether objects of the class are equal if they are made of equal arguments. */
static bool is_value_class(const char *name)
{
    return !strcmp(name, "torch.device") || !strncmp(name, "datetime.", 9) || !strncmp(name, "pathlib.", 8);
}

/* Appends the identity of a call whose value is known without making the call; false for any other, and then there may
 * be something in `out`. */
static bool put_call(struct sp_torch *torch, struct sp_text *out, const struct sp_pickle_value *key, unsigned depth)
{
    const struct sp_pickle_value *args = key->as.object->args, *first = sp_pickle_arg(key, 0);
    const char *name = sp_pickle_name(key), *bytes;
    size_t length;
    double real, imaginary;
    if (!name) return false;
    if (encoded_text(key)) {
        if (!sp_torch_bytes(torch, key, &bytes, &length) || length > MAX_IDENTITY) return false;
        put_identity_bytes(out, 'b', bytes, length);
        return true;
    }
    const char *own = sp_torch_python_name(name);
    if (!own) own = "";
    if (!strcmp(name, "torch.Size") || !strcmp(own, "tuple")) {
        const bool is_sequence = sp_pickle_is(first, SP_PICKLE_TUPLE) || sp_pickle_is(first, SP_PICKLE_LIST);
        return args && (is_sequence || !first) && put_sequence(torch, out, is_sequence ? first : args, depth);
    }
    if (!strcmp(own, "bytes") && (!args || !args->length)) { /* how protocol 2 writes b'' */
        sp_text_puts(out, "b");
        return true;
    }
    if (!strcmp(own, "complex"))
        return read_real(first, &real) && read_real(sp_pickle_arg(key, 1), &imaginary) &&
               put_complex(out, key, real, imaginary);
    if (!strcmp(name, "numpy.core.multiarray.scalar") || !strcmp(name, "numpy._core.multiarray.scalar"))
        return put_scalar(torch, out, key);
    if (!args || !is_value_class(name) || key->as.object->state) return false;
    sp_text_printf(out, "o%s", name);
    return put_sequence(torch, out, args, depth);
}

/* Appends the same text for two keys exactly when Python takes them for the same key of a dictionary: 1, 1.0, True and
 * 1+0j are one, and so are (1,) and torch.Size([1]). The text begins with the kind: - None, n integer, f other number,
 * s text, b bytes, ( tuple, g a name, o a call, @ the value itself. False for a key that is too long to be compared. */
static bool put_identity(struct sp_torch *torch, struct sp_text *out, const struct sp_pickle_value *key, unsigned depth)
{
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
        return put_complex(out, key, key->as.real, 0);
    case SP_PICKLE_STR:
    case SP_PICKLE_BYTES:
        if (key->length > MAX_IDENTITY) return false;
        put_identity_bytes(out, key->type == SP_PICKLE_STR ? 's' : 'b', key->as.text, key->length);
        return true;
    case SP_PICKLE_TUPLE:
        return put_sequence(torch, out, key, depth);
    case SP_PICKLE_GLOBAL:
        sp_text_printf(out, "g%s", key->as.global->name);
        return true;
    case SP_PICKLE_OBJECT: {
        const size_t before = out->length;
        if (put_call(torch, out, key, depth)) return true;
        out->length = before;
        return out->length <= MAX_IDENTITY && put_itself(out, key);
    }
    default:
        return put_itself(out, key);
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

/* Whether a call makes a number or a text, which may equal a key that is written as such, and put_call does not know
 * which. */
static bool is_doubtful(struct sp_torch *torch, const struct sp_pickle_value *key)
{
    static const char *const makers[] = {"bool", "int", "long", "float", "complex", "str", "unicode", "bytes"};
    const char *name = sp_pickle_is(key, SP_PICKLE_OBJECT) ? sp_pickle_name(key) : NULL;
    if (!name) return false;
    const char *own = sp_torch_python_name(name);
    const bool makes =
        own ? SP_IS_AMONG(own, makers) : sp_begins_with(name, "numpy.") || sp_begins_with(name, "_codecs.");
    struct sp_text ignored = {0};
    const bool is_known = !makes || put_call(torch, &ignored, key, 0);
    sp_text_free(&ignored);
    return !is_known;
}

const struct sp_pickle_value *sp_torch_settle_keys(struct sp_torch *torch, struct sp_pickle_value *dict)
{
    const struct sp_pickle_value *doubtful = NULL;
    struct sp_map known = {0};
    struct sp_arena names = {0};
    struct sp_pickle_value **items = dict->as.items;
    uint32_t kept = 0;
    for (uint32_t i = 0; i + 1 < dict->length; i += 2) {
        struct sp_text text = {0};
        if (!doubtful && is_doubtful(torch, items[i])) doubtful = items[i];
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
    return doubtful;
}
