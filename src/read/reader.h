/* SPDX-License-Identifier: MIT
 * A reader turns one file format into the neutral inventory. Adding one is one file, and one line in readers.def.
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

/* Reads tensors whose bytes are no range of their file: what is compressed, or in pieces. Who makes one embeds it. */
struct sp_data_source {
    /* Why the bytes of a tensor cannot be had, which is found out when they are first asked for; NULL when they can.
     * The function itself is NULL when the places say it all. */
    const char *(*obstacle)(struct sp_data_source *source, size_t tensor);
    bool (*read)(struct sp_data_source *source, size_t tensor, uint64_t offset, void *into, size_t length,
                 struct shapeproof_error *error);
    void (*close)(struct sp_data_source *source);
    /* Before bytes of the tensor, or its obstacle, are asked for: keeps what that changes (base/call.h). */
    void (*keep)(struct sp_data_source *source, size_t tensor);
    /* After such a call has failed for want of memory: ends what was begun, which may have been read further than it
     * remembers. NULL: nothing is. */
    void (*rewind)(struct sp_data_source *source);
};

/* Where the bytes of a tensor lie in its file, or why they cannot be read from there. */
struct sp_data_place {
    uint64_t begin, end;
    const char *obstacle; /* static; when `end` is 0 and `source` is NULL */
    struct sp_data_source *source;
    bool in_order; /* the source begins at the first byte again when it is asked for an earlier one than before */
};

/* The places of all tensors of an inventory, and the sources that they have, which are closed together. */
struct sp_data_places {
    const struct shapeproof_inventory *inventory;
    struct sp_data_place *items;
    SP_ARRAY(struct sp_data_source *) sources;
};

/* What the name of a file may end with, and what that says. */
enum sp_file_ending_says {
    SP_IN_DIRECTORIES = 1, /* a directory is searched for such files */
    SP_IF_ALONE = 2,       /* the same, where there is nothing else: beside a checkpoint they hold other things */
    SP_IN_ARCHIVES = 4,    /* an archive of several files is searched for them */
    SP_IN_PIECES = 8,      /* "NAME-00001-of-00003.gguf" is the first of several, which belong together */
    SP_ZIPPED = 16         /* it may be a zip archive, whose directory is at its end */
};

struct sp_file_ending {
    const char *text; /* ".safetensors"; NULL ends a list */
    unsigned says;    /* of enum sp_file_ending_says */
};

struct sp_reader {
    const char *name;                     /* the family, for messages: "safetensors", "zip", "hdf5" */
    const struct sp_file_ending *endings; /* of its files; NULL: no ending is its own */
    /* How certain it is that the bytes are of this format: the number of bits that were verified, 0 for another format,
     * 1 if only the file's name says so. Never fails, never allocates. */
    unsigned (*probe)(const struct sp_probe *probe);
    /* Appends the tensors of `file` to the inventory, with `file_index` as their file, and sets inventory->format.
     * Never reads tensor data. sp_inventory_finish is called by the caller, after the last file. */
    bool (*index)(const struct sp_file *file, uint32_t file_index, struct shapeproof_inventory *inventory,
                  struct shapeproof_error *error);
    /* Records the positions of the data of the tensors of `file`, if `index` has not done so (docs/adding-a-reader.md
     * has the three cases). `file` stays open longer than the sources that are added to `places`. Only callers that
     * read data need this function. Places of other files are not touched. May be NULL. */
    bool (*locate)(const struct sp_file *file, uint32_t file_index, struct sp_data_places *places,
                   struct shapeproof_error *error);
};

/* What the ending of a name says, to whichever reader it belongs; 0 when it is of none. */
unsigned sp_file_ending_says(const char *name);
/* The reader for a file by its content, or NULL with an error that names what the file looks like. */
const struct sp_reader *sp_reader_for(const struct sp_file *file, struct shapeproof_error *error);
/* As `index` of the reader. Warns of a file that torch.load would read as a tar archive, although this reader does not.
 */
bool sp_reader_index(const struct sp_reader *reader, const struct sp_file *file, uint32_t file_index,
                     struct shapeproof_inventory *inventory, struct shapeproof_error *error);

#define READER(name) extern const struct sp_reader sp_reader_##name;
#include "read/readers.def"
#undef READER

#endif
