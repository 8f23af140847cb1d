/* SPDX-License-Identifier: MIT
 * Zip archives: the directory walk, reading members, and what is refused. */
#include "torch_helper.h"

#include <stdlib.h>
#include <unistd.h>

#include "read/zip/archive.h"
#include "read/zip/directory.h"

#define OK "fixtures/torch/ok/"
#define BAD "fixtures/torch/bad/"

static void test_entries(void **state)
{
    (void)state;
    struct sp_file file;
    struct shapeproof_error error = {0};
    uint64_t offset;
    assert_true(sp_file_open(&file, AT_FDCWD, BAD "good.zip", &error));
    struct sp_zip *zip = sp_zip_open(&file, &error);
    assert_non_null(zip);
    assert_int_equal(sp_zip_count(zip), 3);
    assert_string_equal(sp_zip_entry(zip, 1)->name, "archive/data/0");
    assert_int_equal(sp_zip_entry(zip, 1)->size, 16);
    assert_int_equal(sp_zip_entry(zip, 1)->method, 0);
    assert_int_equal(sp_zip_find(zip, "archive/version"), 2);
    assert_int_equal(sp_zip_find(zip, "archive/Version"), SIZE_MAX);
    assert_int_equal(sp_zip_find(zip, "archive/versio"), SIZE_MAX);
    assert_true(sp_zip_data_offset(zip, 0, &offset, &error));
    assert_int_equal(offset, 30 + strlen("archive/data.pkl"));
    sp_zip_close(zip);
    sp_file_close(&file);
}

/* The same member, stored and deflated, gives the same bytes. */
static void test_read(void **state)
{
    (void)state;
    static const char *const paths[] = {OK "flat.pt", OK "deflated.pt"};
    for (size_t i = 0; i < 2; i++) {
        struct sp_file file;
        struct shapeproof_error error = {0};
        size_t length = 0;
        assert_true(sp_file_open(&file, AT_FDCWD, paths[i], &error));
        struct sp_zip *zip = sp_zip_open(&file, &error);
        assert_non_null(zip);
        const size_t index = sp_zip_find(zip, "flat/.data/serialization_id");
        assert_int_equal(sp_zip_entry(zip, index)->method, i ? 8 : 0);
        char *bytes = sp_zip_read(zip, index, 40, &length, &error);
        assert_non_null(bytes);
        assert_int_equal(length, 40);
        assert_int_equal(strlen(bytes), 40);
        assert_int_equal(strspn(bytes, "0123456789"), 40);
        free(bytes);
        assert_null(sp_zip_read(zip, index, 39, &length, &error));
        assert_string_equal(error.message, "zip member 'flat/.data/serialization_id' of 40 bytes, at most 39");
        assert_int_equal(error.kind, SHAPEPROOF_KIND_LIMIT);
        sp_zip_close(zip);
        sp_file_close(&file);
    }
}

static const struct refusal refusals[] = {
    {"truncated.zip", SHAPEPROOF_KIND_MALFORMED, "zip directory missing: truncated?"},
    {"end_flood.zip", SHAPEPROOF_KIND_LIMIT, "43 zip end records at the end of the file, at most 4"},
    {"end_comment.zip", SHAPEPROOF_KIND_MALFORMED,
     "zip end record at byte 473: its comment of 100 bytes passes the end"},
    {"directory_offset.zip", SHAPEPROOF_KIND_MALFORMED,
     "zip directory of 183 bytes at byte 4294967280 passes its end record at 473"},
    {"directory_size.zip", SHAPEPROOF_KIND_MALFORMED, "zip directory of 40 bytes cannot hold 3 entries"},
    {"entries_many.zip", SHAPEPROOF_KIND_MALFORMED, "zip directory of 183 bytes cannot hold 900 entries"},
    {"entries_few.zip", SHAPEPROOF_KIND_MALFORMED, "zip directory: 61 bytes after its 2 entries"},
    {"locator.zip", SHAPEPROOF_KIND_MALFORMED,
     "zip64 locator points to byte 1152921504606846976, past the end records"},
    {"member_past_directory.zip", SHAPEPROOF_KIND_MALFORMED,
     "zip member 'archive/version' of 5000 bytes at byte 243 runs into what begins at 290"},
    {"members_overlap.zip", SHAPEPROOF_KIND_MALFORMED,
     "zip member 'archive/data.pkl' of 137 bytes at byte 0 runs into what begins at 20"},
    {"local_header.zip", SHAPEPROOF_KIND_MALFORMED,
     "zip member 'archive/version': no local header at byte 243: a part of the archive was overwritten, or lost"},
    {"header_method.zip", SHAPEPROOF_KIND_MALFORMED,
     "ambiguous archive: member 'archive/data.pkl' has method 0 in the directory, 8 in its own header"},
    {"header_encrypted.zip", SHAPEPROOF_KIND_MALFORMED,
     "ambiguous archive: member 'archive/data.pkl' is encrypted by its own header alone"},
    {"header_size.zip", SHAPEPROOF_KIND_MALFORMED,
     "ambiguous archive: member 'archive/data.pkl' has 137 bytes in the directory, 99 in its own header"},
    {"header_inflated.zip", SHAPEPROOF_KIND_MALFORMED,
     "ambiguous archive: member 'archive/data.pkl' has 137 bytes in the directory, 99 in its own header"},
    {"header_zero.zip", SHAPEPROOF_KIND_MALFORMED,
     "ambiguous archive: member 'archive/data.pkl' has 137 bytes in the directory, 0 in its own header"},
    {"header_crc.zip", SHAPEPROOF_KIND_MALFORMED,
     "ambiguous archive: member 'archive/data.pkl' has the CRC e8b2ca42 in the directory, 12345678 in its own header"},
    {"path_other.zip", SHAPEPROOF_KIND_MALFORMED,
     "ambiguous archive: member 'archive/data.pkl' has another name in its Unicode Path field"},
    {"header_path.zip", SHAPEPROOF_KIND_MALFORMED,
     "ambiguous archive: member 'archive/data.pkl' has another name in its Unicode Path field"},
    {"header_wide.zip", SHAPEPROOF_KIND_MALFORMED,
     "zip member 'archive/data.pkl': short zip64 field in its own header"},
    {"path_short.zip", SHAPEPROOF_KIND_MALFORMED, "zip member 'archive/data.pkl': short Unicode Path field"},
    {"directory_flag.zip", SHAPEPROOF_KIND_MALFORMED,
     "ambiguous archive: member 'archive/data.pkl' has data and is marked as a directory"},
    {"header_extra.zip", SHAPEPROOF_KIND_MALFORMED, "zip member 'archive/data.pkl' runs into what begins at byte 183"},
    {"archive_in_comment.zip", SHAPEPROOF_KIND_MALFORMED, "ambiguous archive: 2 zip end records reach to its end"},
    {"two_archives.zip", SHAPEPROOF_KIND_MALFORMED,
     "ambiguous archive: a zip member begins at byte 0 that its directory does not list"},
    {"name_nul.zip", SHAPEPROOF_KIND_MALFORMED, "zip entry 0: NUL in its name"},
    {"name_utf8.zip", SHAPEPROOF_KIND_MALFORMED, "zip entry 0: its name is not UTF-8"},
    {"name_control.zip", SHAPEPROOF_KIND_MALFORMED, "ambiguous archive: zip entry 0: control byte 0x1b in its name"},
    {"twice.zip", SHAPEPROOF_KIND_MALFORMED, "ambiguous archive: two members named 'archive/data.pkl'"},
    {"case.zip", SHAPEPROOF_KIND_MALFORMED, "ambiguous archive: members 'archive/data.pkl' and 'archive/DATA.PKL'"},
    {"two_pickles.zip", SHAPEPROOF_KIND_MALFORMED, "ambiguous archive: 'archive/data.pkl' and 'other/data.pkl'"},
    {"encrypted.zip", SHAPEPROOF_KIND_REFUSED, "zip member 'archive/data.pkl' is encrypted"},
    {"method_99.zip", SHAPEPROOF_KIND_REFUSED, "zip member 'archive/data.pkl' is compressed with method 99"},
    {"method_bzip2.zip", SHAPEPROOF_KIND_REFUSED, "zip member 'archive/data.pkl' is compressed with method 12"},
    {"stored_short.zip", SHAPEPROOF_KIND_MALFORMED,
     "zip member 'archive/data.pkl' is stored in 9 bytes and declares 137"},
    {"bomb_lying.zip", SHAPEPROOF_KIND_MALFORMED,
     "zip member 'archive/data.pkl' expands beyond its declared size of 100 bytes"},
    {"bomb_honest.zip", SHAPEPROOF_KIND_LIMIT, "zip member 'archive/data.pkl' of 314572800 bytes, at most 268435456"},
    {"pickle_outside.zip", SHAPEPROOF_KIND_UNRECOGNISED,
     "a zip archive with a pickle outside of a folder, not a file of torch.save ('xydata.pkl')"},
    {"arrays.zip", SHAPEPROOF_KIND_MALFORMED,
     "no tensor can be read (1 broken; the first: no header of a NumPy array)"},
    {"other.zip", SHAPEPROOF_KIND_UNRECOGNISED, "a zip archive without a checkpoint in it"},
};

static void test_refusals(void **state)
{
    (void)state;
    assert_refusals(BAD, refusals, sizeof refusals / sizeof *refusals);
}

/* Each of the fields that tell of other volumes is enough: those of the end record, and that of an entry in the
 * directory. All ones in the number of a disk refer to a record of zip64, and tell nothing by themselves. */
static void test_volumes(void **state)
{
    enum {
        DISK = 4,
        FIRST_DISK = 6,
        HERE = 8,
        ENTRY = -183 + 34
    }; /* from the end record; the directory has 183 bytes */
    static const struct {
        int field;
        unsigned char low, high;
        bool is_refused;
    } cases[] = {{DISK, 3, 0, true},
                 {FIRST_DISK, 3, 0, true},
                 {HERE, 2, 0, true},
                 {DISK, 0xff, 0xff, false},
                 {FIRST_DISK, 0xff, 0xff, false},
                 {DISK, 0xfe, 0xff, true},
                 {ENTRY, 2, 0, true},
                 {ENTRY, 1, 0, false},
                 {ENTRY, 0xff, 0xff, false}};
    unsigned char bytes[2048];
    FILE *in = fopen(BAD "good.zip", "rb"), *scratch = tmpfile();
    (void)state;
    assert_true(in && scratch);
    const size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sp_file file = {.fd = fileno(scratch), .size = size, .path = "scratch"};
        const unsigned char ends[] = {cases[i].low, cases[i].high};
        const off_t field = (off_t)(size - SP_ZIP_END_SIZE) + cases[i].field;
        struct shapeproof_error error = {0};
        assert_int_equal(pwrite(file.fd, bytes, size, 0), size);
        assert_int_equal(pwrite(file.fd, ends, sizeof ends, field), sizeof ends);
        struct sp_zip *zip = sp_zip_open(&file, &error);
        assert_int_equal(zip == NULL, cases[i].is_refused);
        assert_string_equal(error.message, zip ? "" : "zip archive in several volumes");
        if (zip) assert_int_equal(sp_zip_lacks_volume(zip), cases[i].low == 0xff);
        if (zip) sp_zip_close(zip);
    }
    fclose(scratch);
}

/* A Unicode Path that is the name; and two that readers ignore, with the CRC of an earlier name, and of version 2. */
static void test_paths(void **state)
{
    static const char *const files[] = {BAD "path_same.zip", BAD "path_old.zip", BAD "path_version.zip"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_inventory *inventory = index_path(files[i], &error);
        assert_string_equal(error.message, "");
        assert_int_equal(shapeproof_inventory_warning_count(inventory), 0);
        assert_int_equal(shapeproof_inventory_count(inventory), 1);
        shapeproof_inventory_close(inventory);
    }
}

/* torch does not check it, so it is worth no more than a warning. */
static void test_wrong_crc(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = index_path(BAD "crc.zip", &error);
    assert_string_equal(error.message, "");
    assert_int_equal(shapeproof_inventory_warning_count(inventory), 1);
    assert_string_equal(shapeproof_inventory_warning(inventory, 0), "archive/data.pkl does not match its CRC");
    assert_int_equal(shapeproof_inventory_count(inventory), 1);
    shapeproof_inventory_close(inventory);
}

/* Whole archives, damaged: any outcome but a crash, and never one without a reason. */
static void test_random_damage(void **state)
{
    (void)state;
    static const char *const paths[] = {OK "nested.pt", OK "deflated.pt", OK "script.pt", OK "legacy.pt"};
    unsigned char good[8192], bad[8192];
    FILE *scratch = tmpfile();
    uint64_t seed = 2;
    assert_non_null(scratch);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        FILE *in = fopen(paths[i], "rb");
        assert_non_null(in);
        const size_t size = fread(good, 1, sizeof good, in);
        fclose(in);
        for (int round = 0; round < 500; round++) {
            struct shapeproof_error error = {0};
            memcpy(bad, good, size);
            const size_t length = damage(bad, size, &seed);
            assert_int_equal(pwrite(fileno(scratch), bad, length, 0), length);
            assert_int_equal(ftruncate(fileno(scratch), (off_t)length), 0);
            const struct sp_file file = {.fd = fileno(scratch), .size = length, .path = "scratch"};
            struct shapeproof_inventory *inventory = index_open_file(&file, &error);
            assert_true(inventory || error.message[0]);
            shapeproof_inventory_close(inventory);
        }
    }
    fclose(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),       cmocka_unit_test(test_read),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_volumes),       cmocka_unit_test(test_paths), cmocka_unit_test(test_wrong_crc),
        cmocka_unit_test(test_random_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
