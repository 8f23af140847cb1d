/* SPDX-License-Identifier: MIT */
#include "load/renaming.h"

#include <stdlib.h>
#include <string.h>

#include "names/expression.h"

size_t sp_word(const char **words, const char **word)
{
    *words += strspn(*words, " ");
    *word = *words;
    *words += strcspn(*words, " ");
    return (size_t)(*words - *word);
}

bool sp_words_have(const char *words, const char *text)
{
    const char *word;
    for (size_t length; (length = sp_word(&words, &word));)
        if (strncmp(word, text, length) == 0 && !text[length]) return true;
    return false;
}

/* ---- the rules of a class ---- */

static struct sp_scoped_rule scoped_rule(struct sp_arena *arena, struct sp_rule rule, const char *scope)
{
    struct sp_scoped_rule scoped = {.rule = rule, .scope = scope};
    const char *words = rule.from, *word;
    size_t count = 0;
    for (size_t length; (length = sp_word(&words, &word)) && count < SP_EXPRESSIONS;) {
        char literal[SP_LITERAL];
        sp_expression_literal(word, length, literal, sizeof literal);
        scoped.literals[count++] = sp_arena_string(arena, literal);
    }
    return scoped;
}

/* Those known by a name. */
static void add_rules(struct sp_renaming_rules *rules, const struct sp_loader *loader, const char *identifier,
                      size_t length, const char *scope)
{
    struct sp_rule rule;
    for (const char *row = sp_loader_rules(loader, identifier, length); sp_next_rule(&row, &rule);) {
        const struct sp_scoped_rule scoped = scoped_rule(rules->arena, rule, scope);
        if (*rule.how) *SP_PUSH(&rules->conversions) = scoped;
        else *SP_PUSH(&rules->renamings) = scoped;
    }
}

/* With a dot behind it, unless there is nothing. */
static const char *dotted(struct sp_arena *arena, const char *name, size_t length)
{
    return sp_arena_printf(arena, "%.*s%s", (int)length, name, length ? "." : "");
}

struct sp_renaming_rules sp_renaming_rules(struct sp_arena *arena, const struct sp_loader *loader,
                                           const struct sp_loaded *loaded)
{
    struct sp_renaming_rules rules = {.arena = arena, .base = dotted(arena, loaded->base, strlen(loaded->base))};
    const char *words = loaded->mappings, *word;
    for (size_t length; (length = sp_word(&words, &word));) {
        const char *at = memchr(word, '@', length);
        const size_t size = at ? (size_t)(at - word) : length;
        add_rules(&rules, loader, word, size, at ? dotted(arena, at + 1, length - size - 1) : NULL);
    }
    rules.alternatives = loader->one_renaming ? rules.renamings.count : 0;
    add_rules(&rules, loader, "legacy", strlen("legacy"), NULL);
    return rules;
}

void sp_renaming_rules_free(struct sp_renaming_rules *rules)
{
    sp_free(rules->renamings.items);
    sp_free(rules->conversions.items);
}

/* ---- a name ---- */

/* How much of the name is in front of what a scoped rule sees; SIZE_MAX when it is not below that module. */
static size_t scope_length(const struct sp_renaming_rules *rules, const char *scope, const char *name)
{
    const size_t base = strlen(rules->base);
    if (!scope) return 0;
    if (strncmp(name, rules->base, base) == 0 && strncmp(name + base, scope, strlen(scope)) == 0)
        return base + strlen(scope);
    return strncmp(name, scope, strlen(scope)) == 0 ? strlen(scope) : SIZE_MAX;
}

/* The place where the first of the expressions that fits is found, the leftmost; SIZE_MAX when there is none. */
static size_t find_expression(const struct sp_scoped_rule *scoped, const char *name, struct sp_expression_match *found)
{
    const char *words = scoped->rule.from, *word;
    size_t best = SIZE_MAX, index = 0;
    for (size_t length; (length = sp_word(&words, &word)) && index < SP_EXPRESSIONS; index++) {
        struct sp_expression_match next;
        if (!strstr(name, scoped->literals[index]) || !sp_expression_search(word, length, name, &next)) continue;
        if (best != SIZE_MAX && next.all.begin >= found->all.begin) continue;
        best = index;
        *found = next;
    }
    return best;
}

/* Appends the target with the group in place of each \1. */
static void put_target(struct sp_text *text, const char *to, size_t length, const char *name,
                       struct sp_text_range group)
{
    for (size_t i = 0; i < length; i++) {
        if (to[i] == '\\' && i + 1 < length && to[i + 1] == '1') {
            sp_text_append(text, name + group.begin, group.end - group.begin);
            i++;
        } else sp_text_append(text, to + i, 1);
    }
}

/* The name with the target in place of what was found: of the first text like it, as str.replace does. */
static const char *replace_found(struct sp_arena *arena, const char *name, size_t front,
                                 const struct sp_expression_match *found, const char *targets)
{
    const char *seen = name + front, *to;
    const size_t size = found->all.end - found->all.begin;
    const char *matched = sp_arena_copy(arena, seen + found->all.begin, size);
    const char *place = strstr(seen, matched);
    struct sp_text text = {0};
    const size_t length = sp_word(&targets, &to);
    sp_text_append(&text, name, (size_t)(place - name));
    put_target(&text, to, length, seen, found->group);
    sp_text_puts(&text, place + size);
    return sp_text_keep(&text, arena);
}

/* Applies a rule; false when it does not fit. */
static bool apply_rule(const struct sp_renaming_rules *rules, const struct sp_scoped_rule *scoped,
                       struct sp_renamed *renamed)
{
    struct sp_expression_match found;
    const size_t front = scope_length(rules, scoped->scope, renamed->name);
    if (front == SIZE_MAX) return false;
    const size_t expression = find_expression(scoped, renamed->name + front, &found);
    if (expression == SIZE_MAX) return false;
    renamed->name = replace_found(rules->arena, renamed->name, front, &found, scoped->rule.to);
    renamed->expression = expression;
    return true;
}

struct sp_renamed sp_rename(const struct sp_renaming_rules *rules, const char *name)
{
    struct sp_renamed renamed = {.name = name};
    for (size_t i = 0; i < rules->renamings.count; i++) {
        const bool made = apply_rule(rules, &rules->renamings.items[i], &renamed);
        if (made && i < rules->alternatives) i = rules->alternatives - 1;
    }
    for (size_t i = 0; i < rules->conversions.count && !renamed.conversion; i++)
        if (apply_rule(rules, &rules->conversions.items[i], &renamed))
            renamed.conversion = &rules->conversions.items[i].rule;
    return renamed;
}
