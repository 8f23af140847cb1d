/* SPDX-License-Identifier: MIT
 * Objects of a distributed checkpoint: the number of a step, the state of a sampler. torch.save has written each into a
 * range of a file, and dcp.load unpickles it without restrictions. */
#include <inttypes.h>

#include "base/names.h"
#include "read/dcp/dcp.h"
#include "read/torch/judge.h"

/* Megatron has an extra state for each layer and expert. A remote object takes a few requests. */
enum { MAX_OBJECTS = 200 * 1000, MAX_REMOTE_OBJECTS = 64 };

static void judge_object(const struct sp_dcp *dcp, const struct sp_dcp_object *object, const struct sp_file *file)
{
    struct sp_file part = *file;
    const char *what = sp_arena_printf(&dcp->inventory->arena, "object %s", sp_quote(object->name).text);
    if (object->transformed) {
        sp_inventory_warn(dcp->inventory, "%s is not read, so that it is not known what unpickling it would run: %s",
                          what, "it is compressed");
        return;
    }
    part.base += object->begin;
    part.size = object->length;
    part.nesting++;
    sp_torch_judge_file(&part, what, dcp->inventory);
}

/* Objects mostly come in the order of their files: the last file stays open. Of a file that is not there, or too short,
 * a warning is given elsewhere. */
void sp_dcp_judge_objects(struct sp_dcp *dcp)
{
    const size_t most = dcp->folder->far ? MAX_REMOTE_OBJECTS : MAX_OBJECTS, count = dcp->placed.count;
    struct sp_file file = {.fd = -1, .path = ""};
    uint32_t opened = UINT32_MAX;
    for (size_t i = 0; i < count && i < most; i++) {
        const struct sp_dcp_object *object = &dcp->placed.items[i];
        struct shapeproof_error ignored = {0};
        if (object->file != opened) {
            sp_file_close(&file);
            sp_folder_open_file(dcp->folder, dcp->files.items[object->file].name, &file, &ignored);
            opened = object->file;
        }
        if (file.fd >= 0 && object->begin <= file.size && object->length <= file.size - object->begin)
            judge_object(dcp, object, &file);
    }
    sp_file_close(&file);
    if (count > most)
        sp_inventory_warn(dcp->inventory,
                          "of its pickled objects only the first %zu are read: what unpickling the others would run is "
                          "not known",
                          most);
    if (dcp->object_names.count && !dcp->has_places)
        sp_inventory_warn(dcp->inventory, "where its pickled objects are is not known, nor what they would run");
}
