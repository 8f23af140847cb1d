/* SPDX-License-Identifier: MIT
 * What names mean in an expression: shared by the files that evaluate one. */
#ifndef SP_PROVE_SYMBOLIC_MEANING_H
#define SP_PROVE_SYMBOLIC_MEANING_H

#include "lang/names.h"
#include "prove/symbolic/symbolic.h"

/* How deep expressions and definitions may be nested. */
enum { SP_SYM_MAX_DEPTH = 1000 };

/* ---- meaning.c ---- */

/* What a name means where it stands, as sp_meaning_at has it. A name of a claim that is looked up in the claim's table
 * (env->is_outer) does not stand there: its meaning is that of the name alone. */
struct sp_meaning sp_sym_meaning_of(const struct sp_sym_env *env, const struct sp_expr *expr);
/* The expression that a name stands for: config_encoder for `enc`, by "enc = config_encoder"; itself when it has no
 * definition. */
const struct sp_expr *sp_sym_name_behind(const struct sp_sym_env *env, const struct sp_expr *expr);
/* Whether it is a hyper-parameter, or a member of one. */
bool sp_sym_name_is_key(const struct sp_sym_env *env, const struct sp_expr *expr);
/* The environment in which a definition of the unit has its value. */
struct sp_sym_env sp_sym_unit_env(const struct sp_sym_env *env);
/* The same of a definition that is local to a section, which sees the indices of the section's loops, or of one that is
 * not. */
struct sp_sym_env sp_sym_name_env(const struct sp_sym_env *env, bool is_local);
/* The value of a name. False after a mistake, which was reported; so below. */
bool sp_sym_name_value(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                       struct sp_sym *out);

/* ---- keys.c ---- */

/* What is known of a key. */
enum sp_sym_key_state {
    SP_SYM_KEY_KNOWN, /* its value */
    SP_SYM_KEY_UNSET, /* that it is null, or absent and nothing can set it */
    SP_SYM_KEY_OPEN   /* nothing: it is a symbol */
};

/* "text_config.hidden_size", in the arena. */
const char *sp_sym_key_path(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr);
/* Where a dimension comes from, in the arena: the path of its key, "vocab_size" of V where V = vocab_size default
 * 32000; for a computed one its text, "2*H". Two dimensions of equal size are the same one only if their sources are
 * equal. */
const char *sp_sym_source(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr);
/* The path of a key, through definitions and first alternatives of defaults; NULL for what is computed. */
const char *sp_sym_key_source(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr);
/* The first letters of the words, "_" for a point or a bracket, without "config" and "args": v_hs for
 * vision_config.hidden_size, ps_0 for patch_size[0]. */
const char *sp_key_initials(struct sp_arena *arena, const char *key);
/* The same of what a claim names: through its definitions and those of the table. NULL for what is no key. */
const char *sp_sym_claimed_path(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr);
/* The default of a key that is not set: evaluates the definition of the table that begins with it, "A = n_head default
 * 12". False when there is none. */
bool sp_sym_defaulted_key(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const char *path,
                          struct sp_sym *out);
/* What `with` gives for the key, if the expression is one by its name; else NULL. */
const struct sp_sym *sp_sym_key_given(const struct sp_sym_frame *frame, const struct sp_expr *expr);
/* Its setting: absent, null, or a value. */
struct shapeproof_value sp_sym_key_setting(const struct sp_sym_env *env, const struct sp_expr *expr);
/* Notes that the table looked at that setting. */
void sp_sym_key_mark(struct sp_symbolic *symbolic, const char *path);
/* Whether it is one of the keys that are open although the rest is settled. */
bool sp_sym_key_is_open(const struct sp_symbolic *symbolic, const char *path);
/* What is known of a key, whose path is `path`. *out becomes the value: absent or null for an unset one; of an open key
 * it means nothing. */
enum sp_sym_key_state sp_sym_key_look_up(struct sp_symbolic *symbolic, const struct sp_sym_env *env,
                                         const struct sp_expr *expr, const char *path, struct sp_sym *out);
/* A key on its own, without a default; `name` is what the table calls it, or NULL. */
bool sp_sym_key_value(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const char *name, struct sp_sym *out);
/* a default b default c: the first that is set. `name` is what the table calls it, or NULL. */
bool sp_sym_key_chain(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                      const char *name, struct sp_sym *out);

/* ---- views.c ---- */

/* The sub-configuration that an expression names: writes its path, without a dot behind it, and its object to `view`.
 */
bool sp_sym_view_of(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *expr,
                    struct sp_sym_frame *view);

#endif
