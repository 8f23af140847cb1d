/* SPDX-License-Identifier: MIT
 * Near misses: what was most likely meant by a word that a command cannot take. The functions that write a hint leave
 * the buffer as it is when nothing is near. */
#ifndef SP_CLI_NEAR_H
#define SP_CLI_NEAR_H

#include "cli/cli.h"

/* A number of parameters as publications print it: 1.3B, 65M. */
bool cli_is_figure(const char *word);
/* The word as a shell needs it, in quotes where it has other than plain characters; free() it. */
char *cli_quoted(const char *word);
/* The name of the table that is called so; the case of letters does not matter. NULL when there is none. */
const char *cli_table_called(const struct shapeproof_tables *tables, const char *name);
/* The table or the published model whose name is nearly that; NULL when none is near. `models` may be NULL. */
const char *cli_name_like(const struct shapeproof_tables *tables, const struct shapeproof_models *models,
                          const char *name);
/* The hint for an operand of the command that is neither a table nor a model, or is one too many. */
void cli_hint_of_operand(const struct cli_args *args, const char *operand, char *hint, size_t size);
/* The hint for a path that is no checkpoint. */
void cli_hint_of_path(const char *path, char *hint, size_t size);
/* Prints the error about that path as cli_error does, with such a hint if it has none. */
int cli_path_error(const char *path, const struct shapeproof_error *error);

#endif
