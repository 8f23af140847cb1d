/* SPDX-License-Identifier: MIT
 * libhdf5 puts chunks together and decompresses them, in a child process as the walk does (sandbox.h), one child for
 * each dataset. The child reads the dataset in bands and writes them to the pipe. A band is a run of elements: some
 * indices of one dimension, all of those behind it, and one of each before it. The largest bands that fit are taken,
 * and they end where chunks end, so that a chunk is decompressed once.
 *
 * The first byte that the child writes says whether data follow. What follows is exactly what the parent expects of the
 * tensor, or the child ends early. */
#define _GNU_SOURCE
#include "read/hdf5/data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/process/child.h"
#include "read/hdf5/sandbox.h"
#include "read/hdf5/walk.h"
#include "read/in_order.h"

enum {
    BAND_BYTES = 16 << 20, /* that are read at once */
    MOST_REPEATED = 6,     /* times that a chunk is read; the budget of the source is 8 times the file */
    MOST_EXPANDED = 1032,  /* bytes of a stored one: what deflate makes of it at most; more is made up by libhdf5 */
    CHILD_FAILED = 1       /* status */
};

/* The first byte. */
enum answer { DATA_FOLLOWS, NOT_OPENED, NO_FILTER, WIDE_CHUNKS, FEW_CHUNKS, ANSWERS };

static const char *const obstacles[ANSWERS] = {
    [NOT_OPENED] = "stored in a way that libhdf5 cannot open",
    [NO_FILTER] = "stored in HDF5 with a filter that libhdf5 does not have",
    [WIDE_CHUNKS] = "in chunks of HDF5 that would have to be read many times",
    [FEW_CHUNKS] = "in chunks of HDF5 of which most are not stored",
};

/* ---- the child ---- */

struct dataset_job {
    struct sp_h5_source source;
    uint64_t address; /* of the object */
    uint64_t bytes;   /* of the tensor */
};

/* A dataset and its bands: in each some indices of the dimension `split`, all of those behind it, and one of each
 * before it. */
struct bands {
    hid_t dataset, type, space;
    size_t item; /* bytes of an element */
    int rank;
    hsize_t shape[H5S_MAX_RANK], chunk[H5S_MAX_RANK]; /* a chunk has one element if there are none */
    int split;                                        /* the dimension of which a band has some indices */
    hsize_t steps;                                    /* how many */
};

static void write_all(int out, const void *bytes, size_t length)
{
    if (!sp_write_all(out, bytes, length)) _exit(SP_CHILD_FAULT + errno);
}

/* The answer to the question whether the dataset can be read. Fills in the chunk. False when HDF5 fails. */
static bool look_at_layout(struct bands *bands, enum answer *answer)
{
    const hid_t properties = H5Dget_create_plist(bands->dataset);
    if (properties < 0) return false;
    const H5D_layout_t layout = H5Pget_layout(properties);
    const int filters = layout == H5D_CHUNKED ? H5Pget_nfilters(properties) : 0;
    for (int i = 0; i < bands->rank; i++) bands->chunk[i] = 1;
    if (layout < 0 || layout == H5D_VIRTUAL || filters < 0) return false;
    if (layout == H5D_CHUNKED && H5Pget_chunk(properties, bands->rank, bands->chunk) != bands->rank) return false;
    *answer = DATA_FOLLOWS;
    for (int i = 0; i < filters; i++) {
        unsigned flags, config;
        size_t values = 0;
        const H5Z_filter_t filter = H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
        if (filter < 0) return false;
        if (H5Zfilter_avail(filter) <= 0) *answer = NO_FILTER;
    }
    return H5Pclose(properties) >= 0;
}

/* Chooses the bands: along the first dimension of which an index fits. A chunk that reaches over several bands is
 * decompressed for each of them. */
static void split_bands(struct bands *bands, enum answer *answer)
{
    uint64_t step = bands->item, repeated = 1; /* bytes of an index of the dimension; bands that a chunk is in */
    int split = bands->rank - 1;
    while (split > 0 && step * bands->shape[split] <= BAND_BYTES)
        step *= bands->shape[split--]; /* at most the tensor */
    bands->split = split;
    bands->steps = BAND_BYTES / step;
    if (bands->steps > bands->chunk[split]) bands->steps -= bands->steps % bands->chunk[split];
    else repeated = (bands->chunk[split] + bands->steps - 1) / bands->steps;
    if (bands->steps > bands->shape[split]) bands->steps = bands->shape[split];
    for (int i = 0; i < split && repeated <= MOST_REPEATED; i++)
        repeated *= bands->chunk[i] < bands->shape[i] ? bands->chunk[i] : bands->shape[i];
    if (repeated > MOST_REPEATED) *answer = WIDE_CHUNKS;
}

static bool open_bands(const struct dataset_job *job, hid_t file, struct bands *bands, enum answer *answer)
{
    uint64_t bytes;
    *bands = (struct bands){.dataset = H5Oopen_by_addr(file, job->address)};
    if (bands->dataset < 0 || H5Iget_type(bands->dataset) != H5I_DATASET) return false;
    bands->type = H5Dget_type(bands->dataset);
    bands->space = H5Dget_space(bands->dataset);
    if (bands->type < 0 || bands->space < 0) return false;
    bands->item = H5Tget_size(bands->type);
    bands->rank = H5Sget_simple_extent_ndims(bands->space);
    if (bands->rank < 0 || H5Sget_simple_extent_dims(bands->space, bands->shape, NULL) != bands->rank) return false;
    bytes = bands->item;
    for (int i = 0; i < bands->rank; i++)
        if (!sp_mul_u64(bytes, bands->shape[i], &bytes)) return false;
    if (!bytes || bytes != job->bytes || bands->item > BAND_BYTES || !look_at_layout(bands, answer)) return false;
    if (bands->rank && *answer == DATA_FOLLOWS) split_bands(bands, answer);
    if (bytes > BAND_BYTES && bytes / MOST_EXPANDED > H5Dget_storage_size(bands->dataset)) *answer = FEW_CHUNKS;
    return true;
}

/* Reads the band that begins at these indices, and writes it. */
static bool send_band(struct bands *bands, const hsize_t *first, unsigned char *buffer, int out)
{
    hsize_t count[H5S_MAX_RANK], elements = 1;
    for (int i = 0; i < bands->rank; i++) {
        const hsize_t left = bands->shape[i] - first[i];
        count[i] = i < bands->split ? 1 : i > bands->split || left < bands->steps ? left : bands->steps;
        elements *= count[i];
    }
    const hid_t memory = H5Screate_simple(1, &elements, NULL);
    if (memory < 0) return false;
    if (bands->rank && H5Sselect_hyperslab(bands->space, H5S_SELECT_SET, first, NULL, count, NULL) < 0) return false;
    if (H5Dread(bands->dataset, bands->type, memory, bands->space, H5P_DEFAULT, buffer) < 0) return false;
    write_all(out, buffer, (size_t)elements * bands->item);
    return H5Sclose(memory) >= 0;
}

/* Reads all bands, in order. */
static bool send_bands(struct bands *bands, int out)
{
    hsize_t first[H5S_MAX_RANK] = {0};
    unsigned char *buffer = malloc(BAND_BYTES);
    if (!buffer) return false;
    for (int next = 0; next >= 0;) {
        if (!send_band(bands, first, buffer, out)) return false;
        if (!bands->rank) break;
        next = bands->split;
        first[next] += bands->steps;
        while (next >= 0 && first[next] >= bands->shape[next]) {
            first[next] = 0;
            if (--next >= 0) first[next]++;
        }
    }
    free(buffer);
    return true;
}

/* Ends the child, if memory is missing or the file could not be read, with the status that says so. */
static void end_with_fault(const struct dataset_job *job)
{
    if (errno == ENOMEM) _exit(SP_CHILD_NO_MEMORY);
    if (job->source.why) _exit(SP_CHILD_FAULT + job->source.why);
}

static void send_dataset(void *context, int out)
{
    struct dataset_job *job = context;
    struct bands bands;
    enum answer answer;
    const hid_t file = sp_h5_source_open(&job->source);
    if (file < 0 || !open_bands(job, file, &bands, &answer)) {
        end_with_fault(job);
        answer = NOT_OPENED;
    }
    const unsigned char byte = (unsigned char)answer;
    write_all(out, &byte, 1);
    if (answer == DATA_FOLLOWS && !send_bands(&bands, out)) {
        end_with_fault(job);
        _exit(CHILD_FAILED);
    }
}

static bool prepare_library(void *context)
{
    struct dataset_job *job = context;
    return sp_h5_prepare(&job->source);
}

/* ---- the parent ---- */

struct dataset_stream {
    struct sp_stream stream; /* first */
    const struct shapeproof_inventory *inventory;
    struct dataset_job job;
    struct sp_sandbox_job sandbox;
    struct sp_sandbox_stream child;
    bool started;
};

/* The first byte that the child sends: whether the data follow, or else what keeps them from being read. */
static bool take_answer(struct dataset_stream *own, const char **obstacle, struct shapeproof_error *error)
{
    unsigned char answer;
    if (!sp_sandbox_take(&own->child, &answer, 1, error)) return false;
    if (answer >= ANSWERS)
        return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_CRASHED,
                       "the HDF5 library failed on this file: it is corrupt or malicious");
    *obstacle = obstacles[answer];
    return true;
}

/* The address of the object is in the name of the storage: "hdf5:0x1a0". */
static bool begin_dataset(struct sp_stream *stream, size_t tensor, const char **obstacle,
                          struct shapeproof_error *error)
{
    struct dataset_stream *own = (struct dataset_stream *)stream;
    const struct shapeproof_tensor *dataset = &own->inventory->tensors[tensor];
    own->job.address = strtoull(strrchr(dataset->storage, ':') + 1, NULL, 16);
    own->job.bytes = dataset->bytes;
    own->sandbox =
        (struct sp_sandbox_job){"the HDF5 library", own->job.source.fd, &own->job, prepare_library, send_dataset};
    if (!sp_sandbox_start(&own->child, &own->sandbox, error)) return false;
    own->started = true;
    return take_answer(own, obstacle, error);
}

static bool next_of_dataset(struct sp_stream *stream, void *into, size_t length, struct shapeproof_error *error)
{
    return sp_sandbox_take(&((struct dataset_stream *)stream)->child, into, length, error);
}

static void end_dataset(struct sp_stream *stream)
{
    struct dataset_stream *own = (struct dataset_stream *)stream;
    if (own->started) sp_sandbox_stop(&own->child);
    own->started = false;
}

static void keep_dataset(struct sp_stream *stream)
{
    struct dataset_stream *own = (struct dataset_stream *)stream;
    sp_keep(own, own, sizeof *own);
}

void sp_h5_locate(const struct sp_h5_source *where, uint32_t file_index, struct sp_data_places *places)
{
    const struct shapeproof_inventory *inventory = places->inventory;
    struct dataset_stream *own = sp_realloc(NULL, SP_STREAMS, sizeof *own);
    struct sp_stream *streams[SP_STREAMS];
    bool *is_own = sp_realloc(NULL, inventory->count, sizeof *is_own);
    for (size_t i = 0; i < SP_STREAMS; i++) {
        own[i] = (struct dataset_stream){.stream = {begin_dataset, next_of_dataset, end_dataset, keep_dataset},
                                         .inventory = inventory,
                                         .job.source = *where};
        streams[i] = &own[i].stream;
    }
    for (size_t i = 0; i < inventory->count; i++)
        is_own[i] = inventory->tensors[i].file == file_index && !places->items[i].end && inventory->tensors[i].storage;
    sp_in_order_add(places, streams, is_own, own, sp_free);
    sp_free(is_own);
}
