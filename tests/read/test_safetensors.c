/* SPDX-License-Identifier: MIT
 * The safetensors reader: real files, hostile headers with their exact messages, random damage. */
#define _GNU_SOURCE /* mkdtemp, truncate */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/inventory.h"
#include "read/scratch_fixture.h"

static struct shapeproof_inventory *must_open(const char *path)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) fail_msg("%s", error.message);
    return inventory;
}

static void assert_refused(const char *path, const char *message, const char *label)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (inventory) {
        shapeproof_inventory_close(inventory);
        fail_msg("%s: accepted", label);
    }
    assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    const size_t prefix = strlen(path);
    assert_memory_equal(error.message, path, prefix);
    assert_memory_equal(error.message + prefix, ": ", 2);
    if (strcmp(error.message + prefix + 2, message) != 0)
        fail_msg("%s\n  expected: %s\n  found:    %s", label, message, error.message + prefix + 2);
}

/* ---- real files ---- */

static void test_dtypes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum shapeproof_dtype dtype;
        uint64_t bytes;
    } expected[] = {
        {"bool", SHAPEPROOF_DTYPE_BOOL, 6},
        {"uint8", SHAPEPROOF_DTYPE_U8, 6},
        {"int8", SHAPEPROOF_DTYPE_I8, 6},
        {"uint16", SHAPEPROOF_DTYPE_U16, 12},
        {"int16", SHAPEPROOF_DTYPE_I16, 12},
        {"uint32", SHAPEPROOF_DTYPE_U32, 24},
        {"int32", SHAPEPROOF_DTYPE_I32, 24},
        {"uint64", SHAPEPROOF_DTYPE_U64, 48},
        {"int64", SHAPEPROOF_DTYPE_I64, 48},
        {"float16", SHAPEPROOF_DTYPE_F16, 12},
        {"bfloat16", SHAPEPROOF_DTYPE_BF16, 12},
        {"float32", SHAPEPROOF_DTYPE_F32, 24},
        {"float64", SHAPEPROOF_DTYPE_F64, 48},
        {"complex64", SHAPEPROOF_DTYPE_C64, 48},
        {"float8_e4m3fn", SHAPEPROOF_DTYPE_F8_E4M3, 6},
        {"float8_e5m2", SHAPEPROOF_DTYPE_F8_E5M2, 6},
        {"float8_e8m0fnu", SHAPEPROOF_DTYPE_F8_E8M0, 6},
        {"float8_e4m3fnuz", SHAPEPROOF_DTYPE_F8_E4M3FNUZ, 6},
        {"float8_e5m2fnuz", SHAPEPROOF_DTYPE_F8_E5M2FNUZ, 6},
        {"float4", SHAPEPROOF_DTYPE_F4, 6},
    };
    struct shapeproof_inventory *inventory = must_open("fixtures/safetensors/ok/dtypes.safetensors");
    assert_string_equal(shapeproof_inventory_format(inventory), "safetensors");
    assert_int_equal(shapeproof_inventory_count(inventory), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const size_t index = shapeproof_inventory_find(inventory, expected[i].name);
        assert_int_not_equal(index, SHAPEPROOF_NONE);
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, index);
        assert_int_equal(tensor->dtype, expected[i].dtype);
        assert_int_equal(tensor->bytes, expected[i].bytes);
        assert_int_equal(tensor->data_end - tensor->data_begin, expected[i].bytes);
        assert_int_equal(tensor->rank, 2);
        assert_int_equal(tensor->shape[0], 2);
        assert_int_equal(tensor->shape[1], tensor->dtype == SHAPEPROOF_DTYPE_F4 ? 6 : 3);
        if (index) assert_true(tensor->data_begin >= shapeproof_inventory_tensor(inventory, index - 1)->data_end);
    }
    shapeproof_inventory_close(inventory);
}

static void test_shapes_and_metadata(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = must_open("fixtures/safetensors/ok/shapes.safetensors");
    const struct shapeproof_tensor *scalar =
        shapeproof_inventory_tensor(inventory, shapeproof_inventory_find(inventory, "scalar"));
    const struct shapeproof_tensor *empty =
        shapeproof_inventory_tensor(inventory, shapeproof_inventory_find(inventory, "empty"));
    assert_int_equal(scalar->rank, 0);
    assert_int_equal(scalar->parameters, 1);
    assert_int_equal(empty->parameters, 0);
    assert_null(scalar->storage);
    assert_null(scalar->stride);
    assert_int_equal(shapeproof_inventory_totals(inventory)->tensors, 4);
    assert_int_equal(shapeproof_inventory_totals(inventory)->parameters, 7);
    assert_int_equal(shapeproof_inventory_totals(inventory)->bytes, 28);
    assert_int_equal(shapeproof_inventory_metadata_count(inventory), 2);
    for (size_t i = 0; i < 2; i++) {
        const struct shapeproof_metadata *metadata = shapeproof_inventory_metadata(inventory, i);
        if (strcmp(metadata->key, "note") == 0) assert_string_equal(metadata->value, "caf\xc3\xa9");
        else assert_string_equal(metadata->key, "format");
    }
    assert_int_equal(shapeproof_inventory_warning_count(inventory), 0);
    shapeproof_inventory_close(inventory);
}

static void test_no_tensors(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = must_open("fixtures/safetensors/ok/nothing.safetensors");
    assert_int_equal(shapeproof_inventory_count(inventory), 0);
    assert_int_equal(shapeproof_inventory_find(inventory, "x"), SHAPEPROOF_NONE);
    shapeproof_inventory_close(inventory);
}

static void test_trained_gpt2(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory = must_open("fixtures/models/tiny-gpt2/model.safetensors");
    /* V*E + P*E + N*(12*E^2 + 13*E) + 2*E for V=64, E=16, P=16, N=2; the head is tied and so absent */
    assert_int_equal(shapeproof_inventory_totals(inventory)->parameters,
                     64 * 16 + 16 * 16 + 2 * (12 * 256 + 13 * 16) + 32);
    assert_int_equal(shapeproof_inventory_find(inventory, "lm_head.weight"), SHAPEPROOF_NONE);
    shapeproof_inventory_close(inventory);
}

/* ---- headers that are accepted although unusual ---- */

#define ONE "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}"

static void test_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data, tensors, warnings;
    } cases[] = {
        {"{}", 0, 0, 0},
        {" \n{\"a\":" ONE "}\r\t ", 4, 1, 0},
        {"{\"__metadata__\":null,\"a\":" ONE "}", 4, 1, 0},
        {"{\"__metadata__\":{},\"\":" ONE "}", 4, 1, 0},
        {"{\"__metadata__\":{\"x\":\"{\\\"a\\\":"
         "1}\"},\"a\":" ONE "}",
         4, 1, 0}, /* S24 */
        {"{\"__metadata__\":{\"x\":\"1\",\"x\":\"2\"}}", 0, 0, 1},
        {"{\"a\":{\"data_offsets\":[ 0 , 4 ],\"dtype\":\"F32\",\"shape\":[ 1 ]}}", 4, 1, 0},
        {"{\"a\":{\"dtype\":\"F32\",\"more\":[{\"x\":[1e5,-0.5,true,null]}],\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
         1, 1},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[0,1152921504606846976,1152921504606846976],\"data_offsets\":[0,0]}}", 0,
         1, 0},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[18446744073709551615,0],\"data_offsets\":[0,0]}}", 0, 1, 0},
        {"{\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]},\"a\":" ONE "}", 8, 2, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path =
            scratch_safetensors(&scratch, "a.safetensors", cases[i].header, strlen(cases[i].header), cases[i].data);
        struct shapeproof_inventory *inventory = must_open(path);
        assert_int_equal(shapeproof_inventory_count(inventory), cases[i].tensors);
        assert_int_equal(shapeproof_inventory_warning_count(inventory), cases[i].warnings);
        if (cases[i].tensors == 2) assert_string_equal(shapeproof_inventory_tensor(inventory, 0)->name, "a");
        shapeproof_inventory_close(inventory);
    }
}

/* Tensors are listed by their place in the data, empty ones at one place by name, whatever the header's order. */
static void test_order(void **state)
{
    (void)state;
#define EMPTY "{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[4,4]}"
#define LAST "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}"
    static const char *const headers[] = {
        "{\"z\":" ONE ",\"b\":" EMPTY ",\"c\":" EMPTY ",\"a\":" LAST "}",
        "{\"z\":" ONE ",\"c\":" EMPTY ",\"b\":" EMPTY ",\"a\":" LAST "}",
        "{\"z\":" ONE ",\"b\":" EMPTY ",\"a\":" LAST ",\"c\":" EMPTY "}",
        "{\"a\":" LAST ",\"c\":" EMPTY ",\"b\":" EMPTY ",\"z\":" ONE "}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct shapeproof_inventory *inventory =
            must_open(scratch_safetensors(&scratch, "a.safetensors", headers[i], strlen(headers[i]), 8));
        assert_int_equal(shapeproof_inventory_count(inventory), 4);
        for (size_t k = 0; k < 4; k++) {
            const char expected[] = {"zbca"[k], '\0'};
            assert_string_equal(shapeproof_inventory_tensor(inventory, k)->name, expected);
            assert_int_equal(shapeproof_inventory_find(inventory, expected), k);
        }
        shapeproof_inventory_close(inventory);
    }
}

static void test_decoded_names(void **state)
{
    (void)state;
    static const char header[] = "{\"\\u0061\\/\\\"\\\\\\n\\ud83d\\ude00\\u00e9\\u20ac\":" ONE "}";
    struct shapeproof_inventory *inventory =
        must_open(scratch_safetensors(&scratch, "a.safetensors", header, sizeof header - 1, 4));
    const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, 0);
    assert_string_equal(tensor->name, "a/\"\\\n\xf0\x9f\x98\x80\xc3\xa9\xe2\x82\xac");
    assert_int_equal(tensor->data_begin, 8 + sizeof header - 1);
    assert_int_equal(tensor->data_end, tensor->data_begin + 4);
    shapeproof_inventory_close(inventory);
}

/* ---- hostile headers ---- */

#define TEXT(text) text, sizeof text - 1
#define SHAPE(shape) "{\"a\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[0,4]}}"
#define OFFSETS(offsets) "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":" offsets "}}"
#define DTYPE(dtype) "{\"a\":{\"dtype\":" dtype ",\"shape\":[1],\"data_offsets\":[0,4]}}"
#define ENTRY(dtype, shape, begin, end)                                                                                \
    "{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" begin "," end "]}"
#define NOT_INTEGER(found) "tensor 'a': header: expected a non-negative integer at byte 37, found '" found "'"

static const struct {
    const char *label, *header;
    size_t length, data;
    const char *message;
} refused[] = {
    {"S6", TEXT(""), 0, "header: expected an object at byte 8, found the end"},
    {"S6", TEXT("   "), 0, "header: expected an object at byte 11, found the end"},
    {"S7", TEXT("[]"), 0, "header: expected an object at byte 8, found '['"},
    {"S7", TEXT("\"x\""), 0, "header: expected an object at byte 8, found '\"'"},
    {"S7", TEXT("null"), 0, "header: expected an object at byte 8, found 'n'"},
    {"S8", TEXT("\xef\xbb\xbf{}"), 0, "header: begins with a byte-order mark"},
    {"S8", TEXT("{\0}\0"), 0, "header: expected a string at byte 9, found byte 0x00"},
    {"S9", TEXT("{\"\xc0\x80\":1}"), 0, "header: invalid UTF-8 at byte 10"},
    {"S9", TEXT("{\"12345678\xed\xa0\x80\":1}"), 0, "header: invalid UTF-8 at byte 18"},
    {"S9", TEXT("{\"\\ud800\":" ONE "}"), 4, "header: invalid escape at byte 10"},
    {"S9", TEXT("{\"\\udc00\\ud800\":" ONE "}"), 4, "header: invalid escape at byte 10"},
    {"S9", TEXT("{\"\\x\":" ONE "}"), 4, "header: invalid escape at byte 10"},
    {"S10", TEXT("{}garbage"), 0, "header: expected nothing more at byte 10, found 'g'"},
    {"S10", TEXT("{}\0\0"), 0, "header: expected nothing more at byte 10, found byte 0x00"},
    {"S10", TEXT("{} {}"), 0, "header: expected nothing more at byte 11, found '{'"},
    {"S11", TEXT("{\"a\":" ONE ",\"a\":" ONE "}"), 4, "tensor name 'a' appears twice"},
    {"S11", TEXT("{\"a\":" ONE ",\"a\":" ENTRY("F32", "1", "4", "8") "}"), 8, "tensor name 'a' appears twice"},
    {"S12", TEXT("{\"a\":" ENTRY("U8", "0", "0", "0") ",\"\\u0061\":" ENTRY("F32", "0", "0", "0") "}"), 0,
     "tensor name 'a' appears twice"},
    {"S13", TEXT("{\"a\\u0000b\":" ONE "}"), 4, "header: NUL in a string at byte 11"},
    {"S13", TEXT("{\"__metadata__\":{\"k\\u0000\":\"v\"}}"), 0, "header: NUL in a string at byte 27"},
    {"S14", TEXT("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]}}"), 4,
     "tensor 'a': 'shape' appears twice"},
    {"S14", TEXT("{\"a\":{\"dtype\":\"F32\",\"\\u0064type\":\"F32\"}}"), 4, "tensor 'a': 'dtype' appears twice"},
    {"S14", TEXT("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}"), 4, "tensor 'a': 'data_offsets' is missing"},
    {"S14", TEXT("{\"a\":[\"F32\",[1],[0,4]]}"), 4, "tensor 'a': header: expected an object at byte 13, found '['"},
    {"S15", TEXT(SHAPE("[-1]")), 4, NOT_INTEGER("-1")},
    {"S15", TEXT(SHAPE("[1.5]")), 4, NOT_INTEGER("1.5")},
    {"S15", TEXT(SHAPE("[1.0]")), 4, NOT_INTEGER("1.0")},
    {"S15", TEXT(SHAPE("[1e3]")), 4, NOT_INTEGER("1e3")},
    {"S15", TEXT(SHAPE("[01]")), 4, NOT_INTEGER("01")},
    {"S15", TEXT(SHAPE("[+1]")), 4, NOT_INTEGER("+1")},
    {"S15", TEXT(SHAPE("[\"3\"]")), 4, NOT_INTEGER("\"3\"")},
    {"S15", TEXT(SHAPE("[true]")), 4, NOT_INTEGER("true")},
    {"S15", TEXT(SHAPE("[null]")), 4, NOT_INTEGER("null")},
    {"S15", TEXT(SHAPE("[[1]]")), 4, NOT_INTEGER("[1")},
    {"S15", TEXT(SHAPE("[1,]")), 4, "tensor 'a': header: expected an item at byte 39, found ']'"},
    {"S15", TEXT(SHAPE("1")), 4, "tensor 'a': header: expected an array at byte 36, found '1'"},
    {"S15", TEXT(SHAPE("[18446744073709551616]")), 4,
     "tensor 'a': header: expected an integer below 2^64 at byte 37, found '18446744073709551616'"},
    {"S16", TEXT(SHAPE("[9223372036854775808,2]")), 4, "tensor 'a': the shape overflows 64 bits"},
    {"S16", TEXT(SHAPE("[4294967296,4294967296]")), 4, "tensor 'a': the shape overflows 64 bits"},
    {"S16", TEXT(SHAPE("[1152921504606846976,1152921504606846976,0]")), 4, "tensor 'a': the shape overflows 64 bits"},
    {"S16", TEXT(SHAPE("[1152921504606846976]")), 4,
     "tensor 'a': 1152921504606846976 elements of F32 need 4611686018427387904 bytes, data_offsets are [0, 4)"},
    {"S18", TEXT(OFFSETS("[4,0]")), 4, "tensor 'a': 1 elements of F32 need 4 bytes, data_offsets are [4, 0)"},
    {"S18", TEXT(OFFSETS("[0]")), 4, "tensor 'a': data_offsets has 1 items, expected [begin, end]"},
    {"S18", TEXT(OFFSETS("[0,4,8]")), 4, "tensor 'a': data_offsets has more than two items"},
    {"S18", TEXT(OFFSETS("[18446744073709551612,18446744073709551615]")), 4,
     "tensor 'a': 1 elements of F32 need 4 bytes, data_offsets are [18446744073709551612, 18446744073709551615)"},
    {"S18", TEXT(OFFSETS("[18446744073709551611,18446744073709551615]")), 4,
     "data bytes [0, 18446744073709551611) before tensor 'a' belong to no tensor"},
    {"S18", TEXT(OFFSETS("[9007199254740993.0,9007199254740997]")), 4,
     "tensor 'a': header: expected a non-negative integer at byte 56, found '9007199254740993.0'"},
    {"S19", TEXT("{\"a\":" ENTRY("F32", "2", "0", "8") ",\"b\":" ENTRY("F32", "2", "4", "12") "}"), 12,
     "tensor 'a': bytes [0, 8) overlap 'b' [4, 12)"},
    {"S19", TEXT("{\"a\":" ENTRY("F32", "1", "0", "4") ",\"b\":" ENTRY("F32", "1", "0", "4") "}"), 4,
     "tensor 'a': bytes [0, 4) overlap 'b' [0, 4)"},
    {"S19", TEXT("{\"a\":" ENTRY("F32", "2", "0", "8") ",\"b\":" ENTRY("F32", "0", "4", "4") "}"), 8,
     "tensor 'a': bytes [0, 8) overlap 'b' [4, 4)"},
    {"S19", TEXT("{\"a\":" ENTRY("F32", "1", "0", "4") ",\"b\":" ENTRY("F32", "1", "8", "12") "}"), 12,
     "data bytes [4, 8) before tensor 'b' belong to no tensor"},
    {"S20", TEXT("{\"a\":" ONE "}"), 9, "5 bytes after the last tensor 'a' (it ends at 4 of 9 data bytes)"},
    {"S20", TEXT("{\"a\":" ONE "}"), 2,
     "2 bytes missing: the last tensor 'a' ends at 4 although there are only 2 data bytes (truncated download?)"},
    {"S20", TEXT("{}"), 3, "3 bytes after the header, which declares no tensor"},
    {"S21", TEXT("{\"a\":" ENTRY("F32", "3", "0", "8") "}"), 8,
     "tensor 'a': 3 elements of F32 need 12 bytes, data_offsets are [0, 8)"},
    {"S21", TEXT("{\"a\":" ENTRY("F4", "3", "0", "2") "}"), 2,
     "tensor 'a': 3 elements of F4 (4 bits each) do not fill whole bytes"},
    {"S21", TEXT("{\"a\":" ENTRY("F6_E2M3", "2", "0", "2") "}"), 2,
     "tensor 'a': 2 elements of F6_E2M3 (6 bits each) do not fill whole bytes"},
    {"S22", TEXT(DTYPE("\"F128\"")), 4, "tensor 'a': unknown dtype 'F128'"},
    {"S22", TEXT(DTYPE("\"f32\"")), 4, "tensor 'a': unknown dtype 'f32'"},
    {"S22", TEXT(DTYPE("\"\"")), 4, "tensor 'a': unknown dtype ''"},
    {"S22", TEXT(DTYPE("\"C128\"")), 4, "tensor 'a': unknown dtype 'C128'"},
    {"S22", TEXT(DTYPE("\"QI32\"")), 4, "tensor 'a': unknown dtype 'QI32'"},
    {"S22", TEXT(DTYPE("\"F32\\u0000\"")), 4, "tensor 'a': header: NUL in a string at byte 26"},
    {"S22", TEXT(DTYPE("{\"F32\":null}")), 4, "tensor 'a': header: expected a string at byte 22, found '{'"},
    {"S23", TEXT("{\"__metadata__\":{\"k\":1}}"), 0, "__metadata__: the value of 'k' is not a string"},
    {"S23", TEXT("{\"__metadata__\":[]}"), 0, "header: expected an object at byte 24, found '['"},
    {"S23", TEXT("{\"__metadata__\":{},\"__metadata__\":{}}"), 0, "header: '__metadata__' appears twice"},
    {"control byte in a string", TEXT("{\"a\tb\":" ONE "}"), 4, "header: control byte 0x09 in a string at byte 11"},
    {"control byte between tokens", TEXT("{\x01\"a\":" ONE "}"), 4,
     "header: expected a string at byte 9, found byte 0x01"},
    {"no comma", TEXT("{\"a\":" ONE "\"b\":" ONE "}"), 4, "header: expected ',' or '}' at byte 61, found '\"'"},
    {"comma at the end", TEXT("{\"a\":" ONE ",}"), 4, "header: expected a member at byte 62, found '}'"},
    {"no colon", TEXT("{\"a\"" ONE "}"), 4, "header: expected ':' at byte 12, found '{'"},
    {"cut in a string", TEXT("{\"abc"), 0, "header: the string at byte 9 is not closed"},
    {"cut in an escape", TEXT("{\"abc\\u00"), 0, "header: invalid escape at byte 13"},
    {"cut in a number", TEXT("{\"a\":{\"shape\":[1"), 0,
     "tensor 'a': header: expected ',' or ']' at byte 24, found the end"},
    {"not JSON in an unknown field", TEXT("{\"a\":{\"x\":nul}}"), 0,
     "tensor 'a': header: expected a value at byte 18, found 'n'"},
    {"number in an unknown field", TEXT("{\"a\":{\"x\":1.}}"), 0,
     "tensor 'a': header: expected a digit at byte 20, found '}'"},
    /* serde_json reads numbers as doubles */
    {"larger than every double", TEXT("{\"a\":{\"x\":[1e308,1e309]}}"), 0,
     "tensor 'a': header: a number that is larger than every double at byte 25"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *path =
            scratch_safetensors(&scratch, "a.safetensors", refused[i].header, refused[i].length, refused[i].data);
        assert_refused(path, refused[i].message, refused[i].label);
    }
}

/* S1 to S5: the length itself. */
static void test_length(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } cases[] = {
        {TEXT(""), "empty file"},
        {TEXT("\1\0\0"), "3 bytes, shorter than the 8-byte header length"},
        {TEXT("\0\0\0\0\0\0\0"), "7 bytes, shorter than the 8-byte header length"},
        {TEXT("\xff\xff\xff\xff\xff\xff\xff\xff{}"),
         "header length 18446744073709551615 is over the limit of 100000000 bytes"},
        {TEXT("\1\xe1\xf5\5\0\0\0\0{}"), "header length 100000001 is over the limit of 100000000 bytes"},
        {TEXT("\3\0\0\0\0\0\0\0{}"), "ends inside the header: 2 bytes of 3 (truncated download?)"},
        {TEXT("\1\0\0\0\0\0\0\0"), "ends inside the header: 0 bytes of 1 (truncated download?)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(scratch_write(&scratch, "a.safetensors", cases[i].bytes, cases[i].length), cases[i].message,
                       cases[i].message);
}

static void test_sparse_header_over_limit(void **state)
{
    (void)state;
    const char *path = scratch_write(&scratch, "a.safetensors", "\1\xe1\xf5\5\0\0\0\0", 8);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_refused(path, "header length 100000001 is over the limit of 100000000 bytes", "S4");
}

/* Text that is `count` times `unit` between two ends. */
static char *repeated(const char *before, const char *unit, size_t count, const char *after)
{
    const size_t size = strlen(unit), start = strlen(before);
    char *text = malloc(start + size * count + strlen(after) + 1);
    if (!text) abort();
    memcpy(text, before, start);
    for (size_t i = 0; i < count; i++) memcpy(text + start + i * size, unit, size);
    strcpy(text + start + size * count, after);
    return text;
}

static void assert_text_refused(char *text, const char *message, const char *label)
{
    assert_refused(scratch_safetensors(&scratch, "a.safetensors", text, strlen(text), 0), message, label);
    free(text);
}

static void test_limits(void **state)
{
    (void)state;
    assert_text_refused(repeated("{\"a\":{\"dtype\":\"F32\",\"shape\":[0", ",0", 1000000, "]}}"),
                        "tensor 'a': more than 64 dimensions", "S17");
    assert_text_refused(repeated("{\"a\":{\"x\":", "[", 1000000, ""),
                        "tensor 'a': header: nested deeper than 127 levels at byte 143", "S25");
    assert_text_refused(repeated("{\"", "n", 65537, "\":" ONE "}"),
                        "tensor name 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                        "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...' (65537 "
                        "bytes) is longer than 65536 bytes",
                        "S26");
    assert_text_refused(repeated("{\"__metadata__\":{\"a\":\"\"", ",\"a\":\"\"", 1000000, "}}"),
                        "__metadata__: more than 1000000 entries", "S23");
    char *text = repeated("{\"", "n", 65536, "\":" ONE "}");
    shapeproof_inventory_close(must_open(scratch_safetensors(&scratch, "a.safetensors", text, strlen(text), 4)));
    free(text);
    text = repeated("{\"a\":{\"x\":", "[", 125, "");
    assert_text_refused(text, "tensor 'a': header: expected a value at byte 143, found the end", "depth 127 is legal");
    text = repeated("{\"a\":{\"dtype\":\"U8\",\"shape\":[0", ",0", 63, "],\"data_offsets\":[0,0]}}");
    shapeproof_inventory_close(must_open(scratch_safetensors(&scratch, "a.safetensors", text, strlen(text), 0)));
    free(text);
}

static void test_unprintable_name(void **state)
{
    (void)state;
    static const char header[] = "{\"\\u001b[31m\xe2\x80\xae\":1}";
    assert_refused(scratch_safetensors(&scratch, "a.safetensors", header, sizeof header - 1, 0),
                   "tensor '\\x1b[31m\\u{202e}': header: expected an object at byte 25, found '1'", "S26");
}

static void test_bad_fixtures(void **state)
{
    (void)state;
    assert_refused("fixtures/safetensors/bad/pointer.safetensors",
                   "this is a git-lfs pointer, not the file itself (run 'git lfs pull')", "pointer");
    assert_refused("fixtures/safetensors/bad/trailing.safetensors",
                   "5 bytes after the last tensor 'a' (it ends at 8 of 13 data bytes)", "trailing");
    assert_refused("fixtures/safetensors/bad/twice.safetensors", "tensor name 'a' appears twice", "twice");
    assert_refused(
        "fixtures/safetensors/bad/short.safetensors",
        "1 bytes missing: the last tensor 'a' ends at 8 although there are only 7 data bytes (truncated download?)",
        "short");
}

/* Recognised by content: the name does not matter as long as the file is whole. */
static void test_other_name(void **state)
{
    (void)state;
    struct shapeproof_inventory *inventory =
        must_open(scratch_safetensors(&scratch, "weights", TEXT("{\"a\":" ONE "}"), 4));
    assert_string_equal(shapeproof_inventory_format(inventory), "safetensors");
    shapeproof_inventory_close(inventory);
    assert_refused(scratch_write(&scratch, "weights", TEXT("{\"meta\":{\"a\":1}}")),
                   "this is JSON text, not a checkpoint: '{\"meta\":{\"a\":1}}'", "JSON");
}

/* ---- random damage: any outcome but a crash, a silent failure or several lines ---- */

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void damage(unsigned char *bytes, size_t *length, uint32_t *seed)
{
    static const unsigned char likely[] = "\"\\[]{},:-.0189eu \n\0\xff";
    const size_t near = *length < 200 ? *length : 200; /* mostly in the header */
    for (uint32_t hits = 1 + next_random(seed) % 3; hits; hits--) {
        const size_t at = next_random(seed) % (next_random(seed) % 4 ? near : *length);
        if (next_random(seed) % 2) bytes[at] = likely[next_random(seed) % sizeof likely];
        else bytes[at] = (unsigned char)(bytes[at] ^ 1U << next_random(seed) % 8);
    }
    if (next_random(seed) % 8 == 0) *length = next_random(seed) % *length;
}

static void open_damaged(const unsigned char *bytes, size_t length)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory =
        shapeproof_inventory_open(scratch_write(&scratch, "a.safetensors", bytes, length), &error);
    if (inventory) assert_int_equal(error.status, SHAPEPROOF_OK);
    else {
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
        assert_true(strlen(error.message) > strlen(scratch.joined) + 2);
        assert_null(strchr(error.message, '\n'));
    }
    shapeproof_inventory_close(inventory);
}

static void test_random_damage(void **state)
{
    (void)state;
    static const char *const files[] = {"fixtures/safetensors/ok/dtypes.safetensors",
                                        "fixtures/safetensors/ok/shapes.safetensors",
                                        "fixtures/cross/five.safetensors"};
    unsigned char whole[4096], bytes[sizeof whole];
    uint32_t seed = 1;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        FILE *file = fopen(files[f], "rb");
        assert_non_null(file);
        const size_t size = fread(whole, 1, sizeof whole, file);
        fclose(file);
        for (int i = 0; i < 1000; i++) {
            size_t length = size;
            memcpy(bytes, whole, size);
            damage(bytes, &length, &seed);
            open_damaged(bytes, length);
        }
    }
}

/* Every shorter version of a file is refused: its size is part of what it says. */
static void test_truncation(void **state)
{
    (void)state;
    unsigned char bytes[4096];
    FILE *file = fopen("fixtures/safetensors/ok/shapes.safetensors", "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t length = 0; length < size; length++) {
        struct shapeproof_error error;
        assert_null(shapeproof_inventory_open(scratch_write(&scratch, "a.safetensors", bytes, length), &error));
        assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtypes),        cmocka_unit_test(test_shapes_and_metadata),
        cmocka_unit_test(test_no_tensors),    cmocka_unit_test(test_trained_gpt2),
        cmocka_unit_test(test_accepted),      cmocka_unit_test(test_order),
        cmocka_unit_test(test_decoded_names), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_length),        cmocka_unit_test(test_sparse_header_over_limit),
        cmocka_unit_test(test_limits),        cmocka_unit_test(test_unprintable_name),
        cmocka_unit_test(test_bad_fixtures),  cmocka_unit_test(test_other_name),
        cmocka_unit_test(test_random_damage), cmocka_unit_test(test_truncation),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
