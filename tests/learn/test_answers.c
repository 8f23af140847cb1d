/* SPDX-License-Identifier: MIT
 * Which of several expressions is the answer, and which are told beside it: how dear one may be, how much dearer
 * another one, and what makes one likelier. */
#include "learn/asking.h"
#include "learn/solve.h"

enum { EXAMPLES = 3 };

/* What three examples tell of one function. */
struct solving {
    struct asking asking;
    struct sp_learn_problem problem;
};

static void solving_begin(struct solving *solving, const char *const *configs)
{
    struct sp_evidence *evidence = &solving->asking.evidence;
    *solving = (struct solving){.problem = {.evidence = evidence, .library = {.evidence = evidence}}};
    for (size_t i = 0; i < EXAMPLES; i++) asking_example(&solving->asking, configs[i]);
    asking_gather(&solving->asking);
    evidence->most = UINT64_MAX;
}

static void solving_end(struct solving *solving)
{
    sp_forget_answers(&solving->problem);
    free(solving->problem.priors.items);
    free(solving->problem.sizes.items);
    free(solving->problem.answers.items);
    free(solving->problem.defaults.items);
    asking_end(&solving->asking);
}

static const struct sp_search_term *key_of(struct solving *solving, const char *path)
{
    return sp_search_term_terminal(&solving->asking.arena, SP_TERM_KEY,
                                   sp_evidence_terminal(&solving->asking.evidence, path));
}

static void set_cost(struct solving *solving, const char *path, unsigned cost)
{
    sp_evidence_terminal(&solving->asking.evidence, path)->cost = cost;
}

static struct sp_answer answer_of(struct solving *solving, const double *values, const char *name)
{
    struct sp_learn_function function = {.name = name};
    for (size_t e = 0; e < EXAMPLES; e++) sp_function_add(&function, &(struct sp_point){.example = e}, values[e]);
    const struct sp_answer answer = sp_solve_function(&solving->problem, &function);
    sp_function_free(&function);
    return answer;
}

static bool is_term(const struct sp_search_term *term, const char *words)
{
    struct sp_text text = {0};
    if (!term) return false;
    sp_search_term_write(&text, term, SP_KEYS_BY_PATH);
    const bool is = strcmp(text.data, words) == 0;
    sp_text_free(&text);
    return is;
}

static bool is_told(const struct sp_answer *answer, const char *words)
{
    for (size_t i = 0; i < answer->other_count; i++)
        if (is_term(answer->others[i], words)) return true;
    return false;
}

/* ---- how dear it may be ---- */

/* What was met with few values is an accident when it is long. */
static void accidents(void **state)
{
    static const unsigned most[] = {38, 12, 17, 30, 38};
    (void)state;
    for (size_t distinct = 0; distinct < sizeof most / sizeof *most; distinct++) {
        const struct sp_search_term cheap = {.cost = most[distinct]}, dear = {.cost = most[distinct] + 1};
        assert_false(sp_is_accident(&(struct sp_answer){.term = &cheap, .distinct = distinct}));
        assert_true(sp_is_accident(&(struct sp_answer){.term = &dear, .distinct = distinct}));
    }
}

/* Of one value an expression may cost as much as any number, 24. */
static void one_value(void **state)
{
    static const char *const configs[EXAMPLES] = {"{\"a\": 105, \"b\": 7}", "{\"a\": 105, \"b\": 7}",
                                                  "{\"a\": 105, \"b\": 7}"};
    static const double values[EXAMPLES] = {15, 15, 15};
    struct solving solving;
    (void)state;
    for (unsigned cost = 10; cost <= 11; cost++) { /* of a // b, with 4 and 10: 24 and 25 */
        solving_begin(&solving, configs);
        set_cost(&solving, "b", cost);
        const struct sp_answer answer = answer_of(&solving, values, "x");
        assert_true(is_term(answer.term, "15") || is_term(answer.term, "a // b"));
        assert_int_equal(is_term(answer.term, "a // b") || is_told(&answer, "a // b"), cost == 10);
        solving_end(&solving);
    }
}

/* ---- how much dearer others may be ---- */

/* Three keys of the same values: the others are told if they cost no more than so much above the first. */
static void assert_slack(const double *values, unsigned slack, const char *name)
{
    struct sp_text texts[EXAMPLES] = {{0}};
    const char *configs[EXAMPLES];
    struct solving solving;
    for (size_t e = 0; e < EXAMPLES; e++) {
        sp_text_printf(&texts[e], "{\"a\": %.0f, \"mlp_b\": %.0f, \"mlp_c\": %.0f}", values[e], values[e], values[e]);
        configs[e] = texts[e].data;
    }
    solving_begin(&solving, configs);
    set_cost(&solving, "a", 2);
    set_cost(&solving, "mlp_b", 2 + slack);
    set_cost(&solving, "mlp_c", 2 + slack + 1);
    const struct sp_answer answer = answer_of(&solving, values, name);
    assert_true(is_term(answer.term, "a"));
    assert_true(is_told(&answer, "mlp_b"));
    assert_false(is_told(&answer, "mlp_c"));
    solving_end(&solving);
    for (size_t e = 0; e < EXAMPLES; e++) sp_text_free(&texts[e]);
}

/* The fewer values there are, the more; and more again where the keys are nearer to the name. */
static void slack(void **state)
{
    (void)state;
    assert_slack((const double[]){15, 15, 15}, 16, "x");
    assert_slack((const double[]){15, 22, 15}, 11, "x");
    assert_slack((const double[]){15, 22, 37}, 7, "x");
    assert_slack((const double[]){15, 22, 37}, 20, "mlp.weight");
}

static void many_others(void **state)
{
    static const char *const configs[EXAMPLES] = {"{\"a\": 15, \"b\": 15, \"c\": 15, \"d\": 15, \"e\": 15}",
                                                  "{\"a\": 22, \"b\": 22, \"c\": 22, \"d\": 22, \"e\": 22}",
                                                  "{\"a\": 37, \"b\": 37, \"c\": 37, \"d\": 37, \"e\": 37}"};
    static const double values[EXAMPLES] = {15, 22, 37};
    struct solving solving;
    (void)state;
    solving_begin(&solving, configs);
    assert_int_equal(answer_of(&solving, values, "x").other_count, 3);
    solving_end(&solving);
}

/* ---- what was chosen elsewhere ---- */

/* Whether the key of the same values that was chosen elsewhere comes before one that costs 10. */
static bool comes_first(unsigned cost, struct sp_prior prior, const char *name)
{
    static const char *const configs[EXAMPLES] = {"{\"a\": 15, \"b\": 15}", "{\"a\": 22, \"b\": 22}",
                                                  "{\"a\": 37, \"b\": 37}"};
    static const double values[EXAMPLES] = {15, 22, 37};
    struct solving solving;
    solving_begin(&solving, configs);
    set_cost(&solving, "b", cost);
    prior.term = key_of(&solving, "b");
    *SP_PUSH(&solving.problem.priors) = prior;
    const bool first = is_term(answer_of(&solving, values, name).term, "b");
    solving_end(&solving);
    return first;
}

/* At several places 5, at many 7; of the weight beside a bias 30, or half of that for its second dimension. */
static void priors(void **state)
{
    (void)state;
    assert_true(comes_first(10 + 5 - 1, (struct sp_prior){.uses = 2}, "x"));
    assert_false(comes_first(10 + 5, (struct sp_prior){.uses = 2}, "x"));
    assert_false(comes_first(10 + 5, (struct sp_prior){.uses = 8}, "x"));
    assert_true(comes_first(10 + 7 - 1, (struct sp_prior){.uses = 9}, "x"));
    assert_false(comes_first(10 + 7, (struct sp_prior){.uses = 9}, "x"));
    assert_true(
        comes_first(10 + 30 - 1, (struct sp_prior){.kind = SP_PRIOR_SIZE_OF_WEIGHT, .row = "x.weight"}, "x.bias"));
    assert_false(comes_first(10 + 30, (struct sp_prior){.kind = SP_PRIOR_SIZE_OF_WEIGHT, .row = "x.weight"}, "x.bias"));
    assert_true(comes_first(
        10 + 15 - 1, (struct sp_prior){.kind = SP_PRIOR_SIZE_OF_WEIGHT, .row = "x.weight", .dimension = 1}, "x.bias"));
    assert_false(comes_first(
        10 + 15, (struct sp_prior){.kind = SP_PRIOR_SIZE_OF_WEIGHT, .row = "x.weight", .dimension = 1}, "x.bias"));
}

/* ---- sums ---- */

/* Whether two of so many sizes are put together. */
static bool is_sum_found(const double *values, size_t sizes)
{
    static const char *const configs[EXAMPLES] = {"{\"n\": 1}", "{\"n\": 2}", "{\"n\": 3}"};
    struct solving solving;
    solving_begin(&solving, configs);
    for (size_t i = 0; i < sizes; i++) {
        double size[EXAMPLES];
        for (size_t e = 0; e < EXAMPLES; e++) size[e] = i == 0 ? values[e] - 7001 : i == 1 ? 7001 : 100000;
        struct shapeproof_value *items = sp_arena_array(&solving.asking.arena, EXAMPLES, sizeof *items);
        for (size_t e = 0; e < EXAMPLES; e++) items[e] = sp_value_int((int64_t)size[e]);
        struct sp_terminal *terminal = sp_arena_alloc(&solving.asking.arena, sizeof *terminal);
        *terminal = (struct sp_terminal){
            .path = sp_arena_printf(&solving.asking.arena, "s%zu", i), .values = items, .cost = 10};
        *SP_PUSH(&solving.problem.sizes) = sp_search_term_terminal(&solving.asking.arena, SP_TERM_KEY, terminal);
    }
    const struct sp_answer answer = answer_of(&solving, values, "x");
    const bool found = is_term(answer.term, "s0 + s1");
    solving_end(&solving);
    return found;
}

static void sums(void **state)
{
    (void)state;
    assert_true(is_sum_found((const double[]){8021, 9102, 7777}, 200));
    assert_false(is_sum_found((const double[]){8021, 9102, 7777}, 201));
    assert_false(is_sum_found((const double[]){8021, 9102, 8021}, 200));
}

/* ---- long expressions ---- */

/* A sum of shares of 92, or 58, when each key costs 10; the first key costs as much. */
static bool is_sum_of_shares_found(bool three, unsigned cost)
{
    static const char *const configs[EXAMPLES] = {
        "{\"mlp_a\": 700, \"mlp_b\": 7, \"mlp_c\": 900, \"mlp_d\": 11, \"mlp_e\": 401, \"mlp_f\": 13}",
        "{\"mlp_a\": 815, \"mlp_b\": 9, \"mlp_c\": 555, \"mlp_d\": 10, \"mlp_e\": 777, \"mlp_f\": 12}",
        "{\"mlp_a\": 1050, \"mlp_b\": 7, \"mlp_c\": 310, \"mlp_d\": 10, \"mlp_e\": 620, \"mlp_f\": 11}"};
    static const double two_values[EXAMPLES] = {100 + 81, 90 + 55, 150 + 31},
                        three_values[EXAMPLES] = {181 + 30, 145 + 64, 181 + 56};
    struct solving solving;
    solving_begin(&solving, configs);
    set_cost(&solving, "mlp_a", cost);
    const struct sp_answer answer = answer_of(&solving, three ? three_values : two_values, "mlp.weight");
    const bool found = answer.term != NULL;
    solving_end(&solving);
    return found;
}

/* Of two values an expression may cost 62, and of more 96. */
static void dearest_expressions(void **state)
{
    (void)state;
    assert_true(is_sum_of_shares_found(false, 10 + 62 - 58));
    assert_false(is_sum_of_shares_found(false, 10 + 63 - 58));
    assert_true(is_sum_of_shares_found(true, 10 + 96 - 92));
    assert_false(is_sum_of_shares_found(true, 10 + 97 - 92));
}

/* ---- defaults ---- */

/* Whether a key that one example has is taken, with a default, rather than another key that all have. */
static bool is_default_taken(unsigned cost, unsigned other_cost, const char *name)
{
    static const char *const configs[EXAMPLES] = {"{\"width\": 150, \"other\": 300}",
                                                  "{\"width\": 221, \"other\": 500, \"inner\": 500}",
                                                  "{\"width\": 377, \"other\": 754}"};
    static const double values[EXAMPLES] = {300, 500, 754};
    struct solving solving;
    solving_begin(&solving, configs);
    set_cost(&solving, "inner", cost);
    set_cost(&solving, "other", other_cost);
    const struct sp_answer answer = answer_of(&solving, values, name);
    assert_non_null(answer.term);
    assert_int_equal(answer.term->op, SP_TERM_KEY);
    const bool taken = strcmp(answer.term->terminal->path, "inner") == 0;
    solving_end(&solving);
    return taken;
}

/* Where all else costs more than 24, or, for a key that goes with the name, 12; and it may cost 10 more than that: its
 * key, 14 for twice the width, and 4. */
static void defaults(void **state)
{
    (void)state;
    assert_true(is_default_taken(10, 25, "x"));
    assert_false(is_default_taken(10, 24, "x"));
    assert_true(is_default_taken(8, 13, "inner.weight"));
    assert_false(is_default_taken(8, 12, "inner.weight"));
    assert_true(is_default_taken(25 + 10 - 18, 25, "x"));
    assert_false(is_default_taken(25 + 11 - 18, 25, "x"));
}

/* ---- cases ---- */

static const char *const flags[EXAMPLES] = {"{\"flag\": true, \"width\": 150}", "{\"flag\": false, \"width\": 221}",
                                            "{\"flag\": false, \"width\": 377}"};

static bool is_case_found(double number, unsigned flag_cost)
{
    const double values[EXAMPLES] = {number, 221, 377};
    struct solving solving;
    solving_begin(&solving, flags);
    set_cost(&solving, "flag", flag_cost);
    const bool found = answer_of(&solving, values, "x").term != NULL;
    solving_end(&solving);
    return found;
}

/* A larger number would only be what the file says; a dear condition is an accident. */
static void cases(void **state)
{
    (void)state;
    assert_true(is_case_found(9, 10));
    assert_false(is_case_found(10, 10));
    assert_true(is_case_found(9, 38 - 5));
    assert_false(is_case_found(9, 39 - 5));
}

/* Cases are looked for as long as not too much was spent on them; a condition costs 5000, and more with more keys. */
static void effort(void **state)
{
    static const double values[EXAMPLES] = {9, 221, 377};
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct solving solving;
        solving_begin(&solving, flags);
        solving.problem.effort = 5000000 + more;
        assert_int_equal(answer_of(&solving, values, "x").term != NULL, more == 0);
        if (!more) assert_int_equal(solving.problem.effort, 5000000 + 5000 + 2 * 2 * EXAMPLES / 4);
        solving_end(&solving);
    }
}

/* The first conditions are tried: the flag that tells the cases apart is behind so many others. */
static bool is_case_found_behind(unsigned others)
{
    enum { COUNT = 6 };
    static const double widths[COUNT] = {150, 221, 377, 491, 530, 677}, inner[COUNT] = {901, 812, 777, 733, 689, 1013};
    struct solving solving = {
        .problem = {.evidence = &solving.asking.evidence, .library = {.evidence = &solving.asking.evidence}}};
    struct sp_learn_function function = {.name = "x"};
    const unsigned own = 0x15; /* in every other example */
    for (unsigned e = 0; e < COUNT; e++) {
        struct sp_text text = {0};
        unsigned flag = 1, count = 0;
        sp_text_puts(&text, "{");
        for (; count < others; flag++)
            if (flag != own) sp_text_printf(&text, "\"f%u\": %s, ", count++, flag >> e & 1 ? "true" : "false");
        sp_text_printf(&text, "\"own\": %s, \"width\": %.0f, \"inner\": %.0f}", own >> e & 1 ? "true" : "false",
                       widths[e], inner[e]);
        asking_example(&solving.asking, text.data);
        sp_text_free(&text);
        sp_function_add(&function, &(struct sp_point){.example = e}, own >> e & 1 ? widths[e] : inner[e]);
    }
    asking_gather(&solving.asking);
    solving.asking.evidence.most = UINT64_MAX;
    const bool found = is_term(sp_solve_function(&solving.problem, &function).term, "own ? width : inner");
    sp_function_free(&function);
    solving_end(&solving);
    return found;
}

static void many_conditions(void **state)
{
    (void)state;
    assert_true(is_case_found_behind(10));
    assert_false(is_case_found_behind(11));
}

/* A case by the condition of other rows comes first, if it costs no more than 90: 44 and two flags. */
static bool comes_known_case_first(unsigned cost)
{
    enum { COUNT = 5 };
    static const char *const configs[COUNT] = {
        "{\"own\": true, \"x\": true, \"y\": true, \"width\": 150, \"inner\": 901}",
        "{\"own\": true, \"x\": true, \"y\": true, \"width\": 221, \"inner\": 812}",
        "{\"own\": false, \"x\": true, \"y\": false, \"width\": 377, \"inner\": 777}",
        "{\"own\": false, \"x\": false, \"y\": true, \"width\": 491, \"inner\": 733}",
        "{\"own\": false, \"x\": false, \"y\": false, \"width\": 530, \"inner\": 689}"};
    static const double values[COUNT] = {150, 221, 777, 733, 689};
    struct solving solving = {
        .problem = {.evidence = &solving.asking.evidence, .library = {.evidence = &solving.asking.evidence}}};
    struct sp_learn_function function = {.name = "z"};
    const struct sp_search_term *flag[2];
    for (size_t e = 0; e < COUNT; e++) {
        asking_example(&solving.asking, configs[e]);
        sp_function_add(&function, &(struct sp_point){.example = e}, values[e]);
    }
    asking_gather(&solving.asking);
    solving.asking.evidence.most = UINT64_MAX;
    set_cost(&solving, "x", cost / 2);
    set_cost(&solving, "y", cost - cost / 2);
    for (size_t i = 0; i < 2; i++)
        flag[i] = sp_search_term_new(
            &solving.asking.arena,
            (struct sp_search_term){.op = SP_TERM_TRUTH,
                                    .terminal = sp_evidence_terminal(&solving.asking.evidence, i ? "y" : "x")});
    const struct sp_prior prior = {.term = sp_search_term_binary(&solving.asking.arena, SP_TERM_AND, flag[0], flag[1]),
                                   .kind = SP_PRIOR_CONDITION};
    *SP_PUSH(&solving.problem.priors) = prior;
    const struct sp_search_term *term = sp_solve_function(&solving.problem, &function).term;
    assert_non_null(term);
    assert_int_equal(term->op, SP_TERM_IF);
    const bool known = term->a->op == SP_TERM_AND;
    sp_function_free(&function);
    solving_end(&solving);
    return known;
}

static void known_cases(void **state)
{
    (void)state;
    assert_true(comes_known_case_first(90 - 44));
    assert_false(comes_known_case_first(91 - 44));
}

/* Two cases may cost so much more than a long expression, which costs 44: they cost 32 and the first key. */
static bool are_cases_taken(unsigned cost)
{
    static const char *const configs[EXAMPLES] = {
        "{\"flag\": true, \"a\": 250, \"b\": 31, \"c\": 900, \"d\": 10, \"e\": 160}",
        "{\"flag\": true, \"a\": 341, \"b\": 77, \"c\": 555, \"d\": 5, \"e\": 230}",
        "{\"flag\": false, \"a\": 17, \"b\": 203, \"c\": 331, \"d\": 4, \"e\": 121}"};
    static const double values[EXAMPLES] = {250, 341, 203};
    struct solving solving;
    solving_begin(&solving, configs);
    set_cost(&solving, "a", cost);
    const struct sp_answer answer = answer_of(&solving, values, "x");
    const bool taken = is_term(answer.term, "flag ? a : b");
    assert_true(taken || is_told(&answer, "flag ? a : b"));
    solving_end(&solving);
    return taken;
}

static void cases_or_a_sum(void **state)
{
    (void)state;
    assert_true(are_cases_taken(44 + 17 - 32));
    assert_false(are_cases_taken(44 + 18 - 32));
}

/* A case that was chosen elsewhere is likelier by 12: it costs 4 and its flag, beside a key of 10. */
static bool comes_case_first(unsigned cost)
{
    static const char *const configs[EXAMPLES] = {"{\"flag\": true, \"a\": 2}", "{\"flag\": false, \"a\": 1}",
                                                  "{\"flag\": false, \"a\": 1}"};
    static const double values[EXAMPLES] = {2, 1, 1};
    struct solving solving;
    solving_begin(&solving, configs);
    set_cost(&solving, "flag", cost);
    struct sp_arena *arena = &solving.asking.arena;
    const struct sp_search_term *flag = sp_search_term_new(
        arena, (struct sp_search_term){.op = SP_TERM_TRUTH,
                                       .terminal = sp_evidence_terminal(&solving.asking.evidence, "flag")});
    const struct sp_prior prior = {
        .term = sp_search_term_choice(arena, flag, sp_search_term_number(arena, 2), sp_search_term_number(arena, 1))};
    *SP_PUSH(&solving.problem.priors) = prior;
    const struct sp_search_term *term = answer_of(&solving, values, "x").term;
    const bool first = term && term->op == SP_TERM_IF;
    solving_end(&solving);
    return first;
}

static void cases_of_others(void **state)
{
    (void)state;
    assert_true(comes_case_first(10 + 12 - 4 - 1));
    assert_false(comes_case_first(10 + 12 - 4));
}

/* ---- conditions within conditions ---- */

/* Whether what holds in the first example alone is told by the flag of other rows of the module and what holds within
 * that, rather than by two other flags, which cost so much together. Within it another flag holds, or the two widths
 * of the row differ. */
static bool is_told_within(unsigned cost, bool by_widths)
{
    enum { COUNT = 5 };
    static const char *const configs[COUNT] = {
        "\"outer\": true, \"x\": true, \"y\": true", "\"outer\": true, \"x\": true, \"y\": false",
        "\"outer\": true, \"x\": false, \"y\": true", "\"outer\": false, \"x\": true, \"y\": false",
        "\"outer\": false, \"x\": false, \"y\": true"};
    static const unsigned widths[COUNT] = {101, 113, 125, 137, 149};
    struct solving solving = {
        .problem = {.evidence = &solving.asking.evidence, .library = {.evidence = &solving.asking.evidence}}};
    struct sp_learn_function function = {.name = "adapter.proj.weight"};
    struct sp_answer dims[2] = {{.term = NULL}};
    struct sp_tensor_row row = {.rank = 2, .dims = dims};
    for (unsigned e = 0; e < COUNT; e++) {
        struct sp_text text = {0};
        const bool within = e == 0 || e > 2;
        sp_text_printf(&text, "{%s", configs[e]);
        if (by_widths)
            sp_text_printf(&text, ", \"width\": %u, \"size\": %u}", widths[e], within ? widths[e] + 90 : widths[e]);
        else sp_text_printf(&text, ", \"within\": %s}", within ? "true" : "false");
        asking_example(&solving.asking, text.data);
        sp_text_free(&text);
        sp_function_add(&function, &(struct sp_point){.example = e}, e == 0);
    }
    asking_gather(&solving.asking);
    solving.asking.evidence.most = UINT64_MAX;
    set_cost(&solving, "x", cost / 2);
    set_cost(&solving, "y", cost - cost / 2);
    if (by_widths) {
        dims[0].term = key_of(&solving, "size");
        dims[1].term = key_of(&solving, "width");
    }
    const struct sp_search_term outer = {.op = SP_TERM_TRUTH,
                                         .terminal = sp_evidence_terminal(&solving.asking.evidence, "outer")};
    const struct sp_prior prior = {.term = sp_search_term_new(&solving.asking.arena, outer),
                                   .row = "adapter.norm.weight",
                                   .kind = SP_PRIOR_CONDITION_OF_ROW};
    *SP_PUSH(&solving.problem.priors) = prior;
    const struct sp_answer answer = sp_solve_condition(&solving.problem, &function, by_widths ? &row : NULL);
    const struct sp_search_term *term = answer.term;
    const bool told =
        term && term->op == SP_TERM_AND && term->a->terminal && strcmp(term->a->terminal->path, "outer") == 0;
    sp_function_free(&function);
    solving_end(&solving);
    return told;
}

static void conditions_within(void **state)
{
    (void)state;
    assert_true(is_told_within(4 + 5, false)); /* beside one flag of 10 */
    assert_false(is_told_within(4 + 4, false));
    assert_true(is_told_within(0 + 1, true)); /* beside two widths of 10, which are those of the row */
    assert_false(is_told_within(0 + 0, true));
}

/* ---- banks ---- */

/* They are forgotten together when there are many. */
static void banks(void **state)
{
    static const char *const configs[EXAMPLES] = {"{\"a\": 15}", "{\"a\": 22}", "{\"a\": 37}"};
    struct solving solving;
    struct sp_library *library = &solving.problem.library;
    (void)state;
    solving_begin(&solving, configs);
    for (size_t i = 0; i < 32; i++) {
        struct sp_point point = {.index = {i}};
        sp_library_tidy(library);
        assert_int_equal(library->banks.count, i);
        sp_library_bank(library, &(struct sp_domain){&point, 1, 1});
    }
    sp_library_tidy(library);
    assert_int_equal(library->banks.count, 0);
    solving_end(&solving);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accidents),       cmocka_unit_test(one_value),
        cmocka_unit_test(slack),           cmocka_unit_test(many_others),
        cmocka_unit_test(priors),          cmocka_unit_test(sums),
        cmocka_unit_test(banks),           cmocka_unit_test(dearest_expressions),
        cmocka_unit_test(defaults),        cmocka_unit_test(cases),
        cmocka_unit_test(effort),          cmocka_unit_test(known_cases),
        cmocka_unit_test(many_conditions), cmocka_unit_test(cases_or_a_sum),
        cmocka_unit_test(cases_of_others), cmocka_unit_test(conditions_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
