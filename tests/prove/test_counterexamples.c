/* SPDX-License-Identifier: MIT
 * A counter-example is worth what it shows: for every one that is printed, the point is read again, the table predicted
 * there, the claim evaluated, and both numbers and the difference are those that were printed. */
#define _POSIX_C_SOURCE 200809L

#include "lang/walk.h"
#include "prove/made_up.h"
#include "sample.h"

#include "shapeproof/prove.h"

/* ---- a claim at a point ---- */

/* What a claim means where every hyper-parameter has a value. */
struct place {
    struct shapeproof_tables *tables;
    const struct sp_count *open; /* the table for all hyper-parameters: which symbols there are */
    const struct sp_unit *unit;  /* where the claim stands */
    struct shapeproof_config *config;
    struct shapeproof_prediction *prediction;
    struct sp_count there; /* what the names of the table are worth */
    bool is_counted;
};

/* A parameter of one of the claims' own functions. */
struct bound {
    const char *name;
    struct sp_rational value;
    const struct bound *outer;
};

static bool evaluate(struct place *place, const struct bound *bound, const struct sp_expr *expr,
                     struct sp_rational *value);

static const struct sp_poly *group_there(void *place, const char *name)
{
    return sp_count_group(&((struct place *)place)->there, name);
}

static const struct sp_poly *flops_there(void *place, const struct sp_flops *asked)
{
    return sp_count_flops(&((struct place *)place)->there, NULL, asked, NULL);
}

static bool by_table(struct place *place, const struct sp_expr *expr, struct sp_rational *value)
{
    const struct sp_sym_env env = {
        .frame = place->there.frame, .is_outer = true, .group = group_there, .flops = flops_there, .context = place};
    const struct sp_poly *poly;
    return sp_sym_number(&place->there.symbolic, &env, expr, &poly) && sp_poly_is_constant(poly, value);
}

static bool by_group(const struct place *place, const char *name, struct sp_rational *value)
{
    if (!name || strcmp(name, "total") == 0) {
        *value = sp_rational_int((int64_t)shapeproof_prediction_totals(place->prediction)->unique_parameters);
        return true;
    }
    int64_t sum = 0; /* of a group of which nothing is there */
    for (size_t i = 0; i < shapeproof_prediction_group_count(place->prediction); i++) {
        const struct shapeproof_group *group = shapeproof_prediction_group(place->prediction, i);
        if (sp_group_is_in(place->open->table, group->name, name)) sum += (int64_t)group->parameters;
    }
    *value = sp_rational_int(sum);
    return true;
}

static const struct sp_definition *own_definition(const struct place *place, const char *name)
{
    for (size_t i = 0; place->unit->about && i < place->unit->definition_count; i++)
        if (strcmp(place->unit->definitions[i].name, name) == 0) return &place->unit->definitions[i];
    return NULL;
}

static bool by_name(struct place *place, const struct bound *bound, const struct sp_expr *expr,
                    struct sp_rational *value)
{
    for (; bound; bound = bound->outer)
        if (strcmp(bound->name, expr->name) == 0) {
            *value = bound->value;
            return true;
        }
    const struct sp_definition *own = own_definition(place, expr->name);
    if (own) return evaluate(place, NULL, own->expr, value);
    return strcmp(expr->name, "total") == 0 ? by_group(place, NULL, value) : by_table(place, expr, value);
}

static bool by_call(struct place *place, const struct bound *bound, const struct sp_expr *expr,
                    struct sp_rational *value)
{
    const struct sp_definition *own = own_definition(place, expr->name);
    struct bound params[SP_MAX_PARAMS];
    struct sp_expr literals[SP_MAX_PARAMS], call = *expr, *args[SP_MAX_PARAMS];
    for (size_t i = 0; i < expr->count; i++) {
        if (!evaluate(place, bound, expr->args[i], &params[i].value)) return false;
        if (!own && params[i].value.den != 1) return false;
        if (own) params[i].name = own->params[i];
        params[i].outer = i ? &params[i - 1] : NULL;
        literals[i] = *expr->args[i];
        literals[i].kind = SP_EXPR_LITERAL;
        literals[i].value = sp_value_int(params[i].value.num);
        args[i] = &literals[i];
    }
    if (own) return evaluate(place, expr->count ? &params[expr->count - 1] : NULL, own->expr, value);
    call.args = args;
    return by_table(place, &call, value);
}

static bool floor_quotient(struct sp_rational a, struct sp_rational b, struct sp_rational *value)
{
    if (!sp_rational_div(a, b, value)) return false;
    *value = sp_rational_int(value->num / value->den - (value->num % value->den < 0));
    return true;
}

static bool by_operator(enum sp_op op, struct sp_rational a, struct sp_rational b, struct sp_rational *value)
{
    struct sp_rational product;
    switch (op) {
    case SP_OP_ADD:
        return sp_rational_add(a, b, value);
    case SP_OP_SUB:
        return sp_rational_sub(a, b, value);
    case SP_OP_MUL:
        return sp_rational_mul(a, b, value);
    case SP_OP_DIV:
        return sp_rational_div(a, b, value);
    case SP_OP_FLOOR:
        return floor_quotient(a, b, value);
    case SP_OP_MOD:
        return floor_quotient(a, b, value) && sp_rational_mul(*value, b, &product) &&
               sp_rational_sub(a, product, value);
    case SP_OP_POW:
        return b.den == 1 && sp_rational_power(a, (int)b.num, value);
    default:
        return false;
    }
}

static bool evaluate(struct place *place, const struct bound *bound, const struct sp_expr *expr,
                     struct sp_rational *value)
{
    struct sp_rational a, b;
    switch (expr->kind) {
    case SP_EXPR_NAME:
        return by_name(place, bound, expr, value);
    case SP_EXPR_GROUP:
    case SP_EXPR_BRACKET: /* of no claim here is it a condition */
        return by_group(place, expr->name, value);
    case SP_EXPR_CALL:
        return by_call(place, bound, expr, value);
    case SP_EXPR_UNARY:
        return evaluate(place, bound, expr->args[0], &a) && sp_rational_sub(sp_rational_int(0), a, value);
    case SP_EXPR_BINARY:
        return evaluate(place, bound, expr->args[0], &a) && evaluate(place, bound, expr->args[1], &b) &&
               by_operator(expr->op, a, b, value);
    default:
        return by_table(place, expr, value);
    }
}

/* ---- the point ---- */

static void forget_numbers(struct place *place)
{
    shapeproof_prediction_free(place->prediction);
    place->prediction = NULL;
    if (place->is_counted) sp_count_free(&place->there);
    place->is_counted = false;
}

/* Predicts the table with what the configuration has by now. */
static bool predict_there(struct place *place, struct shapeproof_error *error)
{
    const struct sp_unit *table = place->open->table;
    forget_numbers(place);
    const struct shapeproof_predict_options options = {.table = table->name};
    place->prediction = shapeproof_predict(place->tables, place->config, &options, error);
    place->is_counted = true;
    const bool good = sp_count_settled(&place->there, place->tables, table, sp_config_hyper(place->config));
    return good && place->prediction;
}

/* The key behind a name: that of the definition "E = n_embd default 768", in the claims or in the table. */
static const char *key_of(const struct place *place, const char *name)
{
    const struct sp_unit *const units[] = {place->unit, place->open->table};
    const struct sp_symbol_info *symbol;
    for (size_t u = 0; u < 2; u++)
        for (size_t i = 0; i < units[u]->definition_count; i++) {
            const struct sp_definition *definition = &units[u]->definitions[i];
            const struct sp_expr *expr = definition->expr;
            if (definition->is_function || strcmp(definition->name, name) != 0) continue;
            while (expr->kind == SP_EXPR_DEFAULT) expr = expr->args[0];
            if (expr->kind == SP_EXPR_NAME) name = expr->name;
        }
    symbol = sp_sym_symbol(&place->open->symbolic, name);
    return symbol ? symbol->key : name;
}

/* "num_embed[1]" is an item of a pair. */
static void set_key(struct place *place, const char *key, struct shapeproof_value value)
{
    char pair[256];
    const char *bracket = strrchr(key, '[');
    if (!bracket) return sp_config_set_value(place->config, key, value, "test");
    snprintf(pair, sizeof pair, "%.*s", (int)(bracket - key), key);
    struct shapeproof_value *items = sp_arena_array(&place->config->arena, 2, sizeof *items);
    const struct shapeproof_value now = value_of_key(place->config, pair);
    for (size_t i = 0; i < 2; i++)
        items[i] = now.type == SHAPEPROOF_VALUE_LIST ? now.items[i] : now.type == SHAPEPROOF_VALUE_INT ? now : value;
    items[bracket[1] - '0'] = value;
    sp_config_set_value(place->config, pair,
                        (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = 2, .items = items}, "test");
}

/* Every number among the hyper-parameters that has no value yet. */
static void set_others(struct place *place, int64_t size)
{
    const struct sp_symbolic *symbolic = &place->open->symbolic;
    for (size_t i = 0; i < symbolic->symbols.count; i++) {
        const struct sp_symbol_info *symbol = &symbolic->symbols.items[i];
        if (!is_plain(place->open, symbol) || symbol->is_list || symbolic->algebra.atoms[symbol->atom].is_condition)
            continue;
        if (value_of_key(place->config, symbol->key).type == SHAPEPROOF_VALUE_ABSENT)
            sp_config_set_value(place->config, symbol->key, sp_value_int(size), "test");
    }
}

/* "[2, 3]" */
static struct shapeproof_value list_of_words(struct place *place, const char *words)
{
    struct shapeproof_value *items = sp_arena_array(&place->config->arena, strlen(words), sizeof *items);
    size_t count = 0;
    for (char *at = (char *)words + 1; *at && *at != ']'; at += strspn(at, ", "))
        items[count++] = sp_value_int(strtoll(at, &at, 10));
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = count, .items = items};
}

/* Parts the items: a comma within a list parts none. */
static char *next_item(char **rest)
{
    char *item = *rest + strspn(*rest, ", ");
    int depth = 0;
    char *at = item;
    for (; *at && (*at != ',' || depth); at++) depth += (*at == '[') - (*at == ']');
    *rest = *at ? at + 1 : at;
    *at = '\0';
    return *item ? item : NULL;
}

/* "E = 3", "tied = false", "depths = [2, 3]", "bias is null"; false for what is none of these. */
static bool set_item(struct place *place, char *item)
{
    char *equals = strstr(item, " = "), *is = strstr(item, " is ");
    if (equals) {
        *equals = '\0';
        const char *word = equals + 3, *key = key_of(place, item);
        const bool flag = strcmp(word, "true") == 0 || strcmp(word, "false") == 0;
        if (*word == '[') set_key(place, key, list_of_words(place, word));
        else set_key(place, key, flag ? sp_value_bool(*word == 't') : sp_value_int(strtoll(word, NULL, 10)));
        return true;
    }
    if (!is) return false;
    *is = '\0';
    if (strcmp(is + 4, "null") == 0)
        set_key(place, item, (struct shapeproof_value){.type = SHAPEPROOF_VALUE_NULL, .string = ""});
    return true; /* what is given or not follows from the rest */
}

/* The point before the last ':', and the two numbers behind it. */
static bool read_point(struct place *place, const char *words, struct sp_rational *truth, struct sp_rational *claimed)
{
    char text[4096];
    bool good = true;
    snprintf(text, sizeof text, "%s", words);
    char *colon = strrchr(text, ':'), *rest = text;
    if (!colon) return false;
    *colon = '\0';
    int64_t *numbers[] = {&truth->num, &truth->den, &claimed->num, &claimed->den};
    char *at = colon + 2;
    for (int i = 0; i < 4; i++) {
        *numbers[i] = i % 2 && *at != '/' ? 1 : strtoll(at + (i % 2), &at, 10);
        if (i == 1) at += strlen(", claimed ");
    }
    /* "the others 1" goes last, and over what is left */
    for (char *item; (item = next_item(&rest));) {
        int64_t size;
        if (sscanf(item, "the others %" SCNd64, &size) == 1 || sscanf(item, "all %" SCNd64, &size) == 1)
            set_others(place, size);
        else good = set_item(place, item) && good;
    }
    return good && !*at;
}

/* ---- when ---- */

static bool is_literal(const struct sp_expr *expr)
{
    return expr->kind == SP_EXPR_LIST || (expr->kind == SP_EXPR_LITERAL && expr->value.type == SHAPEPROOF_VALUE_STRING);
}

static struct shapeproof_value literal_value(struct sp_arena *arena, const struct sp_expr *expr)
{
    if (expr->kind != SP_EXPR_LIST) return expr->value;
    struct shapeproof_value *items = sp_arena_array(arena, expr->count, sizeof *items);
    for (size_t i = 0; i < expr->count; i++) items[i] = expr->args[i]->value;
    return (struct shapeproof_value){.type = SHAPEPROOF_VALUE_LIST, .count = expr->count, .items = items};
}

/* "tied", "not tied": a flag. Other conditions must be so at the point already. */
static void set_condition(struct place *place, const struct sp_expr *expr)
{
    const bool not = expr->kind == SP_EXPR_UNARY;
    if (not ) expr = expr->args[0];
    if (expr->kind != SP_EXPR_NAME) return;
    const struct sp_symbol_info *symbol = sp_sym_symbol(&place->open->symbolic, key_of(place, expr->name));
    if (symbol && place->open->symbolic.algebra.atoms[symbol->atom].is_condition)
        set_key(place, symbol->key, sp_value_bool(!not ));
}

static void set_literals(struct place *place, const struct sp_claim *claim)
{
    for (size_t i = claim->when_count; i-- > 0;) /* those of the claim itself go first, and win */
        if (!claim->when[i].name) set_condition(place, claim->when[i].expr);
        else if (is_literal(claim->when[i].expr))
            set_key(place, key_of(place, claim->when[i].name),
                    literal_value(&place->config->arena, claim->when[i].expr));
}

/* The numbers, which may be those of other hyper-parameters: "H = 4*E". */
static void set_numbers(struct place *place, const struct sp_claim *claim)
{
    for (int round = 0; round < 3; round++)
        for (size_t i = claim->when_count; i-- > 0;) {
            const struct sp_argument *when = &claim->when[i];
            struct sp_rational value;
            struct shapeproof_error error = {0};
            if (!when->name || is_literal(when->expr)) continue;
            predict_there(place, &error);
            if (place->is_counted && evaluate(place, NULL, when->expr, &value))
                set_key(place, key_of(place, when->name), sp_value_int(value.num));
        }
}

/* ---- what is printed ---- */

struct replays {
    size_t refuted, replayed;
};

static const struct sp_claim *claim_at(const struct shapeproof_tables *tables, const struct shapeproof_proof *proof,
                                       const struct sp_unit **unit)
{
    for (size_t i = 0; i < sp_tables_place_count(tables); i++) {
        *unit = sp_tables_at(tables, i);
        for (size_t k = 0; k < (*unit)->claim_count; k++) {
            const struct sp_claim *claim = &(*unit)->claims[k];
            if (strcmp(claim->span.source->name, proof->file) == 0 && sp_span_position(claim->span).line == proof->line)
                return claim;
        }
    }
    return NULL;
}

/* The expression, as one of the tables: equal names must be equal pointers. */
static const struct sp_expr *parsed(struct shapeproof_tables *tables, const char *text, size_t length)
{
    struct shapeproof_error error = {0};
    struct sp_text table = {0};
    char name[32];
    snprintf(name, sizeof name, "gap%zu", tables->own.count);
    sp_text_printf(&table, "table %s\n[x]\nw (1)\nclaim %.*s = 0\n", name, (int)length, text);
    if (shapeproof_tables_add_text(tables, name, table.data, table.length, &error) != SHAPEPROOF_OK)
        fail_msg("%s", error.message);
    sp_text_free(&table);
    return sp_tables_unit(tables, name)->claims[0].left;
}

/* The length of a formula, to the ':' outside of parentheses: count(i in 0..N: [i < 2]) has one inside. */
static size_t formula_length(const char *formula)
{
    int depth = 0;
    size_t length = 0;
    for (; formula[length] && (depth || formula[length] != ':'); length++) {
        if (strchr("([", formula[length])) depth++;
        if (strchr(")]", formula[length])) depth--;
    }
    return length;
}

/* "short by 3*E^2: wte", "too large by ...", "differs by ...": the value of what is claimed to be lacking. */
static bool printed_gap(struct place *place, const char *difference, struct sp_rational *gap, int *sign)
{
    static const char *const words[] = {"too large by ", "differs by ", "short by "};
    for (int i = 0; i < 3; i++) {
        const size_t length = strlen(words[i]);
        if (strncmp(difference, words[i], length) != 0) continue;
        *sign = i - 1;
        const char *formula = difference + length;
        return evaluate(place, NULL, parsed(place->tables, formula, formula_length(formula)), gap);
    }
    return false;
}

static const char *compare_difference(struct place *place, const struct shapeproof_proof *proof,
                                      struct sp_rational truth, struct sp_rational claimed)
{
    struct sp_rational gap, lacking;
    int sign;
    if (strncmp(proof->difference, "differs where", 13) == 0) return NULL; /* no formula */
    if (strchr(proof->difference, '\'')) return NULL; /* two symbols of one name: that cannot be read back */
    if (!printed_gap(place, proof->difference, &gap, &sign)) return "the difference has no value";
    if (!sp_rational_sub(truth, claimed, &lacking)) return "the difference does not fit";
    if (sign && gap.num <= 0) return "the word is not true at the point";
    if (sign < 0) lacking.num = -lacking.num;
    return sp_rational_compare(lacking, gap) == 0 ? NULL : "the difference is another one at the point";
}

/* NULL, or what is wrong with the counter-example. */
static const char *replay_at(struct place *place, const struct shapeproof_proof *proof, const struct sp_claim *claim)
{
    struct sp_rational truth, claimed, left, right;
    struct shapeproof_error error = {0};
    set_literals(place, claim);
    if (!read_point(place, proof->counterexample, &truth, &claimed)) return "cannot be read";
    set_numbers(place, claim);
    if (!predict_there(place, &error)) return "no prediction";
    if (!evaluate(place, NULL, claim->left, &left) || !evaluate(place, NULL, claim->right, &right))
        return "a side has no value";
    if (sp_rational_compare(truth, left) != 0) return "the truth is another number";
    if (sp_rational_compare(claimed, right) != 0) return "the claim says another number";
    if (sp_rational_compare(truth, claimed) == 0) return "the sides agree";
    return compare_difference(place, proof, truth, claimed);
}

/* The public function reads the same point: the table predicts as much there. */
static void replay_as_settings(const struct place *place, const struct shapeproof_proof *proof)
{
    struct shapeproof_error error = {0};
    struct shapeproof_config *config = shapeproof_config_new();
    char *words = strdup(proof->counterexample);
    *strrchr(words, ':') = '\0';
    if (shapeproof_config_set_point(config, place->tables, proof->table, words, &error) != SHAPEPROOF_OK)
        fail_msg("%s: %s", proof->counterexample, error.message);
    const struct shapeproof_predict_options what = {.table = proof->table};
    struct shapeproof_prediction *prediction = shapeproof_predict(place->tables, config, &what, &error);
    if (!prediction) fail_msg("%s: %s", proof->counterexample, error.message);
    assert_int_equal(shapeproof_prediction_totals(prediction)->unique_parameters,
                     shapeproof_prediction_totals(place->prediction)->unique_parameters);
    shapeproof_prediction_free(prediction);
    shapeproof_config_free(config);
    free(words);
}

static void replay(struct shapeproof_tables *tables, const struct shapeproof_proof *proof, struct replays *replays)
{
    const struct sp_unit *unit;
    struct sp_count open;
    const struct sp_claim *claim = claim_at(tables, proof, &unit);
    assert_non_null(claim);
    if (proof->verdict != SHAPEPROOF_REFUTED || !claim->right || claim->is_example || claim->kind != SP_CLAIM_EXACT)
        return;
    if (!proof->counterexample && strstr(proof->difference, ", claimed ")) return; /* of plain numbers: no point */
    replays->refuted++;
    if (!proof->counterexample) return;
    assert_true(sp_count_table(&open, tables, sp_tables_unit(tables, proof->table), NULL, SP_SIDES_MAY_DIFFER));
    struct place place = {.tables = tables, .open = &open, .unit = unit, .config = shapeproof_config_new()};
    const char *problem = replay_at(&place, proof, claim);
    char *point = point_text(place.config);
    if (problem)
        fail_msg("%s: %s\n  %s\n  %s\n  %s\n%s\n%s", proof->table, proof->claim, problem, proof->difference,
                 proof->counterexample, point, claim->span.source->text);
    free(point);
    if (!claim->when_count) replay_as_settings(&place, proof);
    forget_numbers(&place);
    shapeproof_config_free(place.config);
    sp_count_free(&open);
    replays->replayed++;
}

static struct replays replay_all(struct shapeproof_tables *tables, const char *const *files, size_t count)
{
    struct shapeproof_error error = {0};
    struct replays replays = {0};
    const struct shapeproof_prove_options options = {.files = files, .file_count = count};
    struct shapeproof_proofs *proofs = shapeproof_prove(tables, &options, &error);
    if (!proofs) fail_msg("%s", error.message);
    for (size_t i = 0; i < shapeproof_proofs_count(proofs); i++)
        replay(tables, shapeproof_proofs_get(proofs, i), &replays);
    shapeproof_proofs_free(proofs);
    return replays;
}

/* ---- claims ---- */

static void built_in(void **state)
{
    (void)state;
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    const struct replays replays = replay_all(tables, NULL, 0);
    assert_true(replays.refuted >= 20);
    assert_int_equal(replays.replayed, replays.refuted);
    shapeproof_tables_free(tables);
}

static struct replays replay_text(const char *text)
{
    static const char *const file = "t.shapes";
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    if (shapeproof_tables_add_text(tables, file, text, strlen(text), &error) != SHAPEPROOF_OK)
        fail_msg("%s", error.message);
    const struct replays replays = replay_all(tables, &file, 1);
    shapeproof_tables_free(tables);
    return replays;
}

/* What is rounded, what has either sign, flags, what must be 0, pairs, halves, and what a table does not cover. */
static void difficult(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t wrong;
    } cases[] = {
        {"table t\nM = width\nN = depth\n[d]\nw (M)\nclaim [d] = M*(N//3)\nclaim [d] = M + min(M, N)\n"
         "claim [d] = M*(N//3) + 1\n",
         3},
        {"table t\nE = e\nN = n\n[all]\nw (E, E, N)\nb (E)\nclaim [all] = 2*E^2 + E\nclaim [all] = E^2*N + 2*E - 3\n"
         "claim total = E^2*N + E - E*N + 77\nclaim total = E^2*N + 100*E - E^2\n",
         4},
        {"table t\nb = b default true\nc = c default false\n[all]\nw (n) if b\nx (n) if c\nclaim [all] = n\n"
         "claim [all] = n when b\nclaim [all] = 2*n when not b\nclaim [all] = 0\nclaim total = [all] + 1\n",
         5},
        {"table t\n[g]\nw (a)\nv (b) if flag\nclaim total = a + b\nclaim total = a\n", 2},
        {"table t\nz = z default 0\n[g]\nw (a)\nv (a, z)\nu (2) if z == 0\nclaim total = a*z\n"
         "claim total = a + a*z\nclaim total = a*(z + 1) + 2\n",
         3},
        {"table t\ns = at(sizes, 0)\nt = at(sizes, 1)\n[g]\nw (s)\nv (t / 2)\nclaim [g] = s + s/2\n"
         "claim [g] + t = 2*s + t/2\nclaim [g] = s + (t//2)*min(s, t)\n",
         3},
        {"table t\ns = at(sizes, 0)\n[h]\nv (s, n)\n[g] for i in 0..n-1 if i % 2 == 0\n{i} (n)\nclaim [g] = n\n", 1},
        {"table t\nrequire n > 2, \"too small\"\nrequire m % 2 == 0, \"odd\"\n[g]\nw (n, m)\nclaim total = n\n"
         "claim total = 0 when n = 3\n",
         2},
        {"table t\n[g]\nw (n) if absent(bias)\nv (n, bias) if not absent(bias)\nclaim total = 0\nclaim total = n\n", 2},
        {"table t\nW = w default 2\nE = width default 4*W\nf = f default W == E\n[g]\nu (n)\nv (L // 2, 7) if f\n"
         "claim [g] = n + L // 3\nclaim total = 2*n + L % 2\n",
         2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct replays replays = replay_text(cases[i].text);
        if (replays.refuted != cases[i].wrong || replays.replayed != cases[i].wrong)
            fail_msg("%zu refuted, %zu replayed of %zu\n%s", replays.refuted, replays.replayed, cases[i].wrong,
                     cases[i].text);
    }
}

/* ---- made-up claims ---- */

enum { MADE_UP = 90, CLAIMS = 6 };

static void random_side(struct maker *m, int depth)
{
    static const char *const names[] = {"W", "E", "F", "L", "H", "i", "k"};
    const char *const operators[] = {"+", "-", "*", "//"};
    if (depth == 0 && roll(m, 3) == 0) sp_text_printf(&m->text, "%d", 1 + (int)roll(m, 4));
    else if (depth == 0) put(m, names[roll(m, 7)]);
    else if (roll(m, 8) == 0) {
        put(m, ONE_OF(m, "min(", "max("));
        random_side(m, depth - 1);
        put(m, ", ");
        random_side(m, 0);
        put(m, ")");
    } else {
        put(m, "(");
        random_side(m, depth - 1);
        const int64_t which = roll(m, 4);
        sp_text_printf(&m->text, " %s ", operators[which]);
        if (which == 3) sp_text_printf(&m->text, "%d", 2 + (int)roll(m, 3));
        else random_side(m, depth - 1);
        put(m, ")");
    }
}

static void random_claims(struct maker *m)
{
    for (int i = 0; i < CLAIMS; i++) {
        put(m, i % 2 ? "claim total = " : "claim [g0] = ");
        if (i % 3 == 0) put(m, "total + ");
        random_side(m, 2);
        put(m, roll(m, 3) ? "\n" : ONE_OF(m, " when tied\n", " when not tied\n", " when W = 3\n", " when L = 2*H\n"));
    }
}

static const char sizes[] = "table t\nW = w default 2\nE = width default 4*W\nF = first default 0\nL = layers\n"
                            "H = heads\ni = i default 3\nk = key\ntied = tie default true\n"
                            "[g0] for l in 0..L-1\nq.{l} (E, H) if l < F\nv.{l} (W, E // 3)\n"
                            "[rest]\nu (E, k) if tied\no (W, i) if W < k\n";

static void random_wrong_claims(void **state)
{
    (void)state;
    struct replays all = {0};
    const uint64_t seeds = MADE_UP / quarter();
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct maker m = {.seed = seed};
        if (seed % 3) put(&m, sizes);
        else random_table(&m);
        random_claims(&m);
        const struct replays replays = replay_text(m.text.data);
        all.refuted += replays.refuted;
        all.replayed += replays.replayed;
        sp_text_free(&m.text);
    }
    print_message("%zu refuted, %zu replayed\n", all.refuted, all.replayed);
    assert_true(all.replayed > seeds * CLAIMS / 2 && all.replayed >= all.refuted * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(built_in), cmocka_unit_test(difficult),
                                       cmocka_unit_test(random_wrong_claims)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
