/* SPDX-License-Identifier: MIT
 * The sum of claims: a storage's claim is first divided into what tensors use of it and the rest; then the ends of all
 * ranges are sorted, and between two of them the strongest claim that is open counts. */
#include "model/account.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/call.h"
#include "base/checked.h"
#include "model/inventory.h"

/* ---- claims ---- */

void sp_inventory_set_size(struct shapeproof_inventory *inventory, uint64_t size)
{
    struct sp_account *account = &inventory->account;
    while (account->sizes.count + 1 < inventory->file_count) *SP_PUSH(&account->sizes) = 0;
    *SP_PUSH(&account->sizes) = size;
    sp_inventory_allow_names(inventory, size);
}

uint64_t sp_inventory_file_size(const struct shapeproof_inventory *inventory, uint32_t file)
{
    const struct sp_account *account = &inventory->account;
    return file < account->sizes.count ? account->sizes.items[file] : 0;
}

static void add_claim(struct shapeproof_inventory *inventory, const struct sp_byte_claim *claim)
{
    if (claim->begin < claim->end) *SP_PUSH(&inventory->account.claims) = *claim;
}

void sp_inventory_claim(struct shapeproof_inventory *inventory, uint32_t file, uint64_t begin, uint64_t end,
                        enum sp_use use)
{
    add_claim(inventory, &(struct sp_byte_claim){.begin = begin, .end = end, .file = file, .use = use});
}

void sp_inventory_claim_storage(struct shapeproof_inventory *inventory, uint32_t file, uint64_t begin, uint64_t end,
                                const char *storage, const char *record, bool is_compressed)
{
    add_claim(inventory, &(struct sp_byte_claim){.begin = begin,
                                                 .end = end,
                                                 .file = file,
                                                 .use = SP_USE_UNUSED,
                                                 .storage = storage,
                                                 .record = record,
                                                 .is_compressed = is_compressed});
}

void sp_inventory_claim_scattered(struct shapeproof_inventory *inventory, uint64_t bytes, enum sp_use use)
{
    uint64_t *sum = &inventory->account.scattered[use];
    if (!sp_add_u64(*sum, bytes, sum)) *sum = UINT64_MAX;
}

/* ---- how much of each storage the tensors use ---- */

/* The bytes [begin, end) of a storage that a tensor reaches. */
struct reach {
    const char *storage;
    uint64_t begin, end;
    uint32_t file;
    bool *counted; /* of the tensor: set when its bytes are counted with a claim of its storage */
};

static int compare_reaches(const void *left, const void *right)
{
    const struct reach *a = left, *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    const int storage = strcmp(a->storage, b->storage);
    if (storage) return storage;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* The reaches of all tensors with a storage, sorted by file, storage and begin; *count is how many. sp_free them. A
 * tensor whose bytes are not known reaches all of its storage. `counted` has a place for each tensor. */
static struct reach *list_reaches(const struct shapeproof_inventory *inventory, bool *counted, size_t *count)
{
    struct reach *reaches = sp_realloc(NULL, inventory->count + 1, sizeof *reaches);
    *count = 0;
    for (size_t i = 0; i < inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &inventory->tensors[i];
        const uint64_t item = shapeproof_dtype_bits(tensor->dtype) / 8;
        struct reach reach = {tensor->storage, 0, UINT64_MAX, tensor->file, &counted[i]};
        if (!tensor->storage || !tensor->parameters) continue;
        if (item &&
            (!sp_mul_u64(tensor->offset, item, &reach.begin) || !sp_mul_u64(sp_tensor_reach(tensor), item, &reach.end)))
            reach = (struct reach){tensor->storage, 0, UINT64_MAX, tensor->file, &counted[i]};
        reaches[(*count)++] = reach;
    }
    qsort(reaches, *count, sizeof *reaches, compare_reaches);
    return reaches;
}

/* The index of the first reach of a file and a storage: binary search. */
static size_t first_reach(const struct reach *reaches, size_t count, uint32_t file, const char *storage)
{
    const struct reach key = {.storage = storage, .file = file};
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_reaches(&reaches[middle], &key) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* How many of the first `size` bytes of the claimed storage some tensor reaches: the union of its reaches, which are
 * sorted by begin. Marks the tensors of the storage as counted. */
static uint64_t used_bytes(const struct reach *reaches, size_t count, const struct sp_byte_claim *claim, uint64_t size)
{
    uint64_t used = 0, done = 0; /* bytes before `done` are counted */
    for (size_t i = first_reach(reaches, count, claim->file, claim->storage);
         i < count && reaches[i].file == claim->file && strcmp(reaches[i].storage, claim->storage) == 0; i++) {
        const uint64_t begin = reaches[i].begin > done ? reaches[i].begin : done;
        const uint64_t end = reaches[i].end < size ? reaches[i].end : size;
        *reaches[i].counted = true;
        if (end <= begin) continue;
        used += end - begin;
        done = end;
    }
    return used;
}

/* Divides each claim of a storage into one for the bytes that tensors use and one for the rest. Only the two sizes are
 * right: the used bytes are put in front, wherever in the storage they lie. Marks the tensors that are counted so. */
static void divide_storages(struct shapeproof_inventory *inventory, bool *counted)
{
    struct sp_account *account = &inventory->account;
    size_t count = 0;
    struct reach *reaches = list_reaches(inventory, counted, &count);
    const size_t claims = account->claims.count;
    for (size_t i = 0; i < claims; i++) {
        struct sp_byte_claim claim = account->claims.items[i];
        const bool is_of_storage = claim.record != NULL;
        if (!is_of_storage) continue;
        const uint64_t size = claim.end - claim.begin;
        const uint64_t size_of_data =
            claim.is_compressed ? UINT64_MAX : size; /* how long the data is inflated is unknown */
        uint64_t used = claim.storage ? used_bytes(reaches, count, &claim, size_of_data) : 0;
        if (claim.is_compressed && used) used = size;
        if (used < size) *SP_PUSH(&account->unused) = (struct shapeproof_unused){claim.record, claim.file, size - used};
        account->claims.items[i].begin += used;
        claim.end = claim.begin + used;
        claim.use = SP_USE_TENSOR;
        if (used) *SP_PUSH(&account->claims) = claim;
    }
    sp_free(reaches);
}

/* ---- the sum ---- */

/* Where a claim begins (step 1) or ends (step -1). */
struct edge {
    uint64_t at;
    uint32_t file;
    enum sp_use use;
    int step;
};

static int compare_edges(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Appends the two edges of a range and returns the new count. A range that continues the last one, with the same use,
 * is merged into it: most files become one range. */
static size_t add_edges(struct edge *edges, size_t count, uint64_t begin, uint64_t end, uint32_t file, enum sp_use use)
{
    struct edge *last = count ? &edges[count - 1] : NULL;
    if (last && last->at == begin && last->file == file && last->use == use) {
        last->at = end;
        return count;
    }
    edges[count++] = (struct edge){begin, file, use, 1};
    edges[count++] = (struct edge){end, file, use, -1};
    return count;
}

/* The edges of all claims, and of the tensors that are not counted with a storage, sorted by file and place. sp_free
 * them.
 */
static struct edge *list_edges(const struct shapeproof_inventory *inventory, const bool *counted, size_t *count)
{
    const struct sp_account *account = &inventory->account;
    struct edge *edges = sp_realloc(NULL, 2 * (account->claims.count + inventory->count) + 1, sizeof *edges);
    *count = 0;
    for (size_t i = 0; i < account->claims.count; i++) {
        const struct sp_byte_claim *claim = &account->claims.items[i];
        if (claim->begin < claim->end)
            *count = add_edges(edges, *count, claim->begin, claim->end, claim->file, claim->use);
    }
    for (size_t i = 0; i < inventory->count; i++) {
        const struct shapeproof_tensor *tensor = &inventory->tensors[i];
        if (tensor->data_begin < tensor->data_end && !counted[i])
            *count = add_edges(edges, *count, tensor->data_begin, tensor->data_end, tensor->file, SP_USE_TENSOR);
    }
    qsort(edges, *count, sizeof *edges, compare_edges);
    return edges;
}

/* The sum that a byte belongs to, if so many claims of each use are open there. */
static uint64_t *sum_of_use(struct shapeproof_file_bytes *bytes, const size_t *open)
{
    if (open[SP_USE_TENSOR]) return &bytes->tensors;
    if (open[SP_USE_UNUSED]) return &bytes->unused;
    if (open[SP_USE_PADDING]) return &bytes->padding;
    return open[SP_USE_STRUCTURE] ? &bytes->structure : &bytes->unaccounted;
}

/* Adds the bytes of one file to the sums, by its edges: a sweep from 0 to its size. Returns how many edges it has. */
static size_t sum_file(struct shapeproof_file_bytes *bytes, const struct edge *edges, size_t count, uint32_t file,
                       uint64_t size)
{
    size_t open[SP_USE_COUNT] = {0}, i = 0;
    uint64_t at = 0;
    for (; i < count && edges[i].file == file; i++) {
        const uint64_t next = edges[i].at < size ? edges[i].at : size;
        *sum_of_use(bytes, open) += next - at;
        at = next;
        open[edges[i].use] += (size_t)edges[i].step;
    }
    bytes->unaccounted += size - at;
    bytes->size += size;
    return i;
}

/* Takes the scattered bytes of a use from those that are unaccounted for, but no more than there are. */
static void add_scattered(struct sp_account *account, int use)
{
    size_t open[SP_USE_COUNT] = {0};
    uint64_t *left = &account->bytes.unaccounted;
    const uint64_t bytes = account->scattered[use] < *left ? account->scattered[use] : *left;
    open[use] = 1;
    *sum_of_use(&account->bytes, open) += bytes;
    *left -= bytes;
}

/* What of the tensor's data is not in its file: what lies past its end, or everything when it has no place. */
static uint64_t absent_bytes(const struct sp_account *account, const struct shapeproof_tensor *tensor)
{
    const uint64_t size = tensor->file < account->sizes.count ? account->sizes.items[tensor->file] : 0;
    if (tensor->piece && !(tensor->flags & SHAPEPROOF_TENSOR_NO_DATA))
        return tensor->bytes - (tensor->piece->bytes < tensor->bytes ? tensor->piece->bytes : tensor->bytes);
    if (!(tensor->flags & SHAPEPROOF_TENSOR_NO_DATA)) return 0;
    if (!tensor->data_end || tensor->data_begin >= size) return tensor->bytes;
    return tensor->bytes - (size - tensor->data_begin < tensor->bytes ? size - tensor->data_begin : tensor->bytes);
}

/* Fills `bytes` and `unused` of the account. */
static void sum_bytes(struct shapeproof_inventory *inventory)
{
    struct sp_account *account = &inventory->account;
    size_t count, done = 0;
    bool *counted = sp_realloc(NULL, inventory->count + 1, sizeof *counted);
    memset(counted, 0, (inventory->count + 1) * sizeof *counted);
    divide_storages(inventory, counted);
    struct edge *edges = list_edges(inventory, counted, &count);
    for (size_t i = 0; i < account->sizes.count; i++) {
        while (done < count && edges[done].file < i) done++;
        done += sum_file(&account->bytes, edges + done, count - done, (uint32_t)i, account->sizes.items[i]);
    }
    for (int use = 0; use < SP_USE_COUNT; use++) add_scattered(account, use);
    for (size_t i = 0; i < inventory->count; i++)
        if (inventory->tensors[i].same_as == SHAPEPROOF_NONE)
            account->bytes.absent += absent_bytes(account, &inventory->tensors[i]);
    sp_free(edges);
    sp_free(counted);
}

/* The account with its sums, which are made when they are asked for: few callers do, and it takes a hundredth of the
 * time of reading. An inventory is for one thread at a time. */
static const struct sp_account *summed_account(const struct shapeproof_inventory *inventory)
{
    if (!inventory->account.summed) {
        struct shapeproof_inventory *own =
            (struct shapeproof_inventory *)inventory; /* a cache: callers see no change */
        sp_keep(own, own->account.claims.items, own->account.claims.count * sizeof *own->account.claims.items);
        sp_keep(own, &own->account, sizeof own->account);
        own->account.summed = true;
        sum_bytes(own);
    }
    return &inventory->account;
}

void sp_account_free(struct sp_account *account)
{
    sp_free(account->claims.items);
    sp_free(account->sizes.items);
    sp_free(account->unused.items);
}

/* ---- what the public header promises ---- */

const struct shapeproof_file_bytes *shapeproof_inventory_file_bytes(const struct shapeproof_inventory *inventory)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("adding up its bytes");
    SP_BUDGET_REUSE(inventory);
    return &summed_account(inventory)->bytes;
}

size_t shapeproof_inventory_unused_count(const struct shapeproof_inventory *inventory)
{
    SP_CALL(NULL, 0);
    SP_SPENDS("adding up its bytes");
    SP_BUDGET_REUSE(inventory);
    return summed_account(inventory)->unused.count;
}

const struct shapeproof_unused *shapeproof_inventory_unused(const struct shapeproof_inventory *inventory, size_t index)
{
    SP_CALL(NULL, NULL);
    SP_SPENDS("adding up its bytes");
    SP_BUDGET_REUSE(inventory);
    return &summed_account(inventory)->unused.items[index];
}
