/* SPDX-License-Identifier: MIT
 * Names of another program (names/eras.h): those of one checkpoint are translated where the other has what comes of
 * it. What is left, such as something in front of them, the later steps find. */
#include <string.h>

#include "diff/pairing.h"
#include "names/components.h"
#include "names/eras.h"

/* The ends of the names of a side that have no counterpart yet. */
static void collect_ends(const struct sp_diff_half *half, struct sp_map *ends)
{
    for (size_t i = 0; i < sp_inventory_count(half->inventory); i++)
        if (half->other[i] == SP_NONE)
            for (const char *end = half->spelling[i].text; end; end = sp_behind_component(end, "."))
                sp_map_add(ends, end, i);
}

/* How many names are ends of names of the other side, translated if there is an era to do it. */
static size_t count_known(const struct sp_diff_half *half, const struct sp_era *era, const struct sp_map *ends)
{
    struct sp_text text = {0};
    size_t known = 0;
    for (size_t i = 0; i < sp_inventory_count(half->inventory); i++) {
        const char *name = half->spelling[i].text;
        if (half->other[i] != SP_NONE) continue;
        if (era && sp_era_translate(era, name, &text)) name = text.data;
        known += sp_map_get(ends, name) != SIZE_MAX;
    }
    sp_text_free(&text);
    return known;
}

static void translate_side(struct sp_pairing *p, const struct sp_diff_half *half, const struct sp_era *era)
{
    struct sp_text text = {0};
    for (size_t i = 0; i < sp_inventory_count(half->inventory); i++) {
        struct sp_spelling *spelling = &half->spelling[i];
        if (half->other[i] != SP_NONE || !sp_era_translate(era, spelling->text, &text)) continue;
        spelling->text = sp_arena_copy(&p->diff->arena, text.data, text.length);
        spelling->spelt |= SP_SPELT_ERA;
    }
    sp_text_free(&text);
}

/* The era that makes the most names known, and by far more than are so without it. */
static bool find_era(struct sp_pairing *p, const struct sp_diff_half *half, const struct sp_diff_half *other)
{
    enum { LEAST = 4 };
    struct sp_map ends = {0};
    const struct sp_era *best = NULL;
    collect_ends(other, &ends);
    const size_t plain = count_known(half, NULL, &ends);
    size_t most = 2 * plain + LEAST;
    for (size_t i = 0; i < sp_era_count(); i++) {
        const size_t known = count_known(half, sp_era(i), &ends);
        if (known < most) continue;
        most = known + 1;
        best = sp_era(i);
    }
    sp_map_free(&ends);
    if (!best) return false;
    p->diff->era = best;
    translate_side(p, half, best);
    return true;
}

bool sp_pairing_eras(struct sp_pairing *p)
{
    return find_era(p, &p->diff->a, &p->diff->b) || find_era(p, &p->diff->b, &p->diff->a);
}
