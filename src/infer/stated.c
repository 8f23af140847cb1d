/* SPDX-License-Identifier: MIT
 * What a file says of itself: its metadata name the model, and give hyper-parameters that no tensor shows. */
#include "config/choose.h"
#include "config/inside.h"
#include "infer/search.h"

/* The metadata as a configuration, and the table that it leads to. Returns false when the file says nothing of its
 * model, or there is no table for what it says, or only another table is asked for. */
static bool find_stated(struct sp_infer_search *search, struct sp_stated *stated)
{
    struct shapeproof_error error = {0};
    if (!sp_config_gguf_names_model(search->file)) return false;
    stated->config = shapeproof_config_new();
    sp_config_take_gguf(stated->config, search->file);
    stated->table = sp_choose_table(search->searched.tables, NULL, sp_config_hyper(stated->config), &error);
    return stated->table && (!search->searched.only || search->searched.only == stated->table);
}

bool sp_stated_find(struct sp_stated *stated, struct sp_infer_search *search)
{
    if (find_stated(search, stated)) return true;
    sp_stated_free(stated);
    return false;
}

void sp_stated_free(struct sp_stated *stated)
{
    if (stated->config) shapeproof_config_free(stated->config);
    *stated = (struct sp_stated){0};
}

/* Keys that the file does not decide otherwise: what its tensors told stays. */
void sp_stated_tell(const struct sp_stated *stated, struct sp_solver *solver)
{
    const struct shapeproof_value root = sp_config_hyper(stated->config)->root;
    for (size_t i = 0; i < root.count; i++)
        if (!sp_is_choice_of_table(root.members[i].key))
            sp_known_state(&solver->known, root.members[i].key, root.members[i].value);
}
