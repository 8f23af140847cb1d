/* SPDX-License-Identifier: MIT
 * Relations between tensors whose elements differ. Each is a view of the elements (views.h), a change of the values, or
 * both; candidates are compared up to their first element that differs, so that a wrong one costs one read. */
#include "diff/relations.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/chars.h"
#include "base/order.h"
#include "base/real.h"
#include "model/inventory.h"
#include "model/layouts.h"
#include "model/values.h"
#include "names/components.h"
#include "names/patterns.h"

/* Two tensors that should be the same, as they should be. */
struct unit {
    struct sp_view_pair pair; /* a is of the original, b of what was made of it */
    size_t a;                 /* the tensor of A */
    const char *name;         /* of the tensor of A, or of a part of it */
    size_t finding;           /* that they have other data without a relation; SHAPEPROOF_NONE when they have not */
    float sample[SP_SAMPLES]; /* the first values of the original, after its change */
    size_t sampled;           /* how many */
};

struct sp_relations {
    struct shapeproof_diff *diff;
    const struct shapeproof_data *a, *b;
    const char *architecture; /* of the GGUF file in a conversion to GGUF, else NULL */
    bool a_is_gguf;           /* in a conversion: A is the GGUF file, B the original */
    struct sp_data_progress *progress;
    SP_ARRAY(struct unit) units;
};

struct sp_relations *sp_relations_new(struct shapeproof_diff *diff, const struct shapeproof_data *a,
                                      const struct shapeproof_data *b, struct sp_data_progress *progress)
{
    struct sp_relations *relations = sp_realloc(NULL, 1, sizeof *relations);
    const bool a_is_gguf = sp_format_has(diff->a.inventory, SP_BY_LLAMA_CPP);
    *relations = (struct sp_relations){.diff = diff, .a = a, .b = b, .progress = progress};
    if (!sp_diff_is_conversion(diff)) return relations;
    relations->a_is_gguf = a_is_gguf;
    relations->architecture =
        sp_inventory_metadata_value(a_is_gguf ? diff->a.inventory : diff->b.inventory, "general.architecture");
    return relations;
}

void sp_relations_free(struct sp_relations *relations)
{
    if (!relations) return;
    sp_free(relations->units.items);
    sp_free(relations);
}

/* ---- the original, and what was made of it ---- */

/* A tensor of A and its counterpart: in a conversion to GGUF `original` is that of the other file, elsewhere A's. */
struct subject {
    struct sp_element_view original, made;
};

static struct subject subject_of(const struct sp_relations *relations, size_t a)
{
    const size_t b = relations->diff->a.other[a];
    const struct sp_element_view in_a = {.bytes = {relations->a, a}, .tensor = sp_diff_a(relations->diff, a)};
    const struct sp_element_view in_b = {.bytes = {relations->b, b}, .tensor = sp_diff_b(relations->diff, b)};
    return relations->a_is_gguf ? (struct subject){in_b, in_a} : (struct subject){in_a, in_b};
}

static bool is_in(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; text && i < count; i++)
        if (strcmp(text, list[i]) == 0) return true;
    return false;
}

#define IS_IN(text, list) is_in(text, list, sizeof(list) / sizeof *(list))

/* Whether the component before "weight" or "bias" is one of the list: "q_proj" of "layers.0.self_attn.q_proj.weight".
 */
static bool is_module(const char *name, const char *const *list, size_t count)
{
    const size_t leaf = sp_last_component(name, strlen(name), ".");
    const size_t begin = leaf ? sp_last_component(name, leaf - 1, ".") : 0;
    if (!leaf || (strcmp(name + leaf, "weight") != 0 && strcmp(name + leaf, "bias") != 0)) return false;
    for (size_t i = 0; i < count; i++)
        if (sp_is_component(name + begin, leaf - 1 - begin, list[i])) return true;
    return false;
}

static const char *const queries[] = {"q_proj", "wq", "attn_q", "q", "query"};
static const char *const keys[] = {"k_proj", "wk", "attn_k", "k", "key"};
static const char *const fused_heads[] = {"query_key_value", "attn_qkv"};

#define IS_MODULE(name, list) is_module(name, list, sizeof(list) / sizeof *(list))

/* ---- orders of elements ---- */

enum order {
    ORDER_STORED,
    ORDER_PAIRED,     /* row 2 r + s of a head of d rows was row s d/2 + r: llama.cpp, Meta */
    ORDER_HALVED,     /* the other way round */
    ORDER_TWICE,      /* paired, and the result paired again */
    ORDER_TRANSPOSED, /* a square matrix */
    ORDER_GATHERED    /* (heads, 3, d) became (3, heads, d) */
};

/* The pair in that order, of `heads` heads; false when the shape does not allow it. */
static bool order_elements(const struct subject *subject, enum order order, uint64_t heads, struct sp_view_pair *pair)
{
    const struct shapeproof_tensor *tensor = subject->original.tensor;
    const uint64_t rows = tensor->rank ? tensor->shape[0] : 1, columns = tensor->rank == 2 ? tensor->shape[1] : 1;
    *pair = sp_view_pair_flat(&subject->original, &subject->made);
    if (order == ORDER_STORED) return true;
    if (!tensor->rank || tensor->rank > 2 || !rows || !columns) return false;
    pair->rank = 0;
    if (order == ORDER_TRANSPOSED) {
        sp_view_pair_add(pair, rows, 1, columns);
        sp_view_pair_add(pair, columns, rows, 1);
        return tensor->rank == 2 && rows == columns;
    }
    const uint64_t parts = order == ORDER_GATHERED ? 3 : order == ORDER_TWICE ? 4 : 2;
    if (!heads || rows % heads || rows / heads % parts) return false;
    const uint64_t size = rows / heads;
    if (order == ORDER_GATHERED) {
        const uint64_t own = size / 3;
        sp_view_pair_add(pair, 3, own * columns, heads * own * columns);
        sp_view_pair_add(pair, heads, size * columns, own * columns);
        sp_view_pair_add(pair, own, columns, columns);
    } else {
        sp_view_pair_add(pair, heads, size * columns, size * columns);
        sp_view_pair_add_rotary(pair,
                                order == ORDER_PAIRED   ? SP_ROTARY_PAIRED
                                : order == ORDER_HALVED ? SP_ROTARY_HALVED
                                                        : SP_ROTARY_TWICE,
                                size, columns, columns);
    }
    if (columns > 1) sp_view_pair_add(pair, columns, 1, 1);
    return true;
}

/* The number in a value of metadata; of a list, "[0, 8, 0]", that of the layer in the name. 0 when there is none. */
static uint64_t number_for(const char *value, const char *name)
{
    uint64_t layer = 0;
    if (sp_is_digit(*value)) return strtoull(value, NULL, 10);
    if (*value != '[' || strncmp(name, "blk.", 4) != 0 || !sp_index_at(name, 4, &layer)) return 0;
    const char *entry = value + 1;
    for (; layer && entry; layer--)
        if ((entry = strchr(entry, ',')) != NULL) entry++;
    if (entry) entry += strspn(entry, " ");
    return entry && sp_is_digit(*entry) ? strtoull(entry, NULL, 10) : 0;
}

/* The number of heads of queries or keys in a conversion, as the GGUF file has it; 0 when it is not known. */
static uint64_t heads_of(const struct sp_relations *relations, const char *name)
{
    const struct shapeproof_inventory *file =
        relations->a_is_gguf ? relations->diff->a.inventory : relations->diff->b.inventory;
    struct sp_arena *arena = &relations->diff->arena;
    const char *heads = NULL;
    if (IS_MODULE(name, keys))
        heads = sp_inventory_metadata_value(
            file, sp_arena_printf(arena, "%s.attention.head_count_kv", relations->architecture));
    if (!heads)
        heads = sp_inventory_metadata_value(file,
                                            sp_arena_printf(arena, "%s.attention.head_count", relations->architecture));
    return heads ? number_for(heads, name) : 0;
}

/* ---- what the converter to GGUF does ---- */

/* Architectures whose queries and keys the converter puts in pairs (conversion/, LlamaModel.permute). */
static const char *const pairing[] = {"llama",         "deci",  "granite", "granitemoe", "granite_swa",
                                      "granitehybrid", "arcee", "xverse",  "baichuan",   "internlm2",
                                      "minicpm",       "olmo",  "smollm3", "deepseek"};
/* Architectures for which it never does, or llama.cpp rotates halves (llama_model_rope_type). Of one that is in neither
 * list both orders are right. */
static const char *const never_pairing[] = {
    "afmoe",         "apertus",      "bailingmoe2", "bert",       "bitnet",      "chatglm",  "cohere2",
    "cohere2moe",    "command-r",    "deepseek2",   "dots1",      "ernie4_5",    "exaone",   "ernie4_5-moe",
    "exaone4",       "exaone-moe",   "falcon",      "falcon-h1",  "gemma",       "gemma2",   "gemma3",
    "gemma3n",       "gemma4",       "glm4",        "glm4moe",    "gpt-oss",     "grok",     "hunyuan-moe",
    "hunyuan-dense", "hy_v3",        "jais2",       "lfm2",       "lfm2moe",     "llama4",   "mellum",
    "mimo2",         "minicpm3",     "minimax-m2",  "minimax-m3", "modern-bert", "nemotron", "nomic-bert",
    "olmo2",         "olmoe",        "openelm",     "phi2",       "phi3",        "phimoe",   "plamo",
    "qwen2",         "qwen2moe",     "qwen3",       "qwen3moe",   "qwen3next",   "qwen35",   "qwen35moe",
    "seed_oss",      "smallthinker", "stablelm",    "starcoder2",
};
/* Architectures to whose norms the converter adds 1, except those of the state space. */
static const char *const adding_one[] = {"gemma",      "gemma2",    "gemma3", "gemma-embedding", "nemotron",
                                         "minimax-m3", "qwen3next", "qwen35", "qwen35moe"};
/* Architectures of which it stores -exp(A_log). */
static const char *const with_exp[] = {"mamba",     "mamba2",        "jamba",      "falcon-h1",
                                       "plamo2",    "granitehybrid", "nemotron_h", "nemotron_h_moe",
                                       "qwen3next", "qwen35",        "qwen35moe",  "kimi-linear"};
/* Architectures whose queries, keys and values are fused head by head in the original, and not in GGUF. */
static const char *const gathering[] = {"bloom", "gptneox"};

static bool is_norm(const char *name) { return sp_ends_with(name, "norm.weight"); }

/* Whether a matrix whose shape shows it was found to be transposed so far. Of GPT-2 c_attn and c_fc are no squares. */
static bool has_transposed_matrix(const struct shapeproof_diff *diff)
{
    for (size_t i = 0; i < diff->finding_count; i++)
        if (diff->findings[i].kind == SHAPEPROOF_DIFF_FINDING_TRANSPOSED) return true;
    return false;
}

/* Conv1D of GPT-2, which has (in, out). */
static bool is_conv1d(const char *name)
{
    static const char *const modules[] = {"c_attn", "c_proj", "c_fc"};
    return IS_MODULE(name, modules) && sp_ends_with(name, ".weight");
}

/* The relation of a tensor of the original and what was made of it. */
struct relation {
    enum order order;
    uint64_t heads;
    enum sp_change change;
};

/* The relation that a conversion to GGUF must have; as stored where none is known. */
static struct relation expected_relation(const struct sp_relations *relations, const struct subject *subject)
{
    const char *original = subject->original.tensor->name, *made = subject->made.tensor->name;
    const char *architecture = relations->architecture;
    struct relation expected = {ORDER_STORED, 0, SP_CHANGE_NONE};
    if (!architecture) return expected;
    const uint64_t heads = heads_of(relations, made);
    const bool is_rotary = IS_MODULE(made, queries) || IS_MODULE(made, keys);
    if (is_rotary && heads && IS_IN(architecture, pairing)) expected = (struct relation){ORDER_PAIRED, heads, 0};
    if (IS_MODULE(made, fused_heads) && heads && IS_IN(architecture, gathering))
        expected = (struct relation){ORDER_GATHERED, heads, 0};
    if (is_conv1d(original) && has_transposed_matrix(relations->diff))
        expected = (struct relation){ORDER_TRANSPOSED, 0, 0};
    if (is_norm(original) && is_norm(made) && !sp_ends_with(made, "ssm_norm.weight") && IS_IN(architecture, adding_one))
        expected.change = SP_CHANGE_PLUS_ONE;
    if (sp_ends_with(original, "A_log") && sp_ends_with(made, ".ssm_a") && IS_IN(architecture, with_exp))
        expected.change = SP_CHANGE_MINUS_EXP;
    return expected;
}

uint64_t sp_relations_heads(const struct sp_relations *relations, size_t a, enum sp_row_order *expected)
{
    const struct subject subject = subject_of(relations, a);
    const struct shapeproof_tensor *made = subject.made.tensor;
    const struct relation relation = expected_relation(relations, &subject);
    const char *architecture = relations->architecture;
    const bool is_known =
        (relation.order == ORDER_STORED || relation.order == ORDER_PAIRED) && relation.change == SP_CHANGE_NONE;
    *expected = is_known ? SP_ROWS_ANY : SP_ROWS_OTHER;
    if (!is_known || !architecture || !made->rank || (!IS_MODULE(made->name, queries) && !IS_MODULE(made->name, keys)))
        return 0;
    const uint64_t heads = heads_of(relations, made->name);
    if (!heads || made->shape[0] % heads || made->shape[0] / heads % 2) return 0;
    if (IS_IN(architecture, pairing)) *expected = SP_ROWS_PAIRED;
    else if (IS_IN(architecture, never_pairing)) *expected = SP_ROWS_STORED;
    if (made->rank >= 2) return heads;
    if (*expected != SP_ROWS_STORED) *expected = SP_ROWS_OTHER; /* rows of one element, of which a block has several */
    return 0;
}

/* ---- tensors of other shapes ---- */

/* A kernel of Keras, whose last two dimensions are (in, out), and a weight of PyTorch, whose first two are (out, in).
 */
static void pair_kernel(const struct subject *subject, bool kernel_is_original, struct sp_view_pair *pair)
{
    const struct sp_element_view *kernel = kernel_is_original ? &subject->original : &subject->made;
    const uint64_t *shape = kernel->tensor->shape;
    const uint32_t rank = kernel->tensor->rank;
    const uint64_t in = shape[rank - 2], out = shape[rank - 1], area = kernel->tensor->parameters / in / out;
    pair->rank = 0;
    if (kernel_is_original) {
        sp_view_pair_add(pair, out, 1, in * area);
        sp_view_pair_add(pair, in, out, area);
        if (area > 1) sp_view_pair_add(pair, area, in * out, 1);
    } else if (area == 1) { /* the elements that follow one another in the kernel come last */
        sp_view_pair_add(pair, in, 1, out);
        sp_view_pair_add(pair, out, in, 1);
    } else {
        sp_view_pair_add(pair, out, in * area, 1);
        sp_view_pair_add(pair, in, area, out);
        sp_view_pair_add(pair, area, 1, in * out);
    }
}

/* Several matrices, each of them transposed. */
static void pair_transposed(const struct subject *subject, struct sp_view_pair *pair)
{
    const struct shapeproof_tensor *tensor = subject->original.tensor;
    const uint64_t rows = tensor->shape[tensor->rank - 2], columns = tensor->shape[tensor->rank - 1];
    pair->rank = 0;
    sp_view_pair_add(pair, tensor->parameters / rows / columns, rows * columns, rows * columns);
    sp_view_pair_add(pair, columns, 1, rows);
    sp_view_pair_add(pair, rows, columns, 1);
}

struct sp_view_pair sp_relations_stored(const struct sp_relations *relations, size_t a)
{
    const struct subject subject = subject_of(relations, a);
    return sp_view_pair_flat(&subject.original, &subject.made);
}

bool sp_relations_reshaped(const struct sp_relations *relations, size_t a, struct sp_view_pair *pair)
{
    const struct subject subject = subject_of(relations, a);
    const struct shapeproof_tensor *one = subject.original.tensor, *other = subject.made.tensor;
    *pair = sp_view_pair_flat(&subject.original, &subject.made);
    if (!one->parameters || one->parameters != other->parameters) return false;
    if (shapeproof_diff_is_converted(relations->diff, a)) {
        const bool first = one->shape[0] == other->shape[one->rank - 1] && one->shape[1] == other->shape[one->rank - 2];
        pair_kernel(&subject, !first || one->rank == 2, pair);
    } else if (one->rank >= 2 && (sp_tensor_has_transposed_matrices(one, other) ||
                                  (one->rank == 2 && sp_tensor_is_transposed(one, other))))
        pair_transposed(&subject, pair);
    else if (!sp_differs_in_ones(one->shape, one->rank, other->shape, other->rank) && one->rank != 1 &&
             other->rank != 1)
        return false;
    return true;
}

/* ---- judging ---- */

/* What is wrong when a relation holds that should not, or (`missing`) does not hold that should. */
static const char *describe_relation(const struct relation *relation, bool missing)
{
    switch (relation->order) {
    case ORDER_PAIRED:
        return missing ? "has its rows in the order of the original, where llama.cpp expects them permuted"
                       : "has its rows permuted for rotary positions";
    case ORDER_HALVED:
        return "has its rows permuted back from the order for rotary positions";
    case ORDER_TWICE:
        return "has its rows permuted twice for rotary positions";
    case ORDER_TRANSPOSED:
        return missing ? "is not transposed, where llama.cpp expects it to be" : "is transposed";
    case ORDER_GATHERED:
        return missing ? "has queries, keys and values head by head, where llama.cpp expects all queries first"
                       : "has the queries, keys and values of all heads together, not head by head";
    case ORDER_STORED:
        break;
    }
    switch (relation->change) {
    case SP_CHANGE_PLUS_ONE:
        return missing ? "is as in the original, where llama.cpp expects 1 added to it" : "has 1 added to each element";
    case SP_CHANGE_PLUS_TWO:
        return "has 2 added to each element: 1 was added twice";
    case SP_CHANGE_MINUS_ONE:
        return "has 1 subtracted from each element";
    case SP_CHANGE_MINUS_EXP:
        return missing ? "is as in the original, where llama.cpp expects -exp(A_log)" : "is -exp of each element";
    case SP_CHANGE_EXP:
        return "is exp of each element";
    case SP_CHANGE_NEGATED:
        return "has the opposite sign";
    case SP_CHANGE_DOUBLED:
        return "has each element doubled";
    case SP_CHANGE_HALVED:
        return "has each element halved";
    case SP_CHANGE_ZERO:
        return "has only zeros";
    case SP_CHANGE_ROUNDED_BF16:
        return "has its elements rounded to BF16";
    case SP_CHANGE_ROUNDED_F16:
        return "has its elements rounded to F16";
    case SP_CHANGE_CUT_BF16:
        return "has its elements cut off to BF16, not rounded";
    case SP_CHANGE_NONE:
        break;
    }
    return NULL;
}

static enum sp_relation_form form_of(const struct relation *relation)
{
    if (relation->change == SP_CHANGE_PLUS_ONE) return SP_FORM_PLUS_ONE;
    if (relation->change == SP_CHANGE_MINUS_EXP) return SP_FORM_MINUS_EXP;
    return relation->order == ORDER_PAIRED       ? SP_FORM_PERMUTED
           : relation->order == ORDER_HALVED     ? SP_FORM_PERMUTED
           : relation->order == ORDER_TRANSPOSED ? SP_FORM_TRANSPOSED
           : relation->order == ORDER_GATHERED   ? SP_FORM_HEADS
                                                 : SP_FORM_STORED;
}

/* Judging one tensor. */
struct judging {
    struct sp_relations *relations;
    struct subject subject;
    const struct sp_view_pair *stored; /* how the elements are paired as they are stored */
    bool has_orders;                   /* both have the same shape: the order of elements may be another */
    struct relation expected;
    struct sp_judgement *judgement;
    bool found; /* a relation that explains the difference */
    struct shapeproof_error *error;
};

/* The pair under a relation; false when it cannot be compared. */
static bool pair_related(const struct judging *judging, const struct relation *relation, struct sp_view_pair *pair)
{
    const bool is_float =
        sp_is_float(judging->subject.original.tensor->dtype) && sp_is_float(judging->subject.made.tensor->dtype);
    if (relation->order == ORDER_STORED) *pair = *judging->stored;
    else if (!judging->has_orders || !order_elements(&judging->subject, relation->order, relation->heads, pair))
        return false;
    pair->change = relation->change;
    return (is_float || relation->change == SP_CHANGE_NONE) && sp_views_fit(pair);
}

/* Whether a relation that holds is as right as none: in a conversion to another program, whose order is not known. */
static bool may_be_right(const struct judging *judging, const struct relation *relation)
{
    const struct sp_relations *relations = judging->relations;
    const bool is_rotary = relation->order == ORDER_PAIRED || relation->order == ORDER_HALVED;
    if (relation->change != SP_CHANGE_NONE) return false;
    if (relation->order == ORDER_TRANSPOSED) return has_transposed_matrix(relations->diff);
    if (!relations->architecture) return is_rotary && relations->diff->scheme;
    return relation->order == ORDER_PAIRED && !IS_IN(relations->architecture, never_pairing);
}

/* Compares without counting it: the bytes were counted when they were compared as they are stored. */
static bool compare_again(const struct sp_relations *relations, const struct sp_view_pair *pair,
                          enum sp_elements *result, struct shapeproof_error *error)
{
    relations->progress->element = 0;
    return sp_views_compare(pair, relations->progress, result, error);
}

/* Compares under a relation, unless another one was found before. False with an error when a file cannot be read. */
static bool try_relation(struct judging *judging, struct relation relation)
{
    struct sp_view_pair pair;
    enum sp_elements result;
    if (judging->found || !pair_related(judging, &relation, &pair) || !sp_views_are_alike(&pair)) return true;
    if (!compare_again(judging->relations, &pair, &result, judging->error)) return false;
    if (result == SP_ELEMENTS_DIFFERENT) return true;
    const struct relation *expected = &judging->expected;
    judging->found = true;
    judging->judgement->same =
        (relation.order == expected->order && relation.change == expected->change) || may_be_right(judging, &relation);
    judging->judgement->form = form_of(&relation);
    if (!judging->judgement->same) judging->judgement->message = describe_relation(&relation, false);
    return true;
}

/* Tries the orders of rows for rotary positions, with the heads of the conversion, or of each size that is possible. */
static bool try_rotary(struct judging *judging)
{
    enum { LARGEST = 1024 };                                                      /* rows of a head */
    static const enum order orders[] = {ORDER_PAIRED, ORDER_TWICE, ORDER_HALVED}; /* of 8 rows the last two are one */
    const struct shapeproof_tensor *tensor = judging->subject.original.tensor;
    const char *name = judging->subject.made.tensor->name;
    const uint64_t rows = tensor->rank ? tensor->shape[0] : 0;
    if (!IS_MODULE(name, queries) && !IS_MODULE(name, keys)) return true;
    const uint64_t heads = judging->relations->architecture ? heads_of(judging->relations, name) : 0;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        if (heads && !try_relation(judging, (struct relation){orders[i], heads, SP_CHANGE_NONE})) return false;
        for (uint64_t size = 4; !judging->relations->architecture && size <= LARGEST && size <= rows; size += 2)
            if (rows % size == 0 && !try_relation(judging, (struct relation){orders[i], rows / size, SP_CHANGE_NONE}))
                return false;
    }
    return true;
}

static bool try_changes(struct judging *judging)
{
    const char *name = judging->subject.original.tensor->name;
    const struct shapeproof_tensor *one = judging->subject.original.tensor, *other = judging->subject.made.tensor;
    enum sp_change changes[12];
    size_t count = 0;
    if (strstr(name, "norm") || strstr(name, "ln_")) {
        changes[count++] = SP_CHANGE_PLUS_ONE;
        changes[count++] = SP_CHANGE_MINUS_ONE;
        changes[count++] = SP_CHANGE_PLUS_TWO;
    }
    if (sp_ends_with(name, "A_log") || sp_ends_with(name, "ssm_a")) {
        changes[count++] = SP_CHANGE_MINUS_EXP;
        changes[count++] = SP_CHANGE_EXP;
    }
    changes[count++] = SP_CHANGE_NEGATED;
    changes[count++] = SP_CHANGE_DOUBLED;
    changes[count++] = SP_CHANGE_HALVED;
    changes[count++] = SP_CHANGE_ZERO;
    if (one->dtype == SHAPEPROOF_DTYPE_F32 || one->dtype == SHAPEPROOF_DTYPE_F64) { /* B has what a detour left */
        if (other->dtype != SHAPEPROOF_DTYPE_BF16) changes[count++] = SP_CHANGE_ROUNDED_BF16;
        if (other->dtype != SHAPEPROOF_DTYPE_F16) changes[count++] = SP_CHANGE_ROUNDED_F16;
        changes[count++] = SP_CHANGE_CUT_BF16;
    }
    for (size_t i = 0; i < count; i++)
        if (!try_relation(judging, (struct relation){judging->expected.order, judging->expected.heads, changes[i]}))
            return false;
    return true;
}

/* Tries the relations that could make different tensors equal, the expected one first. */
static bool try_relations(struct judging *judging)
{
    const char *name = judging->subject.made.tensor->name;
    const struct relation transposed = {ORDER_TRANSPOSED, 0, SP_CHANGE_NONE};
    const struct relation *expected = &judging->expected;
    const uint64_t heads = judging->relations->architecture ? heads_of(judging->relations, name) : 0;
    const bool is_stored = expected->order == ORDER_STORED && expected->change == SP_CHANGE_NONE;
    if (!is_stored && !try_relation(judging, *expected)) return false;
    if (!try_rotary(judging) || !try_relation(judging, transposed)) return false;
    if (IS_MODULE(name, fused_heads) &&
        !try_relation(judging, (struct relation){ORDER_GATHERED, heads, SP_CHANGE_NONE}))
        return false;
    return try_changes(judging);
}

/* Judges tensors that are the same as they are stored: another relation must hold for them to be right. One that holds
 * as well, as that of a constant, is no evidence. */
static bool judge_stored(struct judging *judging)
{
    struct sp_view_pair pair;
    enum sp_elements result;
    const struct relation *expected = &judging->expected;
    if (expected->order == ORDER_STORED && expected->change == SP_CHANGE_NONE) return true;
    if (!pair_related(judging, expected, &pair)) return true;
    if (!compare_again(judging->relations, &pair, &result, judging->error)) return false;
    if (result != SP_ELEMENTS_DIFFERENT) return true;
    judging->judgement->same = false;
    judging->judgement->message = describe_relation(expected, true);
    return true;
}

/* Whether the bytes of a pair are compared, but not the numbers in them. */
static bool is_big_endian(const struct sp_view_pair *pair)
{
    return (pair->a.tensor->flags | pair->b.tensor->flags) & SHAPEPROOF_TENSOR_BIG_ENDIAN;
}

bool sp_relations_judge(struct sp_relations *relations, size_t a, const struct sp_view_pair *pair, bool same,
                        struct sp_judgement *judgement, struct shapeproof_error *error)
{
    struct judging judging = {.relations = relations,
                              .subject = subject_of(relations, a),
                              .stored = pair,
                              .has_orders = !pair,
                              .judgement = judgement,
                              .error = error};
    const struct sp_view_pair flat = sp_view_pair_flat(&judging.subject.original, &judging.subject.made);
    struct unit *unit = SP_PUSH(&relations->units);
    *unit = (struct unit){
        .pair = pair ? *pair : flat, .a = a, .name = sp_diff_a(relations->diff, a)->name, .finding = SHAPEPROOF_NONE};
    *judgement = (struct sp_judgement){.same = same};
    if (is_big_endian(&flat)) return true;
    if (!sp_is_row_major(judging.subject.original.tensor) || !sp_is_row_major(judging.subject.made.tensor)) return true;
    if (!pair) judging.stored = &flat;
    judging.expected = expected_relation(relations, &judging.subject);
    if (pair) judging.expected.order = ORDER_STORED; /* the pair has the order that its shapes show */
    if (!pair_related(&judging, &judging.expected, &unit->pair)) unit->pair = *judging.stored;
    return same ? judge_stored(&judging) : try_relations(&judging);
}

void sp_relations_unexplained(struct sp_relations *relations)
{
    struct unit *unit = &relations->units.items[relations->units.count - 1];
    if (!is_big_endian(&unit->pair)) unit->finding = relations->diff->finding_count - 1;
}

/* ---- parts of tensors ---- */

uint64_t sp_relations_part_heads(const struct sp_relations *relations, const char *name)
{
    if (!relations->architecture || IS_IN(relations->architecture, never_pairing)) return 0;
    return IS_MODULE(name, queries) || IS_MODULE(name, keys) ? heads_of(relations, name) : 0;
}

bool sp_relations_reversed(const struct sp_relations *relations) { return relations->a_is_gguf; }

void sp_relations_add_part(struct sp_relations *relations, const struct sp_view_pair *pair, const char *name, size_t a,
                           size_t finding)
{
    *SP_PUSH(&relations->units) = (struct unit){.pair = *pair, .a = a, .name = name, .finding = finding};
}

/* ---- the data of another tensor ---- */

struct search {
    struct sp_relations *relations;
    const struct unit **sorted; /* by the number of their elements, then by their first value */
    size_t count;
    struct shapeproof_error *error;
};

static int compare_units(const void *left, const void *right)
{
    const struct unit *a = *(const struct unit *const *)left, *b = *(const struct unit *const *)right;
    const uint64_t in_a = a->pair.a.tensor->parameters, in_b = b->pair.a.tensor->parameters;
    if (in_a != in_b) return sp_order(in_a, in_b);
    if (a->sample[0] < b->sample[0]) return -1;
    if (a->sample[0] > b->sample[0]) return 1;
    return a < b ? -1 : a > b; /* in the order in which they were judged */
}

/* Whether a pair has all elements of both tensors. */
static bool is_of_wholes(const struct sp_view_pair *pair)
{
    uint64_t elements = 1;
    for (uint32_t i = 0; i < pair->rank; i++) elements *= pair->size[i]; /* at most the elements of a tensor */
    return elements == pair->a.tensor->parameters && elements == pair->b.tensor->parameters;
}

static bool has_same_sizes(const struct sp_view_pair *one, const struct sp_view_pair *other)
{
    return one->rank == other->rank && memcmp(one->size, other->size, one->rank * sizeof *one->size) == 0;
}

/* Whether what was made of one unit's original has the data of another unit's. Of whole tensors in the layout of the
 * one or of the other; a part of a tensor keeps its own, since that of another part may reach behind its tensor. */
static bool has_data_of(const struct search *search, const struct unit *unit, const struct unit *other, bool *same)
{
    const struct shapeproof_tensor *one = unit->pair.a.tensor, *two = other->pair.a.tensor;
    const bool wholes = is_of_wholes(&unit->pair) && is_of_wholes(&other->pair);
    enum sp_elements result;
    *same = false;
    if (!sp_tensor_same_shape(one, two) || one->dtype != two->dtype) return true;
    if (!sp_tensor_same_shape(unit->pair.b.tensor, other->pair.b.tensor)) return true;
    if (unit->pair.b.tensor->dtype != other->pair.b.tensor->dtype) return true;
    if (!wholes && !has_same_sizes(&unit->pair, &other->pair)) return true;
    for (int layout = 0; layout < (wholes ? 2 : 1) && !*same; layout++) { /* that of the one, then that of the other */
        struct sp_view_pair pair = layout ? other->pair : unit->pair;
        if (!wholes) pair.a = other->pair.a;
        pair.a.bytes = other->pair.a.bytes;
        pair.a.tensor = two;
        pair.b.bytes = unit->pair.b.bytes;
        pair.b.tensor = unit->pair.b.tensor;
        if (!compare_again(search->relations, &pair, &result, search->error)) return false;
        *same = result != SP_ELEMENTS_DIFFERENT;
    }
    return true;
}

/* The first unit that may have values that begin with this one. */
static size_t first_candidate(const struct search *search, uint64_t elements, double least)
{
    size_t low = 0, high = search->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct unit *unit = search->sorted[middle];
        const uint64_t own = unit->pair.a.tensor->parameters;
        if (own < elements || (own == elements && (double)unit->sample[0] < least)) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Whether the original of a unit begins with the same values. */
static bool begins_with(const struct unit *unit, const double *values, size_t count)
{
    for (size_t i = 0; i < count && i < unit->sampled; i++)
        if (!sp_is_near(values[i], (double)unit->sample[i])) return false;
    return unit->sampled && count;
}

/* The tensor whose data a unit has instead of its own: one with which it is exchanged, or the only one. NULL when there
 * is none. False with an error when a file cannot be read. */
static bool find_source(const struct search *search, const struct unit *unit, const struct unit **source,
                        bool *exchanged)
{
    enum {
        MOST = 64,      /* tensors that are compared whole: others have the same beginning and differ later */
        LOOKS = 1 << 12 /* tensors whose beginning is looked at: many may have the same first value */
    };
    double values[SP_SAMPLES];
    const size_t count = sp_views_sample_b(&unit->pair, values, SP_SAMPLES);
    const double first = count && !isnan(values[0]) ? values[0] : 0, margin = fabs(first) * ldexp(1, -6);
    const uint64_t elements = unit->pair.a.tensor->parameters;
    size_t compared = 0, found = 0;
    *source = NULL;
    *exchanged = false;
    size_t at = first_candidate(search, elements, first - margin);
    for (size_t looks = 0; count && at < search->count && looks < LOOKS && compared < MOST; at++, looks++) {
        const struct unit *other = search->sorted[at];
        bool same, back = false;
        if (other->pair.a.tensor->parameters != elements || (double)other->sample[0] > first + margin) break;
        if (other == unit || !begins_with(other, values, count)) continue;
        compared++;
        if (!has_data_of(search, unit, other, &same)) return false;
        if (same && other->finding != SHAPEPROOF_NONE && !has_data_of(search, other, unit, &back)) return false;
        if (!same) continue;
        found++;
        *source = other;
        *exchanged = back;
        if (back) return true;
    }
    if (found > 1) *source = NULL; /* as of constants: it tells nothing */
    return true;
}

/* ---- what is said of it ---- */

/* Which component in which two names differ, if it is an index: "layers" and "experts" of the one before it. */
struct place {
    const char *what; /* "layer", "expert"; NULL when they differ in something else */
    uint64_t in_one, in_other;
};

/* "layer" of "layers", "h" or "blk". */
static const char *noun_of(const char *name, size_t length)
{
    static const char *const layers[] = {"layers", "layer", "h", "blocks", "block", "blk", "transformer", "resblocks"};
    static const char *const experts[] = {"experts", "expert"};
    for (size_t i = 0; i < sizeof experts / sizeof *experts; i++)
        if (sp_is_component(name, length, experts[i])) return "expert";
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (sp_is_component(name, length, layers[i])) return "layer";
    return NULL;
}

/* How the name of a unit differs from that of another. */
static struct place place_of(const char *one, const char *other)
{
    struct sp_component_walk in_one = {.rest = one}, in_other = {.rest = other};
    struct place place = {0};
    const char *before = "";
    size_t length = 0, differences = 0;
    for (;;) {
        const bool more = sp_component_next(&in_one, "."), more_other = sp_component_next(&in_other, ".");
        if (more != more_other) return (struct place){0};
        if (!more) break;
        if (in_one.length != in_other.length || memcmp(in_one.text, in_other.text, in_one.length) != 0) {
            const bool indices =
                sp_index_at(one, (size_t)(in_one.text - one), &place.in_one) == in_one.length &&
                sp_index_at(other, (size_t)(in_other.text - other), &place.in_other) == in_other.length;
            if (!indices || differences++) return (struct place){0};
            place.what = noun_of(before, length);
        }
        before = in_one.text;
        length = in_one.length;
    }
    return place;
}

/* Writes into the finding of a unit that its data are those of another one. */
static void tell_source(const struct search *search, const struct unit *unit, const struct unit *source, bool exchanged)
{
    struct shapeproof_diff *diff = search->relations->diff;
    struct shapeproof_diff_finding *finding = &diff->findings[unit->finding];
    const char *name = source->name;
    const struct place place = place_of(unit->name, name);
    const uint64_t low = place.in_one < place.in_other ? place.in_one : place.in_other,
                   high = place.in_one < place.in_other ? place.in_other : place.in_one;
    if (!place.what)
        finding->message =
            exchanged ? "has the data of the other one: the two are exchanged" : "has the data of another tensor";
    else if (exchanged)
        finding->message =
            sp_arena_printf(&diff->arena, "has the data of the other %s: %ss %" PRIu64 " and %" PRIu64 " are exchanged",
                            place.what, place.what, low, high);
    else
        finding->message = high - low == 1 ? sp_arena_printf(&diff->arena, "has the data of the %s %s", place.what,
                                                             low == place.in_other ? "before it" : "behind it")
                                           : sp_arena_printf(&diff->arena, "has the data of another %s", place.what);
    finding->detail = sp_arena_printf(&diff->arena, "%s %s", exchanged ? "with" : "of", name);
}

/* "12 of 768 elements differ by at most 0.5 (relative error 0.0031), first at element 3; 2 NaN or infinite in B
 * alone" */
static bool tell_differences(const struct search *search, const struct unit *unit)
{
    struct shapeproof_diff *diff = search->relations->diff;
    struct sp_view_differences measured;
    struct sp_text text = {0};
    if (!sp_views_fit(&unit->pair)) return true; /* what the finding says already stays */
    search->relations->progress->element = 0;
    if (!sp_views_measure(&unit->pair, search->relations->progress, &measured, search->error)) return false;
    const bool a_is_gguf = search->relations->a_is_gguf;
    const uint64_t in_a = a_is_gguf ? measured.not_finite_b : measured.not_finite_a,
                   in_b = a_is_gguf ? measured.not_finite_a : measured.not_finite_b;
    if (measured.different == measured.all) sp_text_puts(&text, "all ");
    else {
        sp_text_grouped(&text, measured.different);
        sp_text_puts(&text, " of ");
    }
    sp_text_grouped(&text, measured.all);
    sp_text_puts(&text, measured.all == 1 ? " element" : " elements");
    sp_text_puts(&text, measured.different == 1 ? " differs" : " differ");
    if (measured.most > 0) sp_text_printf(&text, " by at most %s", sp_real_text(measured.most, 3).text);
    if (measured.most > 0 && measured.squares_a > 0)
        sp_text_printf(&text, " (relative error %s)",
                       sp_real_text(sqrt(measured.squares / measured.squares_a), 2).text);
    if (measured.different != measured.all) sp_text_printf(&text, ", first at element %" PRIu64, measured.first);
    if (in_a) sp_text_printf(&text, "; %" PRIu64 " NaN or infinite in A alone", in_a);
    if (in_b) sp_text_printf(&text, "; %" PRIu64 " NaN or infinite in B alone", in_b);
    diff->findings[unit->finding].detail = sp_text_keep(&text, &diff->arena);
    return true;
}

/* All units that have values, sorted, with the first of these. NaN is sorted as 0. */
static void sort_units(struct search *search)
{
    struct sp_relations *relations = search->relations;
    search->sorted = sp_realloc(NULL, relations->units.count, sizeof *search->sorted);
    for (size_t i = 0; i < relations->units.count; i++) {
        struct unit *unit = &relations->units.items[i];
        double values[SP_SAMPLES];
        if (!unit->pair.a.tensor->parameters || is_big_endian(&unit->pair)) continue;
        unit->sampled = sp_views_sample_a(&unit->pair, values, SP_SAMPLES);
        if (!unit->sampled) continue;
        for (size_t k = 0; k < unit->sampled; k++) unit->sample[k] = isnan(values[k]) ? 0 : (float)values[k];
        search->sorted[search->count++] = unit;
    }
    qsort(search->sorted, search->count, sizeof *search->sorted, compare_units);
}

bool sp_relations_explain(struct sp_relations *relations, struct shapeproof_error *error)
{
    struct search search = {.relations = relations, .error = error};
    bool ok = true, any = false;
    for (size_t i = 0; i < relations->units.count; i++) any |= relations->units.items[i].finding != SHAPEPROOF_NONE;
    if (!any) return true;
    sort_units(&search);
    for (size_t i = 0; i < relations->units.count && ok; i++) {
        const struct unit *unit = &relations->units.items[i], *source;
        bool exchanged;
        if (unit->finding == SHAPEPROOF_NONE) continue;
        ok = find_source(&search, unit, &source, &exchanged);
        if (ok && source) tell_source(&search, unit, source, exchanged);
        else if (ok) ok = tell_differences(&search, unit);
    }
    sp_free(search.sorted);
    return ok;
}
