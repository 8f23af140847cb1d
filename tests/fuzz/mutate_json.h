/* SPDX-License-Identifier: MIT
 * Spans of JSON: each value, and each element with one comma, so that what is left without it, or with two of it, is
 * JSON as well. {"a": 1, "b": [2]} has the values `1`, `[2]`, `2` and the elements `"a": 1,` and `, "b": [2]`. */
#ifndef TESTS_FUZZ_MUTATE_JSON_H
#define TESTS_FUZZ_MUTATE_JSON_H

#include "mutate.h"

enum { JSON_VALUE, JSON_ELEMENT, JSON_DEPTH = 64 };

struct json_divider {
    const uint8_t *text;
    size_t size, at;
    struct mutate_spans *spans;
};

static inline void json_blank(struct json_divider *d)
{
    while (d->at < d->size && strchr(" \t\r\n", d->text[d->at]) && d->text[d->at]) d->at++;
}

static inline bool json_is(struct json_divider *d, char wanted)
{
    json_blank(d);
    return d->at < d->size && d->text[d->at] == (uint8_t)wanted;
}

static inline void json_string(struct json_divider *d)
{
    for (d->at++; d->at < d->size && d->text[d->at] != '"'; d->at++)
        if (d->text[d->at] == '\\') d->at++;
    d->at = d->at < d->size ? d->at + 1 : d->size;
}

static inline void json_value(struct json_divider *d, int depth);

static inline void json_elements(struct json_divider *d, char close, int depth)
{
    size_t comma = 0; /* before the element; 0: none */
    for (d->at++; !json_is(d, close) && d->at < d->size;) {
        const size_t begin = d->at;
        json_value(d, depth);
        if (json_is(d, ':')) {
            d->at++;
            json_value(d, depth);
        }
        const size_t end = d->at;
        const bool more = json_is(d, ',');
        if (comma) mutate_add(d->spans, comma, end, JSON_ELEMENT);
        else mutate_add(d->spans, begin, more ? d->at + 1 : end, JSON_ELEMENT);
        if (!more) break;
        comma = d->at++;
    }
    if (d->at < d->size) d->at++;
}

static inline void json_value(struct json_divider *d, int depth)
{
    json_blank(d);
    const size_t begin = d->at;
    if (d->at >= d->size) return;
    const uint8_t first = d->text[d->at];
    if (first == '"') json_string(d);
    else if ((first == '{' || first == '[') && depth < JSON_DEPTH)
        json_elements(d, first == '{' ? '}' : ']', depth + 1);
    else {
        while (d->at < d->size && !memchr(",:]} \t\r\n", d->text[d->at], 8)) d->at++;
        if (d->at == begin) d->at++;
    }
    mutate_add(d->spans, begin, d->at, JSON_VALUE);
}

/* The spans of the text between `begin` and `end`. */
static inline void json_divide(const uint8_t *text, size_t begin, size_t end, struct mutate_spans *spans)
{
    struct json_divider d = {.text = text, .size = end, .at = begin, .spans = spans};
    json_value(&d, 0);
}

/* Now and then a value becomes one at which programs change what they do. */
static inline size_t json_mutate(uint8_t *data, size_t size, size_t most, size_t begin, size_t end, uint64_t *state)
{
    static const char *const values[] = {
        "0",  "-1", "1e999", "18446744073709551615", "9223372036854775808", "1.5",       "null", "true",
        "[]", "{}", "\"\"",  "\"\\u0000\"",          "\"\\ud800\"",         "1000000000"};
    static struct mutate_spans spans;
    spans.count = 0;
    json_divide(data, begin, end, &spans);
    if (spans.count && mutate_random(state) % 6 == 0) {
        const struct mutate_span at = spans.items[mutate_random(state) % spans.count];
        const char *value = values[mutate_random(state) % (sizeof values / sizeof *values)];
        if (at.kind == JSON_VALUE)
            return mutate_splice(data, size, most, at.begin, at.end, (const uint8_t *)value, strlen(value));
    }
    return mutate_spans(data, size, most, &spans, state, NULL);
}

/* Spans of the text between `begin` and `end`: its lines, each with its end of line. */
static inline size_t lines_mutate(uint8_t *data, size_t size, size_t most, size_t begin, size_t end, uint64_t *state)
{
    static struct mutate_spans spans;
    spans.count = 0;
    for (size_t at = begin; at < end;) {
        const uint8_t *stop = memchr(data + at, '\n', end - at);
        const size_t next = stop ? (size_t)(stop - data) + 1 : end;
        mutate_add(&spans, at, next, 0);
        at = next;
    }
    return mutate_spans(data, size, most, &spans, state, NULL);
}

/* An input is several texts with lines "====" between them (fuzz_split); one of them is chosen and mutated as JSON if
 * `json_texts` has its JSON_TEXT, by lines otherwise. */
#define JSON_TEXT(number) (UINT32_C(1) << (number))
#define JSON_EVERY_TEXT UINT32_MAX

static inline size_t json_mutate_texts(uint8_t *data, size_t size, size_t most, unsigned int seed, uint32_t json_texts)
{
    static const char line[] = "\n====\n";
    uint64_t state = seed;
    unsigned int text = 0; /* its number: a 32nd text and all that follow count as the last */
    size_t begin = 0, end = size;
    for (const uint8_t *stop; (stop = memmem(data + begin, size - begin, line, sizeof line - 1));) {
        end = (size_t)(stop - data);
        if (mutate_random(&state) % 2) break;
        begin = end + sizeof line - 1;
        end = size;
        if (text < 31) text++;
    }
    return json_texts & JSON_TEXT(text) ? json_mutate(data, size, most, begin, end, &state)
                                        : lines_mutate(data, size, most, begin, end + (end < size), &state);
}

/* The mutator of a target whose inputs are such texts. */
#define JSON_MUTATOR(json_texts)                                                                                       \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)                         \
    {                                                                                                                  \
        return json_mutate_texts(data, size, most, seed, json_texts);                                                  \
    }

#endif
