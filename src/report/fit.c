/* SPDX-License-Identifier: MIT
 * Whether a model fits in a memory: each term, then the verdict. */
#include "report/fit.h"

#include <inttypes.h>

#include "base/call.h"
#include "report/common.h"
#include "report/table.h"

enum { BITS_OF_BYTE = 8 };

static const char *const verdicts[] = {
    [SHAPEPROOF_FIT_NO] = "no", [SHAPEPROOF_FIT_YES] = "yes", [SHAPEPROOF_FIT_UNKNOWN] = "unknown"};

void sp_json_fit_members(struct sp_writer *json, const struct shapeproof_fit *fit)
{
    sp_write_key_string(json, "table", fit->table);
    sp_write_key_string(json, "fits", verdicts[fit->verdict]);
    sp_write_key_number(json, "memory", fit->memory);
    if (fit->parameters) sp_write_key_number(json, "parameters", fit->parameters);
    sp_write_key_number(json, "weights", fit->weights);
    sp_write_key_string(json, "dtype", fit->dtype ? fit->dtype : "as stored");
    sp_write_key_optional(json, "why", fit->why);
    if (fit->tokens) {
        sp_write_key_number(json, "tokens", fit->tokens);
        if (fit->source_tokens) sp_write_key_number(json, "source_tokens", fit->source_tokens);
        sp_write_key_number(json, "batch", fit->batch);
    }
    if (fit->tokens && !fit->why) {
        sp_write_key_string(json, "cache_dtype", fit->cache_dtype);
        sp_write_key_number(json, "cache", fit->cache);
        if (fit->cache_expanded) sp_write_key_number(json, "cache_expanded", fit->cache_expanded);
        if (fit->cache) sp_write_key_number(json, "batch_most", fit->batch_most);
        if (fit->tokens_why) sp_write_key_string(json, "tokens_why", fit->tokens_why);
        else if (fit->tokens_most != UINT64_MAX) sp_write_key_number(json, "tokens_most", fit->tokens_most);
    }
    if (fit->heads) {
        sp_write_key_number(json, "heads", fit->heads);
        sp_write_key_number(json, "kv_heads", fit->kv_heads);
    }
    if (fit->devices) sp_write_key_number(json, "devices", fit->devices);
    if (fit->device_cache) sp_write_key_number(json, "device_cache", fit->device_cache);
    sp_write_key_optional(json, "devices_why", fit->devices_why);
    if (fit->has_equal_parts) sp_write_key_bool(json, "equal_parts", true);
    if (fit->has_equal_cache) sp_write_key_bool(json, "equal_cache", true);
    if (fit->has_whole_cache && fit->cache) sp_write_key_bool(json, "whole_cache", true);
    if (fit->positions) sp_write_key_number(json, "positions", fit->positions);
}

/* A row "weights   16,060,522,496   15.0 GiB, bf16"; its last cell. */
static struct sp_text *put_bytes_row(struct sp_table *table, const char *label, uint64_t bytes)
{
    sp_text_puts(sp_table_cell(table), label);
    sp_text_grouped(sp_table_cell(table), bytes);
    struct sp_text *words = sp_table_cell(table);
    sp_put_bytes(words, bytes);
    return words;
}

static void put_cache(struct sp_table *table, const struct shapeproof_fit *fit)
{
    struct sp_text *words = put_bytes_row(table, "cache", fit->cache);
    sp_text_puts(words, ": ");
    if (fit->batch > 1) {
        sp_text_grouped(words, fit->batch);
        sp_text_puts(words, " sequences of ");
    }
    sp_text_grouped(words, fit->tokens);
    sp_text_puts(words, " tokens");
    if (fit->source_tokens) {
        sp_text_puts(words, ", and ");
        sp_text_grouped(words, fit->source_tokens);
        sp_text_puts(words, " of the encoder,");
    }
    sp_text_printf(words, " in %s", fit->cache_dtype);
    if (fit->cache_bits < BITS_OF_BYTE) sp_text_puts(words, " without scales");
    if (fit->cache_expanded) {
        sp_text_puts(words, "; latent keys and values, which take ");
        sp_put_bytes(words, fit->cache_expanded);
        sp_text_puts(words, " if they are kept expanded");
    }
}

/* A row without a number. Returns the cell for the words that say why. */
static struct sp_text *put_dash_row(struct sp_table *table, const char *name)
{
    sp_text_puts(sp_table_cell(table), name);
    sp_text_puts(sp_table_cell(table), "-");
    return sp_table_cell(table);
}

static void put_most(struct sp_table *table, const struct shapeproof_fit *fit)
{
    if (!fit->cache) {
        sp_text_puts(put_dash_row(table, "largest batch"), "no limit: nothing is kept of earlier tokens");
        return;
    }
    sp_text_puts(sp_table_cell(table), "largest batch");
    sp_text_grouped(sp_table_cell(table), fit->batch_most);
    struct sp_text *sequences = sp_table_cell(table);
    sp_text_puts(sequences, "sequences of ");
    sp_text_grouped(sequences, fit->tokens);
    sp_text_puts(sequences, " tokens");
    if (fit->tokens > fit->positions && fit->positions) sp_text_puts(sequences, ", which are too long for the model");
    if (fit->tokens_why) {
        struct sp_text *words = put_dash_row(table, "longest sequence");
        sp_text_puts(words, "unknown: ");
        sp_put_visible(words, fit->tokens_why);
        return;
    }
    if (fit->tokens_most == UINT64_MAX) {
        sp_text_puts(put_dash_row(table, "longest sequence"), "no limit: the cache has a largest size");
        return;
    }
    sp_text_puts(sp_table_cell(table), "longest sequence");
    sp_text_grouped(sp_table_cell(table), fit->tokens_most);
    struct sp_text *tokens = sp_table_cell(table);
    sp_text_puts(tokens, "tokens, with a batch of ");
    sp_text_grouped(tokens, fit->batch);
    if (fit->positions && fit->tokens_most == fit->positions) sp_text_puts(tokens, "; the model has no more positions");
}

static void put_devices(struct sp_table *table, const struct shapeproof_fit *fit)
{
    sp_text_puts(sp_table_cell(table), "devices");
    if (fit->devices) sp_text_grouped(sp_table_cell(table), fit->devices);
    else sp_text_puts(sp_table_cell(table), "-");
    struct sp_text *words = sp_table_cell(table);
    if (fit->devices_verdict == SHAPEPROOF_FIT_UNKNOWN) {
        sp_text_puts(words, "unknown: ");
        sp_put_visible(words, fit->devices_why);
        return;
    }
    sp_text_puts(words, fit->devices ? "the fewest on which it fits and that divide "
                                     : "it does not fit on any number that divides ");
    if (fit->kv_heads == fit->heads) sp_text_printf(words, "%" PRIu64 " heads", fit->heads);
    else sp_text_printf(words, "%" PRIu64 " query heads and %" PRIu64 " key-value heads", fit->heads, fit->kv_heads);
    const bool weights = fit->has_equal_parts, cache = fit->has_equal_cache;
    if ((weights || cache) && fit->devices != 1)
        sp_text_printf(words, ", with %s in equal parts",
                       !cache    ? "weights"
                       : weights ? "weights and cache"
                                 : "the cache");
    if (fit->device_cache && fit->devices > 1) {
        sp_text_puts(words, ", with ");
        sp_put_bytes(words, fit->device_cache);
        sp_text_puts(words, fit->has_whole_cache ? " of cache, all of it, on each" : " of cache on each");
    } else if (fit->has_whole_cache && fit->cache && fit->devices != 1)
        sp_text_puts(words, ", with the whole cache on each");
    if (!fit->devices) {
        sp_text_puts(words, ": ");
        sp_put_visible(words, fit->devices_why);
    }
}

void sp_put_fit(struct sp_text *text, const struct shapeproof_fit *fit, const struct shapeproof_report_options *options)
{
    static const struct sp_column columns[] = {{NULL, SP_LEFT}, {NULL, SP_RIGHT}, {NULL, SP_LEFT}};
    struct sp_table table = {.columns = columns, .column_count = 3};
    const uint64_t used = fit->weights + fit->cache;
    sp_text_printf(text, "fits: %s\n", verdicts[fit->verdict]);
    if (options->format == SHAPEPROOF_REPORT_MARKDOWN) sp_text_puts(text, "\n");
    put_bytes_row(&table, "memory", fit->memory);
    struct sp_text *weights = put_bytes_row(&table, "weights", fit->weights);
    sp_text_printf(weights, ", %s", fit->dtype ? fit->dtype : "as stored");
    if (fit->dtype && fit->weights < fit->parameters) sp_text_puts(weights, " without scales");
    if (fit->tokens && !fit->why) put_cache(&table, fit);
    if (fit->why) {
        struct sp_text *words = put_dash_row(&table, "cache");
        sp_text_puts(words, "unknown: ");
        sp_put_visible(words, fit->why);
    }
    if (!fit->why && used <= fit->memory) put_bytes_row(&table, "remaining", fit->memory - used);
    else if (!fit->why) put_bytes_row(&table, "missing", used - fit->memory);
    if (fit->tokens && !fit->why) put_most(&table, fit);
    if (!fit->why) put_devices(&table, fit);
    sp_table_render(&table, text, options);
}

char *shapeproof_report_fit(const struct shapeproof_fit *fit, const struct shapeproof_report_options *options,
                            size_t *length)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("writing the report");
    static const struct shapeproof_report_options plain = {0};
    struct sp_text text = {0};
    if (!options) options = &plain;
    if (options->format == SHAPEPROOF_REPORT_JSON) {
        struct sp_writer json = sp_write_document(&text, "shapeproof.fit/1");
        sp_json_fit_members(&json, fit);
        sp_write_close(&json);
    } else sp_put_fit(&text, fit, options);
    return sp_text_take(&text, length);
}
