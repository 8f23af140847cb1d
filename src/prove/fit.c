/* SPDX-License-Identifier: MIT
 * Whether a model fits in a memory: the bytes of weights and cache are counted by the table, at the values of one
 * configuration. The longest sequence is found by bisection, because a cache never shrinks as sequences grow. */
#include "shapeproof/fit.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/dtype_word.h"
#include "base/error.h"
#include "config/config.h"
#include "lang/syntax/parser.h"
#include "prove/symbolic/count.h"
#include "prove/symbolic/meaning.h"
#include "prove/symbolic/shard.h"
#include "shapeproof/prediction.h"

enum { BITS_OF_BYTE = 8, MOST_DEVICES = 1 << 16 /* more heads than any model has; a file may say 2^60 */ };
static const uint64_t MOST_TOKENS = UINT64_C(1) << 40; /* a cache that still fits then has no limit */

/* What the library owns beside what programs see. */
struct fit {
    struct shapeproof_fit facts; /* first: its address is that of the whole */
    struct sp_arena arena;
};

/* Elements of `bits` each as bytes, rounded up. False when they do not fit in 63 bits. */
static bool bytes_of(const struct sp_poly *elements, unsigned bits, uint64_t *bytes)
{
    struct sp_rational number;
    if (!elements || !sp_poly_is_constant(elements, &number) || number.den != 1 || number.num < 0) return false;
    const unsigned __int128 total = (unsigned __int128)number.num * bits;
    const unsigned __int128 whole = total / BITS_OF_BYTE + (total % BITS_OF_BYTE != 0);
    *bytes = (uint64_t)whole;
    return whole <= INT64_MAX;
}

/* "the table ... has no line" of "file:1:1: the table ..." and the lines below, of the messages from `first` on. */
static const char *reason_of(struct sp_arena *arena, const struct sp_count *count, size_t first)
{
    const char *failed = count->symbolic.algebra.failed;
    const char *message = count->messages.length > first              ? count->messages.data + first
                          : failed && failed != sp_algebra_overflowed ? failed
                                                                      : "it has 2^63 bytes or more";
    const char *reason = sp_behind_place(message);
    return sp_arena_copy(arena, reason, sp_first_line(reason));
}

/* The cache of `batch` sequences of `tokens` tokens, each element of `bits`, on the largest of `tp` ranks. An encoder
 * reads `source_tokens` for each sequence; 0: not given. */
struct cache {
    uint64_t tokens, batch, source_tokens;
    unsigned bits;
    enum sp_cache_form form;
    unsigned tp;
};

/* Makes the count ready for another measure, also if the ones before took too much. False if it cannot be counted. */
static bool begin_measure(struct sp_count *count)
{
    const bool good = sp_count_give_back(count); /* this may count the table again, and spend steps */
    count->symbolic.steps = 0;
    count->symbolic.algebra.work = 0;
    if (good) count->symbolic.algebra.failed = NULL;
    return good;
}

static bool cache_bytes(struct sp_count *count, struct cache cache, uint64_t *bytes)
{
    struct sp_algebra *algebra = &count->symbolic.algebra;
    if (!begin_measure(count)) return false;
    if (cache.tokens > INT64_MAX || cache.batch > INT64_MAX || cache.source_tokens > INT64_MAX) return false;
    const struct sp_poly *source = cache.source_tokens ? sp_poly_int(algebra, (int64_t)cache.source_tokens) : NULL;
    const struct sp_cache_asked asked = {.tokens = sp_poly_int(algebra, (int64_t)cache.tokens),
                                         .batch = sp_poly_int(algebra, (int64_t)cache.batch),
                                         .source_tokens = source,
                                         .images = NULL,
                                         .form = cache.form,
                                         .tp = cache.tp};
    const struct sp_poly *elements = sp_count_cache(count, &asked);
    return !algebra->failed && bytes_of(elements, cache.bits, bytes);
}

/* The cache of so many sequences on one device, as it is asked for. */
static struct cache cache_of(const struct shapeproof_fit *facts, uint64_t batch)
{
    return (struct cache){.tokens = facts->tokens,
                          .batch = batch,
                          .source_tokens = facts->source_tokens,
                          .bits = facts->cache_bits,
                          .form = SP_CACHE_LATENT_FORM,
                          .tp = 1};
}

/* Why the cache was not counted, if it depends on a number that is not given; else NULL. */
static const char *lacking_input(const struct sp_count *count)
{
    const char *missing = count->symbolic.report.missing;
    if (missing && strcmp(missing, "source_tokens") == 0)
        return "the number of tokens that the encoder reads, source_tokens, is not given";
    return missing && strcmp(missing, "images") == 0
               ? "it depends on the number of images: use eval 'cache(tokens=..., images=..., dtype=...)'"
               : NULL;
}

/* Whether the cache was not counted because of a limit of memory or time, and not because it is too large for a number
 * of bytes. `first` is the length of the messages before. */
static bool is_limited(const struct sp_count *count, size_t first)
{
    const char *failed = count->symbolic.algebra.failed;
    return failed ? failed != sp_algebra_overflowed : count->messages.length > first;
}

/* Finds the longest sequence of which as many as the batch of `facts` fit in `room`, by bisection. It is unknown if a
 * cache on the way cannot be counted. */
static void find_longest_sequence(struct fit *fit, struct sp_count *count, uint64_t room)
{
    struct shapeproof_fit *facts = &fit->facts;
    struct cache cache = cache_of(facts, facts->batch);
    uint64_t fits = 0, exceeds = MOST_TOKENS + 1, bytes;
    for (cache.tokens = MOST_TOKENS; exceeds - fits > 1; cache.tokens = fits + (exceeds - fits) / 2) {
        const size_t first = count->messages.length;
        const bool is_counted = cache_bytes(count, cache, &bytes);
        if (!is_counted && is_limited(count, first)) {
            facts->tokens_why = reason_of(&fit->arena, count, first);
            return;
        }
        if (is_counted && bytes <= room) fits = cache.tokens;
        else exceeds = cache.tokens;
    }
    facts->tokens_most = fits < MOST_TOKENS ? fits : UINT64_MAX;
}

/* Whether a cache that is too large to count exceeds the room: a smaller one, of half as many tokens or sequences again
 * and again, is counted and does. */
static bool surely_exceeds(struct sp_count *count, struct cache cache, uint64_t room)
{
    uint64_t bytes;
    bool is_counted = false;
    while (!is_counted && (cache.tokens > 1 || cache.batch > 1)) {
        if (cache.tokens > cache.batch) cache.tokens /= 2;
        else cache.batch /= 2;
        is_counted = cache_bytes(count, cache, &bytes);
    }
    return is_counted && bytes > room;
}

/* Where a configuration has the keys of its decoder. */
static const char *const decoder_paths[] = {"", "text_config.", "llm_config."};
enum { DECODER_PATHS = sizeof decoder_paths / sizeof *decoder_paths };

/* The value that the configuration has for the key, or the table's default for it. False for none. */
static bool value_of_key(struct sp_count *count, const char *key, struct sp_sym *value)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    const struct sp_sym_env env = {.frame = count->frame};
    const struct shapeproof_value given = sp_value_at(symbolic->fixed.settings->root, key);
    *value = sp_sym_of_value(symbolic, given);
    return sp_value_is_set(given) || sp_sym_defaulted_key(symbolic, &env, key, value);
}

/* The value of the first of the keys, up to NULL, of the decoder that has one. False for none. */
static bool value_of_keys(struct sp_count *count, const char *const *keys, struct sp_sym *value)
{
    for (size_t p = 0; p < DECODER_PATHS; p++)
        for (size_t i = 0; keys[i]; i++) {
            const char *key = sp_arena_printf(&count->symbolic.algebra.arena, "%s%s", decoder_paths[p], keys[i]);
            if (value_of_key(count, key, value)) return true;
        }
    return false;
}

/* A whole number above 0; 0 for any other value. */
static uint64_t whole_number(const struct sp_sym *value)
{
    struct sp_rational number;
    const bool is_whole =
        value->kind == SP_SYM_NUMBER && sp_poly_is_constant(value->poly, &number) && number.den == 1 && number.num > 0;
    return is_whole ? (uint64_t)number.num : 0;
}

/* The number that is the value of the first such key; 0 for none. */
static uint64_t number_of_keys(struct sp_count *count, const char *const *keys)
{
    struct sp_sym value;
    return value_of_keys(count, keys, &value) ? whole_number(&value) : 0;
}

/* Whether layers keep states of a fixed size, such as those of linear attention: the cache of no tokens has them. */
static bool has_fixed_states(struct sp_count *count)
{
    uint64_t bytes;
    const struct cache empty = {.batch = 1, .bits = BITS_OF_BYTE, .tp = 1};
    return cache_bytes(count, empty, &bytes) && bytes;
}

/* Whether the table says how ranks divide the cache. */
static bool is_cache_divided(struct sp_count *count)
{
    uint64_t bytes;
    const struct cache half = {.tokens = 1, .batch = 1, .source_tokens = 1, .bits = BITS_OF_BYTE, .tp = 2};
    return cache_bytes(count, half, &bytes);
}

/* The heads of the attention, where the number of them divides weights and cache. It does not where a flag gives keys
 * and values a single head, where layers have different numbers, and where states are kept of which the table does not
 * say how ranks divide them. Latent vectors are the same on all devices, unless other layers keep states by head beside
 * them, as in Kimi Linear. */
static void find_heads(struct sp_count *count, struct shapeproof_fit *fit)
{
    static const char *const heads[] = {"num_attention_heads",     "n_head", "n_heads", "num_heads",
                                        "decoder_attention_heads", NULL};
    static const char *const kv_heads[] = {"num_key_value_heads", "num_kv_heads", "n_head_kv", "attn_config.kv_n_heads",
                                           NULL};
    static const char *const decided_elsewhere[] = {
        "multi_query",   "multi_query_attention",      "new_decoder_architecture",
        "block_configs", "num_global_key_value_heads", NULL};
    static const char *const states[] = {"linear_num_value_heads", "state_size", "ssm_state_size", "mamba_d_state",
                                         NULL};
    static const char *const latent[] = {"kv_lora_rank", NULL};
    struct sp_sym value;
    if (value_of_keys(count, decided_elsewhere, &value)) return;
    if (value_of_keys(count, states, &value) && !is_cache_divided(count)) return;
    const bool is_latent = value_of_keys(count, latent, &value);
    if (is_latent && has_fixed_states(count)) return;
    fit->has_whole_cache = is_latent;
    fit->heads = number_of_keys(count, heads);
    fit->kv_heads = fit->has_whole_cache ? fit->heads : number_of_keys(count, kv_heads);
    if (!fit->kv_heads) fit->kv_heads = fit->heads;
}

/* Whether the number of parameters depends on the key: on n_positions in GPT-2, whose positions are learned. */
static bool has_parameters_of(const struct sp_count *count, const char *key)
{
    struct sp_count open;
    const bool good = sp_count_settled_but(&open, count->tables, count->table, count->symbolic.fixed.settings, &key, 1,
                                           SP_SIDES_ARE_EQUAL);
    const struct sp_symbol_info *symbol = good ? sp_sym_symbol(&open.symbolic, key) : NULL;
    const bool has = symbol && sp_poly_uses(open.total, symbol->atom);
    sp_count_free(&open);
    return has;
}

/* How many positions a decoder has as parameters; 0 for none, or if that is not known. */
static uint64_t find_positions(struct sp_count *count)
{
    static const char *const keys[] = {"max_target_positions", "max_position_embeddings", "n_positions", NULL};
    struct sp_sym value;
    for (size_t p = 0; p < DECODER_PATHS; p++)
        for (size_t i = 0; keys[i]; i++) {
            const char *key = sp_arena_printf(&count->symbolic.algebra.arena, "%s%s", decoder_paths[p], keys[i]);
            const uint64_t positions = value_of_key(count, key, &value) ? whole_number(&value) : 0;
            if (positions && has_parameters_of(count, key)) return positions;
        }
    return 0;
}

static uint64_t rounded_up(uint64_t bytes, uint64_t parts) { return bytes / parts + (bytes % parts != 0); }

/* The bytes of so many parameters of the model. Weights as they are stored have no dtype: each parameter is taken to
 * have as many bytes as on average, 1,000 of 2,000 parameters half of them. False when they are not known. */
static bool weights_of(const struct shapeproof_fit *fit, const struct sp_poly *parameters, unsigned bits,
                       uint64_t *bytes)
{
    if (fit->dtype || !bytes_of(parameters, BITS_OF_BYTE, bytes))
        return fit->dtype && bytes_of(parameters, bits, bytes);
    const unsigned __int128 scaled = (unsigned __int128)fit->weights * *bytes;
    if (*bytes >= fit->parameters) *bytes = fit->weights;
    else *bytes = (uint64_t)(scaled / fit->parameters + (scaled % fit->parameters != 0));
    return true;
}

/* "one device has 1,024 bytes of weights and 512 of cache", from "one device has". */
static const char *bytes_text(struct fit *fit, const char *who, uint64_t weights, uint64_t cache)
{
    struct sp_text text = {0};
    sp_text_printf(&text, "%s ", who);
    sp_text_grouped(&text, weights);
    sp_text_puts(&text, " bytes of weights");
    if (fit->facts.tokens) {
        sp_text_puts(&text, " and ");
        sp_text_grouped(&text, cache);
        sp_text_puts(&text, " of cache");
    }
    return sp_text_keep(&text, &fit->arena);
}

/* The bytes of the cache on each of n devices: those of the largest rank as the table says; or, where it does not say
 * how ranks divide it, an equal part, or all of it if all heads share it. If n devices do not divide something, such as
 * the channels of a state space, facts->devices_why says so. False, with the reason there, if they cannot be counted.
 */
static bool cache_of_rank(struct fit *fit, struct sp_count *count, uint64_t n, uint64_t *bytes)
{
    struct shapeproof_fit *facts = &fit->facts;
    struct cache rank = cache_of(facts, facts->batch);
    rank.tp = (unsigned)n;
    const size_t first = count->messages.length;
    facts->devices_why = NULL;
    facts->has_equal_cache = false;
    if (cache_bytes(count, rank, bytes)) {
        facts->devices_why = sp_shard_uneven(count, &fit->arena);
        return true;
    }
    *bytes = rounded_up(facts->cache, facts->has_whole_cache ? 1 : n);
    if (facts->cache && !count->shard.sharding.is_undivided) facts->devices_why = reason_of(&fit->arena, count, first);
    else facts->has_equal_cache = facts->cache && !facts->has_whole_cache;
    return facts->devices_why == NULL;
}

/* Whether the weights of each of n devices fit beside its part of the cache: the weights of the largest rank as the
 * table says, or an equal part where the table does not say how ranks divide its tensors. NO, with the reason, if n
 * devices do not divide something else than heads, such as the channels of feed-forward layers; UNKNOWN, with the
 * reason, if what the largest rank has cannot be counted. */
static enum shapeproof_fit_verdict fits_on(struct fit *fit, struct sp_count *count, unsigned bits, uint64_t n)
{
    struct shapeproof_fit *facts = &fit->facts;
    const unsigned ranks = (unsigned)n;
    const struct sp_sizing sizing = {.kind = SP_SIZING_SHARD, .ranks = {ranks, 1, 1, ranks}};
    const struct sp_expr expr = {.kind = SP_EXPR_SIZING, .span = count->table->span, .sizing = &sizing};
    uint64_t cache;
    if (!cache_of_rank(fit, count, n, &cache)) return SHAPEPROOF_FIT_UNKNOWN;
    const size_t first = count->messages.length;
    facts->device_cache = cache;
    if (facts->devices_why) return SHAPEPROOF_FIT_NO;
    const uint64_t room = cache < facts->memory ? facts->memory - cache : 0;
    uint64_t weights = rounded_up(facts->weights, n); /* the largest rank has as much or more */
    const bool is_counted = cache <= facts->memory && weights <= room && !facts->has_equal_parts;
    if (is_counted) {
        const struct sp_poly *parameters = begin_measure(count) ? sp_count_shard(count, &expr) : NULL;
        if (!parameters || count->symbolic.algebra.failed || !weights_of(facts, parameters, bits, &weights)) {
            facts->devices_why = reason_of(&fit->arena, count, first);
            return SHAPEPROOF_FIT_UNKNOWN;
        }
        facts->devices_why = sp_shard_uneven(count, &fit->arena);
        if (facts->devices_why) return SHAPEPROOF_FIT_NO;
    }
    const char *at_least = is_counted || facts->has_equal_parts ? "" : " at least";
    facts->devices_why = NULL;
    if (cache <= facts->memory && weights <= room) return SHAPEPROOF_FIT_YES;
    const char *who =
        n == 1 ? "one device has" : sp_arena_printf(&fit->arena, "the largest of %" PRIu64 " ranks has%s", n, at_least);
    facts->devices_why = bytes_text(fit, who, weights, cache);
    return SHAPEPROOF_FIT_NO;
}

/* Finds the fewest devices that divide both numbers of heads, and of which each takes its part of the bytes. They are
 * unknown if they are not known of a smaller number than the first that does. */
static void find_devices(struct fit *fit, struct sp_count *count, unsigned bits)
{
    struct shapeproof_fit *facts = &fit->facts;
    facts->devices_verdict = SHAPEPROOF_FIT_UNKNOWN;
    facts->devices_why = "no number of heads determines how the model can be divided";
    if (!facts->heads) return;
    facts->devices_verdict = SHAPEPROOF_FIT_NO;
    facts->has_equal_parts = !(count->table->measures & SP_MEASURE_SHARD);
    for (uint64_t n = 1; n <= facts->kv_heads && n <= facts->heads && facts->devices_verdict == SHAPEPROOF_FIT_NO;
         n++) {
        if (n > MOST_DEVICES) {
            facts->devices_verdict = SHAPEPROOF_FIT_UNKNOWN;
            facts->devices_why = sp_arena_printf(&fit->arena, "more than %d devices are not tried", MOST_DEVICES);
        } else if (facts->heads % n == 0 && facts->kv_heads % n == 0)
            facts->devices_verdict = fits_on(fit, count, bits, n);
        if (facts->devices_verdict == SHAPEPROOF_FIT_YES) facts->devices = n;
    }
    if (!facts->devices) facts->device_cache = 0;
}

/* Fills in what follows from the count. False when the number of parameters is not known. */
static bool fill_in(struct fit *fit, struct sp_count *count, const struct shapeproof_fit_options *options,
                    unsigned weight_bits)
{
    struct shapeproof_fit *facts = &fit->facts;
    struct cache cache = cache_of(facts, facts->batch);
    uint64_t one = 0, expanded;
    if (!bytes_of(count->total, BITS_OF_BYTE, &facts->parameters)) return false;
    if (options->is_stored) facts->weights = options->stored;
    else if (!bytes_of(count->total, weight_bits, &facts->weights)) return false;
    find_heads(count, facts);
    const bool weights_fit = facts->weights <= facts->memory;
    const uint64_t room = weights_fit ? facts->memory - facts->weights : 0;
    if (facts->tokens && (!cache_bytes(count, cache_of(facts, 1), &one) || !cache_bytes(count, cache, &facts->cache))) {
        const char *lacking = lacking_input(count);
        facts->why = lacking ? lacking : reason_of(&fit->arena, count, 0);
        facts->verdict =
            weights_fit && !surely_exceeds(count, cache, room) ? SHAPEPROOF_FIT_UNKNOWN : SHAPEPROOF_FIT_NO;
        return true;
    }
    if (one) facts->batch_most = room / one;
    if (facts->tokens && weights_fit) find_longest_sequence(fit, count, room);
    if (facts->tokens) facts->positions = find_positions(count);
    if (facts->positions && facts->positions < facts->tokens_most) facts->tokens_most = facts->positions;
    cache.form = SP_CACHE_EXPANDED_FORM;
    if (facts->tokens && cache_bytes(count, cache, &expanded) && expanded != facts->cache)
        facts->cache_expanded = expanded;
    facts->verdict = weights_fit && facts->cache <= room ? SHAPEPROOF_FIT_YES : SHAPEPROOF_FIT_NO;
    find_devices(fit, count, weight_bits);
    return true;
}

/* Fills in what follows from stored weights alone, of a table that cannot be counted: they may be too large, and
 * without a cache nothing else counts. */
static void fill_in_stored(struct fit *fit, const struct sp_count *count, uint64_t stored)
{
    struct shapeproof_fit *facts = &fit->facts;
    facts->weights = stored;
    facts->devices_why = reason_of(&fit->arena, count, 0);
    if (facts->tokens) facts->why = facts->devices_why;
    facts->verdict = stored > facts->memory ? SHAPEPROOF_FIT_NO
                     : facts->tokens        ? SHAPEPROOF_FIT_UNKNOWN
                                            : SHAPEPROOF_FIT_YES;
}

/* Whether the cache is known without the number of tokens that an encoder reads. */
static bool is_known_without_source(struct sp_count *count, const struct shapeproof_fit *facts)
{
    uint64_t bytes;
    struct cache without = cache_of(facts, facts->batch);
    without.source_tokens = 0;
    const size_t first = count->messages.length;
    const bool known = cache_bytes(count, without, &bytes);
    count->symbolic.report.missing = NULL;
    count->messages.length = first;
    return known;
}

/* The bits of a dtype, bf16 for NULL; 0 after an error. */
static unsigned bits_of(const char *dtype, struct shapeproof_error *error)
{
    const unsigned bits = sp_weight_bits_of_word(dtype ? dtype : "bf16");
    if (!bits)
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                "weights and caches have no dtype '%s', only " SP_WEIGHT_DTYPES, dtype);
    return bits;
}

struct shapeproof_fit *shapeproof_fit_new(const struct shapeproof_tables *tables,
                                          const struct shapeproof_config *config, uint64_t memory,
                                          const struct shapeproof_fit_options *options, struct shapeproof_error *error)
{
    SP_CALL(error, NULL);
    SP_SPENDS("computing the sizes");
    static const struct shapeproof_fit_options none = {0};
    sp_error_reset(error);
    assert(tables && config);
    if (!options) options = &none;
    if (!sp_options_are_known(options->reserved, error)) return NULL;
    if (options->source_tokens && !options->tokens) {
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                "the number of tokens that an encoder reads needs the number of tokens of a sequence");
        return NULL;
    }
    struct sp_count count;
    const unsigned weight_bits = bits_of(options->dtype, error);
    const unsigned cache_bits = weight_bits ? bits_of(options->cache_dtype, error) : 0;
    if (!cache_bits) return NULL;
    /* what the table refuses is not counted */
    struct shapeproof_prediction *prediction =
        shapeproof_predict(tables, config, &(struct shapeproof_predict_options){.table = options->table}, error);
    if (!prediction) return NULL;
    const struct sp_unit *unit = sp_tables_unit(tables, shapeproof_prediction_table(prediction));
    shapeproof_prediction_free(prediction);
    struct fit *fit = sp_realloc(NULL, 1, sizeof *fit);
    *fit = (struct fit){.arena = {0}};
    fit->facts = (struct shapeproof_fit){
        .table = sp_arena_string(&fit->arena, unit->name),
        .dtype = options->is_stored ? NULL : sp_arena_string(&fit->arena, options->dtype ? options->dtype : "bf16"),
        .cache_dtype = sp_arena_string(&fit->arena, options->cache_dtype ? options->cache_dtype : "bf16"),
        .memory = memory,
        .tokens = options->tokens,
        .source_tokens = options->source_tokens,
        .cache_bits = cache_bits,
        .batch = options->batch ? options->batch : 1,
        .devices_verdict = SHAPEPROOF_FIT_UNKNOWN};
    const bool counted = sp_count_settled(&count, tables, unit, sp_config_hyper(config));
    const bool is_source_idle = counted && options->source_tokens && is_known_without_source(&count, &fit->facts);
    const bool is_filled = counted && !is_source_idle && fill_in(fit, &count, options, weight_bits);
    const bool good = is_filled || (options->is_stored && !is_source_idle);
    if (!is_filled && good) fill_in_stored(fit, &count, options->stored);
    else if (is_source_idle)
        sp_fail(error, SHAPEPROOF_ERR_USAGE, SHAPEPROOF_KIND_NONE,
                "the cache of '%s' does not depend on the number of tokens that an encoder reads", unit->name);
    else if (!counted) sp_fail_lines(error, SHAPEPROOF_ERR_TABLE, sp_sym_failure(&count.symbolic), count.messages.data);
    else if (!good)
        sp_fail(error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_NONE, "the number of bytes of '%s' is not known",
                unit->name);
    sp_count_free(&count);
    if (good) return &fit->facts;
    shapeproof_fit_free(&fit->facts);
    return NULL;
}

void shapeproof_fit_free(struct shapeproof_fit *fit)
{
    struct fit *whole = (struct fit *)fit;
    if (!whole) return;
    sp_arena_free(&whole->arena);
    sp_free(whole);
}
