/* SPDX-License-Identifier: MIT
 * What a reader makes of a file as one text, refusals included, and random damage, for tests of readers. */
#ifndef TESTS_READ_LISTING_H
#define TESTS_READ_LISTING_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "read/scratch_fixture.h"
#include "shapeproof/shapeproof.h"

/* " piece (3,8) 96 B, 0 of 2, Shard(0)" */
static inline void listing_add_piece(struct sp_text *text, const struct shapeproof_tensor_piece *piece)
{
    sp_text_puts(text, " piece (");
    for (uint32_t i = 0; i < piece->rank; i++) sp_text_printf(text, "%s%" PRIu64, i ? "," : "", piece->shape[i]);
    sp_text_printf(text, ") %" PRIu64 " B", piece->bytes);
    if (piece->index != SHAPEPROOF_NONE) sp_text_printf(text, ", %" PRIu64 " of", piece->index);
    sp_text_printf(text, " %" PRIu64 ", %s", piece->pieces, piece->placement ? piece->placement : "?");
}

static inline void listing_add_tensor(struct sp_text *text, const struct shapeproof_tensor *tensor)
{
    sp_text_printf(text, "%s %s (", tensor->name, tensor->dtype_name);
    for (uint32_t i = 0; i < tensor->rank; i++) sp_text_printf(text, "%s%" PRIu64, i ? "," : "", tensor->shape[i]);
    sp_text_puts(text, ")");
#ifndef LISTING_WITHOUT_PLACES
    if (tensor->data_end)
        sp_text_printf(text, " @%" PRIu64 "+%" PRIu64, tensor->data_begin, tensor->data_end - tensor->data_begin);
#endif
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_SHAPE) sp_text_puts(text, " shapeless");
    if (tensor->flags & SHAPEPROOF_TENSOR_NO_DATA) sp_text_puts(text, " dataless");
    if (tensor->flags & SHAPEPROOF_TENSOR_STATE) sp_text_puts(text, " state");
    if (tensor->flags & SHAPEPROOF_TENSOR_BIG_ENDIAN) sp_text_puts(text, " big-endian");
    if (tensor->flags & SHAPEPROOF_TENSOR_NEGATED) sp_text_puts(text, " negated");
    if (tensor->piece) listing_add_piece(text, tensor->piece);
    if (tensor->same_as != SHAPEPROOF_NONE) sp_text_puts(text, " tied");
    sp_text_puts(text, "\n");
}

/* "FORMAT\n", a line for each tensor, "key = value" and "! warning"; or "refused: MESSAGE\n" without the path. */
static inline void listing_of(struct sp_text *text, const char *path)
{
    struct shapeproof_error error;
    struct shapeproof_inventory *inventory = shapeproof_inventory_open(path, &error);
    if (!inventory) {
        const char *message = error.message;
        const size_t prefix = strlen(path);
        if (!strncmp(message, path, prefix) && !strncmp(message + prefix, ": ", 2)) message += prefix + 2;
        sp_text_printf(text, "refused: %s\n", message);
        return;
    }
    sp_text_printf(text, "%s\n", shapeproof_inventory_format(inventory));
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++)
        listing_add_tensor(text, shapeproof_inventory_tensor(inventory, i));
    for (size_t i = 0; i < shapeproof_inventory_metadata_count(inventory); i++) {
        const struct shapeproof_metadata *metadata = shapeproof_inventory_metadata(inventory, i);
        sp_text_printf(text, "%s = %.60s\n", metadata->key, metadata->value);
    }
    for (size_t i = 0; i < shapeproof_inventory_warning_count(inventory); i++)
        sp_text_printf(text, "! %s\n", shapeproof_inventory_warning(inventory, i));
    shapeproof_inventory_close(inventory);
}

static inline void assert_listing(const char *path, const char *expected)
{
    struct sp_text text = {0};
    listing_of(&text, path);
    if (strcmp(text.data, expected) != 0) fail_msg("%s\n--- expected\n%s--- found\n%s", path, expected, text.data);
    sp_text_free(&text);
}

/* Each is a path below `folder` and its listing. */
#define ASSERT_LISTINGS(folder, cases) assert_listings((folder), (cases), sizeof(cases) / sizeof *(cases))

static inline void assert_listings(const char *folder, const char *const (*cases)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, cases[i][0]);
        assert_listing(path, cases[i][1]);
    }
}

/* The file with bytes changed at random, and cut short: whatever comes of it, a refusal says why. */
static inline void assert_survives_damage(const char *path, unsigned rounds)
{
    FILE *file = fopen(path, "rb");
    unsigned char good[16384], bad[sizeof good];
    if (!file) fail_msg("%s: cannot be opened", path);
    const size_t length = fread(good, 1, sizeof good, file);
    fclose(file);
    srand(1);
    for (unsigned i = 0; i < rounds; i++) {
        struct shapeproof_error error;
        memcpy(bad, good, length);
        for (int k = rand() % 4; k >= 0; k--) bad[(size_t)rand() % length] = (unsigned char)rand();
        const size_t cut = rand() % 2 ? length : (size_t)rand() % length;
        struct shapeproof_inventory *inventory =
            shapeproof_inventory_open(scratch_write(&scratch, "damaged", bad, cut), &error);
        if (!inventory && !error.message[0]) fail_msg("%s: refused without a reason in round %u", path, i);
        shapeproof_inventory_close(inventory);
    }
}

/* Of each of those files. */
#define ASSERT_SURVIVE_DAMAGE(files) assert_survive_damage((files), sizeof(files) / sizeof *(files))

static inline void assert_survive_damage(const char *const *files, size_t count)
{
    for (size_t i = 0; i < count; i++) assert_survives_damage(files[i], 300);
}

#endif
