/* SPDX-License-Identifier: MIT
 * Several tensors that are one: what is put together, how it is said, and what is not claimed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "names/joints.h"

/* Tensors by their items: their shapes must stay where they are. */
struct tensors {
    struct sp_joints joints;
    uint64_t shapes[64][2];
    size_t count;
};

static struct sp_joint_piece piece_of(struct tensors *tensors, uint64_t rows, uint64_t columns)
{
    const size_t item = tensors->count++;
    assert_true(item < sizeof tensors->shapes / sizeof *tensors->shapes);
    tensors->shapes[item][0] = rows;
    tensors->shapes[item][1] = columns;
    return (struct sp_joint_piece){item, tensors->shapes[item], columns ? 2 : 1};
}

static void add_whole(struct tensors *tensors, const char *name, uint64_t rows, uint64_t columns)
{
    sp_joints_add_whole(&tensors->joints, name, piece_of(tensors, rows, columns), SP_JOINT_FIRST_SIDE);
}

static void add_part(struct tensors *tensors, const char *name, uint64_t rows, uint64_t columns)
{
    sp_joints_add_part(&tensors->joints, name, piece_of(tensors, rows, columns), SP_JOINT_OTHER_SIDE);
}

/* What is said of each joint, in lines; "'" behind one that is transposed. */
static void assert_joins(struct tensors *tensors, const char *expected)
{
    struct sp_text text = {0};
    sp_joints_find(&tensors->joints);
    sp_text_puts(&text, "");
    for (size_t i = 0; i < tensors->joints.count; i++)
        sp_text_printf(&text, "%s%s%s", i ? "\n" : "", tensors->joints.items[i].says,
                       tensors->joints.items[i].transposed ? "'" : "");
    assert_string_equal(text.data, expected);
    sp_text_free(&text);
    sp_joints_free(&tensors->joints);
    tensors->count = 0;
}

static void test_projections(void **state)
{
    struct tensors tensors = {.count = 0};
    (void)state;
    add_whole(&tensors, "layers.0.attn.qkv_proj.weight", 24, 8);
    add_whole(&tensors, "layers.0.attn.qkv_proj.bias", 24, 0);
    add_part(&tensors, "layers.0.attn.v_proj.weight", 8, 8); /* the name of the whole has the order */
    add_part(&tensors, "layers.0.attn.q_proj.weight", 8, 8);
    add_part(&tensors, "layers.0.attn.k_proj.weight", 8, 8);
    add_part(&tensors, "layers.0.attn.q_proj.bias", 8, 0);
    add_part(&tensors, "layers.0.attn.k_proj.bias", 8, 0);
    add_part(&tensors, "layers.0.attn.v_proj.bias", 8, 0);
    assert_joins(&tensors, "attn.qkv_proj = q_proj + k_proj + v_proj\nattn.qkv_proj = q_proj + k_proj + v_proj");
}

/* Grouped-query attention, along the other dimension; and names that do not spell their parts. */
static void test_shapes_and_names(void **state)
{
    struct tensors tensors = {.count = 0};
    (void)state;
    add_whole(&tensors, "h.0.attn.c_attn.weight", 8, 16);
    add_part(&tensors, "h.0.attn.q_proj.weight", 8, 8);
    add_part(&tensors, "h.0.attn.k_proj.weight", 4, 8);
    add_part(&tensors, "h.0.attn.v_proj.weight", 4, 8);
    assert_joins(&tensors, "attn.c_attn = q_proj + k_proj + v_proj'");
    add_whole(&tensors, "h.0.mlp.gate_up_proj.weight", 12, 8);
    add_part(&tensors, "h.0.mlp.gate_proj.weight", 6, 8);
    add_part(&tensors, "h.0.mlp.up_proj.weight", 6, 8);
    assert_joins(&tensors, "mlp.gate_up_proj = gate_proj + up_proj");
    add_whole(&tensors, "attn.in_proj_weight", 24, 8);
    add_part(&tensors, "attn.q_proj.weight", 8, 8);
    add_part(&tensors, "attn.k_proj.weight", 8, 8);
    add_part(&tensors, "attn.v_proj.weight", 8, 8);
    assert_joins(&tensors, "attn.in_proj = q_proj + k_proj + v_proj");
}

/* Experts: stacked along a new dimension, or one behind the other. */
static void test_experts(void **state)
{
    static const uint64_t stacked[] = {4, 6, 8};
    struct tensors tensors = {.count = 0};
    (void)state;
    for (int order = 0; order < 2; order++) {
        const struct sp_joint_piece whole = {tensors.count++, stacked, 3};
        if (order) tensors.count--, add_whole(&tensors, "layers.0.experts.up.weight", 24, 8);
        else sp_joints_add_whole(&tensors.joints, "layers.0.experts.up.weight", whole, SP_JOINT_FIRST_SIDE);
        add_part(&tensors, "layers.0.experts.2.up.weight", 6, 8);
        add_part(&tensors, "layers.0.experts.0.up.weight", 6, 8);
        add_part(&tensors, "layers.0.experts.3.up.weight", 6, 8);
        add_part(&tensors, "layers.0.experts.1.up.weight", 6, 8);
        sp_joints_find(&tensors.joints);
        assert_int_equal(tensors.joints.count, 1);
        const struct sp_joint *joint = tensors.joints.items;
        assert_string_equal(joint->says, "experts.up = 4 x up");
        assert_int_equal(joint->joining, SP_OVER_LAST);
        assert_int_equal(joint->part_count, 4);
        assert_int_equal(joint->parts[0], 2); /* by index, not as they were added */
        assert_int_equal(joint->parts[3], 3);
        sp_joints_free(&tensors.joints);
        tensors.count = 0;
    }
}

static void test_nothing_is_claimed(void **state)
{
    struct tensors tensors = {.count = 0};
    (void)state;
    add_whole(&tensors, "l.0.attn.qkv.weight", 24, 8); /* a part is missing */
    add_part(&tensors, "l.0.attn.q.weight", 8, 8);
    add_part(&tensors, "l.0.attn.k.weight", 8, 8);
    assert_joins(&tensors, "");
    add_whole(&tensors, "l.0.attn.qkv.weight", 24, 8); /* another layer's */
    add_part(&tensors, "l.1.attn.q.weight", 8, 8);
    add_part(&tensors, "l.1.attn.k.weight", 8, 8);
    add_part(&tensors, "l.1.attn.v.weight", 8, 8);
    assert_joins(&tensors, "");
    add_whole(&tensors, "l.0.mix.all.weight", 16, 8); /* any two of three would do, and no name says which */
    add_part(&tensors, "l.0.mix.red.weight", 8, 8);
    add_part(&tensors, "l.0.mix.green.weight", 8, 8);
    add_part(&tensors, "l.0.mix.blue.weight", 8, 8);
    assert_joins(&tensors, "");
    add_whole(&tensors, "l.0.mix.all.bias", 16, 0); /* vectors add up by chance */
    add_part(&tensors, "l.0.mix.red.bias", 12, 0);
    add_part(&tensors, "l.0.mix.green.bias", 4, 0);
    assert_joins(&tensors, "");
    add_whole(&tensors, "l.0.experts.up.weight", 18, 8); /* the third one is not there */
    add_part(&tensors, "l.0.experts.0.up.weight", 6, 8);
    add_part(&tensors, "l.0.experts.1.up.weight", 6, 8);
    add_part(&tensors, "l.0.experts.3.up.weight", 6, 8);
    assert_joins(&tensors, "");
}

/* No piece is in two joints. */
static void test_pieces_are_used_once(void **state)
{
    struct tensors tensors = {.count = 0};
    (void)state;
    add_whole(&tensors, "l.0.attn.kv_proj.weight", 16, 8);
    add_whole(&tensors, "l.0.attn.qkv_proj.weight", 24, 8);
    add_part(&tensors, "l.0.attn.q_proj.weight", 8, 8);
    add_part(&tensors, "l.0.attn.k_proj.weight", 8, 8);
    add_part(&tensors, "l.0.attn.v_proj.weight", 8, 8);
    assert_joins(&tensors, "attn.kv_proj = k_proj + v_proj");
}

/* The parts are the first side, and the modules of the wholes stand in another order. */
static void test_any_order_of_modules(void **state)
{
    static const int order[] = {2, 0, 1};
    struct tensors tensors = {.count = 0};
    char name[40];
    (void)state;
    for (int layer = 0; layer < 3; layer++)
        for (int part = 0; part < 2; part++) {
            snprintf(name, sizeof name, "l.%d.mlp.%s.weight", layer, part ? "up" : "gate");
            sp_joints_add_part(&tensors.joints, name, piece_of(&tensors, 8, 8), SP_JOINT_FIRST_SIDE);
        }
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "l.%d.mlp.gate_up.weight", order[i]);
        sp_joints_add_whole(&tensors.joints, name, piece_of(&tensors, 16, 8), SP_JOINT_OTHER_SIDE);
    }
    assert_joins(&tensors, "mlp.gate_up = gate + up\nmlp.gate_up = gate + up\nmlp.gate_up = gate + up");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_projections),
                                       cmocka_unit_test(test_shapes_and_names),
                                       cmocka_unit_test(test_experts),
                                       cmocka_unit_test(test_nothing_is_claimed),
                                       cmocka_unit_test(test_pieces_are_used_once),
                                       cmocka_unit_test(test_any_order_of_modules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
