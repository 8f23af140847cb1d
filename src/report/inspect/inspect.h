/* SPDX-License-Identifier: MIT
 * The parts of the inspect report. Every part sees the same selection of tensors. */
#ifndef SP_REPORT_INSPECT_H
#define SP_REPORT_INSPECT_H

#include "report/common.h"
#include "report/table.h"
#include "shapeproof/report.h"

struct sp_inspect {
    const struct shapeproof_inventory *inventory;
    struct shapeproof_report_inspect_options options;
    size_t *chosen; /* indices of the tensors that match the filter, in the order of the report */
    size_t count;
    bool *counted; /* per tensor of the inventory: the first of its ties within the selection */
    struct shapeproof_totals totals;
};

/* The i-th tensor of the selection. */
const struct shapeproof_tensor *sp_inspect_tensor(const struct sp_inspect *inspect, size_t i);

/* Hands the lines that there are to the sink, once they are enough. */
void sp_inspect_send(const struct sp_inspect *inspect, struct sp_text *text);

/* A table of which, of a million rows, one at a time is kept: they are made twice, to measure and to write them. */
struct sp_inspect_rows {
    const struct sp_inspect *inspect;
    struct sp_table table;
    struct sp_text *text; /* NULL while they are measured */
};

/* `put` makes all rows, and calls sp_inspect_end_row behind each. */
void sp_inspect_put_rows(const struct sp_inspect *inspect, const struct sp_column *columns, size_t column_count,
                         void (*put)(const void *context, struct sp_inspect_rows *rows), const void *context,
                         struct sp_text *text);
void sp_inspect_end_row(struct sp_inspect_rows *rows);

void sp_inspect_text(const struct sp_inspect *inspect, struct sp_text *text); /* text.c */
void sp_inspect_json(const struct sp_inspect *inspect, struct sp_text *text); /* json.c */
void sp_inspect_csv(const struct sp_inspect *inspect, struct sp_text *text);  /* csv.c */

/* text.c: "safetensors, 163 shards" */
void sp_inspect_put_format(struct sp_text *text, const struct shapeproof_inventory *inventory);
/* text.c: the format, and what follows the tensors, totals and the like: rows with a label, which is "" in a further
 * row of the same, and a value. */
struct sp_table sp_inspect_summary_table(const struct sp_inspect *inspect);

/* tree.c: SHAPEPROOF_INSPECT_TREE and SHAPEPROOF_INSPECT_PREFIXES. */
void sp_inspect_tree(const struct sp_inspect *inspect, struct sp_text *text);
void sp_inspect_prefixes(const struct sp_inspect *inspect, struct sp_text *text);

/* Whether it is told how many bytes the tensor has: by its dtype, or, of blocks of elements, by the reader. */
static inline bool sp_inspect_knows_bytes(const struct shapeproof_tensor *tensor)
{
    return shapeproof_dtype_bits(tensor->dtype) || tensor->bytes;
}

/* Cells that the list and the tree share. */
void sp_inspect_put_dtype(struct sp_text *text, const struct shapeproof_tensor *tensor);
void sp_inspect_put_shape(struct sp_text *text, const struct shapeproof_tensor *tensor);
/* "view, same as wte.weight": flags and tie, behind what the cell holds already since `begin`. Without `name_tie` only
 * "tied" is said. */
void sp_inspect_put_note(struct sp_text *text, size_t begin, const struct shapeproof_inventory *inventory,
                         const struct shapeproof_tensor *tensor, bool name_tie);

#endif
