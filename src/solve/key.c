/* SPDX-License-Identifier: MIT */
#include "solve/key.h"

#include <math.h>
#include <string.h>

#include "solve/invert.h"
#include "solve/limits.h"

/* What floating-point numbers hold exactly. */
#define MOST (INT64_C(1) << 52)

/* ---- putting a value in ---- */

bool sp_suppose(struct sp_solver *solver, const char *path, struct shapeproof_value value)
{
    const struct sp_want want = sp_want_value(value);
    sp_solver_open(solver, path);
    return sp_known_tell(&solver->known, path, &want) == SP_HOLDS;
}

void sp_suppose_end(struct sp_solver *solver) { sp_solver_open(solver, NULL); }

/* A question about one key: for which value of it is the expression what is wanted? */
struct question {
    struct sp_solver *solver;
    const struct sp_unknown *key;
    const struct sp_env *env;
    const struct sp_expr *expr;
    struct sp_want want;
};

/* The expression, if the key were that. */
static struct shapeproof_value value_if(const struct question *question, struct shapeproof_value supposed)
{
    struct shapeproof_value value = sp_value_absent("");
    if (sp_suppose(question->solver, question->key->path, supposed))
        value = sp_solver_value(question->solver, question->env, question->expr);
    sp_suppose_end(question->solver);
    return value;
}

static bool would_hold(const struct question *question, struct shapeproof_value value)
{
    return sp_value_satisfies(value_if(question, value), &question->want) == SP_HOLDS;
}

static bool would_hold_for(const struct question *question, int64_t number)
{
    return number >= 0 && number < MOST && would_hold(question, sp_value_int(number));
}

static void add_key_value(const struct question *question, struct sp_key_values *solutions, int64_t number)
{
    for (size_t i = 0; i < solutions->count; i++)
        if (solutions->list[i].type == SHAPEPROOF_VALUE_INT && solutions->list[i].integer == number) return;
    if (solutions->count < SP_MAX_SOLUTIONS && would_hold_for(question, number))
        solutions->list[solutions->count++] = sp_value_int(number);
}

/* ---- inverted ---- */

static bool invert(const struct question *question, struct sp_key_values *solutions)
{
    struct sp_solver *solver = question->solver;
    sp_solver_open(solver, question->key->path);
    const enum sp_answer answer = sp_invert(solver, question->env, question->expr, &question->want);
    const struct shapeproof_value value = sp_known_value(&solver->known, question->key->path);
    sp_solver_open(solver, NULL);
    const bool is_scalar = value.type > SHAPEPROOF_VALUE_UNKNOWN &&
                           value.type < SHAPEPROOF_VALUE_LIST; /* of a list only parts may be known */
    if (answer != SP_HOLDS || !is_scalar || !would_hold(question, value)) return false;
    solutions->list[solutions->count++] = value;
    return true;
}

/* ---- numbers: where the key occurs more than once, or something is rounded ---- */

/* The expression, if the key were that number. */
static bool number_if(const struct question *question, int64_t number, int64_t *result)
{
    const struct shapeproof_value value = value_if(question, sp_value_int(number));
    *result = value.integer;
    return value.type == SHAPEPROOF_VALUE_INT;
}

static void add_rounded(const struct question *question, struct sp_key_values *solutions, double number)
{
    if (number >= 0 && number < (double)MOST) add_key_value(question, solutions, (int64_t)(number + 0.5));
}

/* Proportional to the key, or to it and something else: `hidden + 2*kv_heads*(hidden/heads)`, `width + 2*groups`. */
static void extrapolate(const struct question *question, int64_t now, struct sp_key_values *solutions)
{
    const double wanted = (double)question->want.value.integer;
    int64_t have, twice;
    if (now <= 0 || now > MOST / 2 || !number_if(question, now, &have) || have <= 0) return;
    add_rounded(question, solutions, (double)now * wanted / (double)have);
    if (number_if(question, 2 * now, &twice) && twice != have)
        add_rounded(question, solutions, (double)now * (1 + (wanted - (double)have) / ((double)twice - (double)have)));
}

/* Of `heads*(hidden//heads)` each divisor is a solution, of what is rounded many numbers are: the nearest one, and half
 * and twice of what it is now. */
static void look_near(const struct question *question, int64_t now, struct sp_key_values *solutions)
{
    const size_t before = solutions->count;
    for (int64_t distance = 1; distance <= SP_NEIGHBOURS && solutions->count == before; distance++) {
        add_key_value(question, solutions, now - distance);
        add_key_value(question, solutions, now + distance);
    }
    add_key_value(question, solutions, now / 2);
    add_key_value(question, solutions, 2 * now);
}

/* The smallest number for which an expression that grows with it is at least what is wanted, if it is just that then.
 */
static void bisect_key(const struct question *question, struct sp_key_values *solutions)
{
    const int64_t wanted = question->want.value.integer;
    int64_t below = 0, above = 1, have;
    while (number_if(question, above, &have) && have < wanted && above < MOST) {
        below = above;
        above *= 2;
    }
    while (above - below > 1) {
        const int64_t middle = below + (above - below) / 2;
        if (!number_if(question, middle, &have)) return;
        if (have < wanted) below = middle;
        else above = middle;
    }
    add_key_value(question, solutions, above);
}

/* ---- numbers with a fraction: `int(64*width_multiple)` ---- */

/* Bisection: the least number, to the precision of a double, for which an expression that grows with the key is at
 * least `bound`; negative when none up to 2^20 is. */
static double least_reaching(const struct question *question, int64_t bound)
{
    static const double largest = 1 << 20;
    double below = 0, above = 1;
    struct shapeproof_value value;
    for (;; above *= 2) {
        if (above > largest) return -1;
        value = value_if(question, sp_value_real(above));
        if (value.type != SHAPEPROOF_VALUE_INT) return -1;
        if (value.integer >= bound) break;
    }
    for (int i = 0; i < SP_MOST_HALVINGS; i++) {
        const double middle = below + (above - below) / 2;
        value = value_if(question, sp_value_real(middle));
        if (value.type != SHAPEPROOF_VALUE_INT) return -1;
        *(value.integer >= bound ? &above : &below) = middle;
    }
    return above;
}

/* Of the interval of numbers that give what is wanted those that somebody would write: whole ones, halves, tenths, and
 * so on to thousandths. */
static void add_fractions(const struct question *question, struct sp_key_values *solutions)
{
    static const double parts[] = {1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 100, 1000};
    const double first = least_reaching(question, question->want.value.integer);
    const double end = least_reaching(question, question->want.value.integer + 1);
    if (first < 0 || end < 0) return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && solutions->count < SP_MAX_SOLUTIONS; i++) {
        const double number = ceil(first * parts[i]) / parts[i];
        bool known = number >= end || !would_hold(question, sp_value_real(number));
        for (size_t k = 0; k < solutions->count; k++)
            known |= solutions->list[k].type == SHAPEPROOF_VALUE_REAL && !(solutions->list[k].real < number) &&
                     !(solutions->list[k].real > number);
        if (!known) solutions->list[solutions->count++] = sp_value_real(number);
    }
}

/* ---- conditions: `index < dense_layers` leaves many numbers ---- */

/* The first number in that direction with which the condition is met, as if it were met by all behind it. */
static void find_boundary(const struct question *question, int64_t now, int64_t direction,
                          struct sp_key_values *solutions)
{
    int64_t below = 0, above = 1;
    while (above < SP_FARTHEST && !would_hold_for(question, now + direction * above)) {
        below = above;
        above *= 2;
        if (direction < 0 && above > now) above = now;
        if (above <= below) return;
    }
    while (above - below > 1) {
        const int64_t middle = below + (above - below) / 2;
        if (would_hold_for(question, now + direction * middle)) above = middle;
        else below = middle;
    }
    add_key_value(question, solutions, now + direction * above);
}

static void approach(const struct question *question, struct sp_key_values *solutions)
{
    const struct shapeproof_value now = question->key->now, wanted = question->want.value;
    if (now.type == SHAPEPROOF_VALUE_BOOL && would_hold(question, sp_value_bool(!now.boolean)))
        solutions->list[solutions->count++] = sp_value_bool(!now.boolean);
    if (now.type == SHAPEPROOF_VALUE_REAL && wanted.type == SHAPEPROOF_VALUE_INT) add_fractions(question, solutions);
    if (now.type != SHAPEPROOF_VALUE_INT || now.integer < 0 || now.integer > MOST) return;
    if (wanted.type == SHAPEPROOF_VALUE_INT) {
        extrapolate(question, now.integer, solutions);
        look_near(question, now.integer, solutions);
        if (!solutions->count) bisect_key(question, solutions);
    } else if (wanted.type == SHAPEPROOF_VALUE_BOOL) {
        find_boundary(question, now.integer, -1, solutions);
        find_boundary(question, now.integer, 1, solutions);
    }
}

/* ---- both ---- */

bool sp_key_matters(struct sp_solver *solver, const struct sp_unknown *key, const struct sp_env *env,
                    const struct sp_expr *expr)
{
    sp_solver_open(solver, key->path);
    const bool matters = sp_solver_value(solver, env, expr).type == SHAPEPROOF_VALUE_UNKNOWN;
    sp_solver_open(solver, NULL);
    return matters;
}

struct sp_key_values sp_solve_key(struct sp_solver *solver, const struct sp_unknown *key, const struct sp_env *env,
                                  const struct sp_expr *expr, struct shapeproof_value wanted)
{
    const struct question question = {solver, key, env, expr, sp_want_value(wanted)};
    struct sp_key_values solutions = {.count = 0};
    if (sp_key_matters(solver, key, env, expr) && !invert(&question, &solutions)) approach(&question, &solutions);
    return solutions;
}
