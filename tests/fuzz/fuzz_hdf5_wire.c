/* SPDX-License-Identifier: MIT
 * The bytes as what the process of libhdf5 sends, which a file may have taken over: the input stands for what the
 * sandbox has collected. */
#include "fuzz.h"

#include "read/hdf5/sandbox.h"

static bool send_input(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error);

#define sp_sandbox_run send_input
#include "read/hdf5/index.c"

static const unsigned char *input;
static size_t input_size;

static bool send_input(const struct sp_sandbox_job *job, char **bytes, size_t *length, struct shapeproof_error *error)
{
    (void)job;
    (void)error;
    *bytes = sp_realloc(NULL, input_size ? input_size : 1, 1);
    if (input_size) memcpy(*bytes, input, input_size);
    *length = input_size;
    return true;
}

static void fuzz_input(const unsigned char *data, size_t size)
{
    struct shapeproof_error error = {0};
    struct shapeproof_inventory *inventory = sp_inventory_new("input");
    struct sp_h5_source source = {.fd = -1, .size = 1 << 20}; /* of a file that has room for some tensors */
    const uint32_t index = sp_inventory_add_file(inventory, "input");
    input = data;
    input_size = size;
    if (!sp_h5_index(&source, index, inventory, &error) || !sp_inventory_finish(inventory, &error))
        fuzz_must_refuse(&error);
    shapeproof_inventory_close(inventory);
}
