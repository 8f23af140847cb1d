/* SPDX-License-Identifier: MIT */
#include "read/numpy/header.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/cursor.h"
#include "base/names.h"
#include "base/utf8.h"

enum { PREFIX = 8, MAX_NESTING = 64, MAX_WORD = 32 };

struct scan {
    const char *at, *end;
    struct shapeproof_error *error;
    const char *begin;
    bool python2; /* numbers may end in L: NumPy takes that from headers of versions 1 and 2 alone */
};

/* ---- the length ---- */

size_t sp_npy_header_size(const char *bytes, size_t length, struct shapeproof_error *error)
{
    struct sp_cursor cursor = sp_cursor_of(bytes, length);
    const unsigned char *prefix = sp_cursor_take(&cursor, PREFIX);
    if (!prefix || memcmp(prefix, "\x93NUMPY", 6)) return sp_malformed(error, "no header of a NumPy array"), 0;
    const unsigned version = prefix[6];
    if (version < 1 || version > 3 || prefix[7])
        return sp_malformed(error, "version %u.%u of a NumPy array is not known", version, prefix[7]), 0;
    const uint64_t text = sp_cursor_le(&cursor, version == 1 ? 2 : 4);
    if (!cursor.ok) return sp_malformed(error, "ends within the header of a NumPy array"), 0;
    if (text > SP_NPY_MAX_HEADER - SP_NPY_FIXED) {
        sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "a header of %" PRIu64 " bytes, at most %d", text,
                SP_NPY_MAX_HEADER - SP_NPY_FIXED);
        return 0;
    }
    return (version == 1 ? PREFIX + 2 : PREFIX + 4) + (size_t)text;
}

/* ---- the text ---- */

static bool fail_scan(struct scan *scan, const char *expected)
{
    return sp_malformed(scan->error, "byte %zu of its header: %s is expected", (size_t)(scan->at - scan->begin),
                        expected);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->end && is_blank(*scan->at)) scan->at++;
}

static char next_of(struct scan *scan)
{
    skip_blanks(scan);
    return scan->at < scan->end ? *scan->at : '\0';
}

static bool take_char(struct scan *scan, char wanted)
{
    if (next_of(scan) != wanted) return false;
    scan->at++;
    return true;
}

/* A quoted text, as it stands between its quotes. Bytes, as b'<f4', are no text for NumPy. */
static bool take_quoted(struct scan *scan, const char **text, size_t *length)
{
    if (next_of(scan) == 'u') scan->at++; /* of Python 2 */
    const char quote = scan->at < scan->end ? *scan->at : '\0';
    if (quote != '\'' && quote != '"') return fail_scan(scan, "a string");
    *text = ++scan->at;
    for (; scan->at < scan->end && *scan->at != quote; scan->at++)
        if (*scan->at == '\\' && ++scan->at == scan->end) break;
    if (scan->at >= scan->end) return fail_scan(scan, "the end of a string");
    *length = (size_t)(scan->at++ - *text);
    return true;
}

static bool take_word(struct scan *scan, const char *word)
{
    const size_t length = strlen(word);
    skip_blanks(scan);
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0) return false;
    scan->at += length;
    return true;
}

static bool take_dimension(struct scan *scan, uint64_t *value)
{
    *value = 0;
    if (next_of(scan) < '0' || next_of(scan) > '9') return fail_scan(scan, "a dimension");
    const char *begin = scan->at;
    for (; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9'; scan->at++)
        if (!sp_mul_u64(*value, 10, value) || !sp_add_u64(*value, (uint64_t)(*scan->at - '0'), value))
            return sp_malformed(scan->error, "a dimension in its header overflows 64 bits");
    if (*begin == '0' && *value) { /* octal in Python 2, refused by Python 3 */
        scan->at = begin;
        return fail_scan(scan, "a dimension without leading zeros");
    }
    if (scan->python2 && scan->at < scan->end && *scan->at == 'L') scan->at++;
    return true;
}

static bool take_shape_tuple(struct scan *scan, struct shapeproof_tensor *tensor, struct sp_arena *arena)
{
    uint64_t shape[SP_MAX_RANK];
    if (!take_char(scan, '(')) return fail_scan(scan, "the shape");
    while (!take_char(scan, ')')) {
        if (tensor->rank == SP_MAX_RANK)
            return sp_fail(scan->error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_LIMIT, "more than %d dimensions",
                           SP_MAX_RANK);
        if (!take_dimension(scan, &shape[tensor->rank++])) return false;
        if (!take_char(scan, ',') && (next_of(scan) != ')' || tensor->rank == 1)) /* "(3)" is no tuple */
            return fail_scan(scan, "a comma");
    }
    uint64_t *kept = sp_arena_array(arena, tensor->rank ? tensor->rank : 1, sizeof *kept);
    memcpy(kept, shape, tensor->rank * sizeof *kept);
    tensor->shape = kept;
    return true;
}

/* ---- the type ---- */

static const struct {
    const char *word;
    enum shapeproof_dtype dtype;
} words[] = {
    {"f2", SHAPEPROOF_DTYPE_F16}, {"f4", SHAPEPROOF_DTYPE_F32},   {"f8", SHAPEPROOF_DTYPE_F64},
    {"i1", SHAPEPROOF_DTYPE_I8},  {"i2", SHAPEPROOF_DTYPE_I16},   {"i4", SHAPEPROOF_DTYPE_I32},
    {"i8", SHAPEPROOF_DTYPE_I64}, {"u1", SHAPEPROOF_DTYPE_U8},    {"u2", SHAPEPROOF_DTYPE_U16},
    {"u4", SHAPEPROOF_DTYPE_U32}, {"u8", SHAPEPROOF_DTYPE_U64},   {"b1", SHAPEPROOF_DTYPE_BOOL},
    {"c8", SHAPEPROOF_DTYPE_C64}, {"c16", SHAPEPROOF_DTYPE_C128}, {"?", SHAPEPROOF_DTYPE_BOOL},
};

/* What has no name among the dtypes: texts, times, long doubles, bytes without a type. */
static const struct {
    char kind;
    const char *name;
    unsigned size;     /* bytes for each of the counted units; 0: of its own */
    const char *sizes; /* those that NumPy has, in units; NULL: all */
} kinds[] = {
    {'S', "bytes", 1, NULL},   {'a', "bytes", 1, NULL},    {'U', "string", 4, NULL},
    {'V', "void", 1, NULL},    {'f', "float", 1, "12 16"}, {'c', "complex", 1, "24 32"},
    {'M', "datetime", 0, "8"}, {'m', "timedelta", 0, "8"}, {'O', "object", 0, "0 4 8"},
};

/* Whether `size` is one of the numbers of `sizes`, such as "12 16". */
static bool has_size(const char *sizes, uint64_t size)
{
    for (const char *at = sizes; at && *at; at += strcspn(at, " "), at += *at == ' ') {
        uint64_t value = 0;
        for (const char *digit = at; *digit >= '0' && *digit <= '9'; digit++)
            value = value * 10 + (uint64_t)(*digit - '0');
        if (value == size) return true;
    }
    return !sizes;
}

/* "[ns]" or "[25s]" behind the size of a time; nothing is a time without a unit. */
static bool is_unit(const char *at, size_t length)
{
    static const char *const units[] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                        "ms", "us", "ns", "ps", "fs", "as", "generic"};
    if (!length) return true;
    if (length < 3 || *at != '[' || at[length - 1] != ']') return false;
    at++, length -= 2;
    while (length && *at >= '0' && *at <= '9') at++, length--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (length == strlen(units[i]) && !memcmp(at, units[i], length)) return true;
    return false;
}

/* A type without a dtype. It is `odd` when NumPy does not know it either. */
static void name_kind(struct sp_npy *npy, const char *word, size_t length, struct sp_arena *arena)
{
    uint64_t count = 0;
    size_t digits = 1;
    npy->odd = true;
    npy->tensor.dtype_name = sp_arena_copy(arena, word, length < MAX_WORD ? length : MAX_WORD);
    for (; digits < length && word[digits] >= '0' && word[digits] <= '9' && count < UINT32_MAX; digits++)
        count = count * 10 + (uint64_t)(word[digits] - '0');
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (*word != kinds[i].kind || !has_size(kinds[i].sizes, count)) continue;
        const bool is_time = *word == 'M' || *word == 'm';
        if (is_time ? !is_unit(word + digits, length - digits) : digits < length) continue;
        const bool sized = kinds[i].size == 1 && count;
        const uint64_t shown = *word == 'f' || *word == 'c' ? count * 8 : count; /* float128 has 16 bytes */
        npy->odd = false;
        npy->objects = *word == 'O';
        npy->item = count * kinds[i].size;
        npy->tensor.dtype_name = sized ? sp_arena_printf(arena, "%s%" PRIu64, kinds[i].name, shown) : kinds[i].name;
    }
}

/* Reads a type of one element: a sign for the byte order ('<' little-endian, '>' big-endian, '=' that of the machine,
 * '|' none), a letter and a size, as in '<f4'. 'V2', which NumPy writes for bfloat16, is read as such and marked as
 * untyped. */
static bool take_plain(struct scan *scan, struct sp_npy *npy, struct sp_arena *arena)
{
    struct shapeproof_tensor *tensor = &npy->tensor;
    const char *word;
    size_t length;
    if (!take_quoted(scan, &word, &length)) return false;
    if (length && strchr("<>=|", *word)) {
        if (*word == '>') tensor->flags |= SHAPEPROOF_TENSOR_BIG_ENDIAN;
        word++, length--;
    }
    if (!length) return fail_scan(scan, "a type");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (length == strlen(words[i].word) && !memcmp(word, words[i].word, length)) tensor->dtype = words[i].dtype;
    npy->untyped = length == 2 && !memcmp(word, "V2", 2);
    if (npy->untyped) tensor->dtype = SHAPEPROOF_DTYPE_BF16;
    if (shapeproof_dtype_bits(tensor->dtype) <= 8) tensor->flags &= ~(uint32_t)SHAPEPROOF_TENSOR_BIG_ENDIAN;
    if (tensor->dtype) tensor->dtype_name = shapeproof_dtype_name(tensor->dtype);
    else name_kind(npy, word, length, arena);
    if (tensor->dtype) npy->item = shapeproof_dtype_bits(tensor->dtype) / 8;
    return true;
}

/* ---- structured types ---- */

static bool take_type(struct scan *scan, struct sp_npy *npy, unsigned depth, struct sp_arena *arena);

/* The shape of a field: "3", "(3,)" or "(2, 2)"; *product is its number of elements. */
static bool take_field_shape(struct scan *scan, uint64_t *product, struct sp_arena *arena)
{
    struct shapeproof_tensor shape = {.same_as = SHAPEPROOF_NONE};
    if (next_of(scan) != '(') return take_dimension(scan, product);
    if (!take_shape_tuple(scan, &shape, arena)) return false;
    if (!sp_tensor_measure(&shape))
        return sp_malformed(scan->error, "the product of the shape of a field overflows 64 bits");
    *product = shape.parameters;
    return true;
}

/* "'x'", or a title and a name: "('title', 'x')". */
static bool take_field_name(struct scan *scan)
{
    const char *name;
    size_t length;
    if (!take_char(scan, '(')) return take_quoted(scan, &name, &length);
    return take_quoted(scan, &name, &length) && (take_char(scan, ',') || fail_scan(scan, "a comma")) &&
           take_quoted(scan, &name, &length) && (take_char(scan, ')') || fail_scan(scan, "a bracket"));
}

/* "('x', '<f4')" or "('x', '<f4', (2, 2))": its size is added to that of the whole type; *unsized is set if it has
 * none. */
static bool take_field(struct scan *scan, struct sp_npy *whole, bool *unsized, unsigned depth, struct sp_arena *arena)
{
    struct sp_npy part = {.item = 0};
    uint64_t count = 1, bytes;
    if (!take_char(scan, '(')) return fail_scan(scan, "a field");
    if (!take_field_name(scan)) return false;
    if (!take_char(scan, ',')) return fail_scan(scan, "a comma");
    if (!take_type(scan, &part, depth + 1, arena)) return false;
    if (take_char(scan, ',') && next_of(scan) != ')' && !take_field_shape(scan, &count, arena)) return false;
    take_char(scan, ',');
    if (!take_char(scan, ')')) return fail_scan(scan, "a bracket");
    if (!sp_mul_u64(part.item, count, &bytes) || !sp_add_u64(whole->item, bytes, &whole->item))
        return sp_malformed(scan->error, "the size of its type overflows 64 bits");
    whole->odd |= part.odd;
    whole->objects |= part.objects;
    *unsized |= !part.item;
    return true;
}

/* A type: a plain one, a list of fields, or "('<f4', (2,))", an element that is an array. The last two are called
 * "compound"; their size is unknown if that of a part is. With an object in any part, NumPy writes the whole array as
 * one pickle: it is called "object". */
static bool take_type(struct scan *scan, struct sp_npy *npy, unsigned depth, struct sp_arena *arena)
{
    bool unsized = false;
    if (next_of(scan) != '[' && next_of(scan) != '(') return take_plain(scan, npy, arena);
    if (depth > MAX_NESTING) return fail_scan(scan, "less nesting");
    if (take_char(scan, '(')) {
        uint64_t count;
        if (!take_type(scan, npy, depth + 1, arena)) return false;
        if (!take_char(scan, ',')) return fail_scan(scan, "a comma");
        if (!take_field_shape(scan, &count, arena)) return false;
        take_char(scan, ',');
        if (!take_char(scan, ')')) return fail_scan(scan, "a bracket");
        if (!sp_mul_u64(npy->item, count, &npy->item))
            return sp_malformed(scan->error, "the size of its type overflows 64 bits");
    } else {
        take_char(scan, '[');
        while (!take_char(scan, ']')) {
            if (!take_field(scan, npy, &unsized, depth, arena)) return false;
            if (!take_char(scan, ',') && next_of(scan) != ']') return fail_scan(scan, "a comma");
        }
    }
    if (unsized) npy->item = 0;
    npy->untyped = false;
    npy->tensor.flags &= ~(uint32_t)SHAPEPROOF_TENSOR_BIG_ENDIAN;
    npy->tensor.dtype = SHAPEPROOF_DTYPE_UNKNOWN;
    npy->tensor.dtype_name = npy->objects ? "object" : "compound";
    return true;
}

/* ---- the dictionary ---- */

enum { DESCR = 1, ORDER = 2, SHAPE = 4 };

static unsigned key_of(const char *key, size_t length)
{
    if (length == 5 && !memcmp(key, "descr", 5)) return DESCR;
    if (length == 13 && !memcmp(key, "fortran_order", 13)) return ORDER;
    return length == 5 && !memcmp(key, "shape", 5) ? SHAPE : 0;
}

static bool take_member(struct scan *scan, struct sp_npy *npy, unsigned *seen, bool *fortran, struct sp_arena *arena)
{
    const char *key;
    size_t length;
    if (!take_quoted(scan, &key, &length)) return false;
    const unsigned which = key_of(key, length);
    if (!which || *seen & which) return fail_scan(scan, "each of 'descr', 'fortran_order' and 'shape' once");
    *seen |= which;
    if (!take_char(scan, ':')) return fail_scan(scan, "a colon");
    if (which == DESCR) return take_type(scan, npy, 0, arena);
    if (which == SHAPE) return take_shape_tuple(scan, &npy->tensor, arena);
    *fortran = take_word(scan, "True");
    return *fortran || take_word(scan, "False") || fail_scan(scan, "True or False");
}

/* Columns first: the first dimension is the one whose neighbours touch. */
static void set_fortran_strides(struct shapeproof_tensor *tensor, struct sp_arena *arena)
{
    uint64_t *stride = sp_arena_array(arena, tensor->rank, sizeof *stride), step = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        stride[i] = step;
        step *= tensor->shape[i]; /* measured: it does not overflow */
    }
    tensor->stride = stride;
}

bool sp_npy_parse(struct sp_npy *npy, const char *bytes, size_t length, struct sp_arena *arena,
                  struct shapeproof_error *error)
{
    const size_t fixed = length > 6 && bytes[6] == 1 ? PREFIX + 2 : PREFIX + 4;
    struct scan scan = {bytes + fixed, bytes + length, error, bytes, length > 6 && bytes[6] < 3};
    bool fortran = false;
    unsigned seen = 0;
    *npy = (struct sp_npy){
        .tensor = {.dtype_name = shapeproof_dtype_name(SHAPEPROOF_DTYPE_UNKNOWN), .same_as = SHAPEPROOF_NONE}};
    if (bytes[6] == 3 && length >= fixed && sp_utf8_check(bytes + fixed, length - fixed) < length - fixed)
        return sp_malformed(error, "byte %zu of its header: UTF-8 is expected",
                            fixed + sp_utf8_check(bytes + fixed, length - fixed));
    const char *nul = length > fixed ? memchr(bytes + fixed, 0, length - fixed) : NULL;
    if (nul) return sp_malformed(error, "byte %zu of its header: NUL", (size_t)(nul - bytes));
    if (length < fixed || !take_char(&scan, '{')) return fail_scan(&scan, "a dictionary");
    while (!take_char(&scan, '}')) {
        if (!take_member(&scan, npy, &seen, &fortran, arena)) return false;
        if (!take_char(&scan, ',') && next_of(&scan) != '}') return fail_scan(&scan, "a comma");
    }
    if (seen != (DESCR | ORDER | SHAPE)) return fail_scan(&scan, "each of 'descr', 'fortran_order' and 'shape'");
    skip_blanks(&scan);
    if (scan.at < scan.end) return fail_scan(&scan, "nothing but blanks behind the dictionary");
    if (!sp_tensor_measure(&npy->tensor)) return sp_malformed(error, "the product of its dimensions overflows 64 bits");
    if (fortran && npy->tensor.rank > 1 && npy->tensor.parameters) set_fortran_strides(&npy->tensor, arena);
    return true;
}

/* ---- the inventory ---- */

bool sp_npy_add(struct shapeproof_inventory *inventory, const struct sp_npy *npy, const char *name, uint32_t file,
                uint64_t begin, uint64_t data, struct shapeproof_error *error)
{
    uint64_t bytes;
    if (!sp_mul_u64(npy->tensor.parameters, npy->item, &bytes))
        return sp_malformed(error, "the size of its data overflows 64 bits");
    if (npy->item && bytes > data)
        return sp_malformed(error, "%" PRIu64 " bytes of data, its header says %" PRIu64, data, bytes);
    struct shapeproof_tensor *tensor = sp_inventory_add(inventory, error);
    if (!tensor) return false;
    *tensor = npy->tensor;
    tensor->name = name;
    tensor->file = file;
    if (begin && bytes) {
        tensor->data_begin = begin;
        tensor->data_end = begin + bytes;
    }
    if (begin && !npy->item) sp_inventory_claim(inventory, file, begin, begin + data, SP_USE_TENSOR);
    if (npy->item && data > bytes)
        sp_inventory_warn(inventory, "%s%s%" PRIu64 " bytes after the data", *name ? sp_quote(name).text : "",
                          *name ? ": " : "", data - bytes);
    return true;
}

static void count_note(size_t *count, const char **first, const char *name)
{
    if (!(*count)++) *first = name;
}

void sp_npy_note(struct sp_npy_notes *notes, const struct sp_npy *npy)
{
    const char *name = npy->tensor.name ? npy->tensor.name : "";
    if (npy->tensor.flags & SHAPEPROOF_TENSOR_BIG_ENDIAN)
        count_note(&notes->big_endian, &notes->first_big_endian, name);
    if (npy->untyped) count_note(&notes->untyped, &notes->first_untyped, name);
    if (npy->odd) count_note(&notes->odd, &notes->first_odd, name);
    if (npy->objects) count_note(&notes->objects, &notes->first_object, name);
}

void sp_npy_warn(const struct sp_npy_notes *notes, struct shapeproof_inventory *inventory)
{
    if (notes->big_endian)
        sp_inventory_warn(inventory, "big-endian arrays: %zu, the first %s", notes->big_endian,
                          sp_quote(notes->first_big_endian).text);
    if (notes->untyped)
        sp_inventory_warn(inventory,
                          "arrays of two bytes without a type: %zu, the first %s; called BF16, since NumPy stores "
                          "bfloat16 so",
                          notes->untyped, sp_quote(notes->first_untyped).text);
    if (notes->odd)
        sp_inventory_warn(inventory, "arrays of types that NumPy does not know: %zu, the first %s", notes->odd,
                          sp_quote(notes->first_odd).text);
    if (notes->objects)
        sp_inventory_warn(inventory, "arrays of Python objects: %zu, the first %s; their pickles are not read",
                          notes->objects, sp_quote(notes->first_object).text);
}
