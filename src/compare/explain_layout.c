/* SPDX-License-Identifier: MIT
 * Tensors that are one in the file and several in the prediction, or the other way round (joints.h). Complete ones are
 * explained; what remains of others stays missing or unexpected. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "compare/check.h"
#include "compare/joints.h"

/* Adds a tensor of the file under every name that it could stand for. */
struct adder {
    struct sp_joints *joints;
    struct sp_piece piece;
    bool whole;
};

static size_t add_name(const void *context, const char *name)
{
    const struct adder *adder = context;
    if (adder->whole) sp_joints_add_whole(adder->joints, name, adder->piece, false);
    else sp_joints_add_part(adder->joints, name, adder->piece, false);
    return SP_NONE;
}

static bool is_open_of(const struct sp_check *check, size_t finding, const char *id)
{
    return sp_finding_is_open(&check->findings[finding]) && strcmp(check->findings[finding].id, id) == 0;
}

static void add_missing(const struct sp_check *check, struct sp_joints *joints, bool whole)
{
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!is_open_of(check, i, "missing")) continue;
        const struct sp_predicted *tensor = sp_prediction_tensor(check->prediction, check->findings[i].predicted);
        const struct sp_piece piece = {i, tensor->shape, tensor->rank};
        if (whole) sp_joints_add_whole(joints, tensor->name, piece, true);
        else sp_joints_add_part(joints, tensor->name, piece, true);
    }
}

static void add_unexpected(const struct sp_check *check, struct sp_joints *joints, bool whole)
{
    struct adder adder = {.joints = joints, .whole = whole};
    struct sp_finder finder = {.naming = &check->naming, .find = add_name, .context = &adder};
    unsigned renaming;
    for (size_t i = 0; i < check->finding_count; i++) {
        if (!is_open_of(check, i, "unexpected")) continue;
        const struct sp_tensor *tensor = sp_inventory_tensor(check->inventory, check->findings[i].tensor);
        if (tensor->flags & SP_TENSOR_NO_SHAPE) continue;
        adder.piece = (struct sp_piece){i, tensor->shape, tensor->rank};
        sp_finder_find(&finder, tensor->name, &renaming);
    }
    sp_finder_free(&finder);
}

/* ---- saying it ---- */

static const struct {
    const char *id, *says;
} words[2][2] = {
    /* the file has the parts, the file has the wholes */
    {{"split", "split in the file"}, {"fused", "fused in the file"}},        /* side by side */
    {{"unpacked", "unpacked in the file"}, {"packed", "packed in the file"}} /* over an index */
};

static const char order_hint[] = "shapes tell neither the order of what is joined nor whether heads alternate in it: "
                                 "convert it with the tools of the framework that wrote it";

static bool is_of(const struct sp_joint *joint, bool stacked) { return stacked == (joint->joining != SP_SIDE_BY_SIDE); }

/* "self_attn.qkv_proj = q_proj + k_proj + v_proj, mlp.gate_up_proj = gate_proj + up_proj". */
static void put_kinds(struct sp_text *text, const struct sp_joints *joints, bool stacked)
{
    enum { SHOWN = 3 };
    struct sp_map known = {0};
    for (size_t i = 0; i < joints->count; i++) {
        const struct sp_joint *joint = &joints->items[i];
        if (!is_of(joint, stacked) || !sp_map_add(&known, joint->says, 0) || known.count > SHOWN) continue;
        sp_text_printf(text, "%s%s%s", known.count > 1 ? ", " : "", joint->says,
                       joint->transposed ? " (transposed)" : "");
    }
    if (known.count > SHOWN) sp_text_printf(text, " and %zu more", known.count - SHOWN);
    sp_map_free(&known);
}

static void explain_joints(struct sp_check *check, const struct sp_joints *joints, bool wholes_in_file, bool stacked)
{
    size_t parts = 0, wholes = 0, cause = SP_NONE;
    bool mixed = false;
    struct sp_text text = {0};
    for (size_t i = 0; i < joints->count; i++) {
        const struct sp_joint *joint = &joints->items[i];
        if (!is_of(joint, stacked)) continue;
        if (cause == SP_NONE)
            cause = sp_check_add_cause(
                check, (struct sp_cause){.id = words[stacked][wholes_in_file].id, .severity = SP_SEVERITY_WARNING});
        sp_check_explain(check, joint->whole.item, cause);
        for (size_t k = 0; k < joint->part_count; k++) sp_check_explain(check, joint->parts[k], cause);
        parts += joint->part_count;
        wholes++;
        mixed = mixed || joint->mixed;
    }
    if (cause == SP_NONE) return;
    sp_text_printf(&text, "%s: ", words[stacked][wholes_in_file].says);
    put_kinds(&text, joints, stacked);
    sp_text_printf(&text, " (%zu tensors as %zu)", wholes_in_file ? parts : wholes, wholes_in_file ? wholes : parts);
    check->causes[cause].message = sp_arena_copy(&check->arena, text.data, text.length);
    if (mixed) check->causes[cause].hint = order_hint;
    sp_text_free(&text);
}

static void explain_side(struct sp_check *check, bool wholes_in_file)
{
    struct sp_joints joints = {0};
    add_missing(check, &joints, !wholes_in_file);
    if (joints.nests.count) add_unexpected(check, &joints, wholes_in_file);
    sp_joints_find(&joints);
    explain_joints(check, &joints, wholes_in_file, false);
    explain_joints(check, &joints, wholes_in_file, true);
    sp_joints_free(&joints);
}

void sp_explain_layout(struct sp_check *check)
{
    explain_side(check, true);
    explain_side(check, false);
}
