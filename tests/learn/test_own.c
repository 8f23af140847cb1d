/* SPDX-License-Identifier: MIT
 * Models that somebody wrote (fixtures/learn/make.py), learnt from three sizes: the table is right on the fourth, and
 * has a formula. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "learn/judge.h"
#include "shapeproof/prove.h"

enum { SIZES = 4 };

struct own {
    struct shapeproof_tables *tables;
    struct shapeproof_config *configs[SIZES];
    struct shapeproof_inventory *inventories[SIZES];
    struct shapeproof_learning *learning;
};

static void open_size(struct own *own, const char *name, size_t size)
{
    struct shapeproof_error error = {0};
    char path[200];
    snprintf(path, sizeof path, "fixtures/learn/%s/%zu", name, size + 1);
    own->inventories[size] = shapeproof_inventory_open(path, &error);
    own->configs[size] = shapeproof_config_new();
    if (!own->inventories[size]) fail_msg("%s", error.message);
    strcat(path, "/config.json");
    if (shapeproof_config_load(own->configs[size], path, &error) != SHAPEPROOF_OK) fail_msg("%s", error.message);
}

static void learn_own(struct own *own, const char *name)
{
    struct shapeproof_error error = {0};
    struct shapeproof_learn_example examples[SIZES];
    *own = (struct own){.tables = shapeproof_tables_new(&error)};
    for (size_t i = 0; i < SIZES; i++) {
        open_size(own, name, i);
        examples[i] = (struct shapeproof_learn_example){own->inventories[i], own->configs[i]};
    }
    own->learning = shapeproof_learn(examples, SIZES - 1, own->tables,
                                     &(struct shapeproof_learn_options){.name = "learnt_here"}, &error);
    if (!own->learning) fail_msg("%s", error.message);
    for (size_t i = 0; i < shapeproof_learning_rest_count(own->learning); i++)
        print_message("%s\n", shapeproof_learning_rest(own->learning, i));
    if (!shapeproof_learning_is_proved(own->learning)) fail_msg("%s", shapeproof_learning_text(own->learning));
}

static void close_own(struct own *own)
{
    shapeproof_learning_free(own->learning);
    for (size_t i = 0; i < SIZES; i++) {
        shapeproof_config_free(own->configs[i]);
        shapeproof_inventory_close(own->inventories[i]);
    }
    shapeproof_tables_free(own->tables);
}

/* Storages that are shared are counted once: the prediction has as many tensors of its own. */
static void assert_right_on_fourth(const struct own *own)
{
    char first[200];
    struct facts facts = {0};
    const struct shapeproof_inventory *inventory = own->inventories[SIZES - 1];
    struct shapeproof_learn_example examples[SIZES - 1];
    for (size_t i = 0; i + 1 < SIZES; i++)
        examples[i] = (struct shapeproof_learn_example){own->inventories[i], own->configs[i]};
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        if (!(tensor->flags & SHAPEPROOF_TENSOR_STATE))
            *SP_PUSH(&facts) = (struct fact){tensor->name, tensor->rank, tensor->shape};
    }
    const enum verdict verdict =
        judge_learnt(own->learning, own->configs[SIZES - 1], examples, SIZES - 1, &facts, first);
    if (verdict != RIGHT) fail_msg("%s\n%s", first, shapeproof_learning_text(own->learning));
    free(facts.items);
}

/* Of the total, for the flags as they are by default, then each part that has a name, "; x_1 = A // 2"; NULL where it
 * is too long to be read. */
static void assert_formula(const struct own *own, const char *formula)
{
    struct shapeproof_error error = {0};
    const char *text = shapeproof_learning_text(own->learning), *total = NULL;
    assert_int_equal(shapeproof_tables_add_text(own->tables, "learnt.shapes", text, strlen(text), &error),
                     SHAPEPROOF_OK);
    struct shapeproof_derivation *derivation =
        shapeproof_derive(own->tables, NULL, &(struct shapeproof_derive_options){.table = "learnt_here"}, &error);
    if (!derivation) fail_msg("%s\n%s", error.message, text);
    for (size_t i = 0; i < shapeproof_derivation_formula_count(derivation); i++) {
        const struct shapeproof_formula *found = shapeproof_derivation_formula(derivation, i);
        if (strcmp(found->when, "") == 0) total = found->text; /* which comes last */
    }
    assert_non_null(total);
    if (formula) {
        struct sp_text shown = {0};
        sp_text_puts(&shown, total);
        for (size_t i = 0; i < shapeproof_derivation_part_count(derivation); i++) {
            const struct shapeproof_part *part = shapeproof_derivation_part(derivation, i);
            sp_text_printf(&shown, "; %s = %s", part->name, part->formula);
        }
        assert_string_equal(shown.data, formula);
        sp_text_free(&shown);
    }
    shapeproof_derivation_free(derivation);
}

static void check_own(const char *name, const char *formula)
{
    struct own own;
    learn_own(&own, name);
    assert_right_on_fourth(&own);
    assert_formula(&own, formula);
    close_own(&own);
}

/* ---- the models ---- */

#define CHECK_OWN(name, formula)                                                                                       \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        check_own(#name, formula);                                                                                     \
    }

CHECK_OWN(pictures, "C*x_6 + 49*channels[0]*colours + C + 2*x_2 + x_3 + x_4 + K^2*x_5; x_1 = len(channels); x_2 = "
                    "sum(i in 0..x_1 - 1: blocks[i]*channels[i]); x_3 = sum(i in 1..x_1 - 1: channels[i]*channels[i - "
                    "1]); x_4 = sum(i in 1..x_1 - 1: channels[i]); x_5 = blocks[0]*channels[0]^2 + sum(i in 1..x_1 - "
                    "1: blocks[i]*channels[i]^2) - sum(i in 1..x_1 - 1: channels[i]^2) + x_3; x_6 = channels[x_1 - 1]")
CHECK_OWN(letters, "L*W + L + S*(L + 4*W + 8*layers + S*(8*layers + 2) + 6)")
CHECK_OWN(experts, "W*(2*D*L + V + 2*layers*(H*heads + H + 1) - E*(L - layers)*(2*expert_width + 1))")
CHECK_OWN(translator, "I*(R + wl)*(2*width + 1) + width*(W + L + R*(4*width + 9) + 7*wl*(width + 2))")
CHECK_OWN(shared, "T*E + I + W*(E + W + 2*I + 3)")
CHECK_OWN(paint,
          "10*channels[0]*colours + 9*x_3 + 2*x_4 + channels[0] + colours + 9*x_7 + 9*x_8 + 2*x_6 + C*(x_4 + x_6 + 2); "
          "x_1 = len(channels); x_2(i) = channels[i + 1]; x_3 = sum(i in 0..x_1 - 2: x_2(i)*channels[i]); x_4 = sum(i "
          "in 0..x_1 - 2: x_2(i)); x_5(i) = channels[x_1 - i - 2]; x_6 = sum(i in 0..x_1 - 2: x_5(i)); x_7 = sum(i in "
          "0..x_1 - 2: x_5(i)^2); x_8 = sum(i in 0..x_1 - 2: x_5(i)*channels[x_1 - i - 1])")
CHECK_OWN(dense, "3*F*filters + C + filters + U*(L + C + 4*filters + U*(L + 4) + 8)")

CHECK_OWN(
    digits,
    "9*C*channels[0] + 3*x_2 + 9*x_3 + classes + I*x_4; x_1 = len(channels); x_2 = sum(i in 0..x_1 - 1: channels[i]); "
    "x_3 = sum(i in 1..x_1 - 1: channels[i]*channels[i - 1]); x_4 = (S // (2 ^ x_1))^2*channels[x_1 - 1] + classes + 1")
CHECK_OWN(
    clicks,
    "D*below[0] + x_4*above[0] + x_1 + x_2 + x_3 + x_6 + x_7 + W*(above[0] + x_5 + x_8 + 1) + 1; x_1 = "
    "above[len(above) - 1]; x_2 = sum(i in 1..len(above) - 1: above[i]*above[i - 1]); x_3 = sum(i in 0..len(above) - "
    "1: above[i]); x_4 = (len(c)^2 + len(c)) // 2; x_5 = below[len(below) - 1]; x_6 = sum(i in 1..len(below) - 1: "
    "below[i]*below[i - 1]); x_7 = sum(i in 0..len(below) - 1: below[i]); x_8 = sum(i in 0..len(c) - 1: c[i])")
CHECK_OWN(faces, NULL)
CHECK_OWN(signals, NULL)
CHECK_OWN(scenes, "4*(W // 2) + W*(W*L - W + L + (W // 2) + 3*x_1 + 6*F*(x_1 + 1) + 3) + 3; x_1 = count(i in 1..L - 1: "
                  "[i - 1 in again])")
CHECK_OWN(prices,
          "O*x_7 + O + sum(i in 0..x_1 - 1: x_2(i)*x_3(i)) + x_4 + x_5 + layers[0]*x_6; x_1 = len(columns); x_2(i) = "
          "columns[i][0]; x_3(i) = columns[i][1]; x_4 = sum(i in 1..len(layers) - 1: layers[i]*layers[i - 1]); x_5 = "
          "sum(i in 0..len(layers) - 1: layers[i]); x_6 = sum(columns, 1) + numbers; x_7 = layers[len(layers) - 1]")
CHECK_OWN(noise, NULL)
CHECK_OWN(
    blocks,
    "C*x_9 + C + x_4 + x_5 + x_6 + x_7 + S*(b_0_t*x_8 + 28); x_1(i) = blocks[i].out; x_2(i) = blocks[i].times; x_3(i) "
    "= blocks[i - 1].out; x_4 = sum(i in 1..len(blocks) - 1: x_1(i)*x_2(i)*x_3(i)*blocks[i].kernel^2); x_5 = sum(i in "
    "0..len(blocks) - 1: x_1(i)); x_6 = sum(i in 1..len(blocks) - 1: x_2(i)*x_3(i)^2); x_7 = sum(i in 1..len(blocks) - "
    "1: x_2(i)*x_3(i)); x_8 = blocks[0].out*blocks[0].kernel^2 + S + 1; x_9 = blocks[len(blocks) - 1].out")
CHECK_OWN(finder, NULL)
CHECK_OWN(waves, NULL)
CHECK_OWN(cells, NULL)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures), cmocka_unit_test(letters), cmocka_unit_test(experts), cmocka_unit_test(translator),
        cmocka_unit_test(shared),   cmocka_unit_test(paint),   cmocka_unit_test(dense),   cmocka_unit_test(digits),
        cmocka_unit_test(clicks),   cmocka_unit_test(faces),   cmocka_unit_test(signals), cmocka_unit_test(scenes),
        cmocka_unit_test(prices),   cmocka_unit_test(noise),   cmocka_unit_test(blocks),  cmocka_unit_test(finder),
        cmocka_unit_test(waves),    cmocka_unit_test(cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
