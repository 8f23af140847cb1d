/* SPDX-License-Identifier: MIT
 * Building an inventory: what readers call. See shapeproof/inventory.h for what each field means. */
#ifndef SP_MODEL_INVENTORY_H
#define SP_MODEL_INVENTORY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "model/account.h"
#include "model/format.h"
#include "shapeproof/inventory.h"

/* How many dtypes there are, with the unknown one. */
#define SP_ONE_DTYPE(id, value, name, bits, real) +1
enum { SP_DTYPE_COUNT = 1 SHAPEPROOF_DTYPES(SP_ONE_DTYPE) };
#undef SP_ONE_DTYPE

/* A tensor that an index or the name of a shard declares, and that is in no file. */
struct sp_promise {
    const char *tensor; /* or NULL: not even its name is known */
    const char *shard;  /* where it should be */
    bool unreadable;    /* the shard is not there, or cannot be opened; otherwise it lacks the tensor */
};

/* A tensor as the input of a node of a graph: which parameter of which module it is by that, "fc.weight". An exporter
 * may have given it a name of its own, "onnx::MatMul_53", and one tensor to several nodes. */
struct sp_tensor_use {
    const char *tensor, *parameter;
    bool transposed; /* the node multiplies by it from the right: it is the transpose of that parameter */
    bool is_weight;  /* the node is a layer, and this is an input that is its weight, bias or statistics */
};

struct shapeproof_inventory {
    struct sp_arena arena; /* names, shapes, metadata: everything that the inventory hands out */
    const char *path;
    uint64_t bytes_read;            /* of its files, to make it */
    uint64_t named_bytes;           /* of the files that may have names, for the limit of names */
    uint64_t name_bytes;            /* of names that readers have made; see sp_inventory_spend_names */
    bool is_redacted;               /* its texts were replaced by placeholders */
    const struct sp_format *format; /* of its first file; never NULL */
    const char **files;
    size_t file_count, file_capacity;
    struct sp_account account; /* of the bytes of these files */
    struct shapeproof_tensor *tensors;
    size_t count, capacity;
    struct shapeproof_metadata *metadata;
    size_t metadata_count, metadata_capacity;
    struct sp_map metadata_keys;
    const char **warnings;
    size_t warning_count, warning_capacity;
    SP_ARRAY(struct shapeproof_suspect) suspects;
    struct sp_promise *promises;
    size_t promise_count, promise_capacity;
    const char *index_lacks; /* "metadata" or "weight_map", where an index has no object of that name; or NULL */
    bool shard_absent;       /* a shard that an index names is not there, or cannot be opened */
    /* Of the first file that is not what its name says, a pickle named model.safetensors: its index, the format that it
     * has, and the one that the name says. NULL where there is no such file. */
    uint32_t misnamed;
    const struct sp_format *misnamed_format;
    const char *misnamed_expected;
    const char *beside;  /* what else in the directory could be taken for the checkpoint, or NULL */
    const char *stray;   /* a file beside the shards that could be taken for the checkpoint, or NULL */
    struct sp_map names; /* built by sp_inventory_finish */
    struct shapeproof_totals totals;
    size_t unread;                        /* tensors that are there and could not be read */
    struct shapeproof_error first_unread; /* why the first of them */
    size_t wrapped;                       /* tensors of classes that keep their data in other tensors */
    size_t divided;                       /* tensors whose data ZeRO has divided among files of its optimizer */
    const char *broken_optimizer;         /* one of those files that cannot be read, or NULL */
    bool gatherable;                      /* and all of those files are there */
    SP_ARRAY(const char *) described;     /* files that say where the pieces of all tensors are; see sp_dcp_locate */
    bool of_ranks;                        /* it was read from files of ranks, see sp_ranks_locate */
    size_t joined;                        /* tensors that are put together from pieces in files of ranks */
    size_t unplaced;     /* of these, tensors whose pieces have enough bytes, but do not say that they are different */
    bool named_by_verl;  /* the files of ranks have the names that verl gives them */
    uint64_t said_ranks; /* how many ranks fsdp_config.json of verl says; 0: it does not */
    bool ranks_unsaid;   /* that file is there, and does not say it */
    const char *misplaced; /* those of the files that have the pieces of another rank than their names say, or NULL */
    size_t misfits;        /* tensors whose pieces in files of ranks do not fit together */
    size_t lacking;        /* tensors whose data is not there, in whole or in part */
    size_t compressed;     /* storages of PyTorch that are deflated in their archive */
    const char *damaged;   /* a member of an archive whose bytes do not match their CRC, or NULL */
    const char *lack;      /* why; NULL when `lacking` is 0 */
    SP_ARRAY(const char *) unread_names;
    SP_ARRAY(struct sp_tensor_use) uses;
    uint64_t dtypes;      /* bit n: a tensor has the dtype n */
    size_t plain_keys;    /* at the top of a pickle, whose values neither are nor hold tensors */
    bool headed;          /* a value that is no tensor comes before all others there */
    bool unkeyed;         /* there is no dictionary there at all, but a list, an object or a single value */
    bool numbered;        /* a key there is no text */
    const char *settings; /* what else is said there, a JSON object; or NULL */
};

/* Limits that hold for every format: docs/formats.md lists them. */
enum {
    SP_MAX_RANK = 64,
    SP_MAX_TENSORS = 4 * 1000 * 1000,
    SP_MAX_NAME = 64 * 1024,
    SP_MAX_WARNINGS = 1000,
    SP_MAX_SUSPECTS = 1000,
    SP_NAMES_BUDGET_BASE = 1 << 20, /* bytes of all names of an inventory: so many, */
    SP_NAMES_BUDGET_FACTOR = 64     /* and so many for each byte of its files */
};

struct shapeproof_inventory *sp_inventory_new(const char *path);
/* Registers a file (the shard's name, or the path itself) and returns its index. */
uint32_t sp_inventory_add_file(struct shapeproof_inventory *inventory, const char *name);
/* "'model.safetensors' is a pickle (torch-zip), not safetensors": the first file that is not what its name says, which
 * loaders refuse that choose their reader by the name. In the arena; NULL where there is no such file. */
const char *sp_inventory_misnamed(const struct shapeproof_inventory *inventory, struct sp_arena *arena);
/* A new tensor, zeroed, with same_as = SHAPEPROOF_NONE, to be filled at once; the pointer is good until the next call.
 * NULL with an error past SP_MAX_TENSORS. Strings and arrays put into it must live in inventory->arena. */
struct shapeproof_tensor *sp_inventory_add(struct shapeproof_inventory *inventory, struct shapeproof_error *error);
/* Names may share bytes of a file: a common beginning, the key of a dictionary, or compressed data. So the memory and
 * the output that they need are limited by the sizes of the files on disk. A reader spends each name that can be longer
 * than what it reads for it, before it keeps the name. False with an error when the names of the inventory have too
 * many bytes in all. */
bool sp_inventory_spend_names(struct shapeproof_inventory *inventory, uint64_t bytes, struct shapeproof_error *error);
uint64_t sp_inventory_names_left(const struct shapeproof_inventory *inventory);
/* A file of that size is read that is not among the files of the inventory (sp_inventory_set_size). */
void sp_inventory_allow_names(struct shapeproof_inventory *inventory, uint64_t file_size);
/* Copies both. A key is kept once: its first value, with a warning when a later one differs. */
void sp_inventory_add_metadata(struct shapeproof_inventory *inventory, const char *key, const char *value);
/* Adds a warning, unless there is an equal one. Past SP_MAX_WARNINGS one last warning says that there are more. */
void sp_inventory_warn(struct shapeproof_inventory *inventory, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One tensor that could not be read, and why: the others still are. A warning names it, and counts those beyond the
 * first few; sp_inventory_finish fails when there is no other. False, with `why` in `error`, when it is about more than
 * that tensor: the file itself cannot be read, or there is a limit. */
bool sp_inventory_unread(struct shapeproof_inventory *inventory, const char *name, const struct shapeproof_error *why,
                         struct shapeproof_error *error);

/* Copies what was reported of one of several files into the inventory of all: warnings, suspects, what is not read. */
void sp_inventory_adopt_remarks(struct shapeproof_inventory *inventory, const struct shapeproof_inventory *part);
/* The same of a part whose tensors are not listed: its warnings, each with `what` in front, and its suspects. */
void sp_inventory_adopt_code(struct shapeproof_inventory *inventory, const struct shapeproof_inventory *part,
                             const char *what);
/* Notes a name that unpickling would import (`called`: and call), once, with a warning for each of the first 20. */
void sp_inventory_suspect_global(struct shapeproof_inventory *inventory, const char *name, bool called);
/* Notes all code in the configuration of a Keras model, a JSON text, with warnings. */
void sp_inventory_judge_keras(struct shapeproof_inventory *inventory, const char *json, size_t length);
/* Notes a tensor that is listed in `shard` and is not there. `unreadable`: neither is the shard, or it cannot be
 * opened. Copies the names. */
void sp_inventory_promise(struct shapeproof_inventory *inventory, const char *tensor, const char *shard,
                          bool unreadable);
/* The same for a shard that is not there, or several in one text, when it is not known which tensors are in it. */
static inline void sp_inventory_promise_shard(struct shapeproof_inventory *inventory, const char *shard)
{
    sp_inventory_promise(inventory, NULL, shard, true);
}

/* Sets parameters and bytes from shape and dtype; false, and nothing set, when a product overflows 64 bits or the
 * bits do not fill whole bytes. Readers call it before comparing with the bytes that the file holds. */
bool sp_tensor_measure(struct shapeproof_tensor *tensor);
/* A deep copy in the arena. */
const struct shapeproof_tensor_piece *sp_tensor_piece_copy(const struct shapeproof_tensor_piece *piece,
                                                           struct sp_arena *arena);
/* One past the last element that the tensor reaches, counted from the start of its storage; UINT64_MAX when that
 * overflows. */
uint64_t sp_tensor_reach(const struct shapeproof_tensor *tensor);

/* Called once, after the last tensor: refuses duplicate names, finds ties and overlapping views among tensors that
 * share a storage, sums up the totals. */
bool sp_inventory_finish(struct shapeproof_inventory *inventory, struct shapeproof_error *error);
struct sp_shard_name;
/* Whether it was read from one shard of several alone, "model-00001-of-00004.safetensors", by its name. */
bool sp_inventory_is_shard(const struct shapeproof_inventory *inventory, struct sp_shard_name *shard);
/* Whether other tensors of the checkpoint may be in files that were not read. */
bool sp_inventory_is_part(const struct shapeproof_inventory *inventory);

#endif
