/* SPDX-License-Identifier: MIT */
#include "prove/symbolic/shard.h"

#include <inttypes.h>
#include <string.h>

#include "prove/symbolic/operate.h"

/* ---- division ---- */

static const char *name_of_pieces(const struct sp_partition *division)
{
    if (!division || division->axis == SP_AXIS_EP) return "experts";
    return division->what ? division->what : "pieces";
}

/* Whether `by` says the same of both: a row that may be padded, or be replicated, says something else than one that may
 * not. */
static bool is_like(const struct sp_partition *a, const struct sp_partition *b)
{
    static const struct sp_partition experts = {.axis = SP_AXIS_EP};
    if (!a) a = &experts;
    if (!b) b = &experts;
    return a->axis == b->axis && !a->of == !b->of && a->is_replicated == b->is_replicated &&
           strcmp(name_of_pieces(a), name_of_pieces(b)) == 0;
}

void sp_shard_note(struct sp_sharding *sharding, struct sp_partition_count seen)
{
    for (size_t i = 0; i < sharding->count; i++) {
        const struct sp_partition_count *known = &sharding->divisions[i];
        if (is_like(known->division, seen.division) && known->ranks == seen.ranks && known->is_whole == seen.is_whole &&
            sp_poly_equal(known->pieces, seen.pieces))
            return;
    }
    SP_GROW(sharding->divisions, sharding->count, sharding->capacity);
    sharding->divisions[sharding->count++] = seen;
}

/* ceil(pieces / ranks), as floor((pieces + ranks - 1) / ranks). NULL after a mistake. */
static const struct sp_poly *share_rounded_up(struct sp_symbolic *symbolic, struct sp_span span,
                                              const struct sp_poly *pieces, unsigned ranks)
{
    const struct sp_operation floor = {.kind = SP_DO_BINARY, .op = SP_OP_FLOOR, .span = span};
    struct sp_algebra *algebra = &symbolic->algebra;
    const struct sp_sym args[] = {
        sp_sym_of_poly(sp_poly_add(algebra, pieces, sp_poly_int(algebra, (int64_t)ranks - 1))),
        sp_sym_of_poly(sp_poly_int(algebra, ranks))};
    struct sp_sym share;
    const struct sp_poly *number;
    return sp_sym_operate(symbolic, &floor, args, 2, &share) && sp_sym_as_number(symbolic, span, share, &number)
               ? number
               : NULL;
}

/* Among how many ranks it is divided where the count is now. */
static unsigned ranks_of(const struct sp_sharding *sharding, const struct sp_partition *division)
{
    if (division->axis == SP_AXIS_EP) return sharding->ranks.ep;
    if (sharding->is_whole) return 1;
    return sharding->in_experts ? sharding->ranks.etp : sharding->ranks.tp;
}

bool sp_shard_dimension(struct sp_symbolic *symbolic, const struct sp_sym_env *env, const struct sp_expr *dimension,
                        struct sp_sym *out)
{
    const struct sp_partition *division = dimension->division;
    struct sp_algebra *algebra = &symbolic->algebra;
    const unsigned ranks = ranks_of(symbolic->sharding, division);
    const struct sp_poly *whole, *pieces;
    if (ranks == 1) return true;
    if (!sp_sym_as_number(symbolic, dimension->span, *out, &whole)) return false;
    pieces = whole;
    if (division->of && !sp_sym_number(symbolic, env, division->of, &pieces)) return false;
    if (sp_poly_is_zero(whole)) return true;
    const struct sp_poly *piece = sp_poly_divide(algebra, whole, pieces);
    struct sp_rational known;
    if (!piece || (sp_poly_is_constant(piece, &known) && known.den != 1))
        return sp_sym_fail(symbolic, division->span, "the dimension is no multiple of the number of its %s",
                           name_of_pieces(division));
    const struct sp_poly *share = share_rounded_up(symbolic, division->span, pieces, ranks);
    if (!share) return false;
    sp_shard_note(symbolic->sharding,
                  (struct sp_partition_count){division, pieces, ranks, symbolic->sharding->is_whole});
    if (symbolic->sharding->in_vision) symbolic->sharding->divides_vision = true;
    *out = sp_sym_of_poly(sp_poly_mul(algebra, piece, share));
    return true;
}

const struct sp_poly *sp_shard_experts(struct sp_symbolic *symbolic, struct sp_span span, const struct sp_poly *experts)
{
    const unsigned ranks = symbolic->sharding->ranks.ep;
    if (ranks == 1) return experts;
    sp_shard_note(symbolic->sharding, (struct sp_partition_count){NULL, experts, ranks, symbolic->sharding->is_whole});
    return share_rounded_up(symbolic, span, experts, ranks);
}

static bool is_by_ep(const struct sp_expr *expr) { return expr->division && expr->division->axis == SP_AXIS_EP; }

bool sp_shard_is_of_experts(const struct sp_row *row)
{
    for (size_t i = 0; i < row->rank; i++)
        if (is_by_ep(row->shape[i])) return true;
    for (size_t i = 0; i < row->arg_count; i++)
        if (is_by_ep(row->args[i].expr)) return true;
    return false;
}

int64_t sp_shard_layers(int64_t layers, unsigned stages, unsigned index)
{
    return layers / stages + (index < layers % stages);
}

/* ---- words ---- */

static void begin_sentence(struct sp_text *text)
{
    if (text->length) sp_text_puts(text, "; ");
}

/* "16, 15, 15, 15"; of many stages the runs of equal ones: "3 of 6, 13 of 5". */
static void put_stages(struct sp_text *text, int64_t layers, unsigned stages)
{
    enum { MOST_LISTED = 8 };
    const int64_t more = layers % stages;
    for (unsigned i = 0; stages <= MOST_LISTED && i < stages; i++)
        sp_text_printf(text, "%s%" PRId64, i ? ", " : "", sp_shard_layers(layers, stages, i));
    if (stages <= MOST_LISTED) return;
    if (more) sp_text_printf(text, "%" PRId64 " of %" PRId64 ", ", more, layers / stages + 1);
    sp_text_printf(text, "%" PRId64 " of %" PRId64, stages - more, layers / stages);
}

/* "16 of 128 experts, each divided by 8". */
static void put_experts(struct sp_text *text, const struct sp_sizing *sizing, int64_t experts,
                        const struct sp_partition_count *seen)
{
    const unsigned ranks = seen->ranks;
    begin_sentence(text);
    sp_text_printf(text, "%" PRId64 " of %" PRId64 " experts", experts / ranks + (experts % ranks != 0), experts);
    if (experts % ranks) sp_text_puts(text, ", others fewer");
    if (sizing->ranks.etp > 1 && !seen->is_whole) sp_text_printf(text, ", each divided by %u", sizing->ranks.etp);
    else if (sizing->ranks.tp > 1 || sizing->ranks.etp > 1) sp_text_puts(text, ", each whole");
}

/* Whether so many ranks divide the pieces, or each of the pieces can be on as many ranks. */
static bool divides(const struct sp_partition *division, int64_t pieces, unsigned ranks)
{
    return pieces % ranks == 0 || (division && division->is_replicated && pieces > 0 && ranks % pieces == 0);
}

/* "14 query heads are not divisible among 8 ranks". */
static void put_uneven(struct sp_text *text, const struct sp_partition *division, int64_t pieces, unsigned ranks)
{
    sp_text_printf(text, "%" PRId64 " %s are not divisible among %u ranks", pieces, name_of_pieces(division), ranks);
}

const char *sp_shard_uneven(const struct sp_count *count, struct sp_arena *arena)
{
    const struct sp_sharding *sharding = &count->shard.sharding;
    struct sp_text text = {0};
    for (size_t i = 0; i < sharding->count && !text.length; i++) {
        const struct sp_partition_count *seen = &sharding->divisions[i];
        struct sp_rational number;
        if (seen->division && !seen->division->of && seen->division->axis == SP_AXIS_TP) continue; /* it is padded */
        if (!sp_poly_is_constant(seen->pieces, &number))
            sp_text_printf(&text, "the number of %s is not known", name_of_pieces(seen->division));
        else if (!divides(seen->division, number.num, seen->ranks))
            put_uneven(&text, seen->division, number.num, seen->ranks);
    }
    return text.length ? sp_text_keep(&text, arena) : NULL;
}

/* "8 ranks: 4 key-value heads are replicated twice", or "14 query heads are not divisible among 8 ranks"; nothing of
 * what is divided evenly, or may be padded. */
static void put_division(struct sp_text *text, const struct sp_partition *division, int64_t pieces, unsigned ranks)
{
    const char *what = name_of_pieces(division);
    if (!division->of || pieces % ranks == 0) return;
    begin_sentence(text);
    if (!divides(division, pieces, ranks)) put_uneven(text, division, pieces, ranks);
    else if (pieces == 1) sp_text_printf(text, "each of %u ranks has the same %s", ranks, what);
    else if (ranks / pieces == 2)
        sp_text_printf(text, "%u ranks: %" PRId64 " %s are replicated twice", ranks, pieces, what);
    else
        sp_text_printf(text, "%u ranks: %" PRId64 " %s are replicated %" PRId64 " times", ranks, pieces, what,
                       ranks / pieces);
}

/* Whether the words about a division were put for an earlier one: a row that may be replicated, and is not, and one
 * that may not. */
static bool is_put_before(const struct sp_sharding *sharding, size_t index)
{
    const struct sp_partition_count *own = &sharding->divisions[index];
    struct sp_rational pieces;
    for (size_t i = 0; i < index; i++) {
        const struct sp_partition_count *other = &sharding->divisions[i];
        if (sp_poly_is_constant(own->pieces, &pieces) && sp_poly_equal(own->pieces, other->pieces) &&
            own->ranks == other->ranks && own->division && other->division && other->division->of &&
            strcmp(name_of_pieces(own->division), name_of_pieces(other->division)) == 0 &&
            divides(own->division, pieces.num, own->ranks) == divides(other->division, pieces.num, own->ranks))
            return true;
    }
    return false;
}

void sp_put_cache_convention(struct sp_text *text, const struct sp_count *count)
{
    const struct sp_sharding *sharding = &count->shard.sharding;
    struct sp_rational pieces;
    sp_text_puts(text, "of the largest rank");
    for (size_t i = 0; i < sharding->count; i++)
        if (sp_poly_is_constant(sharding->divisions[i].pieces, &pieces) && !is_put_before(sharding, i))
            put_division(text, sharding->divisions[i].division, pieces.num, sharding->divisions[i].ranks);
}

void sp_put_shard_convention(struct sp_text *text, const struct sp_count *count, const struct sp_sizing *sizing)
{
    const struct sp_shard_count *shard = &count->shard;
    struct sp_rational number;
    sp_text_puts(text, sizing->bits ? "of the weights of the largest rank" : "of the largest rank");
    if (sizing->ranks.tp > 1 || sizing->ranks.etp > 1)
        sp_text_puts(text, ", divided as Megatron-LM does, without padding");
    if (shard->sharding.divides_vision)
        sp_text_puts(text, "; the image encoder is divided, too: whole=[vision] leaves it whole");
    bool has_experts = false;
    for (size_t i = 0; i < shard->sharding.count; i++) {
        const struct sp_partition_count *seen = &shard->sharding.divisions[i];
        if (!sp_poly_is_constant(seen->pieces, &number) || is_put_before(&shard->sharding, i)) continue;
        const bool is_of_experts = !seen->division || seen->division->axis == SP_AXIS_EP;
        has_experts = has_experts || is_of_experts;
        if (is_of_experts) put_experts(text, sizing, number.num, seen);
        else put_division(text, seen->division, number.num, seen->ranks);
    }
    if (sizing->ranks.ep > 1 && !has_experts) {
        begin_sentence(text);
        sp_text_puts(text, "there are no experts to divide");
    }
    if (sizing->ranks.pp > 1) {
        begin_sentence(text);
        sp_text_printf(text, "%" PRId64 " layers over %u stages: ", shard->layers, sizing->ranks.pp);
        put_stages(text, shard->layers, sizing->ranks.pp);
        sp_text_printf(text, ", of which stage %u is the largest", shard->stage + 1);
    }
    if (shard->replicated && sp_poly_is_constant(shard->replicated, &number) && number.num) {
        begin_sentence(text);
        sp_text_grouped(text, (uint64_t)number.num);
        sp_text_printf(text, " parameters are whole on each of %u ranks", sizing->ranks.tp);
    }
}
