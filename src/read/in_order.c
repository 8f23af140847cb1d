/* SPDX-License-Identifier: MIT */
#include "read/in_order.h"
#include "base/call.h"

#include <stdlib.h>
#include <string.h>

/* A stream, and the tensor that it reads. */
struct begun {
    struct sp_stream *stream;
    size_t tensor;       /* SHAPEPROOF_NONE: none */
    uint64_t position;   /* bytes of it that were had */
    unsigned char *kept; /* those bytes; NULL of a tensor that is not kept */
};

struct in_order {
    struct sp_data_source source; /* first */
    const struct shapeproof_inventory *inventory;
    const char **obstacles; /* of each tensor that was begun once; "": it was not yet */
    struct begun begun[SP_STREAMS];
    size_t latest; /* which of these was read last */
    void *owner;
    void (*close_owner)(void *owner);
};

static void end_tensor(struct begun *begun)
{
    if (begun->tensor != SHAPEPROOF_NONE) begun->stream->end(begun->stream);
    sp_free(begun->kept);
    begun->kept = NULL;
    begun->tensor = SHAPEPROOF_NONE;
}

static bool is_kept(const struct shapeproof_tensor *tensor) { return tensor->bytes <= SP_KEPT_BYTES; }

static bool begin_tensor(struct in_order *in_order, struct begun *begun, size_t number, struct shapeproof_error *error)
{
    const struct shapeproof_tensor *tensor = &in_order->inventory->tensors[number];
    const char *obstacle = NULL;
    end_tensor(begun);
    begun->tensor = number;
    begun->position = 0;
    if (is_kept(tensor)) begun->kept = sp_realloc(NULL, (size_t)tensor->bytes, 1);
    if (!begun->stream->begin(begun->stream, number, &obstacle, error)) {
        end_tensor(begun);
        return false;
    }
    in_order->obstacles[number] = obstacle;
    return true;
}

/* The stream of a tensor, or else the one that was read least recently. */
static struct begun *stream_for(struct in_order *in_order, size_t tensor)
{
    size_t chosen = (in_order->latest + 1) % SP_STREAMS;
    for (size_t i = 0; i < SP_STREAMS; i++)
        if (in_order->begun[i].tensor == tensor) chosen = i;
    in_order->latest = chosen;
    return &in_order->begun[chosen];
}

/* A tensor that cannot be begun has no obstacle: reading it fails with the error. */
static const char *find_obstacle(struct sp_data_source *source, size_t tensor)
{
    struct in_order *in_order = (struct in_order *)source;
    struct shapeproof_error ignored = {0};
    const char *known = in_order->obstacles[tensor];
    if (!known || *known) return known;
    return begin_tensor(in_order, stream_for(in_order, tensor), tensor, &ignored) ? in_order->obstacles[tensor] : NULL;
}

/* The next bytes of the tensor. */
static bool take_next(struct begun *begun, void *into, size_t length, struct shapeproof_error *error)
{
    begun->position += length;
    return begun->stream->next(begun->stream, into, length, error);
}

static bool pass_over(struct begun *begun, uint64_t length, struct shapeproof_error *error)
{
    enum { PASSED = 64 << 10 }; /* bytes that are passed at once */
    unsigned char *passed = length ? sp_realloc(NULL, PASSED, 1) : NULL;
    bool ok = true;
    for (size_t part; length && ok; length -= part) {
        part = length < PASSED ? (size_t)length : PASSED;
        ok = take_next(begun, passed, part, error);
    }
    sp_free(passed);
    return ok;
}

static bool read_begun(struct begun *begun, uint64_t offset, void *into, size_t length, struct shapeproof_error *error)
{
    if (!begun->kept) return pass_over(begun, offset - begun->position, error) && take_next(begun, into, length, error);
    const uint64_t have = begun->position, end = offset + length;
    if (end > have && !take_next(begun, begun->kept + have, (size_t)(end - have), error)) return false;
    memcpy(into, begun->kept + offset, length);
    return true;
}

static bool read_in_order(struct sp_data_source *source, size_t tensor, uint64_t offset, void *into, size_t length,
                          struct shapeproof_error *error)
{
    struct in_order *in_order = (struct in_order *)source;
    struct begun *begun = stream_for(in_order, tensor);
    const bool follows = begun->tensor == tensor && (begun->kept || offset >= begun->position);
    if ((follows || begin_tensor(in_order, begun, tensor, error)) && read_begun(begun, offset, into, length, error))
        return true;
    end_tensor(begun);
    return false;
}

static void keep_in_order(struct sp_data_source *source, size_t tensor)
{
    struct in_order *in_order = (struct in_order *)source;
    if (!sp_is_old(in_order)) return;
    sp_keep(in_order, in_order, sizeof *in_order);
    sp_keep(in_order->obstacles, &in_order->obstacles[tensor], sizeof *in_order->obstacles);
    for (size_t i = 0; i < SP_STREAMS; i++) in_order->begun[i].stream->keep(in_order->begun[i].stream);
}

static void rewind_in_order(struct sp_data_source *source)
{
    struct in_order *in_order = (struct in_order *)source;
    for (size_t i = 0; i < SP_STREAMS; i++) end_tensor(&in_order->begun[i]);
}

static void close_in_order(struct sp_data_source *source)
{
    struct in_order *in_order = (struct in_order *)source;
    for (size_t i = 0; i < SP_STREAMS; i++) end_tensor(&in_order->begun[i]);
    in_order->close_owner(in_order->owner);
    sp_free(in_order->obstacles);
    sp_free(in_order);
}

void sp_in_order_add(struct sp_data_places *places, struct sp_stream *const *streams, const bool *is_own, void *owner,
                     void (*close_owner)(void *owner))
{
    const size_t count = places->inventory->count;
    struct in_order *in_order = sp_realloc(NULL, 1, sizeof *in_order);
    *in_order =
        (struct in_order){.source = {find_obstacle, read_in_order, close_in_order, keep_in_order, rewind_in_order},
                          .inventory = places->inventory,
                          .owner = owner,
                          .close_owner = close_owner};
    for (size_t i = 0; i < SP_STREAMS; i++)
        in_order->begun[i] = (struct begun){.stream = streams[i], .tensor = SHAPEPROOF_NONE};
    in_order->obstacles = sp_realloc(NULL, count, sizeof *in_order->obstacles);
    for (size_t i = 0; i < count; i++) {
        in_order->obstacles[i] = "";
        if (!is_own[i]) continue;
        places->items[i] =
            (struct sp_data_place){.source = &in_order->source, .in_order = !is_kept(&places->inventory->tensors[i])};
    }
    *SP_PUSH(&places->sources) = &in_order->source;
}
