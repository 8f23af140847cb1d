/* SPDX-License-Identifier: MIT
 * The data of paired tensors, where both files have it in the same form. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff.h"
#include "model/bytes.h"

struct comparison {
    struct sp_diff *diff;
    struct sp_data *a, *b;
    struct sp_error *error;
};

static void add_data_finding(struct comparison *c, size_t a, enum sp_diff_finding_kind kind, const char *message,
                             const char *detail)
{
    sp_diff_add_about(c->diff, a, c->diff->a.other[a],
                      (struct sp_diff_finding){.kind = kind, .message = message, .detail = detail});
}

static const char *where(struct comparison *c, const struct sp_tensor *tensor, uint64_t byte)
{
    return sp_arena_printf(&c->diff->arena, "first at element %" PRIu64 " of %" PRIu64,
                           byte * 8 / sp_dtype_bits(tensor->dtype), tensor->parameters);
}

/* Why their bytes cannot be compared, or NULL. In the arena, or static. */
static const char *obstacle_to_data(struct comparison *c, size_t a, size_t b)
{
    const struct sp_tensor *in_a = sp_diff_a(c->diff, a), *in_b = sp_diff_b(c->diff, b);
    const char *why = sp_data_obstacle(c->a, a), *side = "A";
    if (!why) {
        why = sp_data_obstacle(c->b, b);
        side = "B";
    }
    if (why) return sp_arena_printf(&c->diff->arena, "data not compared: %s in %s", why, side);
    if (sp_diff_is_converted(c->diff, a)) return "data not compared: transposed";
    if ((in_a->flags ^ in_b->flags) & SP_TENSOR_BIG_ENDIAN) return "data not compared: the bytes have another order";
    return sp_tensor_same_order(in_a, in_b) ? NULL : "data not compared: the elements have another order";
}

/* What has another dtype or shape is a finding already. */
static bool is_comparable(const struct sp_diff *diff, size_t a, size_t b)
{
    const struct sp_tensor *in_a = sp_diff_a(diff, a), *in_b = sp_diff_b(diff, b);
    return in_a->dtype == in_b->dtype && (sp_tensor_same_shape(in_a, in_b) || sp_diff_is_converted(diff, a));
}

/* A tie on both sides: its first tensor stands for it. */
static bool is_compared_already(const struct sp_diff *diff, size_t a, size_t b)
{
    const size_t first = sp_tie_group(diff->a.inventory, a);
    return first != a && diff->a.other[first] != SP_NONE &&
           sp_tie_group(diff->b.inventory, b) == sp_tie_group(diff->b.inventory, diff->a.other[first]);
}

static bool compare_tensor(struct comparison *c, size_t a)
{
    struct sp_diff_totals *totals = &c->diff->totals;
    const struct sp_tensor *tensor = sp_diff_a(c->diff, a);
    const size_t b = c->diff->a.other[a];
    uint64_t at;
    if (!is_comparable(c->diff, a, b) || is_compared_already(c->diff, a, b)) return true;
    const char *why = tensor->parameters ? obstacle_to_data(c, a, b) : NULL;
    if (why) {
        totals->data_unread++;
        add_data_finding(c, a, SP_DIFF_FINDING_NOT_COMPARED, why, NULL);
        return true;
    }
    if (!sp_bytes_compare((struct sp_bytes_of){c->a, a}, (struct sp_bytes_of){c->b, b}, tensor->bytes, &at, c->error))
        return false;
    totals->data_compared++;
    totals->data_bytes += tensor->bytes; /* of ranges in files: no overflow */
    if (at == tensor->bytes) return true;
    totals->data_different++;
    add_data_finding(c, a, SP_DIFF_FINDING_DATA, "has other data", where(c, tensor, at));
    return true;
}

static bool compare_all(struct comparison *c)
{
    for (size_t i = 0; i < sp_inventory_count(c->diff->a.inventory); i++)
        if (c->diff->a.other[i] != SP_NONE && !compare_tensor(c, i)) return false;
    return true;
}

bool sp_diff_data(struct sp_diff *diff, struct sp_error *error)
{
    struct comparison c = {.diff = diff, .error = error};
    c.a = sp_data_open(diff->a.inventory, error);
    c.b = c.a ? sp_data_open(diff->b.inventory, error) : NULL;
    const bool ok = c.b && compare_all(&c);
    sp_data_close(c.a);
    sp_data_close(c.b);
    return ok;
}
