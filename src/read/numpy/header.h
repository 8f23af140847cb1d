/* SPDX-License-Identifier: MIT
 * The header of an array of NumPy (.npy): 93 "NUMPY", the version in two bytes, the length of a text (16 bits in
 * version 1, 32 in 2 and 3) and the text, a dictionary as Python writes it:
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 * It is scanned and never evaluated. Versions 1 and 2 are Latin-1, version 3 is UTF-8; only names of fields can have
 * letters beyond ASCII. */
#ifndef SP_READ_NUMPY_HEADER_H
#define SP_READ_NUMPY_HEADER_H

#include "model/inventory.h"

enum { SP_NPY_FIXED = 12, SP_NPY_MAX_HEADER = 1 << 20 };

/* Bytes of the header in all by its first SP_NPY_FIXED ones (`length` are there); 0 with an error. */
size_t sp_npy_header_size(const char *bytes, size_t length, struct shapeproof_error *error);

/* What an array is: the name, the file and the place of its data are the caller's. */
struct sp_npy {
    struct shapeproof_tensor tensor; /* dtype, dtype_name, shape, stride, flags, parameters, bytes */
    uint64_t item;                   /* bytes of an element, 0 when not known */
    bool untyped;                    /* called BF16 because there is nothing else that two bytes without a type are */
    bool odd;                        /* its type, or that of a field, is none of NumPy's */
    bool objects;                    /* its type, or that of a field, is a Python object: the data are a pickle */
};

/* `bytes` are the whole header. Shape and names go into the arena. */
bool sp_npy_parse(struct sp_npy *npy, const char *bytes, size_t length, struct sp_arena *arena,
                  struct shapeproof_error *error);

/* What the arrays of one file have that is worth a warning. */
struct sp_npy_notes {
    size_t big_endian, untyped, odd, objects;
    const char *first_big_endian, *first_untyped, *first_odd, *first_object;
};

void sp_npy_note(struct sp_npy_notes *notes, const struct sp_npy *npy);
void sp_npy_warn(const struct sp_npy_notes *notes, struct shapeproof_inventory *inventory);

/* Adds the array with `data` bytes behind its header, which begin at byte `begin` of the file (0: they have no place in
 * it). False with an error when these are fewer than its shape needs; more are a warning. Where the size of an element
 * is not known all of them are claimed. */
bool sp_npy_add(struct shapeproof_inventory *inventory, const struct sp_npy *npy, const char *name, uint32_t file,
                uint64_t begin, uint64_t data, struct shapeproof_error *error);

#endif
