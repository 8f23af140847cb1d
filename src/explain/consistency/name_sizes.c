/* SPDX-License-Identifier: MIT */
#include "explain/consistency/name_sizes.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/chars.h"

struct name {
    const char *text;
    size_t length;
};

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* The character there; 0 outside of the name. */
static char char_at(const struct name *name, size_t place) { return place < name->length ? name->text[place] : '\0'; }

/* ---- what stands around a size ---- */

static bool is_word_between(const struct name *name, size_t from, size_t to, const char *word)
{
    return to - from == strlen(word) && strncasecmp(name->text + from, word, to - from) == 0;
}

/* Letters that touch the number must be a model's name. Others are a letter for something else, as in "A3B" for active
 * parameters, data ("laion2B"), or chance. */
static bool may_stand_before(const struct name *name, size_t place)
{
    static const char *const models[] = {"stories", "llama",  "tinyllama", "gpt",   "opt",     "pythia", "bloom",
                                         "bloomz",  "falcon", "qwen",      "gemma", "mistral", "vicuna", "smollm"};
    size_t from = place;
    while (from && is_letter(name->text[from - 1])) from--;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (is_word_between(name, from, place, models[i])) return true;
    return from == place && (!place || !sp_is_digit(name->text[place - 1]));
}

/* Not "300B-tokens". */
static bool may_stand_behind(const struct name *name, size_t place)
{
    static const char *const others[] = {"tokens", "token", "tok", "toks", "steps", "samples"};
    size_t to = place + 1;
    while (is_letter(char_at(name, to))) to++;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (char_at(name, place) && is_word_between(name, place + 1, to, others[i])) return false;
    return true;
}

/* "16E": so many experts, and what stands before it counts the active parameters alone. */
static bool counts_experts(const struct name *name)
{
    for (size_t i = 1; i < name->length; i++)
        if (name->text[i] == 'E' && sp_is_digit(name->text[i - 1]) && !is_letter(char_at(name, i + 1))) return true;
    return false;
}

/* ---- numbers ---- */

/* A number in thousandths, from `place` on; 0 when there is none, or too large a one. `*end` is behind it. */
static uint64_t thousandths(const struct name *name, size_t place, size_t *end)
{
    enum { MOST_DIGITS = 4 }; /* "1300M"; more are a date, a step or a hash */
    uint64_t value = 0, unit = 100;
    const size_t first = place;
    for (; sp_is_digit(char_at(name, place)) && place - first < MOST_DIGITS; place++)
        value = value * 10 + (uint64_t)(name->text[place] - '0');
    value *= 1000;
    if (char_at(name, place) == '.' && sp_is_digit(char_at(name, place + 1)))
        for (place++; sp_is_digit(char_at(name, place)); place++, unit /= 10)
            value += unit * (uint64_t)(name->text[place] - '0');
    *end = place;
    return sp_is_digit(char_at(name, place)) ? 0 : value;
}

static uint64_t unit_of_size(char c)
{
    return c == 'B' || c == 'b' ? 1000000 : c == 'M' || c == 'm' ? 1000 : 0; /* of a thousandth */
}

/* Behind the unit: the end of the word, or one decimal, as in "7b1"; of "589m13", a part of a hash, that is no size. */
static bool ends(const struct name *name, size_t place, uint64_t *value, size_t *end)
{
    const bool billions = char_at(name, place - 1) == 'b' || char_at(name, place - 1) == 'B';
    if (billions && *value < 100000 && sp_is_digit(char_at(name, place))) {
        *value += 100 * (uint64_t)(name->text[place] - '0');
        place++;
    }
    *end = place;
    return !sp_is_digit(char_at(name, place)) && !is_letter(char_at(name, place)) && may_stand_behind(name, place);
}

/* A size that begins there. `factor` is the 8 of "8x7B". */
static bool read_size(const struct name *name, size_t place, struct sp_name_size *size)
{
    size_t end, behind;
    uint64_t factor = 1, value = thousandths(name, place, &end);
    if (value && value <= 1024000 && char_at(name, end) == 'x' && sp_is_digit(char_at(name, end + 1))) {
        factor = value / 1000;
        value = thousandths(name, end + 1, &end);
    }
    const uint64_t unit = unit_of_size(char_at(name, end));
    if (!value || !unit || !ends(name, end + 1, &value, &behind)) return false;
    *size = (struct sp_name_size){value * unit * factor, name->text + place, behind - place};
    return true;
}

/* "2_7b" as 2.7: some write no point. */
static bool read_underscore(const struct name *name, size_t place, struct sp_name_size *size)
{
    size_t end, behind;
    uint64_t value = thousandths(name, place, &end);
    if (!value || char_at(name, end) != '_' || !sp_is_digit(char_at(name, end + 1))) return false;
    const size_t decimal = end + 1;
    const uint64_t unit = unit_of_size(char_at(name, decimal + 1));
    value += 100 * (uint64_t)(name->text[decimal] - '0');
    if (!unit || !ends(name, decimal + 2, &value, &behind)) return false;
    *size = (struct sp_name_size){value * unit, name->text + place, behind - place};
    return true;
}

size_t sp_sizes_in_name(const char *text, size_t length, struct sp_name_size sizes[SP_NAME_SIZES])
{
    const struct name name = {text, length};
    size_t count = 0;
    if (counts_experts(&name)) return 0;
    for (size_t i = 0; i < length && count < SP_NAME_SIZES; i++) {
        if (!sp_is_digit(text[i]) || !may_stand_before(&name, i)) continue;
        if (i && text[i - 1] == '.' && i > 1 && sp_is_digit(text[i - 2])) continue; /* decimals */
        if (read_size(&name, i, &sizes[count])) count++;
        if (count < SP_NAME_SIZES && read_underscore(&name, i, &sizes[count])) count++;
    }
    return count;
}
