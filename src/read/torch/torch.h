/* SPDX-License-Identifier: MIT
 * PyTorch files: what their pickles mean. The container (a zip archive or the older stream) gives pickles and says
 * where storages are; here globals are given roles, persistent ids become storages, calls of the rebuild functions
 * become tensors, and a walk over the object graph names them.
 *
 *   zip.c, legacy.c, tar.c, bare.c, package.c  ->  walk.c  ->  key.c, tensor.c, wrapper.c  ->  storage.c  ->  globals.c
 */
#ifndef SP_READ_TORCH_TORCH_H
#define SP_READ_TORCH_TORCH_H

#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "model/inventory.h"
#include "read/pickle/pickle.h"
#include "read/reader.h"
#include "read/zip/archive.h"

struct sp_torch;

/* ---- globals.c: what a name in a pickle stands for ---- */

enum sp_torch_role {
    SP_TORCH_UNKNOWN,
    SP_TORCH_KNOWN,           /* of no interest */
    SP_TORCH_FUNCTION,        /* of tensors: modules keep it as an attribute, and torch.save never calls it */
    SP_TORCH_RECONSTRUCTOR,   /* of older protocols, (class, base, state): makes an instance of the class */
    SP_TORCH_TRANSPARENT,     /* stands for its first argument */
    SP_TORCH_MAPPING,         /* a dict subclass whose attributes are not entries */
    SP_TORCH_SCRIPT_OBJECT,   /* its state begins with what it holds */
    SP_TORCH_COMPILED,        /* (module, how it was compiled) */
    SP_TORCH_TENSOR,          /* (storage, offset, size, stride, ...) */
    SP_TORCH_TENSOR_V3,       /* the same, then (requires_grad, hooks, dtype) */
    SP_TORCH_OLD_TENSOR,      /* torch.FloatTensor(), whose state is (storage, offset, size, stride) */
    SP_TORCH_PARAMETER,       /* (tensor, ...) */
    SP_TORCH_META,            /* (dtype, size, stride, ...): no bytes */
    SP_TORCH_WRAPPER,         /* (class, dtype, size, stride, ...): its bytes are in the state (wrapper.c) */
    SP_TORCH_SPARSE,          /* (layout, parts) */
    SP_TORCH_FROM_NUMPY,      /* (ndarray, dtype, ...) */
    SP_TORCH_FROM_TYPE,       /* (function, class, arguments, state) */
    SP_TORCH_SAVED,           /* no global: a persistent id that names a tensor */
    SP_TORCH_LOAD_FROM_BYTES, /* (bytes of a legacy stream) */
    SP_TORCH_ARRAY,           /* an array of NumPy: (version, shape, dtype, order, data) in its state */
    SP_TORCH_ARRAY_BUFFER,    /* (data, dtype, shape, order) */
};

/* The role of a GLOBAL, or of the callable of an OBJECT; SP_TORCH_UNKNOWN for everything else. */
enum sp_torch_role sp_torch_role(const struct sp_pickle_value *value);
/* "list" for "builtins.list" and for "__builtin__.list", as Python 2 has it; NULL for every other name. */
const char *sp_torch_python_name(const char *name);
/* "torch.float8_e4m3fn" -> F8_E4M3; its own word, with SHAPEPROOF_DTYPE_UNKNOWN, when it has no common name; false when
 * the value names no dtype at all. */
bool sp_torch_dtype(const struct sp_pickle_value *value, enum shapeproof_dtype *dtype, const char **name);
/* The element type of a storage class, and the bytes of one element (0 when not known). */
bool sp_torch_storage_class(const struct sp_pickle_value *value, enum shapeproof_dtype *dtype, unsigned *element_size,
                            bool *untyped);
/* Reads a pickle into the arena, as sp_pickle_read does, and judges it. */
bool sp_torch_read_pickle(struct sp_torch *torch, struct sp_pickle *pickle, const char *name, const void *data,
                          size_t length, struct shapeproof_error *error);
/* Reports each global of the pickle that is not on the list of harmless ones: what runs code by itself, classes of
 * other packages together, bytes to be unpickled that are not read, and what changes.c finds. Warns of text that is not
 * UTF-8 in the pickle, which the warning calls `name`. */
void sp_torch_judge(struct sp_torch *torch, const struct sp_pickle *pickle, const char *name);
/* Whether a GLOBAL is on the list of harmless ones, so that it is not reported for its name. */
bool sp_torch_is_harmless(const struct sp_pickle_value *global);

/* ---- changes.c: what is changed after it was made ---- */

/* Reports items and attributes that a pickle sets where they may change something else, and states of dtypes of NumPy
 * that do not fit. Each kind is reported once. */
void sp_torch_judge_changes(struct sp_torch *torch, const struct sp_pickle *pickle);

/* ---- storage.c ---- */

enum { SP_TORCH_MAX_KEY = 256 };

struct sp_torch_storage {
    const char *key;             /* identity within the checkpoint, in the inventory's arena */
    enum shapeproof_dtype dtype; /* SHAPEPROOF_DTYPE_UNKNOWN for untyped storages and unknown classes */
    const char *dtype_name;
    unsigned element_size;         /* 0 when not known */
    bool untyped, meta;            /* meta: no bytes anywhere */
    bool parts;                    /* tensors that are listed as one use it whole: it has no one place in it */
    bool located;                  /* a root: the container was found to hold it */
    uint32_t index;                /* in struct sp_torch */
    struct sp_torch_storage *root; /* itself, unless it is a view */
    uint64_t count;                /* elements, or bytes when untyped */
    uint64_t bytes;                /* what tensors may use, from the beginning of the storage; if the size is known */
    uint64_t first;                /* a view: its first element within the storage; else 0 */
    uint64_t data_begin;           /* in the file; 0 when not known */
    size_t record;                 /* the number of its member of a zip archive and 1; or 0 */
};

struct sp_torch_saved;

struct sp_torch {
    struct shapeproof_inventory *inventory;
    uint32_t file;
    struct sp_arena arena; /* pickles: freed when the file is indexed */
    struct sp_torch_storage **storages;
    size_t storage_count, storage_capacity;
    struct sp_map storage_keys;      /* key -> index in storages; views are not in it */
    const char *key_prefix;          /* of storages in a nested stream; "" outside */
    unsigned nesting;                /* of the stream that is being read or walked: streams within streams */
    size_t streams;                  /* that were begun, for their numbers */
    struct sp_pickle_value **nested; /* the objects of all nested streams */
    size_t nested_count, nested_capacity;
    bool count_only; /* tensors are checked and counted, not listed */
    size_t counted;
    size_t absent;          /* storages whose bytes are nowhere */
    size_t wrappers;        /* tensors of subclasses, of which the outer shape is listed alone */
    uint64_t wrapped_bytes; /* of the tensors in them */
    uint64_t unwrapped;     /* values of the states of such tensors that were looked at */
    unsigned wrapped;       /* how deep the tensor that is being read is in others that wrap it */
    bool contradicted;      /* a storage was declared in two ways */
    bool odd_location;      /* there was a warning of the location of a storage */
    bool in_stream;         /* of torch before 1.6, in which each id of a storage has a view or None */
    size_t equal_keys;      /* that came again in their dictionary */
    /* Checks that the container holds the bytes of a storage. NULL when all were located beforehand. */
    bool (*locate)(struct sp_torch *torch, struct sp_torch_storage *storage, struct shapeproof_error *error);
    struct sp_zip *zip;
    const char *folder;      /* of the records in the zip: "archive/data/" */
    const char *suffix;      /* of their names, or NULL */
    const char *name_prefix; /* of all tensors, or NULL */
    SP_ARRAY(struct sp_torch_saved)
    saved; /* tensors that the container describes, and the object names by their keys */
    struct sp_map saved_keys;
    bool arrays;       /* arrays of NumPy are listed as well */
    const char *bytes; /* of the file, where the pickle itself holds the data; or NULL */
    size_t length;
};

/* The storage of a persistent id, made on first sight. NULL with an error. */
struct sp_torch_storage *sp_torch_storage(struct sp_torch *torch, struct sp_pickle_value *persid,
                                          struct shapeproof_error *error);
/* A storage that is described otherwise: `described` is copied, its strings too. NULL with an error. */
struct sp_torch_storage *sp_torch_add_root(struct sp_torch *torch, const struct sp_torch_storage *described,
                                           struct shapeproof_error *error);
/* Another key for a part of one: its elements from `first` on, `size` of them. */
bool sp_torch_add_view(struct sp_torch *torch, const char *key, const char *root, uint64_t first, uint64_t size,
                       struct shapeproof_error *error);
/* Claims what each storage has in the file, where that is known. */
void sp_torch_claim_storages(const struct sp_torch *torch);
/* True for a persistent id that names a storage. */
bool sp_torch_is_storage(const struct sp_pickle_value *value);
/* Whether the tuple of a persistent id to a storage has as many items as torch reads in this container. */
bool sp_torch_check_id_length(const struct sp_torch *torch, const struct sp_pickle_value *id,
                              struct shapeproof_error *error);
void sp_torch_free(struct sp_torch *torch);

/* ---- tar.c ---- */

/* Warns of a file of another format that begins with what Python's tarfile takes for the header of a member: torch.load
 * looks for a tar archive before it looks for pickles. */
bool sp_torch_warn_of_tar(struct sp_torch *torch, const struct sp_file *file, struct shapeproof_error *error);

/* ---- tensor.c ---- */

struct sp_torch_tensor {
    struct sp_torch_storage *storage; /* NULL when it has none */
    enum shapeproof_dtype dtype;
    const char *dtype_name;
    uint32_t rank, flags;
    uint64_t shape[SP_MAX_RANK], stride[SP_MAX_RANK];
    bool strided;
    uint64_t offset;                             /* elements from the beginning of the storage */
    uint64_t parameters, bytes, extent;          /* extent: elements from `offset` to the last one reached */
    uint64_t data_begin, data_end;               /* in the file, without a storage; or 0 */
    const struct shapeproof_tensor_piece *piece; /* the part of it that the file has; NULL when that is the whole */
};

/* Interprets a node: *is_tensor is false when it is something else. False with an error when it is a broken tensor. */
bool sp_torch_tensor(struct sp_torch *torch, struct sp_pickle_value *node, struct sp_torch_tensor *tensor,
                     bool *is_tensor, struct shapeproof_error *error);

/* The shape of a tensor from a tuple of sizes; and what follows from shape, strides and dtype. */
bool sp_torch_shape(const struct sp_pickle_value *sizes, struct sp_torch_tensor *tensor,
                    struct shapeproof_error *error);
bool sp_torch_measure(struct sp_torch_tensor *tensor, struct shapeproof_error *error);
/* Whether it lies within its storage; its extent is known. */
bool sp_torch_check_extent(const struct sp_torch_tensor *tensor, struct shapeproof_error *error);

/* ---- wrapper.c ---- */

/* What a subclass has in its state, of which `tensor` has the outer dtype and shape so far: it becomes the tensor that
 * is wrapped, a piece of itself, or one without data. */
bool sp_torch_wrapped(struct sp_torch *torch, struct sp_pickle_value *state, struct sp_torch_tensor *tensor,
                      struct shapeproof_error *error);

/* ---- tar.c ---- */

struct sp_torch_saved {
    struct sp_torch_tensor tensor;
    struct shapeproof_error why; /* it is broken */
};

/* The tensor that a persistent id names by its key, or NULL. */
const struct sp_torch_saved *sp_torch_find_saved(const struct sp_torch *torch, const struct sp_pickle_value *persid);

/* ---- array.c ---- */

/* As sp_torch_tensor, for an OBJECT with one of the roles of an array. Arrays of objects are none. */
bool sp_torch_array(struct sp_torch *torch, const struct sp_pickle_value *node, struct sp_torch_tensor *tensor,
                    bool *is_array, struct shapeproof_error *error);

/* ---- key.c ---- */

/* The bytes of a string, of bytes, or of what protocol 2 writes for bytes; false for every other value. */
bool sp_torch_bytes(struct sp_torch *torch, const struct sp_pickle_value *value, const char **bytes, size_t *length);
/* Appends a key of a dictionary as a part of a name: its text, its number, or "<key 3>" for the fourth key. False when
 * it is longer than a name may be. */
bool sp_torch_put_key(struct sp_text *name, const struct sp_pickle_value *key, size_t index);
/* Leaves one of the keys of a DICT that are equal for Python (1, 1.0 and True are): the first, with the value of the
 * last, as unpickling would. A warning tells of the first such pair of the file. Returns a key that a call of a number
 * or text makes, of which it is not known whether it equals another one; or NULL. */
const struct sp_pickle_value *sp_torch_settle_keys(struct sp_torch *torch, struct sp_pickle_value *dict);

/* ---- walk.c ---- */

/* Lists every tensor that is reachable from `root`, named by the way to it. */
bool sp_torch_walk(struct sp_torch *torch, struct sp_pickle_value *root, struct shapeproof_error *error);
/* Lists one tensor under that name, which lives in the inventory's arena. */
bool sp_torch_list(struct sp_torch *torch, const char *name, const struct sp_torch_tensor *found,
                   struct shapeproof_error *error);
/* At the root of a checkpoint: what is kept to resume training, and is no part of the model. */
bool sp_torch_is_state_key(const struct sp_pickle_value *key);

/* ---- zip.c; what others than its kin call is in a header of its own ---- */

/* Claims the archive and its members: records of storages by their keys, all others as structure. */
void sp_torch_zip_claim(const struct sp_torch *torch);
/* Checks that a storage has its record. */
bool sp_torch_zip_locate_storage(struct sp_torch *torch, struct sp_torch_storage *storage,
                                 struct shapeproof_error *error);

/* Warns of a member outside of the folder `prefix`: torch takes the folder of the first member for that of the archive,
 * and refuses one with members elsewhere. */
void sp_torch_zip_warn_outside(const struct sp_zip *zip, const char *prefix, struct shapeproof_inventory *inventory);

/* The bytes of a member that is a pickle, to be freed; NULL with an error. Bytes that do not match their CRC are a
 * warning. */
char *sp_torch_zip_read_pickle(struct sp_zip *zip, size_t index, size_t *length, struct shapeproof_inventory *inventory,
                               struct shapeproof_error *error);

/* ---- model_states.c ---- */

/* Of the tensors from `first` on, those that stand for what ZeRO has divided get their shapes. */
bool sp_torch_model_states(struct sp_torch *torch, const struct sp_pickle_value *root, size_t first,
                           struct shapeproof_error *error);

/* ---- settings.c ---- */

/* Keeps what the pickle says at its top besides tensors as the `settings` of the inventory, if there are none yet. */
void sp_torch_note_settings(struct sp_torch *torch, const struct sp_pickle_value *root);

/* ---- legacy.c ---- */

/* The object that a call of torch.storage._load_from_bytes would give: the bytes are a legacy stream of their own.
 * NULL without an error when they are something else. */
struct sp_pickle_value *sp_torch_load_from_bytes(struct sp_torch *torch, struct sp_pickle_value *call,
                                                 struct shapeproof_error *error);
/* The object of a file that is such a stream, whose storages are then located; NULL with an error. The object lives in
 * the arena of `torch`, and its texts in *bytes, which the caller frees after it, also after an error. */
struct sp_pickle_value *sp_torch_legacy_read(struct sp_torch *torch, const struct sp_file *file, char **bytes,
                                             struct shapeproof_error *error);

#endif
