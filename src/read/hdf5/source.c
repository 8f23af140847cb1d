/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "read/hdf5/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/child.h"

/* Every object is read once, and what leads to it a few times: an honest file needs less than its size. */
enum {
    CACHE_BYTES = 1024 * 1024,
    LARGE_CACHE_BYTES = 64 * 1024 * 1024,
    BUDGET_FACTOR = 8,
    BUDGET_BASE = 64 * 1024 * 1024
};

struct driver_file {
    H5FD_t base; /* first: libhdf5 fills and reads it */
    struct sp_h5_source *source;
    haddr_t eoa; /* end of the addresses that libhdf5 has handed out */
};

struct driver_info {
    struct sp_h5_source *source;
};

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr)
{
    const struct driver_info *info = H5Pget_driver_info(fapl);
    (void)name, (void)maxaddr;
    if (!info || info->source->opened || flags & (H5F_ACC_RDWR | H5F_ACC_TRUNC | H5F_ACC_CREAT)) return NULL;
    struct driver_file *file = calloc(1, sizeof *file);
    if (!file) _exit(SP_CHILD_NO_MEMORY); /* libhdf5 would overwrite errno, and only say "open failed" */
    file->source = info->source;
    file->source->opened = true;
    return &file->base;
}

static herr_t driver_close(H5FD_t *file)
{
    free(file);
    return 0;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = 0;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct driver_file *)file)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((struct driver_file *)file)->eoa = address;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct driver_file *)file)->source->size;
}

static bool read_fd(struct sp_h5_source *source, uint64_t offset, unsigned char *into, size_t length)
{
    while (length) {
        const ssize_t got = pread(source->fd, into, length, (off_t)(source->base + offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) source->why = errno;
        if (got <= 0) return false;
        into += got;
        offset += (uint64_t)got;
        length -= (size_t)got;
    }
    return true;
}

/* The first record on the stack is the one that is shown. */
static herr_t refuse_call(const char *why)
{
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_READERROR, "%s", why);
    return -1;
}

bool sp_h5_source_read(struct sp_h5_source *source, uint64_t at, void *into, size_t length)
{
    if (length > source->budget) source->exhausted = true;
    if (source->exhausted || at > source->size || length > source->size - at) return false;
    source->budget -= length;
    if (!source->memory) return read_fd(source, at, into, length);
    memcpy(into, source->memory + at, length);
    return true;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t size, void *buffer)
{
    struct sp_h5_source *source = ((struct driver_file *)file)->source;
    (void)type, (void)dxpl;
    if (size > source->budget) source->exhausted = true;
    if (source->exhausted || address > source->size) return refuse_call("an address past the end of the file");
    source->budget -= size;
    const uint64_t left = source->size - address;
    const size_t present = size < left ? size : (size_t)left;
    memset((char *)buffer + present, 0, size - present); /* past the end are zeros, as in libhdf5's own drivers */
    if (source->memory) {
        memcpy(buffer, source->memory + address, present);
        return 0;
    }
    return read_fd(source, address, buffer, present) ? 0 : refuse_call("the file cannot be read, or became shorter");
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t size, const void *buffer)
{
    (void)file, (void)type, (void)dxpl, (void)address, (void)size, (void)buffer;
    return -1;
}

static const H5FD_class_t driver = {
    SP_H5_DRIVER("shapeproof"),
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(struct driver_info),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* A cache of metadata that stays as it is: by itself it grows to 32 MiB of what is in the file, which are some 400 MiB
 * in memory when they are object headers. */
static void fix_cache(H5AC_cache_config_t *config, size_t bytes)
{
    config->set_initial_size = true;
    config->initial_size = config->min_size = config->max_size = bytes;
    config->incr_mode = H5C_incr__off;
    config->flash_incr_mode = H5C_flash_incr__off;
    config->decr_mode = H5C_decr__off;
}

static bool limit_cache(hid_t access)
{
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    if (H5Pget_mdc_config(access, &config) < 0) return false;
    fix_cache(&config, CACHE_BYTES);
    return H5Pset_mdc_config(access, &config) >= 0;
}

bool sp_h5_source_cache(hid_t file, enum sp_h5_cache cache)
{
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    if (H5Fget_mdc_config(file, &config) < 0) return false;
    fix_cache(&config, cache == SP_H5_LARGE_CACHE ? LARGE_CACHE_BYTES : CACHE_BYTES);
    return H5Fset_mdc_config(file, &config) >= 0;
}

hid_t sp_h5_source_open(struct sp_h5_source *source)
{
    const struct driver_info info = {source};
    const hid_t id = H5FDregister(&driver), access = H5Pcreate(H5P_FILE_ACCESS);
    source->budget = source->size < (UINT64_MAX - BUDGET_BASE) / BUDGET_FACTOR
                         ? source->size * BUDGET_FACTOR + BUDGET_BASE
                         : UINT64_MAX;
    if (id < 0 || access < 0 || H5Pset_driver(access, id, &info) < 0 ||
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0 || H5Pset_elink_file_cache_size(access, 0) < 0 ||
        !limit_cache(access))
        return -1;
    return H5Fopen("checkpoint", H5F_ACC_RDONLY, access);
}
