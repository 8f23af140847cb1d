/* SPDX-License-Identifier: MIT
 * What a checkpoint holds, as HTML. */
#include <string.h>

#include "report/html/html.h"

static void list_tensor(const struct sp_inspect *inspect, size_t i, struct sp_html_tensors *tensors)
{
    const struct shapeproof_inventory *inventory = inspect->inventory;
    const struct shapeproof_tensor *tensor = sp_inspect_tensor(inspect, i);
    const bool counts = inspect->counted[inspect->chosen[i]],
               has_shards = shapeproof_inventory_file_count(inventory) > 1;
    struct sp_text note = {0};
    sp_inspect_put_note(&note, 0, inventory, tensor, true);
    *SP_PUSH(tensors) =
        (struct sp_html_tensor){.name = tensor->name,
                                .dtype = tensor->dtype_name,
                                .after = sp_html_shape(tensors, tensor),
                                .parameters = counts ? tensor->parameters : 0,
                                .bytes = counts ? tensor->bytes : 0,
                                .shard = has_shards ? shapeproof_inventory_file(inventory, tensor->file) : NULL,
                                .state = tensor->same_as == SHAPEPROOF_NONE ? SP_HTML_PLAIN : SP_HTML_NOTE,
                                .note = note.length ? sp_text_keep(&note, &tensors->arena) : NULL};
    sp_text_free(&note);
}

void sp_html_inspect(const struct sp_inspect *inspect, struct sp_text *html, bool is_part)
{
    const bool has_all = inspect->count == shapeproof_inventory_count(inspect->inventory);
    struct sp_html_tensors tensors = {.kind = SP_HTML_INSPECT, .file = has_all ? inspect->inventory : NULL};
    struct sp_text format = {0};
    sp_inspect_put_format(&format, inspect->inventory);
    const struct sp_html_title title = {.command = "inspect",
                                        .subject = shapeproof_inventory_path(inspect->inventory),
                                        .totals = &inspect->totals,
                                        .note = format.data};
    for (size_t i = 0; i < inspect->count; i++) list_tensor(inspect, i, &tensors);
    (is_part ? sp_html_begin_part : sp_html_begin)(html, &title);
    sp_text_free(&format);
    struct sp_table summary = sp_inspect_summary_table(inspect);
    sp_html_table(&summary, html);
    sp_html_warnings(html, "Warnings", inspect->inventory, NULL);
    sp_html_modules(html, &tensors);
    if (is_part) sp_html_next_piece(html);
    sp_html_tensors(html, &tensors);
    if (!is_part) sp_html_end(html);
    sp_html_tensors_free(&tensors);
}
