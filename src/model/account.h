/* SPDX-License-Identifier: MIT
 * Every byte of a file accounted for. A reader claims ranges for what it knows them to be; where a tensor has a place
 * in the file, that claim is made for it. When somebody asks, it is summed up: what nobody claims is left over. */
#ifndef SP_MODEL_ACCOUNT_H
#define SP_MODEL_ACCOUNT_H

#include <stdbool.h>

#include "base/arena.h"
#include "shapeproof/inventory.h"

struct shapeproof_inventory;

/* What a range is. Where two meet, the first of them counts. */
enum sp_use { SP_USE_TENSOR, SP_USE_UNUSED, SP_USE_PADDING, SP_USE_STRUCTURE, SP_USE_COUNT };

struct sp_byte_claim {
    uint64_t begin, end;
    uint32_t file;
    enum sp_use use;
    const char *storage; /* whose data these are: how much of them is used, the tensors say; or NULL */
    const char *record;  /* as it is called in the file */
    bool whole;          /* they cannot be told apart, as they are compressed: if a tensor uses some, all are */
};

struct sp_account {
    SP_ARRAY(struct sp_byte_claim) claims;
    SP_ARRAY(uint64_t) sizes; /* of the files */
    SP_ARRAY(struct shapeproof_unused) unused;
    uint64_t scattered[SP_USE_COUNT]; /* bytes whose places are not known */
    bool summed;                      /* the rest is known: it was asked for */
    struct shapeproof_file_bytes bytes;
};

/* Of the file that was added last. */
void sp_inventory_set_size(struct shapeproof_inventory *inventory, uint64_t size);
/* Bytes [begin, end) of the file; what lies past its end is left out. */
void sp_inventory_claim(struct shapeproof_inventory *inventory, uint32_t file, uint64_t begin, uint64_t end,
                        enum sp_use use);
/* The same for the data of a storage, which is called `record` in the file; `storage` is NULL when no tensor names it.
 * Both live as long as the inventory. */
void sp_inventory_claim_storage(struct shapeproof_inventory *inventory, uint32_t file, uint64_t begin, uint64_t end,
                                const char *storage, const char *record, bool whole);
/* So many bytes somewhere in the files. */
void sp_inventory_claim_scattered(struct shapeproof_inventory *inventory, uint64_t bytes, enum sp_use use);
void sp_account_free(struct sp_account *account);

#endif
