/* SPDX-License-Identifier: MIT
 * What quantization_config says of single modules. Each quantiser has a place of its own for that:
 *
 *     "extra_config": {"model.layers.0.mlp.gate": {"bits": 16}}             AutoRound: 16 bits are left as they are
 *     "dynamic": {"-:.*down_proj": {}, "+:.*gate_proj": {"bits": 8}}        GPTQModel
 *     "quant_config": {"self_attn.q_proj": {"weight_quant_params": {...}}}  HQQ: names without numbers */
#ifndef SP_CONFIG_QUANTISED_RULES_H
#define SP_CONFIG_QUANTISED_RULES_H

#include "base/map.h"
#include "base/value.h"

struct sp_rule_dialect;

struct sp_rules {
    const struct sp_rule_dialect *dialect;
    const char *path;               /* of the object with the rules: "quantization_config.extra_config" */
    struct shapeproof_value object; /* a member for each; those of quantization_config itself may be something else */
    struct shapeproof_value whole;  /* what holds for modules without one, */
    const char *whole_path;         /* and where it is */
    struct sp_map named;            /* names of modules, or of kinds of them -> index of the member */
    size_t patterns[512], count;    /* members that are patterns */
};

/* What is said of one module. */
struct sp_module_rule {
    enum { SP_MODULE_NONE, SP_MODULE_OWN, SP_MODULE_LEFT_OUT } kind;
    struct shapeproof_value object; /* its keys, or those of the whole */
    const char *path;
    bool inherits; /* what the rule does not say holds as for the whole */
};

/* Of the object with that path and the method, as part names have it. */
void sp_rules_open(struct sp_rules *rules, struct sp_arena *arena, struct shapeproof_value object, const char *path,
                   const char *method);
void sp_rules_close(struct sp_rules *rules);
/* What takes time is subtracted from the budget. `path` of the rule is in the arena. */
struct sp_module_rule sp_rules_for(const struct sp_rules *rules, struct sp_arena *arena, const char *module,
                                   size_t *budget);
/* Whether that key of quantization_config is about single modules. */
bool sp_rules_read(const char *key);

#endif
