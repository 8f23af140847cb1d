/* SPDX-License-Identifier: MIT
 * Compares a checkpoint with its configuration: example CHECKPOINT [CONFIG.JSON]
 * Without a configuration it takes the one inside the checkpoint, as GGUF and Keras files have it. */
#include <shapeproof/shapeproof.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3) return 2;
    struct sp_error error = {0};
    struct sp_tables *tables = sp_tables_new(&error);
    struct sp_config *config = sp_config_new();
    const bool loaded = tables && (argc == 2 || sp_config_load(config, argv[2], &error) == SP_OK);
    struct sp_inventory *inventory = loaded ? sp_inventory_open(argv[1], &error) : NULL;
    const bool fits = inventory && sp_config_fit(config, tables, NULL, inventory, &error) == SP_OK;
    struct sp_check *check = fits ? sp_check_new(inventory, tables, config, NULL, &error) : NULL;
    if (check) printf("%s: %s\n", sp_verdict_name(sp_check_verdict(check)), sp_check_summary(check));
    else fprintf(stderr, "%s\n", error.message);
    sp_check_free(check);
    sp_inventory_close(inventory);
    sp_config_free(config);
    sp_tables_free(tables);
    return (int)error.status;
}
