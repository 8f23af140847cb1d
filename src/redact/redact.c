/* SPDX-License-Identifier: MIT */
#include "redact/redact.h"

#include <stdlib.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/json_scan.h"
#include "redact/words.h"

/* Where a well-known word may stay. */
enum sp_redact_use { IN_NAMES, IN_MESSAGES };

/* ---- words ---- */

/* An index of a layer or an expert, or a number in a dtype, is not longer. A longer number may be a telephone number,
 * an account or a part of a hash. */
enum { LONGEST_INDEX = 6 };

static bool are_digits(const char *word, size_t length)
{
    size_t digits = 0;
    while (digits < length && sp_is_digit(word[digits])) digits++;
    return digits == length;
}

static bool is_known(const struct shapeproof_redaction *redaction, const char *word, size_t length,
                     enum sp_redact_use use)
{
    enum { LONGEST_WORD = 256 }; /* bytes; longer than every well-known word */
    char copy[LONGEST_WORD];
    if (length >= sizeof copy) return false;
    memcpy(copy, word, length);
    copy[length] = '\0';
    const size_t found = sp_map_get(&redaction->known, copy);
    return found != SIZE_MAX && found <= (size_t)use;
}

/* "name1" and the like, which only a placeholder may be called. */
static bool is_like_placeholder(const char *word, size_t length)
{
    static const char *const beginnings[] = {"name", "text"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (length > 4 && memcmp(word, beginnings[i], 4) == 0 && are_digits(word + 4, length - 4)) return true;
    return false;
}

/* Whether a word stays: an index; a well-known word; or one of at least two letters with an index behind it, such as
 * layer12. */
static bool stays(const struct shapeproof_redaction *redaction, const char *word, size_t length, enum sp_redact_use use)
{
    if (are_digits(word, length)) return length <= LONGEST_INDEX;
    if (is_like_placeholder(word, length)) return false;
    if (is_known(redaction, word, length, use)) return true;
    size_t letters = length;
    while (letters && sp_is_digit(word[letters - 1])) letters--;
    return letters >= 2 && length - letters <= LONGEST_INDEX && is_known(redaction, word, letters, use);
}

/* Appends "name1" for the first text that is not in the map yet, and so on. */
static void put_placeholder(struct shapeproof_redaction *redaction, struct sp_map *map, struct sp_text *text,
                            const char *prefix, const char *bytes, size_t length)
{
    const char *key = sp_arena_copy(&redaction->arena, bytes, length);
    size_t number = sp_map_get(map, key);
    if (number == SIZE_MAX) sp_map_add(map, key, number = map->count + 1);
    sp_text_printf(text, "%s%zu", prefix, number);
}

/* What separates the words of names in every framework. Any other byte is part of a word: it may be part of a secret.
 */
static bool separates(char c) { return c == '.' || c == '/' || c == '_' || c == '-' || c == ':'; }

/* The end of the word at `begin`; `begin` itself if there is a separator. */
static size_t end_of_word(const char *name, size_t begin, size_t length)
{
    size_t end = begin;
    while (end < length && !separates(name[end])) end++;
    return end;
}

/* Appends the words with their separators; returns whether all of them stay. */
static bool put_words(struct shapeproof_redaction *redaction, struct sp_text *text, const char *name, size_t length,
                      enum sp_redact_use use)
{
    bool all_known = true;
    for (size_t i = 0, end; i < length; i = end) {
        end = end_of_word(name, i, length);
        if (end == i) sp_text_append(text, &name[end++], 1);
        else if (stays(redaction, name + i, end - i, use)) sp_text_append(text, name + i, end - i);
        else {
            put_placeholder(redaction, &redaction->names, text, "name", name + i, end - i);
            all_known = false;
        }
    }
    return all_known;
}

bool sp_redact_name(struct shapeproof_redaction *redaction, struct sp_text *text, const char *name, size_t length)
{
    return put_words(redaction, text, name, length, IN_NAMES);
}

/* ---- values of the metadata ---- */

/* Whether a value is a well-known word or several with '.' and '_' between them: "pt", "torch.float16", "". Not dates,
 * paths and numbers. */
static bool is_known_value(const struct shapeproof_redaction *redaction, const char *value, size_t length)
{
    for (size_t i = 0, end; i<length; i = end> i ? end : i + 1) {
        end = end_of_word(value, i, length);
        if (end == i && value[i] != '.' && value[i] != '_') return false;
        if (end > i && (sp_is_digit(value[i]) || !stays(redaction, value + i, end - i, IN_NAMES))) return false;
    }
    return true;
}

/* Appends a text of a value. */
static void put_string(struct shapeproof_redaction *redaction, struct sp_text *text, const char *value, size_t length)
{
    if (is_known_value(redaction, value, length)) sp_text_append(text, value, length);
    else put_placeholder(redaction, &redaction->texts, text, "text", value, length);
}

static void put_item(struct shapeproof_redaction *redaction, struct sp_text *text, struct sp_json *json,
                     bool key_is_known);

/* Appends the members of an object. */
static void put_members(struct shapeproof_redaction *redaction, struct sp_text *text, struct sp_json *json)
{
    const char *key;
    sp_json_open(json, '{');
    sp_text_puts(text, "{");
    for (bool first = true, again = false; (key = sp_json_member(json, &first)); again = true) {
        sp_text_puts(text, again ? ",\"" : "\"");
        const bool known = sp_redact_name(redaction, text, key, json->string_length);
        sp_text_puts(text, "\":");
        put_item(redaction, text, json, known);
    }
    sp_text_puts(text, "}");
}

/* Appends a value of a JSON document. Numbers, true, false and null stay below a key of well-known words. */
static void put_item(struct shapeproof_redaction *redaction, struct sp_text *text, struct sp_json *json,
                     bool key_is_known)
{
    const char next = sp_json_peek(json);
    if (next == '{') put_members(redaction, text, json);
    else if (next == '[') {
        sp_json_open(json, '[');
        sp_text_puts(text, "[");
        for (bool first = true, again = false; sp_json_item(json, &first); again = true) {
            if (again) sp_text_puts(text, ",");
            put_item(redaction, text, json, key_is_known);
        }
        sp_text_puts(text, "]");
    } else if (next == '"') {
        const char *value = sp_json_string(json);
        sp_text_puts(text, "\"");
        if (value) put_string(redaction, text, value, json->string_length);
        sp_text_puts(text, "\"");
    } else {
        size_t length = 0;
        const char *value = sp_json_skip(json, &length);
        if (value && key_is_known) sp_text_append(text, value, length);
        else if (value) put_placeholder(redaction, &redaction->texts, text, "\"text", value, length);
        if (value && !key_is_known) sp_text_puts(text, "\"");
    }
}

/* Whether a text is a JSON document, and not a string, which no program writes into metadata. */
static bool is_document(char *text, size_t length)
{
    struct shapeproof_error error = {0};
    struct sp_json json = {.what = "value", .text = text, .length = length, .error = &error};
    size_t skipped;
    return sp_json_check(&json) && sp_json_peek(&json) != '"' && sp_json_skip(&json, &skipped) && sp_json_end(&json);
}

void sp_redact_value(struct shapeproof_redaction *redaction, struct sp_text *text, const char *value, bool key_is_known)
{
    const size_t length = strlen(value);
    char *copy = memcpy(sp_realloc(NULL, length + 1, 1), value, length + 1); /* the scanner decodes strings in place */
    struct shapeproof_error error = {0};
    struct sp_json json = {.what = "value", .text = copy, .length = length, .error = &error};
    const bool has_parts = *value == '{' || *value == '[';
    if ((has_parts || key_is_known) && is_document(copy, length)) {
        memcpy(copy, value, length);
        put_item(redaction, text, &json, key_is_known);
    } else put_string(redaction, text, value, length);
    sp_free(copy);
}

/* ---- messages ---- */

/* The end of the quoted name that begins behind a ' at `begin`: the next ' that no letter or digit follows; or
 * `length`.
 */
static size_t end_of_quote(const char *message, size_t begin, size_t length)
{
    size_t end = begin;
    for (; end < length; end++) {
        const char next = end + 1 < length ? message[end + 1] : ' ';
        const bool in_word = sp_is_digit(next) || (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
        if (message[end] == '\'' && !in_word) break;
    }
    return end;
}

/* Punctuation of sentences, which stays. */
static bool punctuates(char c) { return c && strchr(" \n\t,;()[]{}\"'=<>|%?!*+#", c); }

/* Appends a part of a message without quoted names. */
static void put_sentence(struct shapeproof_redaction *redaction, struct sp_text *text, const char *part, size_t length)
{
    for (size_t i = 0, end; i < length; i = end) {
        for (end = i; end < length && !punctuates(part[end]);) end++;
        size_t word = end;
        while (word > i && separates(part[word - 1])) word--; /* "12:" at the end of a clause */
        if (end == i) sp_text_append(text, &part[end++], 1);
        else if (are_digits(part + i, word - i)) sp_text_append(text, part + i, end - i); /* a size or a place */
        else put_words(redaction, text, part + i, end - i, IN_MESSAGES);
    }
}

/* Appends a message, or a part of it, without the paths that are known. */
static void put_quotes_and_sentences(struct shapeproof_redaction *redaction, struct sp_text *text, const char *message,
                                     size_t length)
{
    size_t begin = 0;
    for (size_t i = 0; i < length; i++) {
        if (message[i] != '\'' || (i && !punctuates(message[i - 1]))) continue;
        const size_t end = end_of_quote(message, i + 1, length);
        put_sentence(redaction, text, message + begin, i + 1 - begin);
        sp_redact_name(redaction, text, message + i + 1, end - i - 1);
        begin = i = end;
    }
    put_sentence(redaction, text, message + begin, length - begin);
}

/* The first of the known paths in the message, of several at one place the longest, or NULL; *at is its place. */
static const char *find_path(const struct shapeproof_redaction *redaction, const char *message, size_t *at)
{
    const char *best = NULL;
    for (size_t i = 0; i < redaction->paths.count; i++) {
        const char *path = redaction->paths.items[i], *found = strstr(message, path);
        if (!found) continue;
        const size_t place = (size_t)(found - message);
        if (best && (place > *at || (place == *at && strlen(path) <= strlen(best)))) continue;
        best = path;
        *at = place;
    }
    return best;
}

/* The component of a path that stays, redacted: the last one. */
static void put_last_component(struct shapeproof_redaction *redaction, struct sp_text *text, const char *path)
{
    size_t end = strlen(path), begin;
    while (end > 1 && path[end - 1] == '/') end--;
    for (begin = end; begin && path[begin - 1] != '/';) begin--;
    sp_redact_name(redaction, text, path + begin, end - begin);
}

char *shapeproof_redact_message(struct shapeproof_redaction *redaction, const char *message)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("redacting it");
    sp_keep(redaction, redaction, sizeof *redaction);
    struct sp_text text = {0};
    size_t at = 0;
    const char *path;
    sp_text_puts(&text, "");
    while ((path = find_path(redaction, message, &at))) {
        put_quotes_and_sentences(redaction, &text, message, at);
        put_last_component(redaction, &text, path);
        message += at + strlen(path);
    }
    put_quotes_and_sentences(redaction, &text, message, strlen(message));
    return text.data;
}

char *shapeproof_redact_path(struct shapeproof_redaction *redaction, const char *path)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("redacting it");
    sp_keep(redaction, redaction, sizeof *redaction);
    struct sp_text text = {0};
    sp_text_puts(&text, "");
    bool is_new = strchr(path, '/') && path[1]; /* a name alone is redacted by its words */
    for (size_t i = 0; i < redaction->paths.count; i++) is_new = is_new && strcmp(redaction->paths.items[i], path) != 0;
    if (is_new) *SP_PUSH(&redaction->paths) = sp_arena_string(&redaction->arena, path);
    put_last_component(redaction, &text, path);
    return text.data;
}

/* ---- the redaction ---- */

struct shapeproof_redaction *shapeproof_redaction_new(void)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("redacting it");
    static const char *const lists[] = {[IN_NAMES] = sp_redact_names, [IN_MESSAGES] = sp_redact_messages};
    struct shapeproof_redaction *redaction = sp_realloc(NULL, 1, sizeof *redaction);
    *redaction = (struct shapeproof_redaction){0};
    for (size_t use = IN_NAMES; use <= IN_MESSAGES; use++)
        for (const char *word = lists[use]; *word; word += strlen(word) + 1) sp_map_add(&redaction->known, word, use);
    return redaction;
}

void shapeproof_redaction_free(struct shapeproof_redaction *redaction)
{
    if (!redaction) return;
    sp_map_free(&redaction->known);
    sp_map_free(&redaction->names);
    sp_map_free(&redaction->texts);
    sp_free(redaction->paths.items);
    sp_arena_free(&redaction->arena);
    sp_free(redaction);
}
