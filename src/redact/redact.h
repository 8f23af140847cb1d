/* SPDX-License-Identifier: MIT
 * How texts are redacted. Every rule reduces to one about words, so that what is printed consists of well-known words
 * (words.h), numbers, separators and placeholders, whatever the text of a file is:
 *
 *     sp_redact_name      model.acme_head.3.weight  ->  model.name1_head.3.weight
 *     sp_redact_value     {"n_layer": 12, "author": "Jane"}  ->  {"n_layer":12,"author":"text1"}
 *     shapeproof_redact_message  tensor 'acme.weight' has 3 bytes  ->  tensor 'name1.weight' has 3 bytes */
#ifndef SP_REDACT_H
#define SP_REDACT_H

#include "base/map.h"
#include "base/text.h"
#include "shapeproof/redact.h"

struct shapeproof_redaction {
    struct sp_arena arena;        /* the keys of the maps */
    struct sp_map known;          /* the well-known words -> enum sp_redact_use */
    struct sp_map names;          /* words of names -> number of the placeholder, from 1 */
    struct sp_map texts;          /* values of metadata -> the same */
    SP_ARRAY(const char *) paths; /* that messages may contain */
};

/* Appends a name. Returns whether every word of it is well-known. */
bool sp_redact_name(struct shapeproof_redaction *redaction, struct sp_text *text, const char *name, size_t length);
/* Appends a value of the metadata, whose key consists of well-known words or does not. */
void sp_redact_value(struct shapeproof_redaction *redaction, struct sp_text *text, const char *value,
                     bool key_is_known);

#endif
