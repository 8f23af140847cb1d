/* SPDX-License-Identifier: MIT
 * A table at the values of one configuration: what its polynomials are worth there, and how they read when flags, texts
 * and lists are as configured while numbers stay symbols. Of a GPT-2 with "tie_word_embeddings": true, "n_embd": 16:
 *
 *     [head] is V*E where untied            form: 0
 *     [final norm] is 2*E                   form: 2*E, value: 32 */
#ifndef SP_PROVE_CONFIGURED_H
#define SP_PROVE_CONFIGURED_H

#include "prove/symbolic/reduce.h"
#include "shapeproof/error.h"

struct sp_configured {
    struct sp_count *general;           /* with texts, flags and lists as configured */
    struct shapeproof_config *open;     /* what `general` reads: the configuration without its numbers */
    struct sp_count settled;            /* with everything as configured, or by default */
    struct sp_values values;            /* of all symbols of `general` */
    struct sp_values conditions;        /* of its conditions alone */
    const struct sp_group_sums *stored; /* what a checkpoint stores, for stored([group]); NULL: there is none */
};

/* Counts the table twice, into *general and *settled; in either case free it with sp_configured_free, and *general with
 * sp_count_free. False with the mistakes in *error. */
bool sp_configured_open(struct sp_configured *configured, struct sp_count *general,
                        const struct shapeproof_tables *tables, const struct sp_unit *table,
                        const struct shapeproof_config *config, struct shapeproof_error *error);
void sp_configured_free(struct sp_configured *configured);

/* A polynomial of `general` in the case that is configured. NULL when it has no value. */
const struct sp_poly *sp_configured_form(const struct sp_configured *configured, const struct sp_poly *poly);
/* What a polynomial of `general` is worth; false when the values leave it open. */
bool sp_configured_value(const struct sp_configured *configured, const struct sp_poly *poly, struct sp_rational *value);
/* Whether a polynomial of `general` depends on a symbol, also through what is computed from it. */
bool sp_configured_depends(const struct sp_configured *configured, const struct sp_poly *poly, size_t atom);
/* The form of a group, or of "total", if it gives that number; else NULL. */
const struct sp_poly *sp_configured_group(struct sp_configured *configured, const char *group, uint64_t number);

#endif
