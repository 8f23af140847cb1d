/* SPDX-License-Identifier: MIT
 * The class that an adapter was trained on. Most classifiers are adapters on a base without a head for this task:
 *
 *     config.json of the base      "architectures": ["BertForMaskedLM"]
 *     adapter_config.json          "task_type": "SEQ_CLS"      ->  BertForSequenceClassification
 */
#include "explain/adapter_task.h"

#include <string.h>

#include "base/chars.h"
#include "check/adapter.h"
#include "config/choose.h"
#include "config/config.h"

/* The tasks with a head that PEFT saves in the adapter, and how the classes of transformers with this head end. */
static const struct {
    const char *task, *head;
} heads[] = {
    {"SEQ_CLS", "ForSequenceClassification"},
    {"TOKEN_CLS", "ForTokenClassification"},
    {"QUESTION_ANS", "ForQuestionAnswering"},
};

/* The head that task_type asks for; NULL where it asks for none. */
static const char *head_of_task(struct shapeproof_value task)
{
    for (size_t i = 0; task.type == SHAPEPROOF_VALUE_STRING && i < sizeof heads / sizeof *heads; i++)
        if (strcmp(task.string, heads[i].task) == 0) return heads[i].head;
    return NULL;
}

/* How the class ends that AutoModel has for the head: of three models the one for questions is called Simple, because
 * another one, without it, has more tensors. */
static const char *ending_of_class(struct sp_arena *arena, const struct sp_hyper *hyper, const char *head)
{
    static const char *const simple[] = {"xlnet", "xlm", "flaubert"};
    const struct shapeproof_value type = sp_value_member(hyper->root, "model_type");
    const bool is_simple = strcmp(head, "ForQuestionAnswering") == 0 && type.type == SHAPEPROOF_VALUE_STRING &&
                           SP_IS_AMONG(type.string, simple);
    return is_simple ? sp_arena_printf(arena, "%sSimple", head) : head;
}

/* The rows of the last matrix of the head, which is the number of labels; 0 where the adapter has none. */
static uint64_t count_labels(const struct shapeproof_inventory *inventory)
{
    static const char *const last[] = {".classifier.weight", ".score.weight", ".qa_outputs.weight",
                                       ".classifier.out_proj.weight", ".classification_head.out_proj.weight"};
    for (size_t i = 0; i < shapeproof_inventory_count(inventory); i++) {
        const struct shapeproof_tensor *tensor = shapeproof_inventory_tensor(inventory, i);
        for (size_t k = 0; tensor->rank == 2 && k < sizeof last / sizeof *last; k++)
            if (sp_ends_with(tensor->name, last[k])) return tensor->shape[0];
    }
    return 0;
}

bool sp_adapter_task_read(struct shapeproof_check *check, struct sp_adapter_task *task)
{
    const struct sp_hyper *hyper = sp_config_hyper(check->config);
    *task = (struct sp_adapter_task){.labels = 0};
    if (check->table_name || !sp_is_adapter(check->inventory)) return false;
    task->head = head_of_task(sp_value_member(sp_adapter_config(&check->arena, check->inventory), "task_type"));
    if (!task->head || sp_ends_with(sp_first_class(hyper), task->head)) return false;
    task->class = sp_class_with_head(&check->arena, hyper, ending_of_class(&check->arena, hyper, task->head));
    task->labels = count_labels(check->inventory);
    return task->class != NULL;
}
