/* SPDX-License-Identifier: MIT
 * Compares a checkpoint with its configuration: example CHECKPOINT [CONFIG.JSON]
 * Without a configuration it takes the one inside the checkpoint, as GGUF and Keras files have it. */
#include <shapeproof/shapeproof.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3) return 2;
    struct shapeproof_error error = {0};
    struct shapeproof_tables *tables = shapeproof_tables_new(&error);
    struct shapeproof_config *config = shapeproof_config_new();
    const bool loaded = tables && (argc == 2 || shapeproof_config_load(config, argv[2], &error) == SHAPEPROOF_OK);
    struct shapeproof_inventory *inventory = loaded ? shapeproof_inventory_open(argv[1], &error) : NULL;
    const bool fits = inventory && shapeproof_config_fit(config, tables, NULL, inventory, &error) == SHAPEPROOF_OK;
    struct shapeproof_check *check = fits ? shapeproof_check_new(inventory, tables, config, NULL, &error) : NULL;
    if (check)
        printf("%s: %s\n", shapeproof_verdict_name(shapeproof_check_verdict(check)), shapeproof_check_summary(check));
    else fprintf(stderr, "%s\n", error.message);
    shapeproof_check_free(check);
    shapeproof_inventory_close(inventory);
    shapeproof_config_free(config);
    shapeproof_tables_free(tables);
    return (int)error.status;
}
