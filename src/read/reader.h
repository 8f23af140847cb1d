/* SPDX-License-Identifier: MIT
 * A reader turns one file format into the neutral inventory. Adding one is one file, and one line in registry.c.
 */
#ifndef SP_READ_READER_H
#define SP_READ_READER_H

#include "base/file.h"
#include "model/inventory.h"

enum { SP_PROBE_BYTES = 4096 };

/* What a probe may look at: the beginning of the file, its size and its name. */
struct sp_probe {
    const struct sp_file *file;
    const unsigned char *head; /* min(size, SP_PROBE_BYTES) bytes */
    size_t head_length;
    bool deep; /* no reader knew the head: now a probe may look further into the file */
};

/* Where the bytes of a tensor lie in its file, or why they cannot be read from there. */
struct sp_data_place {
    uint64_t begin, end;
    const char *obstacle; /* static; when `end` is 0 */
};

struct sp_reader {
    const char *name; /* the family, for messages: "safetensors", "zip", "hdf5" */
    /* How surely the bytes are of this format: the number of bits verified, 0 for "not mine", 1 when only
     * the file's name says so. Never fails, never allocates. */
    unsigned (*probe)(const struct sp_probe *probe);
    /* Appends the tensors of `file` to the inventory, with `file_index` as their file, and sets inventory->format.
     * Never reads tensor data. sp_inventory_finish is called by the caller, after the last file. */
    bool (*index)(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                  struct shapeproof_error *error);
    /* Finds the places of the tensors of `file` that `index` gave none, where finding each costs a look into the file
     * that only those need who read data. Places are as many as tensors; the others' are left alone. May be NULL. */
    bool (*locate)(const struct sp_file *file, uint32_t file_index, const struct shapeproof_inventory *inventory,
                   struct sp_data_place *places, struct shapeproof_error *error);
};

/* The reader for a file by its content, or NULL with an error that names what the file looks like. */
const struct sp_reader *sp_reader_for(const struct sp_file *file, struct shapeproof_error *error);

extern const struct sp_reader sp_reader_safetensors;  /* src/read/safetensors/: safetensors */
extern const struct sp_reader sp_reader_archive;      /* src/read/archive_reader.c: torch-zip, torchscript, keras-zip */
extern const struct sp_reader sp_reader_torch_legacy; /* src/read/torch/legacy.c: torch-legacy */
extern const struct sp_reader sp_reader_torch_tar;    /* src/read/torch/tar.c: torch-tar */
extern const struct sp_reader sp_reader_pickle;       /* src/read/torch/bare.c: pickle, paddle */
extern const struct sp_reader sp_reader_gzip;         /* src/read/nested.c: what was compressed */
extern const struct sp_reader sp_reader_tar;          /* src/read/bundle.c: tar */
extern const struct sp_reader sp_reader_dcp;          /* src/read/dcp/: dcp */
extern const struct sp_reader sp_reader_gguf;         /* src/read/gguf/: gguf */
extern const struct sp_reader sp_reader_hdf5;         /* src/read/hdf5/: keras-hdf5, keras-weights, hdf5 */
extern const struct sp_reader sp_reader_npy;          /* src/read/numpy/: npy; .npz by the archive reader */
extern const struct sp_reader sp_reader_onnx;         /* src/read/onnx/: onnx */
extern const struct sp_reader sp_reader_flax;         /* src/read/flax/: flax-msgpack */
extern const struct sp_reader sp_reader_tensorflow;   /* src/read/tensorflow/: tf-checkpoint */
extern const struct sp_reader sp_reader_mxnet;        /* src/read/mxnet/: mxnet-params */

#endif
