/* SPDX-License-Identifier: MIT */
#include "prove/cases.h"

#include <string.h>

#include "lang/eval.h"
#include "prove/symbolic/atoms.h"

/* ---- one case ---- */

static bool value_in(const struct sp_values *values, size_t atom, const struct sp_poly **value)
{
    for (size_t i = 0; values && i < values->count; i++)
        if (values->atoms[i] == atom) {
            *value = values->values[i];
            return true;
        }
    return false;
}

/* An object that is given has one of each thing that it counts, although there are none without it. */
static void add_members(struct sp_count *count, struct sp_values *values, size_t absent)
{
    const struct sp_symbol_info *object = sp_symbol_of(count, absent);
    for (size_t i = 0; object && object->unset_key && i < count->symbolic.symbols.count; i++) {
        const struct sp_symbol_info *member = &count->symbolic.symbols.items[i];
        if (!member->fallback || !sp_poly_is_zero(member->fallback) || member->unset_key) continue;
        if (count->symbolic.algebra.atoms[member->atom].is_condition) continue;
        if (sp_path_within(member->key, object->unset_key) && !strchr(member->key + strlen(object->unset_key) + 1, '.'))
            sp_values_add(values, member->atom, sp_poly_int(&count->symbolic.algebra, 1));
    }
}

/* A condition that the defaults leave open counts as false. */
static bool holds_in_case(struct sp_count *count, size_t condition, const struct sp_values *apart)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    const struct sp_poly *value = sp_poly_atom(algebra, condition);
    struct sp_values values = {.assume = true};
    struct sp_rational truth;
    for (size_t i = 0; apart && i < apart->count; i++) {
        sp_values_add(&values, apart->atoms[i], apart->values[i]);
        if (sp_poly_is_zero(apart->values[i])) add_members(count, &values, apart->atoms[i]);
    }
    sp_values_add_defaults(count, &values, false);
    sp_values_add_fractions(count, &values);
    const struct sp_poly *reduced = sp_reduce(count, value, &values);
    sp_values_free(&values);
    return reduced && sp_poly_is_constant(reduced, &truth) && truth.num != 0;
}

/* The conditions that hyper-parameters are; of those that are computed (not for NULL) the ones in `poly` or apart: what
 * is computed in other words may become one of them only once the former are known. */
static struct sp_values usual_values(struct sp_count *count, const struct sp_poly *poly, const struct sp_values *apart)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    struct sp_values values = {.assume = true};
    const size_t atoms = algebra->atom_count;
    for (size_t atom = 0; atom < atoms; atom++) {
        const struct sp_poly *value;
        const bool is_apart = value_in(apart, atom, &value), is_free = sp_symbol_of(count, atom) != NULL;
        if (!algebra->atoms[atom].is_condition) continue;
        if (!is_free && !(poly && (is_apart || sp_poly_uses(poly, atom)))) continue;
        sp_values_add(&values, atom, is_apart ? value : sp_poly_int(algebra, holds_in_case(count, atom, apart)));
    }
    return values;
}

static const struct sp_poly *in_case(struct sp_count *count, const struct sp_poly *poly, const struct sp_poly *computed,
                                     const struct sp_values *apart)
{
    struct sp_values values = usual_values(count, computed, apart);
    const struct sp_poly *reduced = sp_reduce(count, poly, &values);
    sp_values_free(&values);
    return reduced;
}

const struct sp_poly *sp_case_usual(struct sp_count *count, const struct sp_poly *poly, const struct sp_values *apart)
{
    const struct sp_poly *open = in_case(count, poly, NULL, apart);
    return open ? in_case(count, open, open, apart) : NULL;
}

const struct sp_poly *sp_case_general(struct sp_count *count, const struct sp_poly *poly)
{
    const struct sp_values none = {.assume = true};
    return sp_reduce(count, poly, &none);
}

/* ---- changes ---- */

static void add_change(struct sp_count *count, struct sp_values *apart, const struct sp_change *change)
{
    sp_values_add(apart, change->condition, sp_poly_int(&count->symbolic.algebra, change->holds));
}

/* The gain while other conditions are as `held` (or NULL) says. */
static const struct sp_poly *gain_of_case(struct sp_count *count, const struct sp_poly *total,
                                          const struct sp_change *change, const struct sp_values *held)
{
    const struct sp_poly *cases[2];
    for (int after = 0; after < 2; after++) {
        struct sp_values apart = {0};
        for (size_t i = 0; held && i < held->count; i++) sp_values_add(&apart, held->atoms[i], held->values[i]);
        add_change(count, &apart, &(struct sp_change){.condition = change->condition, .holds = change->holds == after});
        cases[after] = sp_case_usual(count, total, &apart);
        sp_values_free(&apart);
    }
    const struct sp_poly *gain =
        cases[0] && cases[1] ? sp_poly_sub(&count->symbolic.algebra, cases[1], cases[0]) : NULL;
    return count->symbolic.algebra.failed ? NULL : gain;
}

/* Other changes that this one brings about, by the default of a hyper-parameter, undone: what they gain is said of
 * them, and counts once. */
static struct sp_values without_others(struct sp_count *count, const struct sp_changes *changes, size_t which)
{
    struct sp_values held = {0};
    for (size_t i = 0; i < changes->count; i++) {
        const struct sp_change *other = &changes->items[i];
        if (i == which || sp_case_holds(count, other->condition, &changes->items[which]) != other->holds) continue;
        sp_values_add(&held, other->condition, sp_poly_int(&count->symbolic.algebra, !other->holds));
    }
    return held;
}

/* One that is computed can change the total where no other condition must change first. */
static bool may_change_case(struct sp_count *count, const struct sp_poly *total, const struct sp_poly *open,
                            size_t atom)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    if (!symbolic->algebra.atoms[atom].is_condition || sp_atom_info(symbolic, atom)->depends) return false;
    return sp_symbol_of(count, atom) ? sp_poly_involves(symbolic, total, atom) : sp_poly_uses(open, atom);
}

struct sp_changes sp_case_changes(struct sp_count *count, const struct sp_poly *total)
{
    struct sp_changes changes = {0};
    const struct sp_poly *open = in_case(count, total, NULL, NULL);
    const size_t atoms = count->symbolic.algebra.atom_count;
    for (size_t atom = 0; open && atom < atoms; atom++) {
        struct sp_change change = {.condition = atom};
        if (!may_change_case(count, total, open, atom)) continue;
        change.holds = !holds_in_case(count, atom, NULL);
        change.gain = gain_of_case(count, total, &change, NULL);
        if (!change.gain || sp_poly_is_zero(change.gain)) continue;
        SP_GROW(changes.items, changes.count, changes.capacity);
        changes.items[changes.count++] = change;
    }
    for (size_t i = 0; i < changes.count; i++) {
        struct sp_values held = without_others(count, &changes, i);
        if (held.count) changes.items[i].gain = gain_of_case(count, total, &changes.items[i], &held);
        sp_values_free(&held);
    }
    return changes;
}

bool sp_case_holds(struct sp_count *count, size_t condition, const struct sp_change *change)
{
    struct sp_values apart = {0};
    if (change) add_change(count, &apart, change);
    const bool truth = holds_in_case(count, condition, &apart);
    sp_values_free(&apart);
    return truth;
}

static bool is_changed(const struct sp_changes *changes, size_t condition)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].condition == condition) return true;
    return false;
}

/* Comparisons that `poly` (or NULL) speaks of. */
static struct sp_conditions comparisons(struct sp_symbolic *symbolic, const struct sp_poly *poly)
{
    const size_t atoms = symbolic->algebra.atom_count;
    struct sp_conditions found = {0};
    const struct sp_poly *gap;
    bool equality;
    for (size_t atom = 0; poly && atom < atoms; atom++) {
        if (!sp_poly_uses(poly, atom) || !sp_atom_comparison(symbolic, atom, &gap, &equality)) continue;
        SP_GROW(found.items, found.count, found.capacity);
        found.items[found.count++] = atom;
    }
    return found;
}

struct sp_conditions sp_case_open(struct sp_count *count, const struct sp_poly *total, const struct sp_changes *changes)
{
    struct sp_conditions found = comparisons(&count->symbolic, in_case(count, total, NULL, NULL));
    const size_t candidates = found.count;
    found.count = 0;
    for (size_t i = 0; i < candidates; i++)
        if (!is_changed(changes, found.items[i])) found.items[found.count++] = found.items[i];
    return found;
}

/* The other way round than usual. */
static struct sp_change turned_condition(struct sp_count *count, size_t condition)
{
    return (struct sp_change){.condition = condition, .holds = !holds_in_case(count, condition, NULL)};
}

bool sp_case_is_needed(struct sp_count *count, const struct sp_poly *total, const struct sp_conditions *open,
                       size_t which)
{
    const struct sp_change change = turned_condition(count, open->items[which]);
    for (size_t i = 0; i < open->count; i++) {
        if (i == which) continue;
        const struct sp_change other = turned_condition(count, open->items[i]);
        struct sp_values held = {0};
        add_change(count, &held, &other);
        const struct sp_poly *gain = gain_of_case(count, total, &change, &held);
        sp_values_free(&held);
        if (!gain || !sp_poly_is_zero(gain)) return true;
    }
    return false;
}

/* The gain of changes->items[which] while another condition is not as that makes it. */
static const struct sp_poly *gain_without(struct sp_count *count, const struct sp_poly *total,
                                          const struct sp_changes *changes, size_t which, size_t condition)
{
    const struct sp_change *change = &changes->items[which];
    const struct sp_change other = {.condition = condition, .holds = !sp_case_holds(count, condition, change)};
    struct sp_values held = without_others(count, changes, which);
    add_change(count, &held, &other);
    const struct sp_poly *gain = gain_of_case(count, total, change, &held);
    sp_values_free(&held);
    return gain;
}

/* Flags without which a comparison, whatever the sizes are, changes nothing. */
static void add_flags_deciding(struct sp_count *count, const struct sp_poly *total, const struct sp_changes *changes,
                               size_t which, struct sp_conditions *found)
{
    const struct sp_poly *gap;
    bool equality;
    if (!sp_atom_comparison(&count->symbolic, changes->items[which].condition, &gap, &equality)) return;
    for (size_t i = 0; i < changes->count; i++) {
        const size_t condition = changes->items[i].condition;
        if (i == which || !sp_symbol_of(count, condition)) continue;
        const struct sp_poly *gain = gain_without(count, total, changes, which, condition);
        if (gain && sp_poly_is_zero(gain)) *SP_PUSH(found) = condition;
    }
}

struct sp_conditions sp_case_deciding(struct sp_count *count, const struct sp_poly *total,
                                      const struct sp_changes *changes, size_t which)
{
    struct sp_values apart = {0};
    const struct sp_change *change = &changes->items[which];
    add_change(count, &apart, change);
    struct sp_conditions found = comparisons(&count->symbolic, in_case(count, total, NULL, &apart));
    const size_t candidates = found.count;
    sp_values_free(&apart);
    found.count = 0;
    for (size_t i = 0; i < candidates; i++) {
        const size_t condition = found.items[i];
        if (is_changed(changes, condition)) continue;
        const struct sp_poly *gain = gain_without(count, total, changes, which, condition);
        if (!gain || !sp_poly_equal(gain, change->gain)) found.items[found.count++] = condition;
    }
    add_flags_deciding(count, total, changes, which, &found);
    return found;
}
