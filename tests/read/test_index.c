/* SPDX-License-Identifier: MIT
 * Indexes and directories: which files are read, and what is said about those that are not. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "base/text.h"
#include "model/inventory.h"
#include "read/scratch_fixture.h"

/* ---- material ---- */

/* A safetensors file with one F32 vector of `elements` elements per name ("a b c"). */
static void put_shard(const char *file, const char *names, size_t elements)
{
    char header[2048] = "{", copy[256];
    size_t length = 1, offset = 0;
    strcpy(copy, names);
    for (char *name = strtok(copy, " "); name; name = strtok(NULL, " "), offset += 4 * elements)
        length += (size_t)snprintf(header + length, sizeof header - length,
                                   "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu],\"data_offsets\":[%zu,%zu]}",
                                   offset ? "," : "", name, elements, offset, offset + 4 * elements);
    strcpy(header + length, "}");
    scratch_safetensors(&scratch, file, header, length + 1, offset);
}

static void put_text(const char *file, const char *text) { scratch_write(&scratch, file, text, strlen(text)); }

static struct shapeproof_inventory *must_open(const char *path)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) fail_msg("%s", error.message);
    return inventory;
}

/* `message` follows "DIRECTORY/" or "DIRECTORY". */
static void assert_refused(const char *path, const char *message)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (inventory) {
        shapeproof_inventory_close(inventory);
        fail_msg("accepted, expected: %s", message);
    }
    assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
    assert_memory_equal(error.message, scratch.path, strlen(scratch.path));
    assert_string_equal(error.message + strlen(scratch.path), message);
}

static void assert_warnings(const struct shapeproof_inventory *inventory, size_t count, const char *const *warnings)
{
    for (size_t i = 0; i < shapeproof_inventory_warning_count(inventory); i++)
        if (i >= count) fail_msg("unexpected warning: %s", shapeproof_inventory_warning(inventory, i));
    assert_int_equal(shapeproof_inventory_warning_count(inventory), count);
    for (size_t i = 0; i < count; i++) assert_string_equal(shapeproof_inventory_warning(inventory, i), warnings[i]);
}

#define ASSERT_WARNINGS(inventory, ...)                                                                                \
    do {                                                                                                               \
        const char *const expected[] = {__VA_ARGS__};                                                                  \
        assert_warnings(inventory, sizeof expected / sizeof *expected, expected);                                      \
    } while (0)

static const char *metadata_of(const struct shapeproof_inventory *inventory, const char *key)
{
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(inventory); i++)
        if (strcmp(shapeproof_inventory_metadata(inventory, i)->key, key) == 0)
            return shapeproof_inventory_metadata(inventory, i)->value;
    return NULL;
}

#define INDEX "model.safetensors.index.json"
#define SHARD1 "model-00001-of-00002.safetensors"
#define SHARD2 "model-00002-of-00002.safetensors"

/* ---- indexes ---- */

static void test_whole(void **state)
{
    (void)state;
    struct shapeproof_inventory *whole = must_open("fixtures/models/tiny-gpt2/model.safetensors");
    struct shapeproof_inventory *sharded = must_open("fixtures/models/tiny-gpt2-sharded/" INDEX);
    assert_string_equal(shapeproof_inventory_format(sharded), "safetensors");
    assert_int_equal(shapeproof_inventory_file_count(sharded), 3);
    assert_int_equal(shapeproof_inventory_warning_count(sharded), 0);
    assert_int_equal(shapeproof_inventory_count(sharded), shapeproof_inventory_count(whole));
    for (size_t i = 0; i < shapeproof_inventory_count(whole); i++) {
        const struct shapeproof_tensor *a = shapeproof_inventory_tensor(whole, i);
        const size_t found = shapeproof_inventory_find(sharded, a->name);
        assert_int_not_equal(found, SHAPEPROOF_NONE);
        const struct shapeproof_tensor *b = shapeproof_inventory_tensor(sharded, found);
        assert_int_equal(a->dtype, b->dtype);
        assert_int_equal(a->rank, b->rank);
        assert_memory_equal(a->shape, b->shape, a->rank * sizeof *a->shape);
    }
    assert_string_equal(metadata_of(sharded, "index.total_size"), "31488");
    shapeproof_inventory_close(whole);
    shapeproof_inventory_close(sharded);
}

static void test_metadata_verbatim(void **state)
{
    (void)state;
    put_shard(SHARD1, "a", 2);
    put_text(INDEX, "{\"weight_map\":{\"a\":\"" SHARD1 "\"},\"metadata\":{\"total_size\":8.0,\"total_parameters\":"
                    "123456789012345678901234567890123456789012345678901234567890123456789012,"
                    "\"note\":\"x\\ty\",\"list\":[1, {\"a\":2}]},\"more\":[]}");
    struct shapeproof_inventory *inventory = must_open(scratch_path(&scratch, INDEX));
    assert_string_equal(metadata_of(inventory, "index.total_size"), "8.0");
    assert_string_equal(metadata_of(inventory, "index.total_parameters"),
                        "123456789012345678901234567890123456789012345678901234567890123456789012");
    assert_string_equal(metadata_of(inventory, "index.note"), "x\ty");
    assert_string_equal(metadata_of(inventory, "index.list"), "[1, {\"a\":2}]");
    assert_int_equal(shapeproof_inventory_warning_count(inventory), 0);
    shapeproof_inventory_close(inventory);
}

static void test_bare_map(void **state)
{
    (void)state;
    put_shard(SHARD1, "a metadata", 1);
    put_text(INDEX, "{\"a\":\"" SHARD1 "\",\"metadata\":\"" SHARD1 "\"}");
    struct shapeproof_inventory *inventory = must_open(scratch_path(&scratch, INDEX));
    assert_int_equal(shapeproof_inventory_count(inventory), 2);
    assert_int_equal(shapeproof_inventory_warning_count(inventory), 0);
    shapeproof_inventory_close(inventory);
}

static void test_differences(void **state)
{
    (void)state;
    put_shard(SHARD1, "a b extra1 extra2 extra3 extra4", 1);
    put_shard(SHARD2, "c", 1);
    put_text(INDEX, "{\"metadata\":{\"total_size\":1e9},\"weight_map\":{\"a\":\"" SHARD1 "\",\"b\":\"" SHARD2
                    "\",\"c\":\"" SHARD2 "\",\"gone\":\"" SHARD2 "\"}}");
    struct shapeproof_inventory *inventory = must_open(scratch_path(&scratch, INDEX));
    assert_int_equal(shapeproof_inventory_count(inventory), 7);
    ASSERT_WARNINGS(inventory, "tensors that the index lists, but that their shard does not hold (1): 'gone'",
                    "tensors that are in another shard than the index says (1): 'b'",
                    "tensors that the index does not list (4): 'extra1', 'extra2', 'extra3' and 1 more",
                    "the index says total_size 1e9, but the tensors take 28 bytes");
    shapeproof_inventory_close(inventory);
}

static void test_missing_shard(void **state)
{
    (void)state;
    put_shard(SHARD1, "a", 1);
    put_text(INDEX, "{\"metadata\":{\"total_size\":12},\"weight_map\":{\"a\":\"" SHARD1 "\",\"b\":\"" SHARD2
                    "\",\"c\":\"" SHARD2 "\",\"d\":\"fifo\",\"e\":\"loop\"}}");
    assert_int_equal(mkfifo(scratch_path(&scratch, "fifo"), 0600), 0);
    assert_int_equal(symlink("loop", scratch_path(&scratch, "loop")), 0);
    struct shapeproof_inventory *inventory = must_open(scratch_path(&scratch, INDEX));
    assert_int_equal(shapeproof_inventory_count(inventory), 1);
    ASSERT_WARNINGS(
        inventory, "shard 'fifo' cannot be read (not a regular file): the index places 1 tensors in it",
        "shard 'loop' cannot be read (open: Too many levels of symbolic links): the index places 1 tensors in it",
        "shard '" SHARD2 "' cannot be read (open: No such file or directory): the index places 2 tensors in it");
    shapeproof_inventory_close(inventory);
}

static void test_symbolic_link(void **state)
{
    (void)state;
    put_shard("blob", "a", 1);
    put_text(INDEX, "{\"weight_map\":{\"a\":\"" SHARD1 "\"}}");
    assert_int_equal(symlink("blob", scratch_path(&scratch, SHARD1)), 0);
    shapeproof_inventory_close(must_open(scratch_path(&scratch, INDEX)));
}

static void test_damaged_shard(void **state)
{
    (void)state;
    put_shard(SHARD1, "a", 1);
    scratch_safetensors(&scratch, SHARD2, "{}", 2, 3);
    put_text(INDEX, "{\"weight_map\":{\"a\":\"" SHARD1 "\",\"b\":\"" SHARD2 "\"}}");
    assert_refused(scratch_path(&scratch, INDEX), "/" SHARD2 ": 3 bytes after the header, which declares no tensor");
    put_shard(SHARD2, "b a", 1);
    assert_refused(scratch_path(&scratch, INDEX),
                   "/" INDEX ": tensor 'a' is in two files: '" SHARD1 "' and '" SHARD2 "'");
}

static void test_unsafe_shard_names(void **state)
{
    (void)state;
    static const struct {
        const char *written, *shown;
    } names[] = {{"../../etc/passwd", "../../etc/passwd"},
                 {"/dev/zero", "/dev/zero"},
                 {"a\\\\b", "a\\b"},
                 {"C:x", "C:x"},
                 {".", "."},
                 {"..", ".."},
                 {"", ""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[128], message[128];
        struct shapeproof_error error;
        snprintf(text, sizeof text, "{\"weight_map\":{\"a\":\"%s\"}}", names[i].written);
        snprintf(message, sizeof message, "/" INDEX ": unsafe shard name '%s': not a plain file name", names[i].shown);
        put_text(INDEX, text);
        assert_refused(scratch_path(&scratch, INDEX), message);
        assert_null(shapeproof_inventory_open(scratch_path(&scratch, INDEX), &error));
        assert_int_equal(error.kind, SHAPEPROOF_KIND_REFUSED);
    }
}

static void test_malformed_index(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "index: expected an object at byte 0, found the end"},
        {"\xef\xbb\xbf{}", "index: begins with a byte-order mark"},
        {"[]", "index: expected an object at byte 0, found '['"},
        {"{}", "index: names no shard"},
        {"{\"weight_map\":{}}", "index: names no shard"},
        {"{\"weight_map\":{},\"a\":\"x\"}", "index: names no shard"},
        {"{\"weight_map\":null}", "index: expected an object at byte 14, found 'n'"},
        {"{\"weight_map\":{\"a\":1}}", "index: expected a string at byte 19, found '1'"},
        {"{\"weight_map\":{\"a\":\"x\",\"a\":\"y\"}}", "index: tensor 'a' appears twice"},
        {"{\"weight_map\":{\"a\":\"x\"},\"weight_map\":{\"a\":\"x\"}}", "index: 'weight_map' appears twice"},
        {"{\"weight_map\":{\"a\":\"x\"}}}", "index: expected nothing more at byte 24, found '}'"},
        {"{\"weight_map\":{\"a\":\"x\\u0000\"}}", "index: NUL in a string at byte 21"},
        {"{\"weight_map\":{\"a\":\"x\"}}", "none of its 1 shards can be read (the first is 'x')"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[256];
        snprintf(message, sizeof message, "/" INDEX ": %s", cases[i].message);
        put_text(INDEX, cases[i].text);
        assert_refused(scratch_path(&scratch, INDEX), message);
    }
    /* Python reads the index, and refuses integers that are as long as this. */
    struct sp_text text = {0};
    for (size_t digits = 4300; digits <= 4301; digits++) {
        text.length = 0;
        sp_text_puts(&text, "{\"metadata\":{\"total_size\":");
        for (size_t i = 0; i < digits; i++) sp_text_puts(&text, "1");
        sp_text_puts(&text, "},\"weight_map\":{}}");
        put_text(INDEX, text.data);
        assert_refused(scratch_path(&scratch, INDEX),
                       digits == 4300 ? "/" INDEX ": index: names no shard"
                                      : "/" INDEX ": index: an integer of more than 4300 digits at byte 26");
    }
    sp_text_free(&text);
    put_text(INDEX, "{\"weight_map\":{\"a\":\"" INDEX "\"}}");
    assert_refused(scratch_path(&scratch, INDEX),
                   "/" INDEX ": this is JSON text, not a checkpoint: '{\"weight_map\":{\"a\":\"" INDEX "\"}}'");
}

static void test_too_many_shards(void **state)
{
    (void)state;
    FILE *file = fopen(scratch_path(&scratch, INDEX), "w");
    assert_non_null(file);
    fputs("{\"weight_map\":{\"t\":\"s\"", file);
    for (int i = 0; i < 10000; i++) fprintf(file, ",\"t%d\":\"s%d\"", i, i);
    fputs("}}", file);
    fclose(file);
    assert_refused(scratch_path(&scratch, INDEX), "/" INDEX ": index: more than 10000 shards");
}

/* ---- directories ---- */

/* Puts each file, one tensor named after its file in it, and expects the one that is read. */
static void assert_choice(const char *files, const char *chosen)
{
    char copy[512], *rest = copy;
    strcpy(copy, files);
    scratch_empty(&scratch);
    for (char *name; (name = strtok_r(rest, " ", &rest));) {
        char text[256];
        snprintf(text, sizeof text, "{\"weight_map\":{\"%s\":\"shard.data\"}}", name);
        if (strstr(name, ".index.json")) put_text(name, text);
        else put_shard(name, name, 1);
    }
    struct shapeproof_inventory *inventory = must_open(scratch.path);
    const char *read = shapeproof_inventory_file(inventory, 0);
    assert_string_equal(read, chosen);
    assert_string_equal(shapeproof_inventory_path(inventory), scratch.path);
    shapeproof_inventory_close(inventory);
}

static void test_choice(void **state)
{
    (void)state;
    assert_choice("model.safetensors", "model.safetensors");
    assert_choice("pytorch_model.bin model.safetensors other.pt", "model.safetensors");
    assert_choice("model.safetensors.index.json shard.data model.safetensors", "shard.data");
    assert_choice("model.fp16.safetensors.index.json shard.data pytorch_model.bin", "shard.data");
    assert_choice("diffusion_pytorch_model.safetensors x.bin", "diffusion_pytorch_model.safetensors");
    assert_choice("pytorch_model.bin.index.json shard.data pytorch_model.bin", "shard.data");
    assert_choice("pytorch_model.bin a.pt", "pytorch_model.bin");
    assert_choice("tf_model.h5 model.weights.h5", "model.weights.h5");
    assert_choice("params.best params.00000 x.pt", "params.best");
    assert_choice("best.th training_args.bin optimizer.pt rng_state_0.pth config.json vocab.txt", "best.th");
    assert_choice("only.ckpt", "only.ckpt");
    assert_choice("a.fp16.safetensors.index.json b.safetensors.index.json shard.data pytorch_model.bin",
                  "pytorch_model.bin");
}

static void test_no_choice(void **state)
{
    (void)state;
    struct shapeproof_error error;
    assert_refused(scratch.path, ": no checkpoint in this directory");
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "%c.pt", 'a' + i);
        put_shard(name, "x", 1);
    }
    assert_refused(scratch.path, ": several checkpoints in this directory: 'a.pt', 'b.pt', 'c.pt' and 2 more");
    assert_null(shapeproof_inventory_open(scratch.path, &error));
    assert_string_equal(error.hint, "name the file to read, such as 'a.pt'");
}

/* What each rank of a training saves for itself is no checkpoint yet. */
static void test_ranks(void **state)
{
    struct shapeproof_error error = {0};
    (void)state;
    put_shard("0_0.distcp", "a", 1);
    assert_refused(scratch.path, ": this is a distributed checkpoint of PyTorch (*.distcp) without its '.metadata', "
                                 "which has the names of the tensors");
    unlink(scratch_path(&scratch, "0_0.distcp"));
    put_shard("zero_pp_rank_0_mp_rank_00_optim_states.pt", "a", 1);
    put_shard("zero_pp_rank_1_mp_rank_00_optim_states.pt", "a", 1);
    assert_null(shapeproof_inventory_open(scratch.path, &error));
    assert_string_equal(error.hint, "these are files of DeepSpeed ranks: run zero_to_fp32.py, which is in this "
                                    "folder or the one above, and read what it writes");
}

static void test_stray_file(void **state)
{
    (void)state;
    put_shard("model.safetensors", "a", 1);
    put_shard(SHARD1, "a", 1);
    put_text(INDEX, "{\"weight_map\":{\"a\":\"" SHARD1 "\"}}");
    struct shapeproof_inventory *inventory = must_open(scratch.path);
    ASSERT_WARNINGS(inventory, "'model.safetensors' beside its index is not read");
    shapeproof_inventory_close(inventory);
    put_text(INDEX, "{\"weight_map\":{\"a\":\"model.safetensors\"}}");
    inventory = must_open(scratch.path);
    assert_int_equal(shapeproof_inventory_warning_count(inventory), 0);
    shapeproof_inventory_close(inventory);
}

/* Other loaders may take another one than is read here. */
static void test_beside(void **state)
{
    (void)state;
    put_shard("model.safetensors", "a", 1);
    put_shard("training_args.bin", "a", 1);
    struct shapeproof_inventory *inventory = must_open(scratch.path);
    assert_null(shapeproof_inventory_beside(inventory));
    shapeproof_inventory_close(inventory);
    put_shard("pytorch_model.bin", "b", 1);
    put_shard("adapter_model.safetensors", "b", 1);
    inventory = must_open(scratch.path);
    assert_string_equal(shapeproof_inventory_beside(inventory), "'adapter_model.safetensors', 'pytorch_model.bin'");
    assert_int_equal(shapeproof_inventory_warning_count(inventory), 0);
    shapeproof_inventory_close(inventory);
}

/* Shards of an earlier version; with an index it is that. */
static void test_shards_beside(void **state)
{
    (void)state;
    put_shard("model.safetensors", "a", 1);
    put_shard("pytorch_model-00001-of-00002.bin", "b", 1);
    put_shard("pytorch_model-00002-of-00002.bin", "c", 1);
    struct shapeproof_inventory *inventory = must_open(scratch.path);
    assert_string_equal(shapeproof_inventory_beside(inventory),
                        "'pytorch_model-00001-of-00002.bin', 'pytorch_model-00002-of-00002.bin'");
    shapeproof_inventory_close(inventory);
    put_text("pytorch_model.bin.index.json", "{\"weight_map\":{\"b\":\"pytorch_model-00001-of-00002.bin\"}}");
    inventory = must_open(scratch.path);
    assert_string_equal(shapeproof_inventory_beside(inventory), "'pytorch_model.bin.index.json'");
    shapeproof_inventory_close(inventory);
}

static void test_shards_without_index(void **state)
{
    (void)state;
    put_shard(SHARD1, "a", 1);
    put_shard(SHARD2, "b", 1);
    struct shapeproof_inventory *inventory = must_open(scratch.path);
    assert_int_equal(shapeproof_inventory_count(inventory), 2);
    assert_int_equal(shapeproof_inventory_warning_count(inventory), 1);
    assert_non_null(strstr(shapeproof_inventory_warning(inventory, 0), "model.safetensors.index.json is not there"));
    shapeproof_inventory_close(inventory);
    put_shard(SHARD2, "a", 1);
    assert_refused(scratch.path, ": tensor 'a' is in two files: '" SHARD1 "' and '" SHARD2 "'");
    put_shard("model-00001-of-00003.safetensors", "c", 1);
    assert_refused(scratch.path, ": shards of several checkpoints in this directory: 2 of 2 such as '" SHARD1
                                 "'; 1 of 3, 'model-00001-of-00003.safetensors'");
}

static void test_absent_shards(void **state)
{
    (void)state;
    put_shard("model_2-of-12.safetensors", "a", 1);
    put_shard("model_10-of-12.safetensors", "b", 1);
    struct shapeproof_inventory *inventory = must_open(scratch.path);
    assert_string_equal(shapeproof_inventory_file(inventory, 0), "model_2-of-12.safetensors");
    ASSERT_WARNINGS(inventory, "10 of 12 shards are absent: 'model_1-of-12.safetensors', 'model_3-of-12.safetensors', "
                               "'model_4-of-12.safetensors' and 7 more");
    shapeproof_inventory_close(inventory);
    scratch_empty(&scratch);
    put_shard("x-00000-of-00002.safetensors", "a", 1);
    inventory = must_open(scratch.path);
    ASSERT_WARNINGS(inventory, "1 of 2 shards are absent: 'x-00001-of-00002.safetensors'");
    shapeproof_inventory_close(inventory);
    scratch_empty(&scratch);
    put_shard("x-00002-of-999999999.safetensors", "a", 1);
    inventory = must_open(scratch.path);
    ASSERT_WARNINGS(inventory, "999999998 of 999999999 shards are absent: 'x-00001-of-999999999.safetensors', "
                               "'x-00003-of-999999999.safetensors', 'x-00004-of-999999999.safetensors' and "
                               "999999995 more");
    shapeproof_inventory_close(inventory);
}

/* ---- what is not a file ---- */

static void test_no_regular_file(void **state)
{
    (void)state;
    struct shapeproof_error error;
    assert_int_equal(mkfifo(scratch_path(&scratch, "fifo"), 0600), 0);
    assert_refused(scratch.joined, "/fifo: not a regular file");
    assert_refused(scratch_path(&scratch, "absent"), "/absent: open: No such file or directory");
    assert_refused(scratch_path(&scratch, "absent/" INDEX), "/absent/" INDEX ": open: No such file or directory");
    assert_refused(scratch_path(&scratch, INDEX), "/" INDEX ": open: No such file or directory");
    assert_null(shapeproof_inventory_open("/dev/zero", &error));
    assert_string_equal(error.message, "/dev/zero: not a regular file");
    assert_int_equal(error.kind, SHAPEPROOF_KIND_IO);
    assert_null(shapeproof_inventory_open("", &error));
    assert_int_equal(error.kind, SHAPEPROOF_KIND_IO);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_scratch, remove_scratch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_whole),
        TEST(test_metadata_verbatim),
        TEST(test_bare_map),
        TEST(test_differences),
        TEST(test_missing_shard),
        TEST(test_symbolic_link),
        TEST(test_damaged_shard),
        TEST(test_unsafe_shard_names),
        TEST(test_malformed_index),
        TEST(test_too_many_shards),
        TEST(test_choice),
        TEST(test_no_choice),
        TEST(test_stray_file),
        TEST(test_ranks),
        TEST(test_beside),
        TEST(test_shards_beside),
        TEST(test_shards_without_index),
        TEST(test_absent_shards),
        TEST(test_no_regular_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
