/* SPDX-License-Identifier: MIT */
#include "prove/symbolic/sizing.h"

#include <string.h>

#include "prove/symbolic/operate.h"
#include "prove/symbolic/shard.h"

/* The bytes that training keeps of one parameter, but for what depends on the tensor:
 *
 *     precision   weights   gradients   copy of the weights   a moment
 *     mixed       2         2           4                     4
 *     bf16        2         2           -                     2
 *     f32         4         4           -                     4
 *
 * The first line is that of Rajbhandari et al., ZeRO (2020), section 3.1: 16 bytes with the two moments of Adam. */
static const struct precision {
    unsigned weight, copy, moment;
} precisions[] = {[SP_PRECISION_MIXED] = {2, 4, 4}, [SP_PRECISION_BF16] = {2, 0, 2}, [SP_PRECISION_F32] = {4, 0, 4}};

/* How the 8-bit optimizers of bitsandbytes keep a moment: a byte for each element, and a scale of 4 bytes for each
 * block. The moments of small tensors stay in 4 bytes. These are its defaults (block_wise, min_8bit_size). */
enum { BLOCK_OF_8BIT = 256, LEAST_OF_8BIT = 4096 };

/* ---- tensors ---- */

static bool ends_in(const char *name, const char *end)
{
    const size_t length = strlen(name), size = strlen(end);
    return length >= size && strcmp(name + length - size, end) == 0;
}

/* ---- the output layer ---- */

/* What tells the output layer from other matrices: one of its dimensions is that of the vocabulary. Only in a table
 * without such a matrix in [head], that of a classifier, it is every matrix of [head]. */
struct output_layer {
    struct sp_measured_tensor embedding; /* the first one that is looked up; its first dimension is the vocabulary */
    bool has_embedding;
    SP_ARRAY(struct sp_measured_tensor) heads; /* the matrices of [head] */
    bool is_in_head;                           /* one of them has the vocabulary */
    bool may_be_in_head;                       /* one of them has, under some of the settings that are open */
};

/* Whether the tensor is the matrix of a linear layer. */
static bool is_matrix(const struct sp_measured_tensor *tensor)
{
    return tensor->rank == 2 && !tensor->is_lookup && !tensor->is_added;
}

static bool is_in_head(const struct sp_measured_tensor *tensor) { return ends_in(tensor->group, "head"); }

/* Whether one of its dimensions is the vocabulary. One that has as many elements, but comes from another key, is not:
 * the vocabulary may be as large as the width. */
static bool has_vocabulary(const struct output_layer *output, const struct sp_measured_tensor *tensor)
{
    const struct sp_measured_tensor *embedding = &output->embedding;
    bool found = false;
    for (size_t i = 0; i < tensor->rank && output->has_embedding; i++)
        found = found || (sp_poly_equal(tensor->shape[i], embedding->shape[0]) && tensor->sources[i] &&
                          embedding->sources[0] && strcmp(tensor->sources[i], embedding->sources[0]) == 0);
    return found;
}

/* Keeps the first embedding, and the matrices of [head]. Nothing is counted. */
static const struct sp_poly *find_output(void *context, struct sp_symbolic *symbolic,
                                         const struct sp_measured_tensor *tensor)
{
    struct output_layer *output = context;
    if (tensor->is_lookup && tensor->rank == 2 && !output->has_embedding) {
        output->embedding = *tensor;
        output->has_embedding = true;
    }
    if (is_matrix(tensor) && is_in_head(tensor)) *SP_PUSH(&output->heads) = *tensor;
    return sp_poly_int(&symbolic->algebra, 0);
}

/* Finds out what the output layer is. False after a message. */
static bool read_output_layer(struct sp_count *count, struct output_layer *output)
{
    *output = (struct output_layer){.has_embedding = false};
    const bool good = sp_count_measure(count, &(struct sp_row_measure){true, find_output, output}) != NULL;
    for (size_t i = 0; good && i < output->heads.count; i++) {
        if (!has_vocabulary(output, &output->heads.items[i])) continue;
        if (output->heads.items[i].is_certain) output->is_in_head = true;
        else output->may_be_in_head = true;
    }
    sp_free(output->heads.items);
    return good;
}

/* Whether the tensor is the matrix of a linear layer, where all that is no such matrix is marked as an embedding. The
 * output layer is left out, as peft does, and Muon. False after a message. */
static bool is_inner_matrix(const struct output_layer *output, struct sp_symbolic *symbolic,
                            const struct sp_measured_tensor *tensor, bool *is_inner)
{
    *is_inner = is_matrix(tensor) && !has_vocabulary(output, tensor);
    if (!*is_inner || output->is_in_head || !is_in_head(tensor)) return true;
    *is_inner = false;
    return !output->may_be_in_head ||
           sp_sym_fail(symbolic, tensor->span, "whether %s is the output layer depends on settings that are not given",
                       tensor->name);
}

/* Whether the table marks its embeddings, which a question about all matrices depends on. */
static bool marks_embeddings(struct sp_count *count, const struct sp_expr *expr)
{
    if (count->table->measures & SP_MEASURE_ACTIVE) return true;
    return sp_sym_fail(&count->symbolic, expr->span,
                       "the table '%s' does not say which of its matrices are embeddings: it has no line 'measures "
                       "active'",
                       count->table->name);
}

/* ---- adapters ---- */

struct adapters {
    const struct sp_sizing *sizing;
    const struct sp_unit *table;
    struct output_layer output; /* of all-linear */
    bool *matched;              /* by target */
    bool matched_experts;       /* one of the matrices is that of experts */
};

/* The last component of the name before its first `length` bytes, "q_proj" of "layers.{i}.q_proj"; its length in
 * *size. A point within a placeholder parts nothing. */
static const char *last_component(const char *name, size_t length, size_t *size)
{
    size_t begin = length, depth = 0;
    while (begin > 0 && (depth || name[begin - 1] != '.')) {
        begin--;
        depth += name[begin] == '}';
        if (name[begin] == '{' && depth) depth--;
    }
    *size = length - begin;
    return name + begin;
}

static bool is_number(const char *text, size_t length)
{
    size_t digits = 0;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9') digits++;
    return length && digits == length;
}

enum fit { DIFFERS, FITS, MAY_FIT };

/* Whether the module, `length` bytes of `name`, is the target, or ends in "." and the target: the rule of peft. An
 * index of the table may be the number in a target. */
static enum fit fits_target(const char *name, size_t length, const char *target)
{
    size_t rest = strlen(target);
    enum fit fit = FITS;
    for (;;) {
        size_t own_size, wanted_size;
        const char *own = last_component(name, length, &own_size);
        const char *wanted = last_component(target, rest, &wanted_size);
        const bool equal = own_size == wanted_size && memcmp(own, wanted, own_size) == 0;
        if (!equal && !(own_size && *own == '{' && is_number(wanted, wanted_size))) return DIFFERS;
        if (!equal) fit = MAY_FIT;
        if (wanted == target) return fit;
        if (own == name) return DIFFERS;
        rest -= wanted_size + 1;
        length -= own_size + 1;
    }
}

/* Whether the table says of none of its lines `unadapted` that they are about the module, `length` bytes of the name;
 * otherwise false after a message with the reason. */
static bool is_adapted(const struct adapters *adapters, struct sp_symbolic *symbolic,
                       const struct sp_measured_tensor *tensor, size_t length)
{
    for (size_t i = 0; i < adapters->table->unadapted_count; i++) {
        const struct sp_unadapted *unadapted = &adapters->table->unadapted[i];
        for (size_t k = 0; k < unadapted->count; k++)
            if (fits_target(tensor->name, length, unadapted->modules[k]) != DIFFERS)
                return sp_sym_fail(symbolic, tensor->span, "what an adapter of the module '%s' adds is not known: %s",
                                   unadapted->modules[k], unadapted->reason);
    }
    return true;
}

/* The rows and columns that an adapter of the matrix adds for each rank; 0 for what no target names. */
static const struct sp_poly *measure_adapter(void *context, struct sp_symbolic *symbolic,
                                             const struct sp_measured_tensor *tensor)
{
    struct adapters *adapters = context;
    const struct sp_sizing *sizing = adapters->sizing;
    const struct sp_poly *none = sp_poly_int(&symbolic->algebra, 0);
    const bool is_weight = ends_in(tensor->name, ".weight");
    const size_t length = strlen(tensor->name) - (is_weight ? strlen(".weight") : 0);
    bool matches = false;
    if (!is_weight || tensor->is_added) return none;
    if (sizing->is_all_linear && !is_inner_matrix(&adapters->output, symbolic, tensor, &matches)) return NULL;
    for (size_t i = 0; i < sizing->target_count; i++) {
        const enum fit fit = fits_target(tensor->name, length, sizing->targets[i]);
        if (fit == MAY_FIT) {
            sp_sym_fail(symbolic, tensor->span, "whether '%s' names %s depends on the index", sizing->targets[i],
                        tensor->name);
            return NULL;
        }
        matches = matches || fit == FITS;
        if (fit == FITS && tensor->rank >= 2) adapters->matched[i] = true;
    }
    if (!matches || tensor->rank < 2) return none;
    if (!is_adapted(adapters, symbolic, tensor, length)) return NULL;
    adapters->matched_experts = adapters->matched_experts || tensor->is_shared;
    if (tensor->rank == 2) return sp_poly_add(&symbolic->algebra, tensor->shape[0], tensor->shape[1]);
    sp_sym_fail(symbolic, tensor->span, "%s is no matrix: what an adapter adds to it is not known", tensor->name);
    return NULL;
}

static const struct sp_poly *count_adapters(struct sp_count *count, const struct sp_expr *expr,
                                            const struct sp_poly *rank)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    const struct sp_sizing *sizing = expr->sizing;
    if (sizing->is_all_linear && (!marks_embeddings(count, expr) || !sp_count_active(count, NULL))) return NULL;
    if (sizing->is_all_linear && count->active.share_count) {
        sp_sym_fail(symbolic, expr->span,
                    "whether the experts of a mixture are linear layers depends on the framework: give the targets by "
                    "name");
        return NULL;
    }
    struct adapters adapters = {.sizing = sizing, .table = count->table};
    adapters.matched = sp_arena_array(&symbolic->algebra.arena, sizing->target_count, sizeof(bool));
    if (sizing->is_all_linear && !read_output_layer(count, &adapters.output)) return NULL;
    const struct sp_poly *sum = sp_count_measure(count, &(struct sp_row_measure){true, measure_adapter, &adapters});
    count->adapts_experts = adapters.matched_experts;
    for (size_t i = 0; sum && i < sizing->target_count; i++)
        if (!adapters.matched[i]) {
            sp_sym_fail(symbolic, expr->span, "the target '%s' is the name of no matrix of the table '%s'",
                        sizing->targets[i], count->table->name);
            return NULL;
        }
    return sum ? sp_poly_mul(&symbolic->algebra, rank, sum) : NULL;
}

/* ---- training ---- */

/* The number of elements, and of those of the shape without one dimension from the end: 0 leaves out the last. */
static const struct sp_poly *elements_without(struct sp_algebra *algebra, const struct sp_measured_tensor *tensor,
                                              size_t from_end)
{
    const struct sp_poly *product = sp_poly_int(algebra, 1);
    for (size_t i = 0; i < tensor->rank; i++)
        if (i + from_end + 1 != tensor->rank) product = sp_poly_mul(algebra, product, tensor->shape[i]);
    return product;
}

/* The bytes of both moments that bitsandbytes keeps. NULL after a message for a size that is not known. */
static const struct sp_poly *moments_of_8bit(struct sp_symbolic *symbolic, const struct sp_measured_tensor *tensor,
                                             const struct sp_poly *elements)
{
    struct sp_rational size;
    int64_t bytes;
    if (!sp_poly_is_constant(elements, &size)) {
        sp_sym_fail(symbolic, tensor->span,
                    "what an optimizer of 8 bits keeps depends on the size of each tensor, and "
                    "that of %s is not known",
                    tensor->name);
        return NULL;
    }
    const int64_t blocks = size.num / BLOCK_OF_8BIT + (size.num % BLOCK_OF_8BIT != 0);
    const bool is_small = size.num < LEAST_OF_8BIT;
    if (__builtin_mul_overflow(is_small ? size.num : blocks, 4, &bytes) ||
        __builtin_add_overflow(bytes, is_small ? 0 : size.num, &bytes) || __builtin_mul_overflow(bytes, 2, &bytes)) {
        sp_sym_fail(symbolic, tensor->span, "the number of bytes does not fit in 64 bits");
        return NULL;
    }
    return sp_poly_int(&symbolic->algebra, bytes);
}

/* What counting the states of an optimizer needs. */
struct states {
    const struct sp_sizing *sizing;
    struct output_layer output; /* of Muon */
    bool has_rows_of_experts;   /* of Adafactor: a matrix of which a token uses a share, as of an expert, was counted */
};

/* The bytes of what the optimizer keeps of a tensor: a copy of it in mixed precision, and its moments. */
static const struct sp_poly *measure_states(void *context, struct sp_symbolic *symbolic,
                                            const struct sp_measured_tensor *tensor)
{
    struct states *states = context;
    const struct sp_sizing *sizing = states->sizing;
    const struct precision *precision = &precisions[sizing->precision];
    bool is_inner;
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_poly *elements = elements_without(algebra, tensor, tensor->rank), *moments;
    const int64_t moment = precision->moment;
    switch (sizing->optimizer) {
    case SP_OPTIMIZER_ADAM_8BIT:
        moments = moments_of_8bit(symbolic, tensor, elements);
        break;
    case SP_OPTIMIZER_SGD:
        moments = sp_poly_int(algebra, 0);
        break;
    case SP_OPTIMIZER_MOMENTUM:
        moments = sp_poly_scale(algebra, elements, sp_rational_int(moment));
        break;
    case SP_OPTIMIZER_ADAFACTOR: /* of a matrix a number for each row, and one for each column */
        if (tensor->rank < 2) moments = elements;
        else moments = sp_poly_add(algebra, elements_without(algebra, tensor, 0), elements_without(algebra, tensor, 1));
        moments = sp_poly_scale(algebra, moments, sp_rational_int(moment));
        states->has_rows_of_experts = states->has_rows_of_experts || (tensor->is_shared && tensor->rank == 2);
        break;
    case SP_OPTIMIZER_MUON:
        if (!is_inner_matrix(&states->output, symbolic, tensor, &is_inner)) return NULL;
        moments = sp_poly_scale(algebra, elements, sp_rational_int(is_inner ? moment : 2 * moment));
        break;
    default: /* SP_OPTIMIZER_ADAM */
        moments = sp_poly_scale(algebra, elements, sp_rational_int(2 * moment));
    }
    return sp_poly_add(algebra, moments, sp_poly_scale(algebra, elements, sp_rational_int(precision->copy)));
}

static unsigned gradient_bytes(const struct sp_sizing *sizing)
{
    return sizing->gradient_bytes ? sizing->gradient_bytes : precisions[sizing->precision].weight;
}

/* Of each process: ZeRO divides the states from stage 1 on, the gradients from 2 on, and the weights from 3 on. */
static const struct sp_poly *count_training(struct sp_count *count, const struct sp_expr *expr,
                                            const struct sp_poly *ranks)
{
    struct sp_symbolic *symbolic = &count->symbolic;
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_sizing *sizing = expr->sizing;
    struct states context = {.sizing = sizing};
    const bool is_muon = sizing->optimizer == SP_OPTIMIZER_MUON;
    if (is_muon && (!marks_embeddings(count, expr) || !read_output_layer(count, &context.output))) return NULL;
    const struct sp_poly *states = sp_count_measure(count, &(struct sp_row_measure){false, measure_states, &context});
    if (!states) return NULL;
    count->has_rows_of_experts = context.has_rows_of_experts;
    const struct sp_poly *const whole[] = {
        sp_poly_scale(algebra, count->total, sp_rational_int(precisions[sizing->precision].weight)),
        sp_poly_scale(algebra, count->total, sp_rational_int(gradient_bytes(sizing))), states};
    const struct sp_poly *sum = sp_poly_int(algebra, 0);
    for (unsigned i = 0; i < 3; i++) {
        const struct sp_poly *part = sizing->zero >= 3 - i ? sp_poly_divide(algebra, whole[i], ranks) : whole[i];
        if (sizing->part == SP_TRAINED_ALL || sizing->part == SP_TRAINED_WEIGHTS + i)
            sum = sp_poly_add(algebra, sum, part);
    }
    if (!sum) sp_sym_fail(symbolic, expr->span, "this number of processes divides nothing");
    return sum;
}

/* ---- all of them ---- */

/* 2 for bf16, 1/2 for int4. */
static struct sp_rational bytes_of_element(const struct sp_sizing *sizing)
{
    struct sp_rational bytes;
    return sp_rational_make(sizing->bits, 8 /* bits of a byte */, &bytes) ? bytes : sp_rational_int(0);
}

/* The parameters of the largest rank, or their bytes where a dtype is given. */
static const struct sp_poly *count_shard(struct sp_count *count, const struct sp_expr *expr)
{
    const struct sp_poly *parameters = sp_count_shard(count, expr);
    if (!parameters || !expr->sizing->bits) return parameters;
    return sp_poly_scale(&count->symbolic.algebra, parameters, bytes_of_element(expr->sizing));
}

const struct sp_poly *sp_count_sizing(struct sp_count *count, const struct sp_expr *expr, const struct sp_poly *number)
{
    switch (expr->sizing->kind) {
    case SP_SIZING_LORA:
        return count_adapters(count, expr, number);
    case SP_SIZING_OPTIMIZER:
        return count_training(count, expr, number);
    case SP_SIZING_SHARD:
        return count_shard(count, expr);
    default: /* SP_SIZING_BYTES */
        return sp_poly_scale(&count->symbolic.algebra, count->total, bytes_of_element(expr->sizing));
    }
}

/* "copy of the weights 4, moments 8" */
static void put_states(struct sp_text *text, const struct sp_sizing *sizing)
{
    const struct precision *precision = &precisions[sizing->precision];
    if (precision->copy) sp_text_printf(text, "f32 copy of the weights %u, ", precision->copy);
    switch (sizing->optimizer) {
    case SP_OPTIMIZER_ADAM_8BIT:
        sp_text_printf(text, "two moments of 1 with a scale for %d elements", BLOCK_OF_8BIT);
        break;
    case SP_OPTIMIZER_SGD:
        sp_text_puts(text, "no moments");
        break;
    case SP_OPTIMIZER_MOMENTUM:
        sp_text_printf(text, "moment %u", precision->moment);
        break;
    case SP_OPTIMIZER_ADAFACTOR:
        sp_text_printf(text, "of each row and column %u", precision->moment);
        break;
    case SP_OPTIMIZER_MUON:
        sp_text_printf(text, "moment %u of linear layers except the output layer, otherwise two", precision->moment);
        break;
    default:
        sp_text_printf(text, "moments %u", 2 * precision->moment);
    }
}

void sp_put_sizing_convention(struct sp_text *text, const struct sp_sizing *sizing)
{
    static const char *const divided[] = {"", "states divided", "states and gradients divided", "all divided"};
    const enum sp_trained part = sizing->part;
    if (sizing->kind == SP_SIZING_BYTES && sizing->bits == 4) sp_text_puts(text, "without the scales of its blocks");
    if (sizing->kind != SP_SIZING_OPTIMIZER) return;
    sp_text_puts(text, "of each parameter: ");
    if (part == SP_TRAINED_ALL || part == SP_TRAINED_WEIGHTS)
        sp_text_printf(text, "weights %u", precisions[sizing->precision].weight);
    if (part == SP_TRAINED_ALL) sp_text_puts(text, ", ");
    if (part == SP_TRAINED_ALL || part == SP_TRAINED_GRADIENTS)
        sp_text_printf(text, "gradients %u", gradient_bytes(sizing));
    if (part == SP_TRAINED_ALL) sp_text_puts(text, ", ");
    if (part == SP_TRAINED_ALL || part == SP_TRAINED_STATES) put_states(text, sizing);
    if (sizing->zero) sp_text_printf(text, "; ZeRO-%u: %s by the ranks", sizing->zero, divided[sizing->zero]);
}
