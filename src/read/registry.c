/* SPDX-License-Identifier: MIT
 * The list of readers, and the choice among them by content. */
#include "read/reader.h"

#include <string.h>

#include "base/chars.h"
#include "read/lookalike.h"

static const struct sp_reader *const readers[] = {
#define READER(name) &sp_reader_##name,
#include "read/readers.def"
#undef READER
};

unsigned sp_file_ending_says(const char *name)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        for (const struct sp_file_ending *ending = readers[i]->endings; ending && ending->text; ending++)
            if (sp_ends_with(name, ending->text)) return ending->says;
    return 0;
}

static bool unrecognised_file(const struct sp_probe *probe, struct shapeproof_error *error)
{
    if (!probe->file->size) return sp_malformed(error, "empty file");
    if (sp_is_lookalike(probe, error)) return false;
    return sp_fail(error, SHAPEPROOF_ERR_FILE, SHAPEPROOF_KIND_UNRECOGNISED,
                   "not a checkpoint in any format that is read here");
}

static const struct sp_reader *surest(const struct sp_probe *probe, unsigned *bits)
{
    const struct sp_reader *best = NULL;
    *bits = 0;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        const unsigned here = readers[i]->probe(probe);
        if (here <= *bits) continue;
        best = readers[i];
        *bits = here;
    }
    return best;
}

const struct sp_reader *sp_reader_for(const struct sp_file *file, struct shapeproof_error *error)
{
    unsigned char head[SP_PROBE_BYTES];
    const size_t length = file->size < sizeof head ? (size_t)file->size : sizeof head;
    unsigned bits;
    if (!sp_file_read(file, 0, head, length, error)) return NULL;
    struct sp_probe probe = {file, head, length, false};
    const struct sp_reader *best = surest(&probe, &bits);
    if (bits <= 1) {
        probe.deep = true;
        best = surest(&probe, &bits);
    }
    struct shapeproof_error ignored = {0};
    if (bits == 1 && sp_is_lookalike(&probe, &ignored)) best = NULL; /* a name is no proof: git-lfs pointers keep it */
    if (!best) unrecognised_file(&probe, error);
    return best;
}
