/* SPDX-License-Identifier: MIT
 * Random claims about random tables, true and false ones. A table is made together with the trees of its sums, and a
 * claim is such a tree in disguise: rewritten by identities, and for a false claim changed at one place. Whether a
 * claim is true is computed here, by evaluating the trees at random points; nothing of src/prove takes part.
 *
 *     table t           [g0] w0 (A, B) if p                  the sum of g0: A*B*[p]
 *     claim             total = B*A - [not p]*A*B            true, and to be PROVED
 *     claim             total = B*A - [not p]*A*C            false where B != C and not p; to be REFUTED
 *
 * SHAPEPROOF_RANDOM_CLAIMS in the environment is the number of claims, SEED the first seed. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/text.h"
#include "sample.h"
#include "shapeproof/prediction.h"
#include "shapeproof/prove.h"

enum { SIZES = 6, FLAGS = 2, GROUPS = 3, CLAIMS = 40, POINTS = 60, USUAL = 4000 };
enum { LONGEST = 300 }; /* nodes: the language has a limit of 500 operators in a line */

static const char *const sizes[SIZES] = {"A", "B", "C", "D", "N", "M"};
static const char *const flags[FLAGS] = {"p", "q"};

/* ---- trees ---- */

enum kind {
    NUMBER,
    SIZE,
    ADD,
    SUB,
    MUL,
    HALF,
    FLOOR,
    MOD,
    MIN,
    MAX,
    FLAG,
    NOT_FLAG,
    LESS,
    NOT_LESS,
    EVEN,
    ITEM,
    CHOICE
};

struct tree {
    enum kind kind;
    int64_t number; /* NUMBER, the divisor of FLOOR and MOD; of SIZE, FLAG, CHOICE and the index of ITEM which one */
    struct tree *a, *b;
};

struct point {
    int64_t size[SIZES];
    bool flag[FLAGS];
};

struct maker {
    struct sp_arena arena;
    uint64_t state;
    struct tree *sum[GROUPS];
    int rows;
};

static int64_t roll(struct maker *m, int64_t sides)
{
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return (int64_t)((m->state >> 11) % (uint64_t)sides);
}

static struct tree *node(struct maker *m, enum kind kind, int64_t number, struct tree *a, struct tree *b)
{
    struct tree *tree = sp_arena_array(&m->arena, 1, sizeof *tree);
    *tree = (struct tree){kind, number, a, b};
    return tree;
}

static struct tree *number(struct maker *m, int64_t value) { return node(m, NUMBER, value, NULL, NULL); }
static struct tree *size(struct maker *m, int64_t which) { return node(m, SIZE, which, NULL, NULL); }

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static int64_t value(const struct tree *tree, const struct point *at)
{
    const int64_t a = tree->a ? value(tree->a, at) : 0, b = tree->b ? value(tree->b, at) : 0;
    switch (tree->kind) {
    case NUMBER:
        return tree->number;
    case SIZE:
        return at->size[tree->number];
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case HALF:
        return a / 2; /* of what is even */
    case FLOOR:
        return floor_div(a, tree->number);
    case MOD:
        return a - tree->number * floor_div(a, tree->number);
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case FLAG:
        return at->flag[tree->number];
    case NOT_FLAG:
        return !at->flag[tree->number];
    case LESS:
        return a < b;
    case NOT_LESS:
        return a >= b;
    case EVEN:
        return a % 2 == 0;
    case ITEM:
        return at->size[tree->number] % 2 ? b : a;
    case CHOICE:
        return at->flag[tree->number] ? a : b;
    }
    return 0;
}

static void put_tree(struct sp_text *text, const struct tree *tree);

static void put_pair(struct sp_text *text, const char *before, const struct tree *tree, const char *between,
                     const char *behind)
{
    sp_text_puts(text, before);
    put_tree(text, tree->a);
    sp_text_puts(text, between);
    put_tree(text, tree->b);
    sp_text_puts(text, behind);
}

/* With the divisor, or a constant, behind the operand. */
static void put_single(struct sp_text *text, const char *before, const struct tree *tree, const char *between,
                       int64_t constant, const char *behind)
{
    sp_text_puts(text, before);
    put_tree(text, tree->a);
    sp_text_printf(text, "%s%" PRId64 "%s", between, constant, behind);
}

static void put_tree(struct sp_text *text, const struct tree *tree)
{
    switch (tree->kind) {
    case NUMBER:
        sp_text_printf(text, "%" PRId64, tree->number);
        break;
    case SIZE:
        sp_text_puts(text, sizes[tree->number]);
        break;
    case ADD:
        put_pair(text, "(", tree, " + ", ")");
        break;
    case SUB:
        put_pair(text, "(", tree, " - ", ")");
        break;
    case MUL:
        put_pair(text, "", tree, "*", "");
        break;
    case HALF:
        put_single(text, "(", tree, ") / ", 2, "");
        break;
    case FLOOR:
        put_single(text, "(", tree, " // ", tree->number, ")");
        break;
    case MOD:
        put_single(text, "(", tree, " % ", tree->number, ")");
        break;
    case MIN:
        put_pair(text, "min(", tree, ", ", ")");
        break;
    case MAX:
        put_pair(text, "max(", tree, ", ", ")");
        break;
    case FLAG:
        sp_text_printf(text, "[%s]", flags[tree->number]);
        break;
    case NOT_FLAG:
        sp_text_printf(text, "[not %s]", flags[tree->number]);
        break;
    case LESS:
        put_pair(text, "[", tree, " < ", "]");
        break;
    case NOT_LESS:
        put_pair(text, "[", tree, " >= ", "]");
        break;
    case EVEN:
        put_single(text, "[", tree, " % 2 == ", 0, "]");
        break;
    case ITEM:
        put_pair(text, "[", tree, ", ", "][");
        sp_text_printf(text, "%s %% 2]", sizes[tree->number]);
        break;
    case CHOICE:
        sp_text_printf(text, "(%s", flags[tree->number]);
        put_pair(text, " ? ", tree, " : ", ")");
        break;
    }
}

/* ---- tables ---- */

/* Appends a condition to a row, or nothing. Returns the tree that is 1 where it holds, or NULL. */
static struct tree *row_condition(struct maker *m, struct sp_text *text)
{
    const int64_t which = roll(m, 8), a = roll(m, SIZES), b = roll(m, SIZES);
    if (which == 0) sp_text_printf(text, " if %s", flags[a % FLAGS]);
    if (which == 1) sp_text_printf(text, " if not %s", flags[a % FLAGS]);
    if (which == 2) sp_text_printf(text, " if %s < %s", sizes[a], sizes[b]);
    if (which == 3) sp_text_printf(text, " if %s %% 2 == 0", sizes[a]);
    if (which == 0) return node(m, FLAG, a % FLAGS, NULL, NULL);
    if (which == 1) return node(m, NOT_FLAG, a % FLAGS, NULL, NULL);
    if (which == 2) return node(m, LESS, 0, size(m, a), size(m, b));
    if (which == 3) return node(m, EVEN, 0, size(m, a), NULL);
    return NULL;
}

/* One dimension. */
static struct tree *dimension(struct maker *m, struct sp_text *text)
{
    const int64_t a = roll(m, SIZES), b = roll(m, SIZES), k = 2 + roll(m, 3);
    struct tree *tree = NULL;
    switch (roll(m, 10)) {
    case 0:
        tree = node(m, ADD, 0, size(m, a), number(m, k));
        break;
    case 7: /* what may be negative, and is cut off at 1 */
        tree = node(m, MAX, 0, node(m, SUB, 0, size(m, a), size(m, b)), number(m, 1));
        break;
    case 8:
        tree = node(m, ITEM, roll(m, SIZES), size(m, a), node(m, SUB, 0, size(m, b), number(m, k)));
        tree = node(m, MAX, 0, tree, number(m, 1));
        break;
    case 9:
        tree = node(m, CHOICE, roll(m, FLAGS), size(m, a), node(m, ADD, 0, size(m, b), number(m, k)));
        break;
    case 1:
        tree = node(m, MUL, 0, number(m, k), size(m, a));
        break;
    case 2:
        tree = node(m, MIN, 0, size(m, a), size(m, b));
        break;
    case 3:
        tree = node(m, ADD, 0, node(m, FLOOR, k, size(m, a), NULL), number(m, 1));
        break;
    default:
        tree = size(m, a);
    }
    put_tree(text, tree);
    return tree;
}

/* What a loop over i from 0 to N-1 multiplies a row by; its condition on i is appended. The N is that of the heading.
 */
static struct tree *loop_factor(struct maker *m, struct sp_text *text, int64_t n, bool *grows)
{
    const int64_t bound = roll(m, SIZES);
    switch (*grows ? 3 : roll(m, 4)) {
    case 0:
        sp_text_puts(text, " if i % 2 == 0");
        return node(m, FLOOR, 2, node(m, ADD, 0, size(m, n), number(m, 1)), NULL);
    case 1:
        sp_text_printf(text, " if i < %s", sizes[bound]);
        return node(m, MIN, 0, size(m, n), size(m, bound));
    case 2:
        sp_text_puts(text, " if i == 0");
        return number(m, 1);
    default: /* 1 + 2 + ... + N where the row has i + 1 in its shape */
        return *grows ? node(m, HALF, 0, node(m, MUL, 0, size(m, n), node(m, ADD, 0, size(m, n), number(m, 1))), NULL)
                      : size(m, n);
    }
}

static struct tree *random_row(struct maker *m, struct sp_text *text, int64_t loop)
{
    bool grows = loop >= 0 && roll(m, 4) == 0;
    sp_text_printf(text, "w%d%s (%s", m->rows++, loop >= 0 ? ".{i}" : "", grows ? "i + 1, " : "");
    struct tree *tree = dimension(m, text);
    for (int64_t more = roll(m, 2); more; more--) {
        sp_text_puts(text, ", ");
        tree = node(m, MUL, 0, tree, dimension(m, text));
    }
    sp_text_puts(text, ")");
    struct tree *factor = loop >= 0 ? loop_factor(m, text, loop, &grows) : row_condition(m, text);
    sp_text_puts(text, "\n");
    return factor ? node(m, MUL, 0, tree, factor) : tree;
}

static void random_table(struct maker *m, struct sp_text *text)
{
    sp_text_puts(text, "table t\np = p default false\nq = q default true\n");
    for (int i = 0; i < SIZES; i++) sp_text_printf(text, "%s = size_%d\n", sizes[i], i);
    for (int group = 0; group < GROUPS; group++) {
        const int64_t loop = roll(m, 2) ? SIZES - 2 + roll(m, 2) : -1;
        sp_text_printf(text, "\n[g%d]", group);
        if (loop >= 0) sp_text_printf(text, " for i in 0..%s-1", sizes[loop]);
        sp_text_puts(text, "\n");
        m->sum[group] = random_row(m, text, loop);
        for (int64_t more = roll(m, 3); more; more--)
            m->sum[group] = node(m, ADD, 0, m->sum[group], random_row(m, text, loop));
    }
}

/* ---- claims ---- */

static struct tree *rewritten(struct maker *m, struct tree *tree);

/* An identity that holds for this tree, applied to it. */
static struct tree *by_identity(struct maker *m, struct tree *tree)
{
    struct tree *a = tree->a, *b = tree->b, *other = size(m, roll(m, SIZES));
    switch (roll(m, 6)) {
    case 0:
        if (tree->kind == ADD || tree->kind == MUL || tree->kind == MIN || tree->kind == MAX)
            return node(m, tree->kind, 0, b, a);
        if (tree->kind == FLAG) return node(m, SUB, 0, number(m, 1), node(m, NOT_FLAG, tree->number, NULL, NULL));
        if (tree->kind == LESS) return node(m, SUB, 0, number(m, 1), node(m, NOT_LESS, 0, a, b));
        return tree;
    case 1:
        if (tree->kind == MUL && b->kind == ADD)
            return node(m, ADD, 0, node(m, MUL, 0, a, b->a), node(m, MUL, 0, a, b->b));
        if (tree->kind == MIN) return node(m, SUB, 0, node(m, ADD, 0, a, b), node(m, MAX, 0, a, b));
        return tree;
    case 2:
        return node(m, SUB, 0, node(m, ADD, 0, tree, other), other);
    case 3:
        if (tree->kind == SIZE) { /* quotient and remainder */
            const int64_t k = 2 + roll(m, 3);
            return node(m, ADD, 0, node(m, MUL, 0, number(m, k), node(m, FLOOR, k, tree, NULL)),
                        node(m, MOD, k, tree, NULL));
        }
        return tree;
    case 4: {
        const int64_t flag = roll(m, FLAGS);
        struct tree *yes = node(m, FLAG, flag, NULL, NULL), *no = node(m, NOT_FLAG, flag, NULL, NULL);
        return node(m, ADD, 0, node(m, MUL, 0, tree, yes), node(m, MUL, 0, tree, no));
    }
    default: {
        struct tree *less = node(m, LESS, 0, other, size(m, roll(m, SIZES)));
        struct tree *rest = node(m, NOT_LESS, 0, less->a, less->b);
        return node(m, ADD, 0, node(m, MUL, 0, tree, less), node(m, MUL, 0, rest, tree));
    }
    }
}

/* The tree, with an identity applied here and there. */
static struct tree *rewritten(struct maker *m, struct tree *tree)
{
    struct tree *a = tree->a ? rewritten(m, tree->a) : NULL, *b = tree->b ? rewritten(m, tree->b) : NULL;
    struct tree *same = node(m, tree->kind, tree->number, a, b);
    return roll(m, 4) == 0 ? by_identity(m, same) : same;
}

static size_t count_nodes(const struct tree *tree)
{
    return 1 + (tree->a ? count_nodes(tree->a) : 0) + (tree->b ? count_nodes(tree->b) : 0);
}

/* The tree with its node of that number, counted from the root down, changed into something that is likely not equal.
 */
static struct tree *changed(struct maker *m, const struct tree *tree, size_t place)
{
    if (place == 0) {
        if (tree->kind == NUMBER) return number(m, tree->number + 1 + roll(m, 2));
        if (tree->kind == SIZE) return size(m, (tree->number + 1 + roll(m, SIZES - 1)) % SIZES);
        if (tree->kind == ADD) return roll(m, 2) ? tree->a : tree->b;
        if (tree->kind == MIN) return node(m, MAX, 0, tree->a, tree->b);
        if (tree->kind == LESS) return node(m, NOT_LESS, 0, tree->a, tree->b);
        struct tree *copy = node(m, tree->kind, tree->number, tree->a, tree->b);
        return node(m, ADD, 0, copy, number(m, 1));
    }
    const size_t left = tree->a ? count_nodes(tree->a) : 0;
    struct tree *a = tree->a, *b = tree->b;
    if (place <= left) a = changed(m, tree->a, place - 1);
    else b = changed(m, tree->b, place - 1 - left);
    return node(m, tree->kind, tree->number, a, b);
}

static struct point random_point(struct maker *m)
{
    struct point point;
    for (int i = 0; i < SIZES; i++) point.size[i] = 1 + roll(m, roll(m, 2) ? 4 : 30);
    for (int i = 0; i < FLAGS; i++) point.flag[i] = roll(m, 2);
    return point;
}

/* A claim, and where it is known to be false. */
struct claim {
    const struct tree *left, *right;
    bool is_true;  /* by construction */
    bool is_false; /* at a point that was tried; neither: not known */
};

static struct claim random_claim(struct maker *m, struct sp_text *text)
{
    const int64_t group = roll(m, GROUPS + 1);
    struct tree *left =
        group < GROUPS ? m->sum[group] : node(m, ADD, 0, node(m, ADD, 0, m->sum[0], m->sum[1]), m->sum[2]);
    struct tree *right = rewritten(m, left);
    if (count_nodes(right) > LONGEST) right = left;
    struct claim claim = {.left = left, .is_true = roll(m, 2)};
    if (!claim.is_true) right = changed(m, right, (size_t)roll(m, (int64_t)count_nodes(right)));
    claim.right = right;
    for (int i = 0; !claim.is_true && !claim.is_false && i < POINTS; i++) {
        const struct point at = random_point(m);
        claim.is_false = value(left, &at) != value(right, &at);
    }
    if (group < GROUPS) sp_text_printf(text, "claim [g%d] = ", (int)group);
    else sp_text_puts(text, "claim total = ");
    put_tree(text, right);
    sp_text_puts(text, "\n");
    return claim;
}

/* ---- normal forms ---- */

/* Computes the text of a normal form at a point, by recursive descent. */
struct reader {
    const char *text;
    const struct point *at;
    bool failed;
};

static double read_sum(struct reader *r);

static bool takes(struct reader *r, const char *word)
{
    while (*r->text == ' ') r->text++;
    const size_t length = strlen(word);
    if (strncmp(r->text, word, length) != 0) return false;
    r->text += length;
    return true;
}

static void expect(struct reader *r, const char *word)
{
    if (!takes(r, word)) r->failed = true;
}

/* A sum, or whether two of them compare so. */
static double read_comparison(struct reader *r)
{
    const bool negated = takes(r, "not ");
    const double left = read_sum(r);
    double truth = left;
    if (takes(r, "<=")) truth = left <= read_sum(r);
    else if (takes(r, ">=")) truth = left >= read_sum(r);
    else if (takes(r, "==")) truth = left == read_sum(r);
    else if (takes(r, "!=")) truth = left != read_sum(r);
    else if (takes(r, "<")) truth = left < read_sum(r);
    else if (takes(r, ">")) truth = left > read_sum(r);
    return negated ? truth == 0 : truth;
}

/* [A < B] is 1 where that is so; [A, B][M % 2] is an item. */
static double read_brackets(struct reader *r)
{
    double items[2] = {read_comparison(r), 0};
    if (!takes(r, ",")) {
        expect(r, "]");
        return items[0] != 0;
    }
    items[1] = read_sum(r);
    expect(r, "][");
    const double index = read_sum(r);
    expect(r, "]");
    if (index != 0 && index != 1) r->failed = true;
    return items[index == 1];
}

static double read_extreme(struct reader *r, bool largest)
{
    double best = read_sum(r);
    while (takes(r, ",")) {
        const double other = read_sum(r);
        if (largest ? other > best : other < best) best = other;
    }
    expect(r, ")");
    return best;
}

static double read_primary(struct reader *r)
{
    if (takes(r, "min(")) return read_extreme(r, false);
    if (takes(r, "max(")) return read_extreme(r, true);
    if (takes(r, "[")) return read_brackets(r);
    if (takes(r, "(")) {
        const double inner = read_comparison(r);
        expect(r, ")");
        return inner;
    }
    for (int i = 0; i < SIZES; i++)
        if (takes(r, sizes[i])) return (double)r->at->size[i];
    for (int i = 0; i < FLAGS; i++)
        if (takes(r, flags[i])) return r->at->flag[i];
    char *end;
    const double number = strtod(r->text, &end);
    if (end == r->text) r->failed = true;
    r->text = end;
    return number;
}

static double read_power(struct reader *r)
{
    const double base = read_primary(r);
    double result = base;
    if (!takes(r, "^")) return base;
    for (double exponent = read_primary(r); exponent > 1 && !r->failed; exponent--) result *= base;
    return result;
}

static double read_product(struct reader *r)
{
    double result = read_power(r);
    while (!r->failed) {
        if (takes(r, "*")) result *= read_power(r);
        else if (takes(r, "//")) result = floor(result / read_power(r));
        else if (takes(r, "/")) result /= read_power(r);
        else if (takes(r, "%")) {
            const double by = read_power(r);
            result -= by * floor(result / by);
        } else break;
    }
    return result;
}

static double read_sum(struct reader *r)
{
    double result = takes(r, "-") ? -read_product(r) : read_product(r);
    while (!r->failed) {
        if (takes(r, "+")) result += read_product(r);
        else if (takes(r, "-")) result -= read_product(r);
        else break;
    }
    return result;
}

/* Whether the polynomial that the proof says both sides are has the value of the claim's left tree. */
static bool is_normal_form_of(const char *polynomial, const struct tree *tree, const struct point *at)
{
    struct reader reader = {.text = polynomial, .at = at};
    const double found = read_sum(&reader);
    return !reader.failed && !*reader.text && found == (double)value(tree, at);
}

/* ---- the verdicts ---- */

static bool is_quiet;

struct tally {
    size_t claims, verdicts[4], wrong, unknown;
    size_t explained; /* proofs whose normal form was computed at points */
};

/* The trees say what the table says: at a point the prediction is their sum. */
static void compare_with_prediction(struct maker *m, struct shapeproof_tables *tables, const char *text)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    const struct point at = random_point(m);
    char setting[64];
    uint64_t sum = 0;
    for (int i = 0; i < SIZES + FLAGS; i++) {
        if (i < SIZES) snprintf(setting, sizeof setting, "size_%d=%" PRId64, i, at.size[i]);
        else snprintf(setting, sizeof setting, "%s=%s", flags[i - SIZES], at.flag[i - SIZES] ? "true" : "false");
        assert_int_equal(shapeproof_config_set(config, setting, &error), SHAPEPROOF_OK);
    }
    for (int i = 0; i < GROUPS; i++) sum += (uint64_t)value(m->sum[i], &at);
    const struct shapeproof_predict_options what = {.table = "t"};
    struct shapeproof_prediction *prediction = shapeproof_predict(tables, config, &what, &error);
    if (!prediction) fail_msg("%s\n%s", error.message, text);
    if (shapeproof_prediction_totals(prediction)->unique_parameters != sum) fail_msg("the trees are wrong\n%s", text);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
}

static void judge(const struct claim *claim, const struct shapeproof_proof *proof, const char *text,
                  struct tally *tally)
{
    const bool is_wrong = (claim->is_true && proof->verdict == SHAPEPROOF_REFUTED) ||
                          (claim->is_false && proof->verdict == SHAPEPROOF_PROVED);
    tally->claims++;
    tally->verdicts[proof->verdict]++;
    tally->unknown += !claim->is_true && !claim->is_false;
    tally->wrong += is_wrong;
    if (is_wrong && !is_quiet)
        print_error("%s of a claim that is %s: %s\n%s\n%s\n", shapeproof_verdict_on_claim_name(proof->verdict),
                    claim->is_true ? "true" : "false", proof->claim, proof->counterexample ? proof->counterexample : "",
                    text);
}

/* Proofs that are no proof by cases say what both sides are. */
static void check_normal_form(struct maker *m, const struct claim *claim, const struct shapeproof_proof *proof,
                              struct tally *tally)
{
    static const char front[] = "both sides: ";
    if (proof->verdict != SHAPEPROOF_PROVED || proof->step_count != 1) return;
    if (strncmp(proof->steps[0], front, sizeof front - 1) != 0) return;
    for (int i = 0; i < 4; i++) {
        const struct point at = random_point(m);
        if (is_normal_form_of(proof->steps[0] + sizeof front - 1, claim->left, &at)) continue;
        fail_msg("%s\n%s", proof->claim, proof->steps[0]);
    }
    tally->explained++;
}

static void try_table(uint64_t seed, struct tally *tally)
{
    static const char *const file = "t.shapes";
    struct maker m = {.state = seed * 0x9E3779B97F4A7C15u + 1};
    struct shapeproof_error error = {0};
    struct sp_text text = {0};
    struct claim claims[CLAIMS];
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    random_table(&m, &text);
    for (int i = 0; i < CLAIMS; i++) claims[i] = random_claim(&m, &text);
    if (shapeproof_tables_add_text(tables, file, text.data, text.length, &error) != SHAPEPROOF_OK)
        fail_msg("%s\n%s", shapeproof_tables_messages(tables), text.data);
    compare_with_prediction(&m, tables, text.data);
    const struct shapeproof_prove_options what = {.files = &file, .file_count = 1, .explain = 1};
    struct shapeproof_proofs *proofs = shapeproof_prove(tables, &what, &error);
    if (!proofs) fail_msg("%s\n%s", error.message, text.data);
    assert_int_equal(shapeproof_proofs_count(proofs), CLAIMS);
    for (size_t i = 0; i < CLAIMS; i++) {
        const struct shapeproof_proof *proof = shapeproof_proofs_get(proofs, i);
        judge(&claims[i], proof, text.data, tally);
        check_normal_form(&m, &claims[i], proof, tally);
    }
    shapeproof_proofs_free(proofs);
    shapeproof_tables_free(tables);
    sp_text_free(&text);
    sp_arena_free(&m.arena);
}

static void no_verdict_is_wrong(void **state)
{
    const char *wanted = getenv("SHAPEPROOF_RANDOM_CLAIMS"), *from = getenv("SEED");
    const size_t claims = wanted ? strtoull(wanted, NULL, 10) : USUAL / quarter();
    struct tally tally = {0};
    (void)state;
    for (uint64_t seed = from ? strtoull(from, NULL, 10) : 1; tally.claims < claims && tally.wrong < 3; seed++)
        try_table(seed, &tally);
    const size_t decided = tally.verdicts[SHAPEPROOF_PROVED] + tally.verdicts[SHAPEPROOF_REFUTED];
    print_message(
        "%zu claims: %zu proved (%zu normal forms computed), %zu refuted, %zu tested, %zu undecided; of %zu the "
        "truth is not known\n",
        tally.claims, tally.verdicts[SHAPEPROOF_PROVED], tally.explained, tally.verdicts[SHAPEPROOF_REFUTED],
        tally.verdicts[SHAPEPROOF_TESTED], tally.verdicts[SHAPEPROOF_UNDECIDED], tally.unknown);
    assert_true(tally.explained >= tally.verdicts[SHAPEPROOF_PROVED] / 4);
    assert_int_equal(tally.wrong, 0);
    assert_true(decided >= tally.claims * 95 / 100);
    assert_true(tally.unknown <= tally.claims / 20);
}

/* The judge can tell: every verdict on a claim of the other kind is wrong. */
static void a_wrong_verdict_is_caught(void **state)
{
    const struct claim is_true = {.is_true = true}, is_false = {.is_false = true}, unknown = {0};
    const struct shapeproof_proof proved = {.verdict = SHAPEPROOF_PROVED}, refuted = {.verdict = SHAPEPROOF_REFUTED};
    const struct shapeproof_proof tested = {.verdict = SHAPEPROOF_TESTED};
    struct tally right = {0}, wrong = {0};
    (void)state;
    is_quiet = true;
    judge(&is_true, &proved, "", &right);
    judge(&is_false, &refuted, "", &right);
    judge(&is_true, &tested, "", &right);
    judge(&unknown, &proved, "", &right);
    judge(&is_true, &refuted, "", &wrong);
    judge(&is_false, &proved, "", &wrong);
    is_quiet = false;
    assert_int_equal(right.wrong, 0);
    assert_int_equal(wrong.wrong, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_verdict_is_wrong),
                                       cmocka_unit_test(a_wrong_verdict_is_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
