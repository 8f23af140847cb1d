/* SPDX-License-Identifier: MIT
 * What torch.save has written into one file, as values: for callers to whom the tensors alone are not enough, such as
 * the groups of an optimizer, the last step of a scheduler, the state of a random number generator. As everywhere,
 * nothing of the file is executed. */
#ifndef SP_READ_TORCH_CONTENTS_H
#define SP_READ_TORCH_CONTENTS_H

#include "read/folder.h"
#include "read/pickle/pickle.h"

struct sp_contents; /* opaque: owns all values */

struct sp_contents_tensor {
    const char *dtype; /* "F32" */
    enum shapeproof_dtype type;
    uint32_t rank;
    uint32_t flags; /* SHAPEPROOF_TENSOR_NO_DATA: on the device meta; SHAPEPROOF_TENSOR_EXPANDED */
    uint64_t shape[SP_MAX_RANK];
    uint64_t bytes;
    uint64_t held; /* elements that the file has of it; 0 when that is not known */
    bool is_piece; /* the file has a part of it: a DTensor or a ShardedTensor */
    bool is_empty; /* a part without elements */
    /* The number of its storage in the file, from 1 on, and the bytes of it that the tensor uses; 0: it is none, or has
     * no elements. */
    uint32_t storage;
    uint64_t begin, end;
};

/* Reads the file `name` of the folder: a zip archive or an older stream. The file must have all bytes of each storage
 * that it names. NULL with an error, which does not have the name of the file in it: the file is missing, cut short,
 * or of another format. Free with sp_contents_close. */
struct sp_contents *sp_contents_open(const struct sp_folder *folder, const char *name, struct shapeproof_error *error);
void sp_contents_close(struct sp_contents *contents);
/* The object that torch.load would return. */
struct sp_pickle_value *sp_contents_root(const struct sp_contents *contents);
/* The name of a member of the archive that does not match its CRC, which torch.load does not notice; or NULL. */
const char *sp_contents_damaged(const struct sp_contents *contents);
/* The pairs of a dictionary, or of an object that behaves as one (OrderedDict), as a DICT; else NULL. */
const struct sp_pickle_value *sp_contents_pairs(const struct sp_pickle_value *value);
/* The value under a text key of such a dictionary, or NULL. */
struct sp_pickle_value *sp_contents_get(const struct sp_pickle_value *value, const char *key);
/* False when the value is no tensor, or one that cannot be read. */
bool sp_contents_tensor(struct sp_contents *contents, struct sp_pickle_value *value, struct sp_contents_tensor *tensor);
/* The number that the value is: an integer, a real number, or a tensor of one element of type F32, F64 or I64, whose
 * bytes are read from the file. False for every other value. */
bool sp_contents_number(struct sp_contents *contents, struct sp_pickle_value *value, double *number);

#endif
