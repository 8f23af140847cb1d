/* SPDX-License-Identifier: MIT
 * The renamings and conversions of one class, in the order in which they are made. */
#ifndef SP_LOAD_RENAMING_H
#define SP_LOAD_RENAMING_H

#include "base/arena.h"
#include "base/text.h"
#include "load/loader.h"

/* A rule of a mapping, for the names below a module. */
enum { SP_LITERAL = 32, SP_EXPRESSIONS = 8 };

struct sp_scoped_rule {
    struct sp_rule rule;
    const char *literals[SP_EXPRESSIONS]; /* of each of its expressions; NULL: there are no more */
    const char *scope; /* "vision_tower.", "" for all, below the base model or not; NULL: names as they are */
};

struct sp_renaming_rules {
    struct sp_arena *arena;
    const char *base; /* "model." */
    SP_ARRAY(struct sp_scoped_rule) renamings, conversions;
    size_t alternatives; /* so many renamings, the first ones, of which one at most is made */
};

/* Those of the class and those for files of old. What is in the arena lives as long. */
struct sp_renaming_rules sp_renaming_rules(struct sp_arena *arena, const struct sp_loader *loader,
                                           const struct sp_loaded *loaded);
void sp_renaming_rules_free(struct sp_renaming_rules *rules);

/* What a name became: the rule is a conversion, or NULL; then `expression` says which one of it fitted. */
struct sp_renamed {
    const char *name; /* in the arena, or the name itself */
    const struct sp_rule *conversion;
    size_t expression;
};

struct sp_renamed sp_rename(const struct sp_renaming_rules *rules, const char *name);

/* One of the words with blanks between; returns its length, 0 when there are none left. */
size_t sp_word(const char **words, const char **word);
/* Whether one of the words is the text. */
bool sp_words_have(const char *words, const char *text);

#endif
