/* SPDX-License-Identifier: MIT */
#include "explain/advice.h"

#include "explain/causes.h"
#include "explain/own_table.h"

/* What helps against a cause of that kind, whatever its details are. */
static const char *const usual_hints[SP_CAUSE_COUNT] = {
    [SP_CAUSE_NUMBERED] = "renumber them in the names of the file, as the model counts",
    [SP_CAUSE_OWN_LOOP] = "give the loop of the table as many iterations",
    [SP_CAUSE_TWO_MODELS] = "let architectures and model_type name one model",
    [SP_CAUSE_QUANTISED_MODULE] = "let the configuration exempt what is not quantised, and nothing else",
    [SP_CAUSE_TIED_APART] = "keep one of the two: loaders do, and not all of them the same one",
    [SP_CAUSE_ADAPTER] = "load it onto its base: PeftModel.from_pretrained(base, DIRECTORY)",
    [SP_CAUSE_ADAPTER_SHAPE] = "load it onto its own base, base_model_name_or_path in adapter_config.json",
    [SP_CAUSE_ADAPTER_MODULE] = "load it onto its own base, base_model_name_or_path in adapter_config.json",
    [SP_CAUSE_ADAPTER_PAIR] = "save the adapter again: of each pair both matrices are needed",
    [SP_CAUSE_ADAPTER_RANK] = "let r and rank_pattern in adapter_config.json say the ranks of the file",
    [SP_CAUSE_ADAPTER_PART] = "save the adapter again as a whole, or let adapter_config.json say what it is",
    [SP_CAUSE_SHARD_MISSING] = "fetch the shard again",
    [SP_CAUSE_PIPELINE] = "gather the stages into one checkpoint",
    [SP_CAUSE_TENSOR_PARALLEL] = "gather the ranks into one checkpoint",
    [SP_CAUSE_INCOMPLETE] = "convert or save the model again: no loader can make up what is not there",
    [SP_CAUSE_RENAMED] = "rename them as the model has them: loaders look for no other names",
    [SP_CAUSE_LAYERS_MISSING] = "take a file with all layers, or build a model without these",
    [SP_CAUSE_EXPERTS_MISSING] = "take a file that has them: the router has a row for each expert",
    [SP_CAUSE_BIAS] = "no setting has them in just these places: convert the model again",
    [SP_CAUSE_TRANSPOSED] = "transpose them, W.t().contiguous(), and square ones like them, which no shape tells",
    [SP_CAUSE_UNRELATED] =
        "take the configuration of the model that the file is of, which 'shapeproof infer' looks for",
    [SP_CAUSE_INTEGERS] = "export it again together with the scales: no weight can be computed without them",
};

/* For each kind of finding what is to be done, or why that is not known, when it is the most frequent one of those
 * without a cause. */
static const char *const open_hints[SP_FINDING_KINDS] = {
    [SHAPEPROOF_FINDING_MISSING] = "nothing in the file could be that, no setting leaves it out",
    [SHAPEPROOF_FINDING_UNEXPECTED] = "no setting asks for that, nothing that is missing is like it",
    [SHAPEPROOF_FINDING_SHAPE] = "no fix is known: no one value of a setting gives these shapes",
    [SHAPEPROOF_FINDING_DTYPE] = "convert what is of another dtype as the rest",
    [SHAPEPROOF_FINDING_QUANTISED] = "let the configuration exempt what is not quantised, and nothing else",
    [SHAPEPROOF_FINDING_LACKING] = "take a file that has what is lacking",
    [SHAPEPROOF_FINDING_UNUSED] = "take out of the file of expectations what is there no longer",
    [SHAPEPROOF_FINDING_EXPIRED] = "repair it, or give the expectation another day",
};

static void add_usual_hint(struct shapeproof_cause *cause)
{
    for (size_t kind = 0; kind < SP_CAUSE_COUNT; kind++)
        if (cause->id == sp_cause_rows[kind].id) cause->hint = usual_hints[kind];
    if (!cause->hint && cause->severity == SHAPEPROOF_SEVERITY_ERROR) cause->hint = "no fix is known";
}

/* The keys of the configuration that neither the table nor anything else reads: " (nothing reads a, b and c)", or "".
 */
static const char *unread_said(struct shapeproof_check *check)
{
    enum { MOST_KEYS = 4 };
    const char *keys[MOST_KEYS];
    const size_t count = sp_prediction_unread(check->prediction, check->config, keys, MOST_KEYS);
    struct sp_text text = {0};
    for (size_t i = 0; i < count; i++)
        sp_text_printf(&text, "%s%s", !i ? "; nothing reads " : i + 1 < count ? ", " : " and ", keys[i]);
    return text.length ? sp_text_keep(&text, &check->arena) : "";
}

/* For a user's own table: of the first open finding of that kind the row that may be wrong. */
static const char *advice_for_own(struct shapeproof_check *check, enum shapeproof_finding_kind kind)
{
    const char *file = shapeproof_prediction_table_file(check->prediction);
    size_t first = 0;
    while (check->findings[first].kind != kind || !sp_finding_is_open(&check->findings[first])) first++;
    if (kind == SHAPEPROOF_FINDING_UNEXPECTED)
        return sp_arena_printf(&check->arena, "no setting asks for that: if it belongs to the model, %s lacks a row%s",
                               file, unread_said(check));
    const struct sp_row *row = sp_own_row(&check->prediction->origins[check->findings[first].predicted]);
    if (!row) return open_hints[kind];
    return sp_arena_printf(&check->arena,
                           "no one value of a setting %s: if the configuration is right, correct %s:%zu%s",
                           kind == SHAPEPROOF_FINDING_SHAPE ? "gives these shapes" : "leaves it out", file,
                           sp_span_position(row->span).line, unread_said(check));
}

static const char *advice_for_open(struct shapeproof_check *check)
{
    size_t counts[SP_FINDING_KINDS] = {0}, most = 0;
    for (size_t i = 0; i < check->finding_count; i++)
        if (sp_finding_is_open(&check->findings[i])) counts[check->findings[i].kind]++;
    for (size_t kind = 0; kind < SP_FINDING_KINDS; kind++)
        if (counts[kind] > counts[most]) most = kind;
    if (!counts[most]) return NULL;
    if (check->open_hint) return check->open_hint;
    const bool about_tensors =
        most == SHAPEPROOF_FINDING_MISSING || most == SHAPEPROOF_FINDING_UNEXPECTED || most == SHAPEPROOF_FINDING_SHAPE;
    if (about_tensors && sp_is_own_table(check->prediction))
        return advice_for_own(check, (enum shapeproof_finding_kind)most);
    return open_hints[most];
}

void sp_advise(struct shapeproof_check *check)
{
    for (size_t i = 0; i < check->cause_count; i++)
        if (!check->causes[i].hint && check->causes[i].severity != SHAPEPROOF_SEVERITY_NOTE)
            add_usual_hint(&check->causes[i]);
    check->advice = advice_for_open(check);
}
