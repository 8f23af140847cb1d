/* SPDX-License-Identifier: MIT
 * How the HDF5 reader looks up the names of links. */
#define _GNU_SOURCE
#include "read/hdf5_open.h"

#include "read/hdf5/library.h"

/* What a search for a name that begins with q finds. */
static enum { REALLY, NOTHING, AN_ERROR, A_CRASH } search_finds;

static htri_t look_up(hid_t group, const char *name, hid_t access)
{
    if (search_finds == REALLY || *name != 'q') return H5Lexists(group, name, access);
    if (search_finds == A_CRASH) abort();
    return search_finds == NOTHING ? 0 : -1;
}

#define H5Lexists look_up
#include "read/hdf5/walk.c"
#undef H5Lexists

#define READ (sp_reader_hdf5.index)

static void write_dataset(hid_t group, const char *name)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    if (H5Dclose(H5Dcreate2(group, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) < 0) _exit(1);
    H5Sclose(space);
}

static void write_with_tree(const char *path)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    write_dataset(file, "a");
    write_dataset(file, "q");
    _exit(H5Fclose(file) < 0);
}

/* The links of a small group are messages in its header since HDF5 1.8. */
static void write_without_tree(const char *path)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    write_dataset(file, "a");
    write_dataset(file, "q");
    _exit(H5Fclose(file) < 0);
}

enum { NAME = 3200, GROUPS = 20 }; /* bytes of each name: 21 names pass 64 KiB */

static void write_long_path(const char *path)
{
    char name[NAME + 1] = "";
    hid_t group = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t file = group;
    memset(name, 'p', NAME);
    for (int i = 0; i < GROUPS; i++) group = H5Gcreate2(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    memset(name, 'q', NAME);
    write_dataset(group, name);
    _exit(H5Fflush(file, H5F_SCOPE_GLOBAL) < 0);
}

/* A search in a list takes as long as the list: for each of its links, that would be its length squared. */
static void test_groups_without_a_tree(void **state)
{
    struct temporary file = written_by_child(write_without_tree);
    (void)state;
    search_finds = A_CRASH;
    expect_text(READ, file.path, "hdf5\na F32 () nodata\nq F32 () nodata\n");
    remove_temporary(&file);
}

static void test_lost_links(void **state)
{
    struct temporary file = written_by_child(write_with_tree);
    (void)state;
    search_finds = REALLY;
    expect_text(READ, file.path, "hdf5\na F32 () nodata\nq F32 () nodata\n");
    search_finds = NOTHING;
    expect_text(READ, file.path,
                "hdf5\na F32 () nodata\n! tensor 'q' is not read: the list of its group has its name, and a search for "
                "it fails\n");
    search_finds = AN_ERROR;
    expect_text(READ, file.path, "hdf5\na F32 () nodata\n! tensor 'q' is not read: HDF5: no reason given\n");
    remove_temporary(&file);
}

static void test_long_path(void **state)
{
    struct temporary file = written_by_child(write_long_path);
    char message[300];
    (void)state;
    search_finds = NOTHING;
    snprintf(message, sizeof message, "a path of more than 65536 bytes in '%0200d'", 0);
    for (char *c = strchr(message, '\'') + 1; *c == '0'; c++) *c = 'p';
    expect_error(READ, file.path, SHAPEPROOF_KIND_LIMIT, message);
    remove_temporary(&file);
}

/* A deep group in which many links lead to one dataset: each path has the names of all groups. */
static void write_many_paths(const char *path)
{
    enum { DEEP = 10, LINKS = 40 }; /* 40 paths of 32,000 bytes are more than 1 MiB */
    char name[NAME + 1] = "";
    hid_t group = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t file = group;
    memset(name, 'p', NAME);
    for (int i = 0; i < DEEP; i++) group = H5Gcreate2(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    write_dataset(group, "a");
    for (int i = 0; i < LINKS; i++) {
        snprintf(name, sizeof name, "%d", i);
        if (H5Lcreate_hard(group, "a", group, name, H5P_DEFAULT, H5P_DEFAULT) < 0) _exit(1);
    }
    _exit(H5Fflush(file, H5F_SCOPE_GLOBAL) < 0);
}

static void test_many_paths(void **state)
{
    struct temporary file = written_by_child(write_many_paths);
    (void)state;
    search_finds = REALLY;
    expect_error(READ, file.path, SHAPEPROOF_KIND_LIMIT,
                 "paths of more than 64 bytes for each byte of the file, and 1 MiB besides, in all");
    remove_temporary(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_without_a_tree),
        cmocka_unit_test(test_lost_links),
        cmocka_unit_test(test_long_path),
        cmocka_unit_test(test_many_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
