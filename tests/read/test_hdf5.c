/* SPDX-License-Identifier: MIT
 * The HDF5 reader: plain files, links, limits, damage, and the sandbox itself. */
#define _GNU_SOURCE
#include "read/hdf5_open.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "read/hdf5/library.h"
#include "read/hdf5/sandbox.h"
#include "read/hdf5/wire.h"
#include "sample.h"

#define FIXTURES "fixtures/hdf5/"

/* The sanitizer's allocator says no when the sandbox does, as malloc does. */
const char *__asan_default_options(void) __attribute__((visibility("default")));
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

#define READ (sp_reader_hdf5.index)

/* ---- what is read ---- */

static const struct {
    const char *path;
    const char *expected;
} readable[] = {
    {"ok/empty.h5", "hdf5\n"},
    {"ok/plain.h5", "hdf5\ng/count I32 (2)\nx F32 (2,2)\n"},
    {"ok/absent_chunks.h5", "hdf5\n"
                            "compressed F32 (16) nodata\n"
                            "compressed_whole F32 (5,5)\n"
                            "edge F32 (5,5) nodata\n"
                            "plain F32 (16) nodata\n"
                            "plain_whole F32 (5,5)\n"
                            "! 'compressed' is not complete: 3 of its 4 chunks, of 16 bytes each, were never written, "
                            "and read as a fill value\n"
                            "! 'edge' is not complete: 3 of its 4 chunks, of 64 bytes each, were never written, and "
                            "read as a fill value\n"
                            "! 'plain' is not complete: 3 of its 4 chunks, of 16 bytes each, were never written, and "
                            "read as a fill value\n"},
    {"ok/spaces.h5", "hdf5\n"
                     "chunked F32 (4,4)\n"
                     "empty F32 (0,3)\n"
                     "never_written F32 (4,5) nodata\n"
                     "null F32 null\n"
                     "petabyte F32 (1073741824,262144) nodata\n"
                     "scalar F32 ()\n"
                     "written F32 (2,3)\n"},
    {"ok/dtypes.h5", "hdf5\n"
                     "odd/array array (2) nodata\n"
                     "odd/bf16 BF16 (2)\n"
                     "odd/bits bitfield16 (2) nodata\n"
                     "odd/colour I16 (2)\n"
                     "odd/fixed string (2)\n"
                     "odd/int12 int12 (2) nodata\n"
                     "odd/lists vlen (2) nodata\n"
                     "odd/opaque opaque16 (2)\n"
                     "odd/pairs compound (2)\n"
                     "odd/reference reference (2) nodata\n"
                     "odd/text string (2)\n"
                     "plain/big_f4 F32 (2)\n"
                     "plain/big_i8 I64 (2)\n"
                     "plain/bool BOOL (2)\n"
                     "plain/c16 C128 (2)\n"
                     "plain/c8 C64 (2)\n"
                     "plain/f2 F16 (2)\n"
                     "plain/f4 F32 (2)\n"
                     "plain/f8 F64 (2)\n"
                     "plain/i1 I8 (2)\n"
                     "plain/i2 I16 (2)\n"
                     "plain/i4 I32 (2)\n"
                     "plain/i8 I64 (2)\n"
                     "plain/u1 U8 (2)\n"
                     "plain/u2 U16 (2)\n"
                     "plain/u4 U32 (2)\n"
                     "plain/u8 U64 (2)\n"
                     "! big-endian datasets: 2, the first 'plain/big_f4'\n"},
    {"ok/custom_floats.h5", "hdf5\n"
                            "bf16 BF16 (2) nodata\n"
                            "bias custom float32 (2) nodata\n"
                            "explicit custom float32 (2) nodata\n"
                            "mantissa custom float64 (2) nodata\n"
                            "sign custom float32 (2) nodata\n"
                            "size custom float48 (2) nodata\n"
                            "! 'bias' has the type custom float32, whose sign, exponent or mantissa are not those "
                            "of a known dtype\n"
                            "! 'explicit' has the type custom float32, whose sign, exponent or mantissa are not those "
                            "of a known dtype\n"
                            "! 'mantissa' has the type custom float64, whose sign, exponent or mantissa are not those "
                            "of a known dtype\n"
                            "! 'sign' has the type custom float32, whose sign, exponent or mantissa are not those "
                            "of a known dtype\n"
                            "! 'size' has the type custom float48, whose sign, exponent or mantissa are not those "
                            "of a known dtype\n"},
    {"ok/links.h5", "keras-hdf5\nembedding/weight F32 (4,2)\nhead/weight F32 (4,2) = embedding/weight\n! 'dangling' "
                    "is a soft link to '/nowhere': not followed\n! 'soft' is a soft link to '/embedding/weight': "
                    "not followed\n! 'outside' is an external link to /root in file '/etc/passwd': not followed\n! "
                    "'head_group' is a hard link to a group that is listed under another name\n! no attributes of "
                    "Keras: the format is called keras-hdf5 only because there are floats in groups\n"},
    {"ok/soft_loop.h5", "hdf5\n"
                        "! 'a' is a soft link to '/b': not followed\n"
                        "! 'b' is a soft link to '/a': not followed\n"},
    {"ok/hard_cycle.h5", "keras-hdf5\na/w F32 (3)\n! 'a/root' is a hard link to a group that is listed under "
                         "another name\n! 'a/self' is a hard link to a group that is listed under another name\n! "
                         "no attributes of Keras: the format is called keras-hdf5 only because there are floats in "
                         "groups\n"},
    {"ok/virtual.h5", "hdf5\n"
                      "real F32 (3)\n"
                      "virtual F32 null nodata\n"
                      "! 'virtual' is a virtual dataset: the files that hold its data are not opened\n"},
    {"ok/external_data.h5", "hdf5\n"
                            "real F32 (3)\n"
                            "shadow U8 null nodata\n"
                            "! 'shadow' keeps its data in external files: they are not opened\n"},
    {"ok/floats_in_groups.h5", "keras-hdf5\nCNN/W_0 F32 (2,2)\nRNN/Cell0/B F32 (4)\nembed F32 (3,2)\n! no "
                               "attributes of Keras: the format is called keras-hdf5 only because there are floats "
                               "in groups\n"},
    {"ok/latin1_name.h5", "hdf5\ncaf\\xe9 F32 (2) nodata\n! the name 'caf\\xe9' is not UTF-8\n"},
    {"ok/userblock.h5", "hdf5\nw F32 (2,2)\n! HDF5 begins at byte 1024: the user block before it is not read\n"},
    {"ok/polyglot.h5", "hdf5\nw F32 (2,2)\n! HDF5 begins at byte 1024: the user block before it is not read\n"},
};

static const struct {
    const char *path;
    enum shapeproof_kind kind;
    const char *message;
} unreadable[] = {
    {"bad/truncated.h5", SHAPEPROOF_KIND_MALFORMED,
     "HDF5: truncated file: eof = 2240, sblock->base_addr = 0, stored_eof = 2304"},
    {"bad/superblock_only.h5", SHAPEPROOF_KIND_MALFORMED, "the file ends within the HDF5 superblock at byte 0"},
    {"bad/consistency_flag.h5", SHAPEPROOF_KIND_MALFORMED,
     "still marked open for writing by its writer, which did not close it (superblock byte 11)"},
    {"bad/deep.h5", SHAPEPROOF_KIND_LIMIT, "groups nested more than 128 deep"},
    {"bad/overflow.h5", SHAPEPROOF_KIND_MALFORMED,
     "no tensor can be read (1 broken; the first: the product of its dimensions overflows 64 bits)"},
    {"bad/data_past_end.h5", SHAPEPROOF_KIND_MALFORMED,
     "no tensor can be read (1 broken; the first: HDF5: incorrect metadata checksum after all read attempts)"},
    {"bad/link_with_slash.h5", SHAPEPROOF_KIND_MALFORMED, "group '/' has a link of the impossible name 'a/b'"},
    {"make_hdf5.py", SHAPEPROOF_KIND_MALFORMED, "no HDF5 signature"},
};

static void test_readable(void **state)
{
    (void)state;
    char path[256];
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++) {
        snprintf(path, sizeof path, FIXTURES "%s", readable[i].path);
        expect_text(READ, path, readable[i].expected);
    }
}

static void test_unreadable(void **state)
{
    (void)state;
    char path[256];
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
        snprintf(path, sizeof path, FIXTURES "%s", unreadable[i].path);
        expect_error(READ, path, unreadable[i].kind, unreadable[i].message);
    }
}

/* libhdf5 1.14 refuses this file by itself, in its own words; before, what it says of the dataset has to be checked. */
static void test_data_past_end(void **state)
{
    static const char by_library[] = "no tensor can be read (1 broken; the first: HDF5: invalid dataset size, likely "
                                     "file corruption)";
    static const char by_us[] = "no tensor can be read (1 broken; the first: 256 bytes at 2288, past the end of the "
                                "file (2304))";
    const char *path = FIXTURES "bad/data_past_end_old.h5";
    struct shapeproof_error error;
    (void)state;
    assert_null(open_with(READ, path, &error));
    expect_error(READ, path, SHAPEPROOF_KIND_MALFORMED, strcmp(error.message, by_library) ? by_us : by_library);
}

#define PLAIN FIXTURES "ok/plain.h5" /* of x, (2, 2), the dimensions are at byte 832 and their maxima at 848 */

/* Files with other bytes at some places. */
static const struct {
    const char *path;
    struct {
        size_t at;
        unsigned char byte;
    } changes[2];
    const char *found; /* the warning, or the error; libhdf5 since 1.14 refuses some by itself: "HDF5: ..." */
} changed[] = {
    {PLAIN, {{841, 0x20}}, "tensor 'x' is not read: its dimension 1 is 8194, and at most 2 by its own maximum"},
    {PLAIN, {{841, 0x20}, {857, 0x20}}, "tensor 'x' is not read: 16 bytes of data, its shape and type need 65552"},
    {PLAIN,
     {{162, 4}}, /* a key in the B-tree of the root */
     "no tensor can be read (2 broken; the first: the list of its group has its name, and a search for it fails)"},
    {PLAIN, {{21, 1}}, "HDF5 2.0 refuses it: bits above the 8 flags of the superblock are set"},
    {PLAIN, {{24, 8}, {40, 0x70}}, "HDF5 begins at byte 0, and at byte 8 by its superblock"},
    {PLAIN, {{720, 0xff}}, "the name '\\xff' is not UTF-8"},
    /* the object header of x: the number of messages, and the flags of the message of its layout */
    {PLAIN, {{802, 4}}, "HDF5 2.0 refuses '/x': its object header has more messages than it says"},
    {PLAIN,
     {{916, 2}},
     "HDF5 2.0 refuses '/x': its object header has a message that is flagged as shared, and cannot be"},
    {PLAIN, {{832, 0}}, "HDF5 2.0 refuses '/x': it has no elements, and a place for their data"},
    {PLAIN, {{1466, 40}}, "HDF5 2.0 refuses '/g/count': its integers have bits outside of their bytes"},
    {FIXTURES "ok/spaces.h5",
     {{5091, 8}}, /* the layout in chunks */
     "HDF5 2.0 refuses '/chunked': the elements in its chunks have another size than its type"},
};

static void test_changed(void **state)
{
    unsigned char bytes[8192];
    (void)state;
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        char path[] = "/tmp/changed-XXXXXX";
        struct shapeproof_error error;
        FILE *in = fopen(changed[i].path, "rb");
        assert_non_null(in);
        const size_t size = fread(bytes, 1, sizeof bytes, in);
        fclose(in);
        const int fd = mkstemp(path);
        assert_int_equal(pwrite(fd, bytes, size, 0), size);
        for (size_t k = 0; k < 2 && changed[i].changes[k].at; k++)
            assert_int_equal(pwrite(fd, &changed[i].changes[k].byte, 1, (off_t)changed[i].changes[k].at), 1);
        close(fd);
        struct shapeproof_inventory *inventory = open_with(READ, path, &error);
        unlink(path);
        if (inventory) assert_int_equal(inventory->warning_count, 1);
        const char *found = inventory ? inventory->warnings[0] : error.message;
        if (!strstr(found, "HDF5: ")) assert_string_equal(found, changed[i].found);
        shapeproof_inventory_close(inventory);
    }
}

/* 2^40 paths lead to the one dataset. */
static void test_each_object_once(void **state)
{
    (void)state;
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = open_with(READ, FIXTURES "ok/dag.h5", &error);
    assert_non_null(inventory);
    assert_int_equal(inventory->count, 1);
    assert_int_equal(inventory->warning_count, 10 + 1 + 1); /* ten links, "and 30 more", the layout */
    assert_string_equal(inventory->warnings[10], "and 30 more hard links to groups");
    shapeproof_inventory_close(inventory);
}

static void test_warnings_are_capped(void **state)
{
    (void)state;
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = open_with(READ, FIXTURES "ok/many_soft_links.h5", &error);
    assert_non_null(inventory);
    assert_int_equal(inventory->warning_count, 11);
    assert_string_equal(inventory->warnings[10], "and 15 more soft links");
    shapeproof_inventory_close(inventory);
}

static void test_places(void **state)
{
    (void)state;
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = open_with(READ, FIXTURES "ok/userblock.h5", &error);
    assert_non_null(inventory);
    const struct shapeproof_tensor *tensor = &inventory->tensors[0];
    assert_int_equal(tensor->data_begin, 3072); /* from the start of the file, user block included */
    assert_int_equal(tensor->data_end, 3088);
    assert_int_equal(tensor->bytes, 16);
    assert_non_null(strstr(tensor->storage, "hdf5:0x"));
    shapeproof_inventory_close(inventory);
}

static unsigned probe(const char *path)
{
    unsigned char head[SP_PROBE_BYTES];
    struct sp_file file;
    struct shapeproof_error error = {0};
    assert_true(sp_file_open(&file, AT_FDCWD, path, &error));
    const size_t length = file.size < sizeof head ? (size_t)file.size : sizeof head;
    assert_true(sp_file_read(&file, 0, head, length, &error));
    const unsigned bits = sp_reader_hdf5.probe(&(struct sp_probe){&file, head, length, true});
    sp_file_close(&file);
    return bits;
}

static void test_probe(void **state)
{
    (void)state;
    assert_int_equal(probe(FIXTURES "ok/plain.h5"), 64);
    assert_int_equal(probe(FIXTURES "bad/superblock_only.h5"), 64);
    assert_in_range(probe(FIXTURES "ok/polyglot.h5"), 1, 31); /* less than the magic number of a zip */
    assert_int_equal(probe(FIXTURES "make_hdf5.py"), 0);
    assert_int_equal(probe("LICENSE"), 0);
}

/* ---- files made here ---- */

/* A dataset of (5, 7), whose data are in its header. */
static void write_compact(const char *path)
{
    static const hsize_t shape[] = {5, 7};
    static const float zeros[5 * 7];
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, shape, shape);
    H5Pset_layout(properties, H5D_COMPACT);
    const hid_t dataset = H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    _exit(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros) < 0 || H5Dclose(dataset) < 0 ||
          H5Fclose(file) < 0);
}

/* Its shape and its maximum become (4000, 7). */
static void test_compact_too_short(void **state)
{
    static const unsigned char shape[16] = {[0] = 5, [8] = 7}, larger[2] = {4000 & 0xff, 4000 >> 8};
    struct temporary file = written_by_child(write_compact);
    struct shapeproof_error error;
    unsigned char bytes[8192];
    (void)state;
    expect_text(READ, file.path, "hdf5\nx F32 (5,7)\n");
    const ssize_t size = pread(file.fd, bytes, sizeof bytes, 0);
    for (ssize_t i = 0; i + 16 <= size; i++)
        if (!memcmp(bytes + i, shape, sizeof shape)) assert_int_equal(pwrite(file.fd, larger, 2, i), 2);
    assert_null(open_with(READ, file.path, &error));
    if (!strstr(error.message, "HDF5: ")) /* libhdf5 since 1.14 refuses it by itself */
        assert_string_equal(error.message,
                            "no tensor can be read (1 broken; the first: 140 bytes of data, its shape and "
                            "type need 112000)");
    remove_temporary(&file);
}

enum { MANY = 1001 };

/* A group of that many datasets, and one beside it. */
static void write_large_group(const char *path)
{
    char name[16];
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "many", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate(H5S_SCALAR);
    for (int i = 0; i <= MANY; i++) {
        snprintf(name, sizeof name, "%d", i);
        if (H5Dclose(H5Dcreate2(i < MANY ? group : file, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT,
                                H5P_DEFAULT)) < 0)
            _exit(1);
    }
    _exit(H5Sclose(space) < 0 || H5Gclose(group) < 0 || H5Fclose(file) < 0);
}

/* The cache of libhdf5 is larger while a group of more than a thousand links is read. */
static void test_large_group(void **state)
{
    (void)state;
    struct temporary file = written_by_child(write_large_group);
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = open_with(READ, file.path, &error);
    assert_non_null(inventory);
    assert_int_equal(shapeproof_inventory_count(inventory), MANY + 1);
    assert_int_equal(shapeproof_inventory_unread_count(inventory), 0);
    shapeproof_inventory_close(inventory);
    inventory = shapeproof_inventory_open(file.path, &error);
    assert_non_null(inventory);
    /* what the child tells of each dataset counts as read */
    assert_in_range(shapeproof_inventory_bytes_read(inventory), 16 * MANY, SIZE_MAX);
    shapeproof_inventory_close(inventory);
    remove_temporary(&file);
}

enum { BOMB_STRINGS = 4000, BOMB_LENGTH = 1024 * 1024 };

/* 4000 strings, the first of 1 MiB. */
static void write_strings(const char *path)
{
    static char first[BOMB_LENGTH + 1];
    static const char *strings[BOMB_STRINGS];
    const hsize_t count = BOMB_STRINGS;
    memset(first, 'x', BOMB_LENGTH);
    for (int i = 0; i < BOMB_STRINGS; i++) strings[i] = i ? "y" : first;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, NULL);
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t attribute = H5Acreate2(file, "layer_names", type, space, H5P_DEFAULT, H5P_DEFAULT);
    _exit(H5Awrite(attribute, type, strings) < 0 || H5Aclose(attribute) < 0 || H5Fclose(file) < 0);
}

/* Points each of the strings at the first one: 4 GB to read out of little more than 1 MiB. */
static void arm(const char *path)
{
    static const unsigned char length[4] = {0, 0, BOMB_LENGTH >> 16, 0};
    struct stat info;
    struct temporary file = {.fd = open(path, O_RDWR)};
    assert_int_equal(fstat(file.fd, &info), 0);
    const size_t size = (size_t)info.st_size;
    unsigned char *bytes = malloc(size), *at;
    assert_non_null(bytes);
    assert_int_equal(pread(file.fd, bytes, size, 0), (ssize_t)size);
    for (at = bytes; at < bytes + size - 36; at++) /* length, address, index; then the second: length 1, same address */
        if (!memcmp(at, length, 4) && at[16] == 1 && !at[17] && !memcmp(at + 12, "\1\0\0\0", 4)) break;
    assert_true(at < bytes + size - 16 * BOMB_STRINGS);
    for (int i = 1; i < BOMB_STRINGS; i++) memcpy(at + 16 * i, at, 16);
    assert_int_equal(pwrite(file.fd, bytes, size, 0), (ssize_t)size);
    free(bytes);
    close(file.fd);
}

static void test_string_bomb(void **state)
{
    (void)state;
    struct temporary file = written_by_child(write_strings);
    arm(file.path);
    struct shapeproof_error error;
    assert_null(open_with(READ, file.path, &error));
    assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT); /* of memory, or of time where pages are slow to get */
    assert_true(strstr(error.message, "out of memory") || strstr(error.message, "of processor time"));
    remove_temporary(&file);
}

/* ---- damage ---- */

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Some bytes changed, or the end cut off. */
static void damage(struct temporary *file, const char *bytes, size_t length, uint64_t *seed)
{
    assert_int_equal(ftruncate(file->fd, 0), 0);
    assert_int_equal(pwrite(file->fd, bytes, length, 0), (ssize_t)length);
    if (next_random(seed) % 8 == 0) assert_int_equal(ftruncate(file->fd, (off_t)(next_random(seed) % length)), 0);
    for (uint64_t i = next_random(seed) % 4 + 1; i > 0; i--) {
        const unsigned char byte = (unsigned char)next_random(seed);
        assert_int_equal(pwrite(file->fd, &byte, 1, (off_t)(next_random(seed) % length)), 1);
    }
}

/* A crash would be ours: libhdf5 survives damage of this kind. */
static void expect_some_answer(const char *path)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = open_with(READ, path, &error);
    if (!inventory && (error.status != SHAPEPROOF_ERR_FILE || error.kind == SHAPEPROOF_KIND_CRASHED ||
                       !error.message[0] || strchr(error.message, '\n')))
        fail_msg("%s: status %d, '%s'", path, (int)error.status, error.message);
    shapeproof_inventory_close(inventory);
}

static void test_damage(void **state)
{
    static const char *const victims[] = {"hdf5/ok/dtypes.h5", "hdf5/ok/links.h5", "hdf5/ok/dag.h5",
                                          "keras/ok/keras1_model.h5", "keras/ok/string_kinds.h5"};
    enum { ROUNDS = 40 };
    uint64_t seed = 20240607;
    (void)state;
    struct temporary file = temporary_file();
    for (size_t i = 0; i < sizeof victims / sizeof *victims; i++) {
        char path[256];
        struct sp_file source;
        struct shapeproof_error error = {0};
        snprintf(path, sizeof path, "fixtures/%s", victims[i]);
        assert_true(sp_file_open(&source, AT_FDCWD, path, &error));
        char *bytes = sp_file_slurp(&source, 1 << 20, &error);
        for (int round = 0; round < ROUNDS; round++) {
            damage(&file, bytes, (size_t)source.size, &seed);
            expect_some_answer(file.path);
        }
        free(bytes);
        sp_file_close(&source);
    }
    remove_temporary(&file);
}

/* ---- the sandbox ---- */

static bool prepare_nothing(void *context)
{
    (void)context;
    return true;
}

static bool prepare_fails(void *context)
{
    (void)context;
    return false;
}

static void run_nothing(void *context, int out) { (void)context, (void)out; }

static void run_crash(void *context, int out)
{
    (void)context, (void)out;
    raise(SIGSEGV);
}

static void run_abort(void *context, int out)
{
    (void)context, (void)out;
    abort();
}

static void run_flood(void *context, int out)
{
    static char block[1 << 20];
    (void)context;
    while (write(out, block, sizeof block) > 0) {
    }
}

/* Tries what it must not be able to do; writes the number of what succeeded. */
static void run_escape(void *context, int out)
{
    const int inherited = *(int *)context;
    char escaped = '0';
    if (open("/etc/passwd", O_RDONLY) >= 0) escaped = '1';
    if (fork() >= 0) escaped = '2';
    if (kill(getppid(), 0) == 0) escaped = '3';
    if (write(inherited, "x", 1) == 1) escaped = '4';
    if (execl("/bin/true", "true", (char *)NULL) == 0) escaped = '5';
    if (write(out, &escaped, 1) != 1) _exit(1);
}

static void run_memory(void *context, int out)
{
    (void)context;
    const char *answer = "all of it";
    for (int i = 0; i < 3072; i++) {
        void *volatile block = malloc(1 << 20); /* volatile: or the compiler leaves the malloc out */
        if (!block) answer = "not all";
    }
    if (write(out, answer, strlen(answer)) < 0) _exit(1);
}

static const struct {
    bool (*prepare)(void *context);
    void (*run)(void *context, int out);
    enum shapeproof_kind kind;
    const char *message;
} failing_jobs[] = {
    {prepare_nothing, run_crash, SHAPEPROOF_KIND_CRASHED,
     "the test crashed on this file (SIGSEGV): corrupt or malicious"},
    {prepare_nothing, run_abort, SHAPEPROOF_KIND_CRASHED,
     "the test crashed on this file (SIGABRT): corrupt or malicious"},
    {prepare_nothing, run_flood, SHAPEPROOF_KIND_LIMIT, "its names and attributes need more than 256 MiB"},
    {prepare_fails, run_nothing, SHAPEPROOF_KIND_IO, "the test could not be started"},
};

static void test_failing_jobs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof failing_jobs / sizeof *failing_jobs; i++) {
        const struct sp_sandbox_job job = {"the test", -1, NULL, failing_jobs[i].prepare, failing_jobs[i].run};
        struct shapeproof_error error = {0};
        char *bytes;
        size_t length;
        assert_false(sp_sandbox_run(&job, &bytes, &length, &error));
        assert_int_equal(error.kind, failing_jobs[i].kind);
        assert_string_equal(error.message, failing_jobs[i].message);
    }
}

static void expect_output(void (*run)(void *context, int out), void *context, const char *expected)
{
    const struct sp_sandbox_job job = {"the test", -1, context, prepare_nothing, run};
    struct shapeproof_error error = {0};
    char *bytes;
    size_t length;
    assert_true(sp_sandbox_run(&job, &bytes, &length, &error));
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(bytes, expected, length);
    free(bytes);
}

static void test_no_escape(void **state)
{
    (void)state;
    struct temporary file = temporary_file();
    struct stat info;
    expect_output(run_escape, &file.fd, "0");
    assert_int_equal(fstat(file.fd, &info), 0);
    assert_int_equal(info.st_size, 0);
    expect_output(run_memory, NULL, "not all");
    remove_temporary(&file);
}

static size_t open_descriptors(void)
{
    glob_t found;
    assert_int_equal(glob("/proc/self/fd/*", 0, NULL, &found), 0);
    const size_t count = found.gl_pathc;
    globfree(&found);
    return count;
}

/* No zombie, no descriptor left, and a host that lets the system reap its children is served as well. */
static void test_host_is_left_alone(void **state)
{
    (void)state;
    const size_t before = open_descriptors();
    expect_text(READ, FIXTURES "ok/plain.h5", readable[1].expected);
    expect_error(READ, FIXTURES "bad/deep.h5", SHAPEPROOF_KIND_LIMIT, "groups nested more than 128 deep");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(open_descriptors(), before);
    signal(SIGCHLD, SIG_IGN);
    expect_text(READ, FIXTURES "ok/plain.h5", readable[1].expected);
    signal(SIGCHLD, SIG_DFL);
}

/* ---- what the parent believes ---- */

static void test_wire_is_checked(void **state)
{
    (void)state;
    struct sp_arena arena = {0};
    struct sp_wire_tensor tensor;
    static const struct {
        const char *bytes;
        size_t length;
    } wrong[] = {
        {"", 0},
        {"\xff\xff\xff\xff", 4},                         /* a path longer than the stream */
        {"\2\0\0\0a\0", 6},                              /* NUL in the path */
        {"\1\0\0\0a\xff\0\0\0\0\0\0", 12},               /* no such dtype */
        {"\1\0\0\0a\1\0\0\0\0\x80\0", 12},               /* no such flag */
        {"\1\0\0\0a\1\0\0\0\0\0\x21", 12},               /* rank 33 */
        {"\1\0\0\0a\1\0\0\0\0\0\1\1\0\0\0\0\0\0\0", 20}, /* ends behind the shape */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sp_cursor cursor = sp_cursor_of(wrong[i].bytes, wrong[i].length);
        assert_false(sp_wire_get_tensor(&cursor, &arena, &tensor));
    }
    sp_arena_free(&arena);
}

/* ---- real files, where they are at hand ---- */

static void read_all(const char *files, bool must_succeed)
{
    char pattern[CORPUS_PATH];
    glob_t found;
    if (!corpus_path(pattern, files) || glob(pattern, 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct shapeproof_error error;
        struct shapeproof_inventory *inventory = open_with(READ, found.gl_pathv[i], &error);
        if (!inventory && must_succeed) fail_msg("%s: %s", found.gl_pathv[i], error.message);
        if (!inventory) assert_int_equal(error.status, SHAPEPROOF_ERR_FILE);
        shapeproof_inventory_close(inventory);
    }
    globfree(&found);
}

static void test_corpus(void **state)
{
    (void)state;
    read_all("checkpoints/hdf5/*", true);
    read_all("checkpoints/keras-hdf5/*", true);
    read_all("checkpoints/keras-weights/*", true);
    read_all("hostile/*.h5", false);
    read_all("hostile/*.hdf5", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readable),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_data_past_end),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_each_object_once),
        cmocka_unit_test(test_warnings_are_capped),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_compact_too_short),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_large_group),
        cmocka_unit_test(test_string_bomb),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_failing_jobs),
        cmocka_unit_test(test_no_escape),
        cmocka_unit_test(test_host_is_left_alone),
        cmocka_unit_test(test_wire_is_checked),
        cmocka_unit_test(test_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
