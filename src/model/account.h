/* SPDX-License-Identifier: MIT
 * Every byte of a file accounted for. A reader claims ranges for what it knows them to be; where a tensor has a place
 * in the file, that claim is made for it. When somebody asks, it is summed up: what nobody claims is left over. */
#ifndef SP_MODEL_ACCOUNT_H
#define SP_MODEL_ACCOUNT_H

#include <stdbool.h>

#include "base/arena.h"
#include "shapeproof/inventory.h"

struct shapeproof_inventory;

/* What the bytes of a range are. Where ranges overlap, the first of these uses counts. */
enum sp_use {
    SP_USE_TENSOR,    /* data of a tensor */
    SP_USE_UNUSED,    /* data of a storage that no tensor uses */
    SP_USE_PADDING,   /* between ranges, for alignment */
    SP_USE_STRUCTURE, /* headers, indexes, names, metadata */
    SP_USE_COUNT
};

struct sp_byte_claim {
    uint64_t begin, end;
    uint32_t file;
    enum sp_use use;
    const char *record;  /* of the data of a storage: what it is called in the file; else NULL */
    const char *storage; /* of the data of a storage: its key in tensors; NULL when none has it */
    bool is_compressed;  /* parts of it have no places: if a tensor uses some, all of it counts as used */
};

struct sp_account {
    SP_ARRAY(struct sp_byte_claim) claims;
    SP_ARRAY(uint64_t) sizes; /* of the files */
    SP_ARRAY(struct shapeproof_unused) unused;
    uint64_t scattered[SP_USE_COUNT]; /* bytes whose places are not known */
    bool summed;                      /* `bytes` and `unused` are filled, when somebody asks for the first time */
    struct shapeproof_file_bytes bytes;
};

/* Sets the size of the file that was added last. */
void sp_inventory_set_size(struct shapeproof_inventory *inventory, uint64_t size);
/* The size of a file; 0 before it is set. */
uint64_t sp_inventory_file_size(const struct shapeproof_inventory *inventory, uint32_t file);
/* Claims bytes [begin, end) of a file; what lies past its end is left out. */
void sp_inventory_claim(struct shapeproof_inventory *inventory, uint32_t file, uint64_t begin, uint64_t end,
                        enum sp_use use);
/* Claims the data of a storage, which is called `record` in the file; `storage` is its key in tensors, or NULL when
 * none has it. Both live as long as the inventory. How much of it is used follows from the tensors. */
void sp_inventory_claim_storage(struct shapeproof_inventory *inventory, uint32_t file, uint64_t begin, uint64_t end,
                                const char *storage, const char *record, bool is_compressed);
/* Claims so many bytes somewhere in the files. */
void sp_inventory_claim_scattered(struct shapeproof_inventory *inventory, uint64_t bytes, enum sp_use use);
void sp_account_free(struct sp_account *account);

#endif
