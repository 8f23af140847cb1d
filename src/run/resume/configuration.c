/* SPDX-License-Identifier: MIT
 * The model of Trainer's checkpoint against the config.json beside it: whether these are one model, and whether Trainer
 * loads its tensors under the names that the file has. */
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/chars.h"
#include "base/fault.h"
#include "base/names.h"
#include "load/memory_names.h"
#include "run/resume/resume.h"
#include "shapeproof/check.h"
#include "shapeproof/config.h"
#include "shapeproof/load.h"

static const char configuration[] = "config.json";

/* Whether Trainer goes on with the weights in the folder and makes their model of the config.json there. Adapters have
 * the configuration of another model, and DeepSpeed and FSDP load files of their own. */
static bool has_own_model(const struct shapeproof_resume *resume)
{
    const struct shapeproof_inventory *model = resume->model;
    if (!resume->layout || strcmp(resume->layout, "Trainer") != 0) return false;
    if (!model || !shapeproof_inventory_file_count(model) || !sp_resume_has(resume, configuration)) return false;
    return !sp_resume_has(resume, "adapter_config.json") && !sp_resume_has(resume, "pytorch_model_fsdp_0") &&
           !sp_resume_has(resume, "latest");
}

/* The name of a tensor that is tied to another one, and that the file stores besides; NULL for none. */
static const char *find_copy(const struct shapeproof_inventory *model, const struct shapeproof_check *check)
{
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(check, i);
        if (finding->kind == SHAPEPROOF_FINDING_TIED_PRESENT && finding->tensor != SHAPEPROOF_NONE &&
            sp_resume_is_parameter(&model->tensors[finding->tensor]))
            return finding->name;
    }
    return NULL;
}

/* A model with a tie has one parameter less than the file has tensors. An optimizer that lists as many was made for the
 * model without the tie. */
static void compare_ties(struct shapeproof_resume *resume, const struct shapeproof_check *check)
{
    const char *copy = find_copy(resume->model, check);
    size_t tensors = 0;
    for (size_t i = 0; i < resume->model->count; i++) tensors += sp_resume_is_parameter(&resume->model->tensors[i]);
    if (!copy || resume->optimizers != 1 || resume->facts.parameters < tensors) return;
    sp_resume_wrong(resume, "optimizer", "optimizer.pt",
                    sp_arena_printf(&resume->arena, "at most %zu, the tensors without the copy", tensors - 1),
                    sp_arena_printf(&resume->arena, "%zu", resume->facts.parameters),
                    "its groups list more parameters than the model of %s, which ties %s", configuration,
                    sp_quote(copy).text);
}

/* Trainer of transformers 5 (5.24: _load_from_checkpoint) gives the tensors of the file to load_state_dict with
 * strict=False, and does not rename or convert them as from_pretrained does. */
static void compare_names(struct shapeproof_resume *resume, const struct sp_load_subject *subject)
{
    size_t first = SHAPEPROOF_NONE;
    const size_t converted = sp_memory_converted(subject, &first);
    if (!converted) return;
    sp_resume_untold(resume, true, "model", sp_base_name(shapeproof_inventory_file(resume->model, 0)),
                     "%s other names or shapes in memory, such as %s: Trainer of transformers 5.24 does not convert "
                     "them, so there the model keeps the values that the script has given it",
                     sp_arena_printf(&resume->arena, converted == 1 ? "%zu tensor has" : "%zu tensors have", converted),
                     sp_quote(resume->model->tensors[first].name).text);
}

/* Whether all errors of the check are tensors that the table does not predict and no key of the configuration explains,
 * as those of a head that the script adds to a class. */
static bool has_more_alone(const struct shapeproof_check *check)
{
    bool has_more = false;
    for (size_t i = 0; i < shapeproof_check_cause_count(check); i++)
        if (shapeproof_check_cause(check, i)->severity == SHAPEPROOF_SEVERITY_ERROR) return false;
    for (size_t i = 0; i < shapeproof_check_finding_count(check); i++) {
        const struct shapeproof_finding *finding = shapeproof_check_finding(check, i);
        if (finding->severity != SHAPEPROOF_SEVERITY_ERROR) continue;
        if (finding->kind != SHAPEPROOF_FINDING_UNEXPECTED) return false;
        has_more = true;
    }
    return has_more;
}

/* Says what is wrong about the model by its check and by the loader of its configuration. What transformers 5 refuses
 * of the configuration counts if it saved it: another release may take it. */
static void judge_check(struct shapeproof_resume *resume, const struct shapeproof_check *check,
                        const struct shapeproof_loadings *loadings, const struct sp_load_subject *subject)
{
    const struct shapeproof_loading *failed = shapeproof_loading_failed(loadings);
    const enum shapeproof_verdict verdict = shapeproof_check_verdict(check);
    if (sp_inventory_misnamed(resume->model, &resume->arena)) return; /* its own statement says so */
    if (failed && verdict != SHAPEPROOF_VERDICT_DIFFERS && sp_memory_is_own_release(subject))
        sp_resume_wrong(resume, "model", configuration, NULL, NULL, "%s", failed->message);
    else if (verdict == SHAPEPROOF_VERDICT_DIFFERS && has_more_alone(check))
        sp_resume_untold(resume, true, "model", configuration,
                         "the file has more than its model, which the script may have added: %s",
                         shapeproof_check_headline(check));
    else if (verdict == SHAPEPROOF_VERDICT_DIFFERS)
        sp_resume_wrong(resume, "model", configuration, NULL, NULL, "the file is not its model: %s",
                        shapeproof_check_headline(check));
    else {
        if (verdict == SHAPEPROOF_VERDICT_UNKNOWN)
            sp_resume_untold(resume, false, "model", configuration, "a part of the weights is not compared with it: %s",
                             shapeproof_check_headline(check));
        compare_ties(resume, check);
        compare_names(resume, subject);
    }
}

static void compare_model(struct shapeproof_resume *resume, struct shapeproof_tables *tables,
                          struct shapeproof_config *config)
{
    struct shapeproof_error error = {0};
    const char *path = sp_arena_printf(&resume->arena, "%s/%s", resume->path, configuration);
    if (shapeproof_config_load(config, path, &error) != SHAPEPROOF_OK ||
        shapeproof_config_fit(config, tables, NULL, resume->model, &error) != SHAPEPROOF_OK) {
        sp_resume_wrong(resume, "model", NULL, NULL, NULL, "%.*s", (int)sp_first_line(error.message), error.message);
        return;
    }
    struct shapeproof_check *check = shapeproof_check_new(resume->model, tables, config, NULL, &error);
    struct shapeproof_loadings *loadings = check ? shapeproof_loadings_new(check, NULL, &error) : NULL;
    const struct sp_load_subject subject = {.inventory = resume->model, .tables = tables, .config = config};
    if (loadings) judge_check(resume, check, loadings, &subject);
    else
        sp_resume_untold(resume, false, "model", configuration, "it is not compared with the weights: %.*s",
                         (int)sp_first_line(error.message), error.message);
    shapeproof_loadings_free(loadings);
    shapeproof_check_free(check);
}

bool shapeproof_resume_compare(struct shapeproof_resume *resume, struct shapeproof_tables *tables,
                               struct shapeproof_error *error)
{
    SP_CALL(error, false);
    SP_SPENDS("checking it");
    sp_fault_begin(error);
    sp_keep(resume, resume, sizeof *resume);
    const size_t before = resume->statements.count;
    if (has_own_model(resume)) {
        struct shapeproof_config *config = shapeproof_config_new();
        compare_model(resume, tables, config);
        shapeproof_config_free(config);
    }
    if (sp_fault_end(error)) return true;
    resume->statements.count = before; /* a call of the system failed: what was found may be wrong */
    return false;
}
