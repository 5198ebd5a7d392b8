/* SPDX-License-Identifier: Apache-2.0 */
#include "model/thread_groups.h"

#include <string.h>

#include "base/hash_map.h"
#include "base/memory_budget.h"
#include "base/utf8.h"
#include "model/tree_fold.h"

#define OVERFLOW_NAME "[over group limit]"
#define ELLIPSIS "\xe2\x80\xa6"

enum {
    ELLIPSIS_BYTES = sizeof(ELLIPSIS) - 1,
    SEEN = 1,
    CROWD_BYTES = 128 /* too many pairs: more than one for this many bytes of the limit */
};

/* Set in a key of seen, with SMP_SERIAL_OTHER: the key is a lock's class in a group of holders. */
#define SERIAL_LOCK (UINT64_C(1) << 62)

struct smp_thread_groups {
    struct smp_memory_budget budget;
    struct smp_arena *infos; /* an array of struct smp_group_info by group index */
    struct smp_arena *names;
    size_t count;
    uint32_t overflows[SMP_GROUP_KINDS]; /* indices of the overflow groups; 0 but for SAMPLED: there
                                            is none */
    struct smp_hash_map by_name; /* id is the group's index + 1; the hash is that of the key */
    struct smp_hash_map seen;    /* {serial, group} */
    size_t left;                 /* pairs that the last forget_ended left */
    uint64_t newest;             /* the highest serial of a Java thread in seen */
    uint64_t *living;            /* serials; NULL: all may live */
    size_t living_count;
    uint64_t listed_newest; /* threads with a higher serial may live */
};

/* A name to be stored: its bytes, and whether an ellipsis replaces the rest. */
struct kept_name {
    const char *text;
    size_t length;
    bool is_cut;
};

static struct kept_name kept_name(const char *text, size_t max_bytes)
{
    const size_t length = strnlen(text, max_bytes + 1);

    if (length <= max_bytes)
        return (struct kept_name){ .text = text, .length = length };
    return (struct kept_name){ .text = text,
                               .length = smp_utf8_prefix(text, length, max_bytes - ELLIPSIS_BYTES),
                               .is_cut = true };
}

static bool is_kept_as(const char *stored, const struct kept_name *name)
{
    return strncmp(stored, name->text, name->length) == 0 &&
           strcmp(stored + name->length, name->is_cut ? ELLIPSIS : "") == 0;
}

static char *keep_name(struct smp_thread_groups *groups, const struct kept_name *name)
{
    const size_t size = name->length + (name->is_cut ? ELLIPSIS_BYTES : 0) + 1;
    char *copy = smp_arena_alloc(groups->names, size, 1);

    if (copy == NULL)
        return NULL;
    memcpy(copy, name->text, name->length);
    if (name->is_cut)
        memcpy(copy + name->length, ELLIPSIS, ELLIPSIS_BYTES);
    return copy;
}

static struct smp_group_info *info_at(const struct smp_thread_groups *groups, size_t index)
{
    return (struct smp_group_info *)smp_arena_base(groups->infos) + index;
}

static uint32_t hash_of(const struct kept_name *name, enum smp_group_kind kind)
{
    return smp_hash_bytes(SMP_HASH_START ^ (uint32_t)kind, name->text, name->length);
}

/* Appends a group. Returns false without memory; then nothing has changed. */
static bool append_group(struct smp_thread_groups *groups, const struct kept_name *name,
                         enum smp_group_kind kind)
{
    const size_t size = sizeof(struct smp_group_info);
    const size_t align = _Alignof(struct smp_group_info);
    const char *copy = NULL;

    if (!smp_hash_map_reserve(&groups->by_name, &smp_hash_ids, &groups->budget, 1) ||
        !smp_arena_reserve(groups->infos, size, align))
        return false;
    copy = keep_name(groups, name);
    if (copy == NULL)
        return false;
    (void)smp_arena_alloc(groups->infos, size, align); /* cannot fail: it was reserved */
    info_at(groups, groups->count)->name = copy;
    info_at(groups, groups->count)->kind = kind;
    groups->count++;
    smp_hash_ids_put(&groups->by_name, hash_of(name, kind), (uint32_t)groups->count);
    return true;
}

/* The overflow groups do not count. */
static bool is_full(const struct smp_thread_groups *groups)
{
    size_t most = SMP_MAX_GROUPS;

    for (int kind = SMP_GROUP_SAMPLED + 1; kind < SMP_GROUP_KINDS; kind++)
        most += groups->overflows[kind] != 0;
    return groups->count > most;
}

/* Returns the group's index + 1, or 0 if there is no such group. */
static uint32_t find_kept(const struct smp_thread_groups *groups, const struct kept_name *name,
                          enum smp_group_kind kind)
{
    const uint32_t hash = hash_of(name, kind);
    size_t step = 0;
    uint32_t id;

    while ((id = smp_hash_ids_next(&groups->by_name, hash, &step)) != 0) {
        const struct smp_group_info *const info = info_at(groups, id - 1);
        if (info->kind == kind && is_kept_as(info->name, name))
            break;
    }
    return id;
}

enum smp_status smp_thread_groups_create(struct smp_quota *quota, size_t max_bytes,
                                         struct smp_thread_groups **out)
{
    enum smp_status status;
    struct smp_thread_groups *groups = smp_alloc(quota, sizeof(*groups));

    if (groups == NULL)
        return SMP_ENOMEM;
    groups->budget = (struct smp_memory_budget){ .quota = quota,
                                                 .max_bytes = max_bytes,
                                                 .used_bytes = sizeof(*groups) };
    status = smp_arena_create_within(&groups->budget, max_bytes, &groups->infos);
    if (status == SMP_OK)
        status = smp_arena_create_within(&groups->budget, max_bytes, &groups->names);
    if (status == SMP_OK) {
        (void)smp_thread_groups_find(groups, (struct smp_group_key){ .name = OVERFLOW_NAME });
        status = groups->count > 0 ? SMP_OK : SMP_EQUOTA;
    }
    if (status == SMP_OK)
        *out = groups;
    else
        smp_thread_groups_destroy(groups);
    return status;
}

static void forget_living(struct smp_thread_groups *groups)
{
    smp_memory_budget_give(&groups->budget, groups->living,
                           groups->living_count * sizeof(*groups->living));
    groups->living = NULL;
    groups->living_count = 0;
}

size_t smp_thread_groups_bytes(const struct smp_thread_groups *groups)
{
    return sizeof(*groups) + groups->budget.used_bytes;
}

void smp_thread_groups_destroy(struct smp_thread_groups *groups)
{
    if (groups == NULL)
        return;
    smp_hash_map_fini(&groups->by_name, &smp_hash_ids, &groups->budget);
    smp_hash_map_fini(&groups->seen, &smp_hash_pairs, &groups->budget);
    forget_living(groups);
    smp_arena_destroy(groups->names);
    smp_arena_destroy(groups->infos);
    smp_free(groups->budget.quota, groups);
}

struct smp_group smp_thread_groups_overflow(struct smp_thread_groups *groups,
                                            enum smp_group_kind kind)
{
    const struct kept_name name = kept_name(OVERFLOW_NAME, SMP_MAX_GROUP_NAME_BYTES);

    if (kind == SMP_GROUP_SAMPLED)
        return (struct smp_group){ .index = 0 };
    if (groups->overflows[kind] == 0 && append_group(groups, &name, kind))
        groups->overflows[kind] = (uint32_t)groups->count - 1;
    return (struct smp_group){ .index = groups->overflows[kind] };
}

struct smp_group smp_thread_groups_find(struct smp_thread_groups *groups, struct smp_group_key key)
{
    const struct kept_name kept = kept_name(key.name, SMP_MAX_GROUP_NAME_BYTES);
    const struct smp_group overflow = smp_thread_groups_overflow(groups, key.kind);
    const uint32_t id = find_kept(groups, &kept, key.kind);

    if (id != 0)
        return (struct smp_group){ .index = id - 1 };
    if (is_full(groups) || !append_group(groups, &kept, key.kind))
        return overflow;
    return (struct smp_group){ .index = (uint32_t)groups->count - 1 };
}

bool smp_thread_groups_peek(const struct smp_thread_groups *groups, struct smp_group_key key,
                            struct smp_group *out)
{
    const struct kept_name kept = kept_name(key.name, SMP_MAX_GROUP_NAME_BYTES);
    const uint32_t id = find_kept(groups, &kept, key.kind);

    if (id != 0)
        out->index = id - 1;
    return id != 0;
}

bool smp_thread_groups_of_same_name(const struct smp_thread_groups *groups, struct smp_group other,
                                    enum smp_group_kind kind, struct smp_group *out)
{
    const struct smp_group_key key = { .name = info_at(groups, other.index)->name, .kind = kind };

    return smp_thread_groups_peek(groups, key, out);
}

/* Returns true if the key was new in this group and has been added. */
static bool see_key(struct smp_thread_groups *groups, struct smp_group group, uint64_t key)
{
    const int32_t number = (int32_t)group.index;

    if (smp_hash_pairs_find(&groups->seen, key, number) != 0)
        return false;
    if (!smp_hash_map_reserve(&groups->seen, &smp_hash_pairs, &groups->budget, 1)) {
        info_at(groups, group.index)->names_lost++;
        return false;
    }
    smp_hash_pairs_put(&groups->seen, key, number, SEEN);
    return true;
}

static void list_name(struct smp_thread_groups *groups, struct smp_group_info *info,
                      const char *name)
{
    const struct kept_name kept = kept_name(name, SMP_MAX_LISTED_NAME_BYTES);
    const char *copy;

    if (info->listed == SMP_MAX_LISTED_NAMES)
        return;
    copy = keep_name(groups, &kept);
    if (copy == NULL)
        info->names_lost++;
    else
        info->names[info->listed++] = copy;
}

void smp_thread_groups_see(struct smp_thread_groups *groups, struct smp_group group,
                           uint64_t serial, const char *raw_name)
{
    struct smp_group_info *info = info_at(groups, group.index);

    if (!see_key(groups, group, serial))
        return;
    if (serial > groups->newest && (serial & SMP_SERIAL_OTHER) == 0)
        groups->newest = serial;
    info->thread_count++;
    if (info->kind != SMP_GROUP_HOLDERS)
        list_name(groups, info, raw_name);
}

/* Serials of locks have two bits of their own; the rest is a hash of the name. */
static uint64_t key_of_lock(const char *class_name)
{
    const size_t length = strlen(class_name);
    const uint32_t low = smp_hash_bytes(SMP_HASH_START, class_name, length);
    const uint32_t high = smp_hash_bytes(low, class_name, length);

    return SMP_SERIAL_OTHER | SERIAL_LOCK | (((uint64_t)high << 32 | low) & (SERIAL_LOCK - 1));
}

static bool is_lock_key(uint64_t key)
{
    return (key & SMP_SERIAL_OTHER) != 0 && (key & SERIAL_LOCK) != 0;
}

void smp_thread_groups_see_lock(struct smp_thread_groups *groups, struct smp_group group,
                                const char *class_name)
{
    struct smp_group_info *info = info_at(groups, group.index);

    if (!see_key(groups, group, key_of_lock(class_name)))
        return;
    info->lock_count++;
    list_name(groups, info, class_name);
}

/* --- threads that have ended --- */

uint64_t smp_thread_groups_newest(const struct smp_thread_groups *groups)
{
    return groups->newest;
}

void smp_thread_groups_set_living(struct smp_thread_groups *groups, const uint64_t *serials,
                                  size_t count, uint64_t newest)
{
    forget_living(groups);
    groups->listed_newest = newest;
    if (count == 0)
        return;
    groups->living = smp_memory_budget_take(&groups->budget, count * sizeof(*serials));
    if (groups->living == NULL)
        return;
    memcpy(groups->living, serials, count * sizeof(*serials));
    groups->living_count = count;
}

/* Makes a set of the living threads; empty if all may live. Returns false without memory. */
static bool map_living(struct smp_thread_groups *groups, struct smp_hash_map *out)
{
    if (!smp_hash_map_reserve(out, &smp_hash_pairs, &groups->budget, groups->living_count))
        return false;
    for (size_t i = 0; i < groups->living_count; i++)
        smp_hash_pairs_put(out, groups->living[i], 0, SEEN);
    return true;
}

static bool may_live(const struct smp_thread_groups *groups, const struct smp_hash_map *living,
                     uint64_t serial)
{
    return living->count == 0 || (serial & SMP_SERIAL_OTHER) != 0 ||
           serial > groups->listed_newest || smp_hash_pairs_find(living, serial, 0) != 0;
}

/* Returns whether the thread may live or has a serial up to since. */
static bool may_come_again(const struct smp_thread_groups *groups, const struct smp_hash_pair *pair,
                           const struct smp_hash_map *living, uint64_t since)
{
    return pair->value != 0 && (pair->key <= since || may_live(groups, living, pair->key));
}

static size_t count_kept(const struct smp_thread_groups *groups, const struct smp_hash_map *living,
                         uint64_t since)
{
    const struct smp_hash_pair *pairs = groups->seen.slots;
    size_t count = 0;

    for (size_t i = 0; i < smp_hash_map_slot_count(&groups->seen); i++)
        count += may_come_again(groups, &pairs[i], living, since);
    return count;
}

/* kept must have room for all. Pairs come in the order of their slots, so in a map that grew while
 * it was filled they would all fall on the first slots. */
static void copy_kept(const struct smp_thread_groups *groups, const struct smp_hash_map *living,
                      uint64_t since, struct smp_hash_map *kept)
{
    const struct smp_hash_pair *pairs = groups->seen.slots;

    for (size_t i = 0; i < smp_hash_map_slot_count(&groups->seen); i++) {
        if (may_come_again(groups, &pairs[i], living, since))
            smp_hash_pairs_put(kept, pairs[i].key, pairs[i].number, SEEN);
    }
}

/* Twice as many as were left, so that each pair is visited only a few times. */
bool smp_thread_groups_is_crowded(const struct smp_thread_groups *groups)
{
    return groups->seen.count > groups->budget.max_bytes / CROWD_BYTES &&
           groups->seen.count > groups->left * 2;
}

static void replace_seen(struct smp_thread_groups *groups, struct smp_hash_map seen)
{
    smp_hash_map_fini(&groups->seen, &smp_hash_pairs, &groups->budget);
    groups->seen = seen;
}

void smp_thread_groups_forget_ended(struct smp_thread_groups *groups, uint64_t since)
{
    struct smp_hash_map living = { 0 };
    struct smp_hash_map kept = { 0 };

    if (map_living(groups, &living) && smp_hash_map_reserve(&kept, &smp_hash_pairs, &groups->budget,
                                                            count_kept(groups, &living, since))) {
        copy_kept(groups, &living, since, &kept);
        replace_seen(groups, kept);
    }
    smp_hash_map_fini(&living, &smp_hash_pairs, &groups->budget);
    groups->left = groups->seen.count;
}

struct smp_group_info *smp_thread_groups_info(struct smp_thread_groups *groups,
                                              struct smp_group group)
{
    return info_at(groups, group.index);
}

size_t smp_thread_groups_count(const struct smp_thread_groups *groups)
{
    return groups->count;
}

enum smp_group_kind smp_thread_groups_kind(const struct smp_thread_groups *groups,
                                           struct smp_group group)
{
    return info_at(groups, group.index)->kind;
}

enum smp_group_kind smp_thread_groups_kind_of_node(const struct smp_thread_groups *groups,
                                                   const struct smp_node *nodes, uint32_t node)
{
    const uint32_t location = nodes[smp_node_root(nodes, node)].location;

    return smp_thread_groups_kind(groups,
                                  (struct smp_group){ .index = location & ~SMP_LOCATION_GROUP });
}

bool smp_thread_groups_has(const struct smp_thread_groups *groups, enum smp_group_kind kind)
{
    return kind == SMP_GROUP_SAMPLED || groups->overflows[kind] != 0;
}

void smp_thread_groups_forget_hook_time(struct smp_thread_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        info_at(groups, i)->hook_ns = 0;
}

void smp_thread_groups_renumber(struct smp_thread_groups *groups, const uint32_t *places)
{
    for (uint32_t i = 0; i < smp_thread_groups_count(groups); i++) {
        struct smp_group_info *const info =
            smp_thread_groups_info(groups, (struct smp_group){ .index = i });
        info->root = places[info->root] & ~SMP_PLACE_FOLDED;
        info->unseen.fallback = places[info->unseen.fallback] & ~SMP_PLACE_FOLDED;
    }
}

/* --- adding groups of another interval --- */

static bool is_listed(const struct smp_group_info *info, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(info->names[i], name) == 0)
            return true;
    }
    return false;
}

/* A name in two intervals counts as one thread, twice in one interval as two. Returns false if
 * there was no memory for some. */
static bool add_names(struct smp_thread_groups *to, struct smp_group_info *info,
                      const struct smp_group_info *other)
{
    const uint32_t before = info->listed;
    const uint64_t lost_before = info->names_lost;

    for (uint32_t i = 0; i < other->listed; i++) {
        if (!is_listed(info, before, other->names[i]))
            list_name(to, info, other->names[i]);
    }
    return info->names_lost == lost_before;
}

bool smp_thread_groups_is_overflow(const struct smp_thread_groups *groups, struct smp_group group)
{
    return group.index == groups->overflows[info_at(groups, group.index)->kind];
}

enum smp_status smp_thread_groups_add_group(struct smp_thread_groups *to,
                                            const struct smp_thread_groups *from, size_t index,
                                            const char *name, struct smp_group *out)
{
    const struct smp_group source = { .index = (uint32_t)index };
    const struct smp_group_info *other = info_at(from, index);
    const struct smp_group group =
        smp_thread_groups_find(to, (struct smp_group_key){ .name = name, .kind = other->kind });
    struct smp_group_info *info = info_at(to, group.index);
    bool is_whole;

    if (info->kind != other->kind)
        return SMP_ENOMEM;
    if (other->max_depth > info->max_depth)
        info->max_depth = other->max_depth;
    info->thread_count += other->thread_count;
    info->lock_count += other->lock_count;
    info->hook_ns = smp_add_clamped(info->hook_ns, other->hook_ns);
    info->running.variance += (float)smp_error_sum_variance(&other->running);
    info->unseen.seen = smp_add_clamped(info->unseen.seen, other->unseen.seen);
    if (other->joined_groups > info->joined_groups)
        info->joined_groups = other->joined_groups;
    smp_tally_add(&info->tally, &other->tally);
    *out = group;
    is_whole = add_names(to, info, other);
    info->names_lost += other->names_lost;
    /* The overflow group below the maximum means lack of memory. */
    if (smp_thread_groups_is_overflow(to, group) && !smp_thread_groups_is_overflow(from, source) &&
        !is_full(to))
        is_whole = false;
    return is_whole ? SMP_OK : SMP_EQUOTA;
}

static bool has_pair(const struct smp_thread_groups *groups, uint64_t serial,
                     struct smp_group group)
{
    return smp_hash_pairs_find(&groups->seen, serial, (int32_t)group.index) != 0;
}

static size_t count_unknown(const struct smp_thread_groups *to,
                            const struct smp_thread_groups *from, const struct smp_group *groups)
{
    const struct smp_hash_pair *pairs = from->seen.slots;
    size_t unknown = 0;

    for (size_t i = 0; i < smp_hash_map_slot_count(&from->seen); i++)
        unknown += pairs[i].value != 0 && !has_pair(to, pairs[i].key, groups[pairs[i].number]);
    return unknown;
}

static void take_back_key(struct smp_group_info *info, uint64_t key)
{
    if (info->kind == SMP_GROUP_HOLDERS && is_lock_key(key))
        info->lock_count--;
    else
        info->thread_count--;
}

/* All threads were counted as new, so those already in to are subtracted. to may also have one from
 * another group of from, if both groups are one in to. */
static void add_pairs(struct smp_thread_groups *to, const struct smp_thread_groups *from,
                      const struct smp_group *groups, bool has_room)
{
    const struct smp_hash_pair *pairs = from->seen.slots;

    for (size_t i = 0; i < smp_hash_map_slot_count(&from->seen); i++) {
        if (pairs[i].value == 0)
            continue;
        const struct smp_group group = groups[pairs[i].number];
        if (has_pair(to, pairs[i].key, group))
            take_back_key(info_at(to, group.index), pairs[i].key);
        else if (has_room)
            smp_hash_pairs_put(&to->seen, pairs[i].key, (int32_t)group.index, SEEN);
    }
}

bool smp_thread_groups_add_threads(struct smp_thread_groups *to,
                                   const struct smp_thread_groups *from,
                                   const struct smp_group *groups)
{
    const bool has_room = smp_hash_map_reserve(&to->seen, &smp_hash_pairs, &to->budget,
                                               count_unknown(to, from, groups));

    add_pairs(to, from, groups, has_room);
    /* A thread that was renamed in the meantime is listed twice. */
    for (size_t i = 0; i < from->count; i++) {
        struct smp_group_info *info = info_at(to, groups[i].index);
        const uint64_t most =
            info->kind == SMP_GROUP_HOLDERS ? info->lock_count : info->thread_count;
        if (info->listed > most)
            info->listed = (uint32_t)most;
    }
    return has_room;
}

void smp_thread_groups_copy_living(struct smp_thread_groups *groups,
                                   const struct smp_thread_groups *last)
{
    smp_thread_groups_set_living(groups, last->living, last->living_count, last->listed_newest);
}

bool smp_thread_groups_is_jvm(struct smp_thread_groups *groups, struct smp_group group)
{
    return strcmp(smp_thread_groups_info(groups, group)->name, SMP_JVM_THREADS_NAME) == 0 &&
           smp_thread_groups_kind(groups, group) == SMP_GROUP_SAMPLED;
}
