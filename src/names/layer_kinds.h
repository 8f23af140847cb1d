/* SPDX-License-Identifier: MIT
 * The kinds of layers that the configurations of transformers name, one for each layer. */
#ifndef SP_NAMES_LAYER_KINDS_H
#define SP_NAMES_LAYER_KINDS_H

/* The kinds that transformers 5.24 knows in the list `path`, separated by blanks, the usual ones first:
 * "text_config.mlp_layer_types" -> "sparse dense". NULL for a path that is no such list. Dory writes "mlp" behind each
 * layer, and takes it out again when it reads the list. */
const char *sp_layer_kinds(const char *path);

#endif
