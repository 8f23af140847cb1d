/* SPDX-License-Identifier: MIT
 * Distributed checkpoints of PyTorch: a folder with a pickle, `.metadata`, and the files that the ranks have written,
 * `__0_0.distcp` and so on. The pickle says everything but the data: of each tensor its whole shape and the chunks that
 * it was divided into, and of each chunk in which file it lies, and where.
 *
 *   reader.c  ->  metadata.c  ->  cover.c
 *             ->  storage.c  ->  objects.c
 *             ->  shards.c
 *             ->  chunks.c, when the data are read */
#ifndef SP_READ_DCP_DCP_H
#define SP_READ_DCP_DCP_H

#include "base/map.h"
#include "model/inventory.h"
#include "read/folder.h"
#include "read/pickle/pickle.h"
#include "read/reader.h"

/* Steps through lists of chunks, for one that is named without its number. */
enum { SP_DCP_MAX_SEARCH = 50 * 1000 * 1000 };

/* The tag of a text is 0, or the number of the tensor of that name plus 1, or, with this bit, the number of the file of
 * that name. One text object of the pickle may be met as both: its tag is then of the last. */
enum { SP_DCP_FILE_TAG = 1 << 30 };

/* Where a chunk begins in its tensor, and how far it reaches: as many numbers as the tensor has dimensions. */
struct sp_dcp_chunk {
    const uint64_t *offsets, *sizes;
    uint64_t elements;
    uint32_t source;     /* which of the pickles lists it */
    uint32_t file;       /* that holds it, when it is placed */
    uint64_t begin, end; /* of its bytes in the file */
    bool placed;         /* a file was named for it */
    bool cramped;        /* into fewer bytes than its elements are */
    bool transformed;    /* its bytes are compressed, or changed otherwise */
};

struct sp_dcp_tensor {
    const char *name; /* in the inventory's arena, and so are the shapes and the dtype */
    const char *dtype_name;
    enum shapeproof_dtype dtype;
    uint32_t rank, shape_rank; /* of `size`, of `shape` */
    uint32_t source;           /* the last of the pickles that lists it */
    const uint64_t *size;      /* what the chunks divide */
    const uint64_t *shape;     /* the same, but for Megatron, which may divide a tensor in another shape than its own */
    uint64_t *reach;           /* `size`, while it is not known but from the chunks */
    uint64_t elements;
    bool state;       /* of the optimizer */
    bool lacking;     /* the data of a chunk is not there */
    bool gaps;        /* the chunks do not cover it */
    bool overlapping; /* some of the chunks do, or that is not known */
    bool mixed;       /* the chunks are not in the order of their offsets, each other ones */
    struct sp_dcp_chunk *chunks;
    size_t chunk_count, chunk_capacity;
};

/* A file that holds data. */
struct sp_dcp_file {
    const char *name;
    uint64_t end;  /* one past the last byte that a chunk takes of it */
    uint64_t size; /* UINT64_MAX: it is not there */
    size_t chunks;
    unsigned looked;  /* how many of its chunks were looked at */
    bool foreign;     /* a chunk does not begin where it should: the file is of another save */
    bool overwritten; /* it does not begin as it was written: with zeros, a broken archive or none */
    uint64_t front;   /* where the archive ends that the file begins with; 0: not known */
};

/* An object that was pickled. */
struct sp_dcp_object {
    const char *name;
    uint32_t file;
    uint64_t begin, length; /* of its bytes in the file */
    bool transformed;       /* compressed, or changed otherwise */
};

struct sp_dcp {
    struct shapeproof_inventory *inventory;
    struct shapeproof_error *error;
    const struct sp_folder *folder; /* NULL: the files are not looked for */
    struct sp_arena arena;          /* chunks: freed with the rest */
    SP_ARRAY(struct sp_dcp_tensor) tensors;
    struct sp_map names;
    SP_ARRAY(struct sp_dcp_file) files;
    struct sp_map file_names;
    struct sp_names *objects;
    struct sp_map object_names; /* of all of them, extra states too -> where it is in object_texts */
    SP_ARRAY(const char *) object_texts;
    SP_ARRAY(struct sp_dcp_object) placed; /* those that a file has */
    uint64_t chunks, steps, cover_steps;
    size_t object_count, extra_states;
    size_t uncompared; /* tensors of too many chunks */
    uint32_t sources;  /* pickles read so far */
    bool has_places;   /* one of them says where chunks lie */
};

/* How the chunks of a tensor lie in it. They cover it, each element once, when no two overlap and `covered` is the
 * number of its elements. */
struct sp_dcp_cover {
    uint64_t covered;                     /* elements of all chunks together: those of two that overlap count twice */
    const struct sp_dcp_chunk *one, *two; /* that overlap; NULL when none do */
    bool unknown;                         /* too many to compare each with each */
};

/* ---- cover.c ---- */

/* Compares the chunks of a tensor with each other. `steps` counts the comparisons for all tensors together; past a
 * limit the rest of them are `unknown`. */
struct sp_dcp_cover sp_dcp_cover(const struct sp_dcp_tensor *tensor, uint64_t *steps);

/* ---- metadata.c ---- */

/* What a pickle says: its tensors are added, or their chunks to those that are known. */
bool sp_dcp_metadata(struct sp_dcp *dcp, const struct sp_pickle *pickle);
/* Attribute of a pickled object, or NULL. */
struct sp_pickle_value *sp_dcp_attribute(const struct sp_pickle_value *object, const char *name);
/* The name of the object of that key, NULL when it is none. */
const char *sp_dcp_object_name(struct sp_dcp *dcp, const struct sp_pickle_value *key);
/* The numbers of a torch.Size, of a tuple or a list, in dcp->arena. `what` they are is for messages. False with an
 * error when one is no number, or negative. */
bool sp_dcp_sizes(struct sp_dcp *dcp, const struct sp_pickle_value *value, const char *what, const uint64_t **sizes,
                  uint32_t *rank);
/* One more chunk of the tensor. */
void sp_dcp_add_chunk(struct sp_dcp_tensor *tensor, const struct sp_dcp_chunk *chunk);
/* The first chunk from number `at` on that begins there, or NULL. It takes steps where they are mixed. */
struct sp_dcp_chunk *sp_dcp_chunk_at(struct sp_dcp *dcp, const struct sp_dcp_tensor *tensor, const uint64_t *offsets,
                                     size_t at);
/* The number of the tensor of that key, SHAPEPROOF_NONE when it is none. */
size_t sp_dcp_find(struct sp_dcp *dcp, const struct sp_pickle_value *key);

/* ---- storage.c ---- */

/* In which files the chunks lie: `places` is what the pickle has as storage_data. */
bool sp_dcp_places(struct sp_dcp *dcp, const struct sp_pickle_value *places);
/* After the last pickle: whether the files are there, and as long as they must be. Marks the tensors that lack data. */
void sp_dcp_check_files(struct sp_dcp *dcp);

/* ---- objects.c ---- */

/* After the last pickle: reports what unpickling the objects would run, as loading the checkpoint does. */
void sp_dcp_judge_objects(struct sp_dcp *dcp);

/* ---- shards.c ---- */

/* Adds the chunks in a file of safetensors. */
bool sp_dcp_add_shard(struct sp_dcp *dcp, const char *name);
/* After the last: the sizes of the tensors. */
bool sp_dcp_settle_shards(struct sp_dcp *dcp);

/* ---- chunks.c ---- */

/* Adds a source for all tensors that are in the inventory of the places. `packed`: each chunk is an archive of
 * torch.save, not a range of elements. The folder must outlive the source. */
void sp_dcp_list_pieces(const struct sp_dcp *dcp, const struct sp_folder *folder, bool packed,
                        struct sp_data_places *places);

#endif
