/* SPDX-License-Identifier: MIT
 * Claims about a checkpoint alone: what dim(), count() and elements() find in its tensors, and what they refuse. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ORDERS 0
#include "check/model.h"
#include "shapeproof/verify.h"

/* A model that no table is of: 2 blocks of width 6 that grow to 20, and an embedding that is also the head. */
static struct shapeproof_inventory *blocks(struct model *model)
{
    *model = (struct model){0};
    scratch_make(&model->scratch);
    model_add_shape(model, "words", SHAPE(50, 6));
    model_add_shape(model, "head", SHAPE(50, 6));
    model_share(model, "words", "tied");
    model_share(model, "head", "tied");
    for (int i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof name, "block.%d.up", i);
        model_add_shape(model, name, SHAPE(20, 6));
        snprintf(name, sizeof name, "block.%d.down", i);
        model_add_shape(model, name, SHAPE(6, 20));
    }
    model_add_shape(model, "scale", SHAPE(6));
    return model_in_memory(model);
}

/* The answer to one claim, with definitions in front of it; what it says is compared with `text`, if that is not NULL.
 */
static void expect(const char *const *lines, size_t count, enum shapeproof_claim_answer answer, const char *text)
{
    struct model model;
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = blocks(&model);
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    char *letters;
    if (shapeproof_tables_add_claims(tables, "checkpoint", &(struct shapeproof_claim_lines){"test", lines, count},
                                     &letters, &error) != SHAPEPROOF_OK)
        fail_msg("%s", shapeproof_tables_messages(tables));
    assert_null(letters);
    struct shapeproof_verification *verification = shapeproof_verify_alone(inventory, tables, NULL, &error);
    assert_non_null(verification);
    assert_null(shapeproof_verification_check(verification));
    assert_ptr_equal(shapeproof_verification_inventory(verification), inventory);
    assert_int_equal(shapeproof_verification_claim_count(verification), 1);
    const struct shapeproof_verified_claim *held = shapeproof_verification_claim(verification, 0);
    const char *said = held->why ? held->why : held->difference ? held->difference : "";
    if (held->answer != answer || (text && !strstr(said, text)))
        fail_msg("%s: %s: %s", lines[count - 1], shapeproof_claim_answer_name(held->answer), said);
    shapeproof_verification_free(verification);
    shapeproof_tables_free(tables);
    shapeproof_inventory_close(inventory);
    model_close(&model);
}
#define LINES(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)

static void answers(void **state)
{
    (void)state;
    expect(LINES("E = dim(words, 1)", "V = dim(words, 0)", "H = dim(block.{i}.up, 0)", "L = count(block.{i}.up)",
                 "total = V*E + L*2*E*H + E"),
           SHAPEPROOF_CLAIM_HOLDS, NULL); /* what is tied counts once */
    expect(LINES("total = 786"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("total = 700"), SHAPEPROOF_CLAIM_FAILS, "86 more");
    expect(LINES("elements(block.*) = 480"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("elements(block.{i}.{up,down}) = 480"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("elements(block.{i}.{up, down}) = 480"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("elements(block.{1}.up) = 120"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("elements( words ) = elements(head)"), SHAPEPROOF_CLAIM_FAILS,
           "300"); /* one storage, under one name */
    expect(LINES("count(*) = 7"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("bytes(*) = 4*elements(*)"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("stored(total) = total"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("stored(bytes) = bytes(*)"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("bytes(block.{1}.up) = 480"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("count(nobody) = 0"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("dim(block.{i}.up, 2 - 1) = min(6, 7)"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("approx total = 800 within 2%"), SHAPEPROOF_CLAIM_HOLDS, NULL);
    expect(LINES("claim total = 1 when count(block.{i}.up) == 3"), SHAPEPROOF_CLAIM_OTHER, NULL);
}

static void refused(void **state)
{
    (void)state;
    expect(LINES("dim(nobody, 0) = 1"), SHAPEPROOF_CLAIM_UNKNOWN, "dim(nobody): the checkpoint has no such tensor");
    expect(LINES("elements(nobody) = 0"), SHAPEPROOF_CLAIM_UNKNOWN, "the checkpoint has no such tensor");
    expect(LINES("dim(words, 2) = 1"), SHAPEPROOF_CLAIM_UNKNOWN, "no such dimension: the first is 0");
    expect(LINES("dim(words) = 1"), SHAPEPROOF_CLAIM_UNKNOWN, "no such dimension");
    expect(LINES("dim(*, 0) = 1"), SHAPEPROOF_CLAIM_UNKNOWN, "these tensors differ in that dimension");
    expect(LINES("dim(words, total/5) = 1"), SHAPEPROOF_CLAIM_UNKNOWN, "which dimension it is must be a whole number");
    expect(LINES("count([a) = 1"), SHAPEPROOF_CLAIM_UNKNOWN, NULL);
    expect(LINES("[block] = 1"), SHAPEPROOF_CLAIM_UNKNOWN, NULL);
    expect(LINES("total = E"), SHAPEPROOF_CLAIM_UNKNOWN, NULL);
}

/* In claims about a table, `count` is a name of it, or of its rows; bytes(NAME) is for checkpoints alone. */
static void other_claims(void **state)
{
    (void)state;
    static const char text[] =
        "table t\ncount = 3\n[a]\nw (n, count)\nclaims for t\nclaim total = count*n\n"
        "claims for checkpoint\nclaim count(w) = 1\nclaims for t\nclaim dim(w, 0) = n\nclaim count(w) = 1\n"
        "claim bytes(w) = n\n";
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    assert_int_equal(shapeproof_tables_add_text(tables, "t", text, sizeof text - 1, &error), SHAPEPROOF_ERR_TABLE);
    assert_non_null(strstr(error.message, "t:12:13: weights and caches have no dtype 'w'"));
    assert_null(strstr(error.message, "count"));
    shapeproof_tables_free(tables);
}

static void mistakes(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "claims for checkpoint\nclaim count() = 1\n", "claims for checkpoint\nclaim count(a = 1\n",
        "claims for checkpoint\nclaim dim(a, ) = 1\n", "claims for checkpoint\nclaim dim(a, 0 = 1\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct shapeproof_error error = {0};
        struct shapeproof_tables *tables = shapeproof_tables_new(&error);
        assert_int_equal(shapeproof_tables_add_text(tables, "t", texts[i], strlen(texts[i]), &error),
                         SHAPEPROOF_ERR_TABLE);
        shapeproof_tables_free(tables);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers), cmocka_unit_test(refused),
                                       cmocka_unit_test(other_claims), cmocka_unit_test(mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
