/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/call_credit.h"

#include <string.h>

#include "base/clock.h"

/* Marks keys of counted methods in the names table. The JVM's ids and the keys of copied names
 * (jvm/code/named_methods.h) never have this bit without the next one. */
#define COUNTED_METHOD_BIT (UINT64_C(1) << 62)
/* The serial of all virtual threads of a group, which count as one thread. */
#define VIRTUAL_SERIAL (UINT64_MAX - 2)
#define VIRTUAL_NAME "virtual threads"
#define ENDED_GROUP "[ended threads]"

enum { FIRST_PATH = 64, DEPTH_MASK = (1 << 24) - 1 /* as wide as the field */ };

void smp_call_credit_fini(struct smp_call_credit *credit)
{
    smp_free(credit->trees->quota, credit->path);
    credit->path = NULL;
    credit->path_capacity = 0;
}

/* --- names of methods --- */

static enum smp_status resolve_counted(void *self, uint64_t method, struct smp_method_info *info)
{
    const struct smp_call_counter *counter = self;

    *info = (struct smp_method_info){ 0 };
    return counter->name(counter->self, (int64_t)(method & ~COUNTED_METHOD_BIT), info) ? SMP_OK
                                                                                       : SMP_EGONE;
}

static void release_counted(SMP_UNUSED void *self, SMP_UNUSED struct smp_method_info *info)
{
}

uint32_t smp_call_credit_location(const struct smp_call_credit *credit, int64_t method)
{
    const struct smp_name_source names = {
        .resolve = resolve_counted,
        .release = release_counted,
        .self = (void *)(uintptr_t)credit->counter,
    };
    const struct smp_frame frame = { .method = COUNTED_METHOD_BIT | (uint64_t)method };

    return smp_methods_locate(credit->attribution->methods, &names, &frame);
}

/* --- groups --- */

/* Returns NULL if the thread has no record. */
static struct smp_thread_record *record_of(struct smp_call_credit *credit,
                                           struct smp_call_tree *tree)
{
    struct smp_thread_record *record = NULL;

    if (tree->has_left)
        return NULL;
    record = smp_thread_table_find(&credit->threads->table, tree->serial, tree->index);
    if (record != NULL)
        tree->index = record->index;
    else /* Serials are unique, and the sampled threads contain all of them up to their cursor. */
        tree->has_left = tree->serial <= credit->threads->cursor;
    return record;
}

/* Reads the thread's name if that has not been done yet. */
static bool is_chosen_record(struct smp_call_credit *credit, struct smp_thread_record *record)
{
    struct smp_sampled_threads *threads = credit->threads;

    if (!smp_sampled_threads_chooses(threads, record) || record->naming == SMP_NAMING_SKIP)
        return false;
    if (threads->default_name_rule && record->group_name == NULL)
        smp_sampled_threads_read_name(threads, record);
    return true;
}

/* Returns the name of the group of a thread without a record; NULL: it is excluded. Virtual
 * threads are daemons and cannot be chosen. The counter provides the name of their group. */
static const char *name_without_record(struct smp_call_credit *credit, struct smp_call_tree *tree)
{
    const struct smp_sampled_threads *threads = credit->threads;
    const struct smp_mounted_thread thread = { .name = tree->raw_name };

    if (tree->serial == 0 && (threads->only || threads->skip_daemon_threads))
        return NULL;
    if (tree->raw_name == NULL && tree->serial != 0)
        return ENDED_GROUP;
    if (tree->raw_name != NULL && tree->serial == 0)
        return tree->raw_name;
    return smp_sampled_threads_key_of_mounted(credit->threads, &thread).name;
}

/* Returns whether a name is missing because the thread has ended, not for lack of memory. */
static bool is_too_late(const struct smp_thread_record *record)
{
    return !record->is_candidate ||
           atomic_load_explicit(&record->thread->ended_ns, memory_order_acquire) != 0;
}

/* Updates is_excluded and the group's name. */
static void update_group(struct smp_call_credit *credit, struct smp_call_tree *tree)
{
    struct smp_thread_record *record = record_of(credit, tree);
    const char *name = tree->group;

    if (record != NULL) {
        tree->is_excluded = !is_chosen_record(credit, record);
        name = record->group_name;
        if (name == NULL && tree->group == NULL && is_too_late(record))
            name = ENDED_GROUP;
    } else if (name == NULL || tree->serial == 0) {
        name = name_without_record(credit, tree);
        tree->is_excluded = name == NULL;
    }
    if (name == NULL || (tree->group != NULL && strcmp(tree->group, name) == 0))
        return;
    if (smp_set_name(credit->trees->quota, &tree->group, name))
        tree->target.epoch = 0;
}

void smp_call_credit_remember_group(struct smp_call_credit *credit, struct smp_call_tree *tree)
{
    if (tree->group == NULL && !tree->has_left)
        update_group(credit, tree);
}

static uint32_t over_limit_node(const struct smp_call_credit *credit,
                                const struct smp_call_tree *tree)
{
    enum smp_outcome outcome = SMP_OUTCOME_OVER_MEMORY_LIMIT;

    return smp_interval_add_pseudo(credit->attribution->interval, tree->target.tree, &outcome);
}

/* The name in the list of the group's threads. */
static const char *listed_name(const struct smp_call_tree *tree,
                               const struct smp_thread_record *record)
{
    if (tree->serial == 0)
        return VIRTUAL_NAME;
    return record != NULL ? record->raw_name : tree->raw_name;
}

static void find_group(struct smp_call_credit *credit, struct smp_call_tree *tree)
{
    const struct smp_attribution *attribution = credit->attribution;
    const struct smp_thread_record *record = record_of(credit, tree);
    const struct smp_group_key key = { .name = tree->group, .kind = SMP_GROUP_COUNTED };

    tree->target.tree = smp_interval_find(attribution->interval, key,
                                          tree->serial != 0 ? tree->serial : VIRTUAL_SERIAL,
                                          listed_name(tree, record));
    tree->target.epoch = (uint32_t)attribution->tree_epoch;
    for (uint32_t i = 0; i < tree->capacity; i++)
        tree->entries[i].epoch = 0;
    /* Without memory for a counted tree, the found tree is one of sampled threads. */
    tree->target.is_counted = smp_thread_groups_kind(attribution->interval->groups,
                                                     tree->target.tree.group) == SMP_GROUP_COUNTED;
    if (tree->target.is_counted)
        tree->target.over_node = over_limit_node(credit, tree);
}

/* Returns false if the thread is excluded, or has no counted tree for lack of memory. */
static bool enter_group(struct smp_call_credit *credit, struct smp_call_tree *tree)
{
    if (tree->target.pass != credit->pass) {
        tree->target.pass = credit->pass;
        update_group(credit, tree);
        if (!tree->is_excluded && tree->target.epoch != (uint32_t)credit->attribution->tree_epoch)
            find_group(credit, tree);
    }
    return !tree->is_excluded && tree->target.is_counted;
}

/* --- nodes --- */

static bool keep_on_path(struct smp_call_credit *credit, size_t index, uint32_t ordinal)
{
    const size_t capacity = credit->path_capacity == 0 ? FIRST_PATH : 2 * credit->path_capacity;
    uint32_t *grown;

    if (index >= credit->path_capacity) {
        grown = smp_realloc(credit->trees->quota, credit->path, capacity * sizeof(*grown));
        if (grown == NULL)
            return false;
        credit->path = grown;
        credit->path_capacity = capacity;
    }
    credit->path[index] = ordinal;
    return true;
}

/* Notes a method that got its probe during the interval, so that earlier calls are missing. Not
 * after a fold, because a new row may be a folded one that comes back. */
static void note_late(const struct smp_call_credit *credit, uint32_t location, uint32_t node)
{
    struct smp_interval *const interval = credit->attribution->interval;
    struct smp_location_view view;

    smp_methods_view(credit->attribution->methods, location, &view);
    if (view.since_ms > smp_interval_counted_from(interval))
        smp_interval_counted_late(interval, node, view.since_ms);
}

/* Adds the entry's node below this one. Without memory it becomes the group's [over memory
 * limit]. */
static void add_below(const struct smp_call_credit *credit, const struct smp_call_tree *tree,
                      uint32_t above, struct smp_call_entry *entry)
{
    const uint32_t location = smp_call_credit_location(credit, entry->method);
    const struct smp_group_tree below = { .group = tree->target.tree.group, .root = above };
    struct smp_interval *const interval = credit->attribution->interval;
    const size_t known = smp_tree_node_count(interval->tree);

    entry->epoch = tree->target.epoch;
    if (smp_interval_add(interval, below, &location, 1, &entry->node)) {
        smp_interval_saw_depth(interval, tree->target.tree, entry->depth);
        if (entry->node >= known && entry->parent != 0 &&
            interval->counters[SMP_COUNTER_FOLDED_ROWS] == 0)
            note_late(credit, location, entry->node);
        return;
    }
    credit->attribution->ran_out = true;
    entry->node = tree->target.over_node;
}

/* After enter_group. Returns false if a caller's method is unknown, or without memory. */
static bool find_call_node(struct smp_call_credit *credit, struct smp_call_tree *tree,
                           uint32_t ordinal)
{
    uint32_t above = tree->target.tree.root;
    size_t count = 0;

    for (uint32_t at = ordinal; at != 0; at = tree->entries[at].parent) {
        const struct smp_call_entry *entry = &tree->entries[at];
        if (entry->epoch == tree->target.epoch) {
            above = entry->node;
            break;
        }
        if (entry->method < 0 || entry->parent >= tree->capacity ||
            !keep_on_path(credit, count, at))
            return false;
        count++;
    }
    while (count > 0) {
        struct smp_call_entry *entry = &tree->entries[credit->path[--count]];
        if (above == tree->target.over_node) {
            entry->epoch = tree->target.epoch;
            entry->node = above;
        } else {
            add_below(credit, tree, above, entry);
            above = entry->node;
        }
    }
    return true;
}

uint32_t smp_call_credit_row(struct smp_call_credit *credit, const struct smp_call_spot *spot)
{
    struct smp_call_tree *const tree = smp_call_trees_find(credit->trees, spot->tree);

    if (tree == NULL)
        return 0;
    if (tree->target.epoch != (uint32_t)credit->attribution->tree_epoch)
        tree->target.pass = 0; /* its nodes belong to another interval */
    if (!enter_group(credit, tree))
        return 0;
    if (spot->is_in_hook || spot->ordinal == 0)
        return tree->target.tree.root;
    if (spot->ordinal >= tree->capacity || tree->entries[spot->ordinal].method < 0 ||
        !find_call_node(credit, tree, spot->ordinal))
        return 0;
    const uint32_t node = tree->entries[spot->ordinal].node;
    return node == tree->target.over_node ? 0 : node;
}

/* --- calls --- */

/* Converts a time of the counter, which includes callees, to own times. */
static void keep_exact_time(struct smp_call_tree *tree, const struct smp_counted_call *call)
{
    tree->entries[call->ordinal].wall_ns += call->time_ns;
    tree->entries[call->ordinal].probed += call->is_root ? 0 : call->calls;
    smp_call_tree_note_pending(tree, call->ordinal);
    if (call->parent == 0) {
        tree->outermost += call->calls;
        return;
    }
    tree->entries[call->parent].wall_ns -= call->time_ns;
    tree->entries[call->parent].callees += call->calls;
    smp_call_tree_note_pending(tree, call->parent);
}

static void credit_call_time(const struct smp_call_credit *credit, uint32_t node,
                             const struct smp_counted_call *call)
{
    const int64_t mean_ns = call->ended > 0 ? call->ended_ns / call->ended : 0;
    const struct smp_root_time time = {
        .node = node,
        .calls = call->ended,
        .total_ns = call->ended_ns,
        .min_ns = call->most_ns > 0 && call->least_ns < mean_ns ? call->least_ns : mean_ns,
        .max_ns = call->most_ns > mean_ns ? call->most_ns : mean_ns,
    };

    if (call->ended > 0)
        smp_interval_add_root_time(credit->attribution->interval, &time);
}

/* Returns NULL without memory. */
static struct smp_call_entry *learn_entry(struct smp_call_credit *credit,
                                          struct smp_call_tree *tree,
                                          const struct smp_counted_call *call)
{
    struct smp_call_entry *entry = NULL;

    if (call->parent != 0 && smp_call_tree_entry(credit->trees, tree, call->parent) == NULL)
        return NULL;
    entry = smp_call_tree_entry(credit->trees, tree, call->ordinal);
    if (entry == NULL)
        return NULL;
    entry->parent = call->parent;
    entry->method = call->method;
    entry->depth = call->parent == 0 ? 1 : (tree->entries[call->parent].depth + 1) & DEPTH_MASK;
    return entry;
}

static void add_rate(const struct smp_call_credit *credit, const struct smp_counted_call *call)
{
    struct smp_call_rate more = {
        .calls = (uint64_t)call->calls,
        .method = call->method,
        .is_root = call->is_root,
    };

    if (call->is_root && call->ended > 0) {
        more.ended = (uint64_t)call->ended;
        more.ended_ns = call->ended_ns;
    }
    smp_call_rates_add(credit->rates, &more);
}

static void credit_calls(struct smp_call_credit *credit, struct smp_call_tree *tree,
                         const struct smp_counted_call *call)
{
    struct smp_call_entry *entry = learn_entry(credit, tree, call);

    if (entry == NULL || !enter_group(credit, tree) ||
        !find_call_node(credit, tree, call->ordinal)) {
        credit->lost[SMP_LOST_OVER_MEMORY] += tree->is_excluded ? 0 : (uint64_t)call->calls;
        return;
    }
    smp_tree_credit(credit->attribution->interval->tree, entry->node, SMP_MEASURE_CALLS,
                    call->calls);
    if (entry->node == tree->target.over_node)
        credit->lost[SMP_LOST_OVER_MEMORY] += (uint64_t)call->calls;
    else
        credit_call_time(credit, entry->node, call);
    if (credit->is_exact)
        keep_exact_time(tree, call);
    add_rate(credit, call);
}

void smp_call_credit_counted(struct smp_call_credit *credit,
                             const struct smp_counted_thread *thread,
                             const struct smp_counted_call *call)
{
    struct smp_call_tree *tree = smp_call_trees_get(credit->trees, thread);

    if (call->method < 0) {
        credit->lost[call->loss] += (uint64_t)call->calls;
        smp_call_rates_add_unplaced(credit->rates, call->calls);
    } else if (tree == NULL) {
        credit->lost[SMP_LOST_OVER_MEMORY] += (uint64_t)call->calls;
    } else {
        credit_calls(credit, tree, call);
    }
}

/* --- pending time --- */

/* Credits the entry's pending time. A negative time waits for the next read, which has the times
 * of the calls. Returns whether nothing is left. */
static bool credit_entry(struct smp_call_credit *credit, struct smp_call_tree *tree,
                         uint32_t ordinal)
{
    struct smp_call_entry *entry = &tree->entries[ordinal];
    const int64_t wall_ns = entry->wall_ns > 0 ? entry->wall_ns : 0;

    if (entry->method < 0 || !find_call_node(credit, tree, ordinal))
        return false;
    /* Sums over groups omit this time, because they include the time of sampled stacks. */
    smp_tree_credit_wall(credit->attribution->interval->tree, entry->node, SMP_STATE_RUNNING,
                         wall_ns);
    smp_call_rates_add(credit->rates,
                       &(struct smp_call_rate){ .method = entry->method, .self_ns = wall_ns });
    entry->wall_ns -= wall_ns;
    return entry->wall_ns == 0;
}

static void credit_list(struct smp_call_credit *credit, struct smp_call_tree *tree)
{
    uint32_t at = tree->first_pending;

    tree->first_pending = 0;
    while (at != 0) {
        struct smp_call_entry *entry = &tree->entries[at];
        const uint32_t next = entry->next;
        entry->is_pending = false;
        if (!credit_entry(credit, tree, at))
            smp_call_tree_note_pending(tree, at);
        at = next;
    }
}

static int64_t part_of(int64_t ns, int64_t calls, int64_t all)
{
    return all > 0 ? (int64_t)((double)ns * (double)calls / (double)all) : 0;
}

/* Subtracts the time of probes from exact times. A time is measured between two stamps: the part
 * of a probe inside the stamps is in the time of the call, the part outside is in the time of its
 * caller. Ticks have measured both parts; each call gets an equal share of each. */
static void give_back_hook_time(struct smp_call_tree *tree)
{
    const int64_t around_ns = tree->hook_ns - tree->stamped_ns;
    int64_t calls = tree->outermost;
    int64_t probed = 0;

    for (uint32_t at = tree->first_pending; at != 0; at = tree->entries[at].next) {
        calls += tree->entries[at].callees;
        probed += tree->entries[at].probed;
    }
    for (uint32_t at = tree->first_pending; at != 0; at = tree->entries[at].next) {
        struct smp_call_entry *entry = &tree->entries[at];
        entry->wall_ns -= part_of(around_ns, entry->callees, calls) +
                          part_of(tree->stamped_ns, entry->probed, probed);
        entry->callees = 0;
        entry->probed = 0;
    }
    tree->outermost = 0;
}

void smp_call_credit_pending_of(struct smp_call_credit *credit, struct smp_call_tree *tree)
{
    if (tree->first_pending == 0 && tree->hook_ns == 0)
        return;
    if (!enter_group(credit, tree)) {
        smp_call_tree_forget_pending(tree);
        return;
    }
    if (tree->hook_ns > 0)
        smp_interval_in_hook(credit->attribution->interval, tree->target.tree, tree->hook_ns);
    if (credit->is_exact)
        give_back_hook_time(tree);
    tree->hook_ns = 0;
    tree->stamped_ns = 0;
    credit_list(credit, tree);
}

void smp_call_credit_pending(struct smp_call_credit *credit)
{
    for (size_t i = 0; i < credit->trees->count; i++) {
        if (credit->trees->places[i].tree != NULL)
            smp_call_credit_pending_of(credit, credit->trees->places[i].tree);
    }
}
