/* SPDX-License-Identifier: MIT
 * Compares a checkpoint with its configuration: example CHECKPOINT [CONFIG.JSON]
 * Without CONFIG.JSON it uses the configuration inside the checkpoint (GGUF, Keras) or beside it. */
#include <shapeproof/shapeproof.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3) return 2;
    struct shapeproof_error error = {0};
    static struct shapeproof_check_path_options options; /* all zero: the defaults */
    options.config = argv[2];
    struct shapeproof_check *check = shapeproof_check_path(argv[1], &options, &error);
    if (check)
        printf("%s: %s\n", shapeproof_verdict_name(shapeproof_check_verdict(check)), shapeproof_check_summary(check));
    else fprintf(stderr, "%s\n", error.message);
    shapeproof_check_free(check);
    return (int)error.status;
}
