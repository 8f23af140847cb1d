/* SPDX-License-Identifier: MIT
 * The inventory: what a checkpoint really holds, in one neutral form that every reader fills.
 * Readers never look at tensor data. */
#ifndef SHAPEPROOF_INVENTORY_H
#define SHAPEPROOF_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapeproof/api.h"
#include "shapeproof/dtype.h"
#include "shapeproof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SHAPEPROOF_NONE SIZE_MAX

enum shapeproof_tensor_flag {
    SHAPEPROOF_TENSOR_NO_SHAPE = 1 << 0, /* an HDF5 null dataspace: no shape at all; `rank` is 0 */
    SHAPEPROOF_TENSOR_NO_DATA =
        1 << 1, /* the file declares it but holds no bytes for it (meta device, never written) */
    SHAPEPROOF_TENSOR_EXPANDED = 1 << 2, /* several elements at one place of the storage, as with a stride of 0 */
    SHAPEPROOF_TENSOR_VIEW = 1 << 3,     /* overlaps another tensor of the same storage without being equal to it */
    SHAPEPROOF_TENSOR_STATE = 1 << 4, /* not part of the model: of an optimizer or trainer, an attribute, a constant */
    SHAPEPROOF_TENSOR_BIG_ENDIAN = 1 << 5,
    SHAPEPROOF_TENSOR_NEGATED = 1 << 6, /* PyTorch negates or conjugates its numbers when it reads them */
    SHAPEPROOF_TENSOR_SPARSE = 1 << 7   /* PyTorch makes a sparse tensor of it: indices and values are stored */
};

/* What one rank of a training has saved of a tensor. Of those whose size is a piece of 0 bytes it holds none. */
struct shapeproof_tensor_piece {
    uint32_t rank;         /* dimensions of `shape` */
    const uint64_t *shape; /* of the piece; of several the first */
    uint64_t bytes;        /* of what the file has of the tensor */
    uint64_t pieces;       /* into how many it has been divided; 0 when that is not known */
    uint64_t index;        /* which of these this is, counted from 0; SHAPEPROOF_NONE when that is not known */
    const char *placement; /* how it has been divided, in the words of the framework: "Shard(0)"; or NULL */
    bool row_major;        /* its elements are one run of bytes, in row-major order */
};

struct shapeproof_tensor {
    const char *name; /* UTF-8 without NUL; may be "" */
    enum shapeproof_dtype dtype;
    uint32_t rank;
    uint32_t flags;         /* enum shapeproof_tensor_flag */
    uint32_t file;          /* index into the inventory's files: the shard that holds it */
    const char *dtype_name; /* the safetensors name, or the format's own word when `dtype` is unknown */
    const uint64_t *shape;  /* `rank` dimensions, outermost first; rank 0 is a scalar with one element */
    const uint64_t *stride; /* `rank` strides in elements, or NULL when the format has none (dense, row-major) */
    uint64_t parameters;    /* elements: the product of the shape */
    uint64_t bytes;         /* parameters x bits / 8; of an unknown dtype what the format tells, or 0 */
    const char *storage;    /* identity of the storage within the checkpoint, or NULL when the format shares none */
    uint64_t offset;        /* first element, counted in elements from the start of the storage */
    uint64_t data_begin;    /* byte range in the file, [begin, end); both 0 when the format does not tell */
    uint64_t data_end;
    size_t same_as; /* index of the first tensor with the same storage, offset, shape and order of elements, or
                     * SHAPEPROOF_NONE */
    size_t outer; /* of a tensor within a container that a key at the top of a pickle leads to: the length of that key,
                   * with which the name begins; 0 for one that is at the top itself */
    /* The part of the tensor that the file has, where it says that it has no more; NULL for a whole one. The shape, the
     * parameters and the bytes above are those of the whole, the byte range is that of the part. */
    const struct shapeproof_tensor_piece *piece;
};

struct shapeproof_metadata {
    const char *key;
    const char *value; /* text; long values are cut by the reports and never here */
};

struct shapeproof_totals {
    uint64_t tensors;
    uint64_t parameters;        /* every listed tensor */
    uint64_t unique_parameters; /* tensors that are the same as an earlier one counted once */
    uint64_t bytes;             /* of the unique tensors */
};

/* What the bytes of the files are for. Each byte counts once: as that of a tensor, else as the next in this order. */
struct shapeproof_file_bytes {
    uint64_t size;        /* of all files together: the sum of the next five */
    uint64_t tensors;     /* data of listed tensors, compressed where they are */
    uint64_t unused;      /* of storages or records, data of no listed tensor */
    uint64_t padding;     /* what fills up to the next boundary */
    uint64_t structure;   /* headers, pickles, directories, members that hold no data of tensors */
    uint64_t unaccounted; /* nobody's; of HDF5 its structure, too, which its library does not tell from free space */
    uint64_t absent;      /* not in `size`: what listed tensors have that no file holds, as on the meta device */
};

/* A storage or a record of which no listed tensor uses all. */
struct shapeproof_unused {
    const char *storage; /* as it is called in the file */
    uint32_t file;
    uint64_t bytes; /* that no listed tensor uses */
};

/* What the checkpoint reaches for that can run code: "posix.system" in a pickle, "keras.layers.Lambda" in the
 * configuration of a Keras model. */
struct shapeproof_suspect {
    const char *name;
    bool called;     /* unpickling, or loading, would call it; otherwise it is only looked up */
    bool in_a_model; /* it is in the configuration of a model, and runs when that is loaded */
};

struct shapeproof_inventory; /* opaque: owns everything that the functions below return */

/* Read the checkpoint at `path`: a file, a directory, or an index (*.index.json) whose shards become one
 * inventory. Only headers are read. Returns NULL and fills `error` (status SHAPEPROOF_ERR_FILE) when it cannot be read.
 * Free with shapeproof_inventory_close. Thread-safe as long as no two threads share an inventory. */
SHAPEPROOF_API struct shapeproof_inventory *shapeproof_inventory_open(const char *path, struct shapeproof_error *error);

/* A tensor that a program has in memory. What is zero is absent, or the usual. */
struct shapeproof_tensor_description {
    const char *name;
    const uint64_t *shape;  /* `rank` dimensions, outermost first; NULL of a scalar */
    const uint64_t *stride; /* `rank` strides in elements, or NULL: dense, row-major */
    uint32_t rank;
    enum shapeproof_dtype dtype;
    const char *dtype_name; /* of a dtype that is not known: what the program calls it, or NULL */
    const char *storage;    /* identity of the storage: tensors with the same text share it. NULL: one of its own */
    uint64_t offset;        /* first element, counted in elements from the start of the storage */
    uint64_t reserved[2];   /* zero: room for later versions */
};

/* An inventory of tensors that are in no file, such as those of a model in memory. `name` stands for the path in
 * reports and messages. Everything is copied. Their data cannot be read (shapeproof_data_open). NULL with
 * SHAPEPROOF_ERR_FILE when two tensors have one name, a name is not UTF-8, or a size overflows; with
 * SHAPEPROOF_ERR_USAGE when a description is of a later version. Free with shapeproof_inventory_close. */
SHAPEPROOF_API struct shapeproof_inventory *
shapeproof_inventory_describe(const char *name, const struct shapeproof_tensor_description *tensors, size_t count,
                              struct shapeproof_error *error);

/* Of a model in the cache of the Hugging Face hub (models--x--y) the directory that its refs/main means,
 * "models--x--y/snapshots/COMMIT"; of a training by DeepSpeed or Megatron without a checkpoint of its own that of the
 * last step, as a file `latest` or `latest_checkpointed_iteration.txt` names it: free with shapeproof_free. NULL for
 * every other path, which stands for itself. */
SHAPEPROOF_API char *shapeproof_checkpoint_path(const char *path);

/* Frees the inventory and all that was borrowed from it. NULL is allowed. */
SHAPEPROOF_API void shapeproof_inventory_close(struct shapeproof_inventory *inventory);

/* All strings, tensors and arrays returned below are borrowed until shapeproof_inventory_close. */

/* As it was given to shapeproof_inventory_open. */
SHAPEPROOF_API const char *shapeproof_inventory_path(const struct shapeproof_inventory *inventory);
/* How many bytes of its files were read to make it. The limit of memory of a call on it grows with them (limits.h). */
SHAPEPROOF_API uint64_t shapeproof_inventory_bytes_read(const struct shapeproof_inventory *inventory);
/* The format that the file turned out to have, whatever its name: "safetensors", "torch-zip", "keras-zip", ...;
 * "memory" of tensors that are in no file. */
SHAPEPROOF_API const char *shapeproof_inventory_format(const struct shapeproof_inventory *inventory);
/* The tensors in the order of the file, of shards one after the other. No two have the same name. */
SHAPEPROOF_API size_t shapeproof_inventory_count(const struct shapeproof_inventory *inventory);
SHAPEPROOF_API const struct shapeproof_tensor *shapeproof_inventory_tensor(const struct shapeproof_inventory *inventory,
                                                                           size_t index);
/* Index of the tensor with that exact name, or SHAPEPROOF_NONE. */
SHAPEPROOF_API size_t shapeproof_inventory_find(const struct shapeproof_inventory *inventory, const char *name);
/* None of the sums overflows: a file for which one would is refused. */
SHAPEPROOF_API const struct shapeproof_totals *
shapeproof_inventory_totals(const struct shapeproof_inventory *inventory);
/* The files that hold the tensors: one, or the shards, by their names in the folder. */
SHAPEPROOF_API size_t shapeproof_inventory_file_count(const struct shapeproof_inventory *inventory);
SHAPEPROOF_API const char *shapeproof_inventory_file(const struct shapeproof_inventory *inventory, size_t index);
/* What the bytes of these files are for. */
SHAPEPROOF_API const struct shapeproof_file_bytes *
shapeproof_inventory_file_bytes(const struct shapeproof_inventory *inventory);
/* Storages of which no listed tensor uses all, in the order of the file. */
SHAPEPROOF_API size_t shapeproof_inventory_unused_count(const struct shapeproof_inventory *inventory);
SHAPEPROOF_API const struct shapeproof_unused *shapeproof_inventory_unused(const struct shapeproof_inventory *inventory,
                                                                           size_t index);
/* Of a directory what else in it could be taken for the checkpoint and was not read: "'pytorch_model.bin'"; or NULL. */
SHAPEPROOF_API const char *shapeproof_inventory_beside(const struct shapeproof_inventory *inventory);
/* What the file says of itself, in its order; of shards together, a key once. */
SHAPEPROOF_API size_t shapeproof_inventory_metadata_count(const struct shapeproof_inventory *inventory);
SHAPEPROOF_API const struct shapeproof_metadata *
shapeproof_inventory_metadata(const struct shapeproof_inventory *inventory, size_t index);
/* What a pickle says at its top besides tensors, as a JSON object: {"model_args": {"n_layer": 2}, "epoch": 3}. An
 * object is its state, with the name of its class as "__class__". NULL where there is nothing, and for other formats.
 */
SHAPEPROOF_API const char *shapeproof_inventory_settings(const struct shapeproof_inventory *inventory);
/* Tensors that are in the file and could not be read, each of which a warning names or counts. */
SHAPEPROOF_API size_t shapeproof_inventory_unread_count(const struct shapeproof_inventory *inventory);
/* What is odd about the file and no reason to refuse it, a sentence each. */
SHAPEPROOF_API size_t shapeproof_inventory_warning_count(const struct shapeproof_inventory *inventory);
SHAPEPROOF_API const char *shapeproof_inventory_warning(const struct shapeproof_inventory *inventory, size_t index);
/* What would run if the checkpoint were unpickled or loaded, each name once; a warning says so as well. */
SHAPEPROOF_API size_t shapeproof_inventory_suspect_count(const struct shapeproof_inventory *inventory);
SHAPEPROOF_API const struct shapeproof_suspect *
shapeproof_inventory_suspect(const struct shapeproof_inventory *inventory, size_t index);

#ifdef __cplusplus
}
#endif
#endif
