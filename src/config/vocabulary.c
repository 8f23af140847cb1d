/* SPDX-License-Identifier: MIT
 * How large the vocabularies of a .hpm file become: words are counted in the training texts that it names.
 *
 * Sockeye takes the words that occur often enough (word_min_count), the most frequent ones if they are too many
 * (num_words), and puts its four special symbols in front; with a shared vocabulary out of both texts together. nparam
 * takes all words and the four, and replaces more than bpe_symbols of them by bpe_symbols + 4: where just some of the
 * four are too many, that is up to three more than Sockeye has.
 *
 * A word is what Python's str.split() leaves of UTF-8. Texts are read as a stream; only distinct words are kept. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/file.h"
#include "base/map.h"
#include "base/utf8.h"
#include "config/config.h"

enum { CHUNK = 1 << 16, MAX_WORD = 1 << 16, MAX_WORDS = 16 * 1000 * 1000, MAX_BYTES = 1 << 30, SPECIAL = 4 };

static const char *const special[SPECIAL] = {"<pad>", "<unk>", "<s>", "</s>"};

/* The distinct words of one or more texts. */
struct words {
    struct sp_arena arena;
    struct sp_map index;
    uint64_t *counts; /* by index */
    size_t count, capacity;
    struct sp_text word; /* the one that is being read */
    struct shapeproof_error *error;
};

static void free_words(struct words *words)
{
    sp_arena_free(&words->arena);
    sp_map_free(&words->index);
    sp_text_free(&words->word);
    sp_free(words->counts);
}

/* ---- reading ---- */

static bool is_text_space(uint32_t code)
{
    if (code <= ' ') return code == ' ' || (code >= '\t' && code <= '\r') || (code >= 0x1c && code <= 0x1f);
    return code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

static bool end_word(struct words *words)
{
    if (!words->word.length) return true;
    const size_t known = sp_map_get(&words->index, words->word.data);
    if (known != SIZE_MAX) words->counts[known]++;
    else if (words->count == MAX_WORDS || words->arena.used > MAX_BYTES)
        return sp_fail(words->error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_LIMIT, "too many different words to count");
    else {
        SP_GROW(words->counts, words->count, words->capacity);
        sp_map_add(&words->index, sp_arena_copy(&words->arena, words->word.data, words->word.length), words->count);
        words->counts[words->count++] = 1;
    }
    words->word.length = 0;
    return true;
}

static bool wrong_byte(struct words *words, uint64_t offset, const char *what)
{
    return sp_fail(words->error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_MALFORMED, "byte %" PRIu64 ": %s", offset, what);
}

/* The length of the run of ASCII letters, digits and signs that the bytes begin with: most text is that. */
static size_t plain_run(const char *bytes, size_t length)
{
    size_t i = 0;
    while (i < length && (unsigned char)(bytes[i] - '!') <= '~' - '!') i++;
    return i;
}

/* One character; false when it is wrong. Its size is 0 when the rest of it comes with the next bytes. */
static bool read_character(struct words *words, const char *bytes, size_t length, bool last, uint64_t offset,
                           size_t *size)
{
    uint32_t code;
    *size = sp_utf8_decode(bytes, length, &code);
    if (!*size) return !last && length < 4 ? true : wrong_byte(words, offset, "not UTF-8");
    if (!code) return wrong_byte(words, offset, "a NUL in a string");
    if (is_text_space(code)) return end_word(words);
    sp_text_append(&words->word, bytes, *size);
    return true;
}

/* All whole characters of the bytes; what is left of one at their end stays for the next time. */
static bool read_bytes(struct words *words, const char *bytes, size_t length, uint64_t offset, bool last, size_t *left)
{
    size_t i = 0, size = 1;
    while (i < length && size) {
        const size_t run = plain_run(bytes + i, length - i);
        sp_text_append(&words->word, bytes + i, run);
        i += run;
        if (words->word.length > MAX_WORD) return wrong_byte(words, offset + i, "a word longer than 64 KB");
        if (i < length && !read_character(words, bytes + i, length - i, last, offset + i, &size)) return false;
        if (i < length) i += size;
    }
    *left = length - i;
    return true;
}

static bool read_text(struct words *words, const struct sp_file *file)
{
    char buffer[CHUNK];
    size_t left = 0;
    for (uint64_t offset = 0; offset < file->size;) {
        const size_t room = sizeof buffer - left;
        const size_t length = file->size - offset < room ? (size_t)(file->size - offset) : room;
        if (!sp_file_read(file, offset, buffer + left, length, words->error)) return false;
        const size_t before = left;
        if (!read_bytes(words, buffer, before + length, offset - before, offset + length == file->size, &left))
            return false;
        memmove(buffer, buffer + before + length - left, left);
        offset += length;
    }
    return end_word(words);
}

static bool count_words(struct words *words, const char *path)
{
    struct sp_file file;
    if (!sp_file_open(&file, AT_FDCWD, path, words->error)) return false;
    const bool good = read_text(words, &file);
    sp_file_close(&file);
    return good;
}

/* ---- the rules ---- */

static int64_t number_for_side(const struct shapeproof_config *config, const char *key, size_t side, int64_t fallback)
{
    const struct shapeproof_value value = sp_value_member(sp_config_hyper(config)->root, key);
    const struct shapeproof_value one =
        value.type == SHAPEPROOF_VALUE_LIST && side < value.count ? value.items[side] : value;
    return one.type == SHAPEPROOF_VALUE_INT && one.integer >= 0 ? one.integer : fallback;
}

static int64_t sockeye_size(const struct shapeproof_config *config, const struct words *words, size_t side)
{
    const uint64_t least = (uint64_t)number_for_side(config, "word_min_count", side, 1);
    const int64_t most = number_for_side(config, "num_words", side, 0); /* 0: any number */
    const int64_t multiple = number_for_side(config, "pad_vocab_to_multiple_of", side, 0);
    int64_t size = 0;
    for (size_t i = 0; i < words->count; i++) size += words->counts[i] >= least;
    for (size_t i = 0; i < SPECIAL; i++) { /* in the text they are no words of their own */
        const size_t known = sp_map_get(&words->index, special[i]);
        size -= known != SIZE_MAX && words->counts[known] >= least;
    }
    size = (most && most < size ? most : size) + SPECIAL;
    if (multiple && size % multiple) size += multiple - size % multiple;
    return size;
}

static int64_t nparam_size(const struct shapeproof_config *config, const struct words *words, size_t side)
{
    const int64_t merges =
        number_for_side(config, side ? "bpe_symbols_trg" : "bpe_symbols_src", 0, INT64_MAX - SPECIAL);
    const int64_t size = (int64_t)words->count + SPECIAL;
    return size > merges ? merges + SPECIAL : size;
}

/* ---- both sides ---- */

static const struct side {
    const char *size, *text;
} sides[] = {{"vocab_size_src", "train_bpe_src"}, {"vocab_size_trg", "train_bpe_trg"}};

static bool is_set(const struct shapeproof_config *config, const char *key)
{
    return sp_value_is_set(sp_value_member(sp_config_hyper(config)->root, key));
}

/* The path of a text, from the folder of the configuration; NULL when the configuration names none. In `path`. */
static const char *text_path(const struct shapeproof_config *config, size_t side, struct sp_text *path)
{
    const struct shapeproof_value text = sp_value_member(sp_config_hyper(config)->root, sides[side].text);
    if (text.type != SHAPEPROOF_VALUE_STRING) return NULL;
    path->length = 0;
    if (*text.string != '/') sp_text_append(path, config->path, (size_t)(sp_base_name(config->path) - config->path));
    sp_text_puts(path, text.string);
    return path->data;
}

static bool can_count(const struct shapeproof_config *config, size_t side)
{
    struct sp_text path = {0};
    struct sp_file file;
    struct shapeproof_error ignored = {0};
    const char *text = text_path(config, side, &path);
    const bool there = text && sp_file_open(&file, AT_FDCWD, text, &ignored);
    if (there) sp_file_close(&file);
    sp_text_free(&path);
    return there;
}

static bool count_text(const struct shapeproof_config *config, struct words *words, size_t side)
{
    struct sp_text path = {0};
    const char *text = text_path(config, side, &path);
    const bool good = text ? count_words(words, text)
                           : sp_fail(words->error, SHAPEPROOF_ERR_TABLE, SHAPEPROOF_KIND_NONE,
                                     "the configuration has no %s to count %s in", sides[side].text, sides[side].size);
    if (!good && text) sp_error_prefix(words->error, text);
    sp_text_free(&path);
    return good;
}

/* --shared-vocab, or a weight tying that needs it. */
static bool is_shared_vocabulary(const struct shapeproof_config *config)
{
    const struct shapeproof_value root = sp_config_hyper(config)->root, shared = sp_value_member(root, "shared_vocab");
    const struct shapeproof_value tying = sp_value_member(root, "weight_tying"),
                                  type = sp_value_member(root, "weight_tying_type");
    if (shared.type == SHAPEPROOF_VALUE_BOOL && shared.boolean) return true;
    return tying.type == SHAPEPROOF_VALUE_BOOL && tying.boolean && type.type == SHAPEPROOF_VALUE_STRING &&
           strncmp(type.string, "src_trg", 7) == 0;
}

static bool set_size(struct shapeproof_config *config, enum shapeproof_vocabulary rule, size_t side,
                     struct shapeproof_error *error)
{
    struct words words = {.error = error};
    const bool shared = rule == SHAPEPROOF_VOCABULARY_SOCKEYE && is_shared_vocabulary(config);
    const bool good = count_text(config, &words, side) && (!shared || count_text(config, &words, 1 - side));
    if (good) {
        const struct shapeproof_value text = sp_value_member(sp_config_hyper(config)->root, sides[side].text);
        const int64_t size = rule == SHAPEPROOF_VOCABULARY_NPARAM ? nparam_size(config, &words, side)
                                                                  : sockeye_size(config, &words, side);
        const char *from = sp_arena_printf(&words.arena, "%zu words of %s%s, rule of %s", words.count,
                                           sp_base_name(text.string), shared ? " and the other side" : "",
                                           rule == SHAPEPROOF_VOCABULARY_NPARAM ? "nparam" : "Sockeye");
        sp_config_derive(config, sides[side].size, sp_value_int(size), from);
    }
    free_words(&words);
    return good;
}

enum shapeproof_status shapeproof_config_count_vocabulary(struct shapeproof_config *config,
                                                          enum shapeproof_vocabulary rule, bool needed,
                                                          struct shapeproof_error *error)
{
    SP_CALL(error, SHAPEPROOF_ERR_FILE);
    SP_SPENDS("reading the configuration");
    sp_config_keep(config);
    sp_error_reset(error);
    if (rule == SHAPEPROOF_VOCABULARY_NONE) return SHAPEPROOF_OK;
    for (size_t side = 0; side < 2; side++) {
        if (is_set(config, sides[side].size) || (!needed && !can_count(config, side))) continue;
        if (!set_size(config, rule, side, error)) return error->status = SHAPEPROOF_ERR_TABLE;
    }
    return SHAPEPROOF_OK;
}
