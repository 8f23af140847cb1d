/* SPDX-License-Identifier: MIT
 * The well-known words, which the build collects (words.sh). Each ends with a NUL, the list with an empty word. */
#ifndef SP_REDACT_WORDS_H
#define SP_REDACT_WORDS_H

extern const char sp_redact_names[];    /* of names: in the tables, and names that the library knows */
extern const char sp_redact_messages[]; /* of messages: the other words in the texts of the library and the command */

#endif
