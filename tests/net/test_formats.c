/* SPDX-License-Identifier: MIT
 * Formats whose headers are elsewhere than at the beginning: zip archives have theirs at the end, GGUF has a long one,
 * HDF5 has them everywhere; and what is read there is what is read of the same file here. */
#define _GNU_SOURCE
#include <glob.h>

#include "net/place.h"

/* ---- bytes ---- */

struct bytes {
    unsigned char *data;
    size_t length, capacity;
};

static void put(struct bytes *bytes, const void *data, size_t length)
{
    if (bytes->capacity - bytes->length < length) {
        bytes->capacity = bytes->capacity * 2 + length;
        bytes->data = realloc(bytes->data, bytes->capacity);
        assert_non_null(bytes->data);
    }
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

static void put_text(struct bytes *bytes, const char *text) { put(bytes, text, strlen(text)); }

static void put_number(struct bytes *bytes, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++) put(bytes, &(unsigned char){(unsigned char)(i < 8 ? number >> (8 * i) : 0)}, 1);
}

/* ---- a file of PyTorch ---- */

enum { ROWS = 65536, COLUMNS = 4096 }; /* 1 GiB of F32 */

static void put_pickled_text(struct bytes *bytes, const char *text)
{
    put_text(bytes, "X");
    put_number(bytes, strlen(text), 4);
    put_text(bytes, text);
}

static void put_int(struct bytes *bytes, uint32_t number)
{
    put_text(bytes, "J");
    put_number(bytes, number, 4);
}

/* {"w": a matrix} */
static struct bytes make_pickle(void)
{
    struct bytes bytes = {0};
    put(&bytes, "\x80\x02}", 3);
    put_pickled_text(&bytes, "w");
    put_text(&bytes, "ctorch._utils\n_rebuild_tensor_v2\n((");
    put_pickled_text(&bytes, "storage");
    put_text(&bytes, "ctorch\nFloatStorage\n");
    put_pickled_text(&bytes, "0");
    put_pickled_text(&bytes, "cpu");
    put_int(&bytes, ROWS * COLUMNS);
    put_text(&bytes, "tQ");
    put(&bytes, "K\0", 2);
    put_int(&bytes, ROWS);
    put_int(&bytes, COLUMNS);
    put_text(&bytes, "\x86");
    put_int(&bytes, COLUMNS);
    put(&bytes, "K\1\x86\x89", 4);
    put_text(&bytes, "ccollections\nOrderedDict\n)RtRs.");
    return bytes;
}

static uint32_t crc_of(const unsigned char *data, size_t length)
{
    uint32_t crc = ~0U;
    for (size_t i = 0; i < length; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
    }
    return ~crc;
}

/* What a local header and an entry of the directory have in common. */
static void put_entry(struct bytes *bytes, uint32_t crc, uint64_t size, const char *name)
{
    put_number(bytes, 0, 2 + 2 + 2 + 2); /* flags, stored, no time, no date */
    put_number(bytes, crc, 4);
    put_number(bytes, size, 4);
    put_number(bytes, size, 4);
    put_number(bytes, strlen(name), 2);
    put_number(bytes, 0, 2);
}

static void put_local(struct bytes *bytes, uint32_t crc, uint64_t size, const char *name)
{
    put_text(bytes, "PK\3\4");
    put_number(bytes, 10, 2);
    put_entry(bytes, crc, size, name);
    put_text(bytes, name);
}

static void put_central(struct bytes *bytes, uint32_t crc, uint64_t size, const char *name, uint64_t at)
{
    put_text(bytes, "PK\1\2");
    put_number(bytes, 10, 2);
    put_number(bytes, 10, 2);
    put_entry(bytes, crc, size, name);
    put_number(bytes, 0, 2 + 2 + 2 + 4);
    put_number(bytes, at, 4);
    put_text(bytes, name);
}

static void serve_torch(const char *name)
{
    static const char pickle_name[] = "archive/data.pkl", data_name[] = "archive/data/0";
    struct bytes head = {0}, tail = {0}, pickle = make_pickle();
    const uint64_t data = 4ULL * ROWS * COLUMNS;
    const uint32_t crc = crc_of(pickle.data, pickle.length);
    put_local(&head, crc, pickle.length, pickle_name);
    put(&head, pickle.data, pickle.length);
    const uint64_t second = head.length;
    put_local(&head, 0, data, data_name);
    put_central(&tail, crc, pickle.length, pickle_name, 0);
    put_central(&tail, 0, data, data_name, second);
    const uint64_t directory = head.length + data, length = tail.length;
    put_text(&tail, "PK\5\6");
    put_number(&tail, 0, 4);
    put_number(&tail, 2, 2);
    put_number(&tail, 2, 2);
    put_number(&tail, length, 4);
    put_number(&tail, directory, 4);
    put_number(&tail, 0, 2);
    serve_tail(serve_file(here, name, head.data, head.length, directory + tail.length), tail.data, tail.length);
    free(head.data);
    free(tail.data);
    free(pickle.data);
}

/* Of 1 GiB its beginning and its end. */
static void test_archive(void **state)
{
    (void)state;
    empty_cache();
    serve_torch("pytorch_model.bin");
    const uint64_t before = bytes_moved();
    assert_int_equal(fetch_count(url_here("ok/pytorch_model.bin")), 1);
    assert_int_equal(find_served(here, "pytorch_model.bin")->asked, 2);
    assert_in_range(bytes_moved() - before, 1, 130 * 1000);
    empty_cache();
    assert_string_equal(fetch_message(url_here("whole/pytorch_model.bin")),
                        "the answer of the server is not used: the server knows no ranges, and what is needed lies far "
                        "into the file");
}

/* ---- GGUF ---- */

static void put_gguf_text(struct bytes *bytes, const char *text)
{
    put_number(bytes, strlen(text), 8);
    put_text(bytes, text);
}

/* A vocabulary of 100,000 tokens in front of the tensors: 1.8 MB. */
static void test_gguf(void **state)
{
    enum { TOKENS = 100 * 1000, TENSORS = 200, ARRAY = 9, TEXT = 8 };
    struct bytes head = {0};
    char text[64];
    (void)state;
    empty_cache();
    put_text(&head, "GGUF");
    put_number(&head, 3, 4);
    put_number(&head, TENSORS, 8);
    put_number(&head, 2, 8);
    put_gguf_text(&head, "general.architecture");
    put_number(&head, TEXT, 4);
    put_gguf_text(&head, "llama");
    put_gguf_text(&head, "tokenizer.ggml.tokens");
    put_number(&head, ARRAY, 4);
    put_number(&head, TEXT, 4);
    put_number(&head, TOKENS, 8);
    for (int i = 0; i < TOKENS; i++) {
        snprintf(text, sizeof text, "token%05d", i);
        put_gguf_text(&head, text);
    }
    for (uint64_t i = 0; i < TENSORS; i++) {
        snprintf(text, sizeof text, "blk.%d.weight", (int)i);
        put_gguf_text(&head, text);
        put_number(&head, 2, 4);
        put_number(&head, 4096, 8);
        put_number(&head, 4096, 8);
        put_number(&head, 0, 4);
        put_number(&head, i << 26, 8);
    }
    while (head.length % 32) put_number(&head, 0, 1);
    serve_file(here, "large.gguf", head.data, head.length, head.length + ((uint64_t)TENSORS << 26));
    assert_int_equal(fetch_count(url_here("ok/large.gguf")), TENSORS);
    assert_in_range(find_served(here, "large.gguf")->asked, 2, 6);
    free(head.data);
}

/* ---- files of the repository ---- */

static struct bytes read_fixture(const char *path)
{
    struct bytes bytes = {0};
    unsigned char block[4096];
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s: not there", path);
    for (size_t got; (got = fread(block, 1, sizeof block, file));) put(&bytes, block, got);
    fclose(file);
    return bytes;
}

/* What is said of a checkpoint that is here, or why nothing is. */
static char *describe(const char *path)
{
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) return strdup(error.message + strlen(path));
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    fprintf(stream, "%s\n", shapeproof_inventory_format(inventory));
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        fprintf(stream, "%s %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", tensor->name, tensor->dtype_name,
                tensor->rank, tensor->parameters, tensor->data_begin, tensor->data_end);
    }
    fclose(stream);
    shapeproof_inventory_close(inventory);
    return text;
}

/* Every file of every format. */
static void test_same_as_here(void **state)
{
    glob_t found;
    size_t compared = 0;
    (void)state;
    empty_cache();
    assert_int_equal(glob("fixtures/*/ok/*.*", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        char url[300];
        struct stat info;
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || strstr(path, ".data")) continue;
        struct bytes bytes = read_fixture(path);
        serve_file(here, path, bytes.data, bytes.length, bytes.length);
        free(bytes.data);
        snprintf(url, sizeof url, "ok/%s", path);
        struct shapeproof_remote *remote = shapeproof_remote_fetch(url_here(url), &options, &error);
        char *fetched =
            remote ? describe(shapeproof_remote_path(remote)) : strdup(error.message + strlen(url_here(url)));
        char *local = describe(path);
        assert_string_equal(local, fetched);
        free(local);
        free(fetched);
        shapeproof_remote_free(remote);
        compared++;
    }
    globfree(&found);
    assert_in_range(compared, 100, MOST_FILES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_archive),
        cmocka_unit_test(test_gguf),
        cmocka_unit_test(test_same_as_here),
    };
    return cmocka_run_group_tests(tests, start_servers, stop_servers);
}
