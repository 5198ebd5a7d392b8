/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sampler.h"

#include <string.h>

#include "core/interval.h"
#include "core/last_stack.h"
#include "core/stack_path.h"
#include "core/thread_names.h"
#include "core/thread_table.h"
#include "model/filter.h"
#include "model/methods.h"

/* Shares of the memory limit; those of an interval are in interval.h. */
enum {
    NAMES_LIMIT_SHARE = 4,   /* a quarter: names of methods */
    NAMES_COMPACT_SHARE = 2, /* half of that: seal keeps only the names that the report needs */
    STACKS_LIMIT_SHARE = 8   /* an eighth: copies of last stacks */
};

struct smp_sampler {
    struct smp_quota *quota;
    struct smp_log *log;
    struct smp_vm vm;
    bool skip_daemon_threads;
    bool default_name_rule;
    char *packages; /* the text filter was made from */
    struct smp_filter *filter;
    struct smp_methods *methods;
    struct smp_methods_stats methods_seen; /* what of methods' figures has been counted */
    struct smp_interval *interval;         /* NULL after seal_last */
    uint64_t place_epoch;                  /* rises with each interval */
    uint64_t stack_epoch;                  /* rises with each filter */
    struct smp_last_stack_budget budget;
    struct smp_thread_table table;
    struct smp_thread_names *names;
    struct smp_selection selection;
    bool only; /* the selection's threads and no others */
    uint64_t chosen_epoch;
    uint64_t cursor;          /* the thread source's */
    struct smp_sample sample; /* room for one stack */
    struct smp_stack_path path;
    bool is_running;       /* between mark and pause */
    bool is_first_poll;    /* since mark: what was not seen before it is nobody's loss */
    int64_t marked_ns;     /* a thread's time begins here, or at its birth */
    int64_t covered_ns;    /* up to here the interval has been credited */
    bool warned_of_memory; /* in this interval */
    bool has_news;
    uint64_t threads;              /* candidates of the last tick */
    struct smp_tally closed_tally; /* of all sealed intervals */
    uint64_t closed_counters[SMP_COUNTER_COUNT];
};

/* One pass over all threads. */
struct look {
    int64_t now_ns;
    int64_t span_ns; /* credited to each; -1: the time since it was last looked at */
};

/* --- create, destroy --- */

static enum smp_status create_names_table(struct smp_sampler *sampler)
{
    const enum smp_status status =
        smp_methods_create(sampler->quota, sampler->quota->limit_bytes / NAMES_LIMIT_SHARE,
                           sampler->filter, &sampler->methods);

    if (status == SMP_OK)
        smp_methods_get_stats(sampler->methods, &sampler->methods_seen);
    return status;
}

static enum smp_status create_buffers(struct smp_sampler *sampler, size_t depth)
{
    sampler->sample.frames = smp_alloc(sampler->quota, depth * sizeof(*sampler->sample.frames));
    sampler->sample.capacity = depth;
    sampler->path.locations = smp_alloc(sampler->quota, (depth + SMP_STACK_PATH_EXTRA) *
                                                            sizeof(*sampler->path.locations));
    if (sampler->sample.frames == NULL || sampler->path.locations == NULL)
        return SMP_ENOMEM;
    return SMP_OK;
}

/* Without a user's rule the default one is the only one. */
static bool uses_default_rule(const struct smp_sampler *sampler, const struct smp_options *options)
{
    return options->default_name_rule || sampler->vm.namer.group_names == NULL;
}

static enum smp_status create_parts(struct smp_sampler *sampler, const struct smp_options *options)
{
    struct smp_quota *quota = sampler->quota;
    const char *packages = options->monitored_packages;
    enum smp_status status = SMP_ENOMEM;

    sampler->skip_daemon_threads = options->skip_daemon_threads;
    sampler->default_name_rule = uses_default_rule(sampler, options);
    sampler->packages = smp_strndup(quota, packages, strlen(packages));
    if (sampler->packages == NULL)
        return status;
    status = smp_filter_create(quota, packages, &sampler->filter);
    if (status != SMP_OK)
        return status;
    status = create_names_table(sampler);
    if (status != SMP_OK)
        return status;
    status = create_buffers(sampler, (size_t)options->max_depth_frames);
    if (status != SMP_OK)
        return status;
    status = smp_thread_names_create(quota, &sampler->table, sampler->default_name_rule,
                                     &sampler->names);
    if (status != SMP_OK)
        return status;
    return smp_interval_create(quota, sampler->methods, &sampler->interval);
}

enum smp_status smp_sampler_create(struct smp_quota *quota, struct smp_log *log,
                                   const struct smp_vm *vm, const struct smp_options *options,
                                   struct smp_sampler **out)
{
    struct smp_sampler *sampler = smp_alloc(quota, sizeof(*sampler));
    enum smp_status status = SMP_ENOMEM;

    if (sampler == NULL)
        goto done;
    sampler->quota = quota;
    sampler->log = log;
    sampler->vm = *vm;
    sampler->place_epoch = 1;
    sampler->stack_epoch = 1;
    sampler->chosen_epoch = 1;
    sampler->budget = (struct smp_last_stack_budget){
        .quota = quota,
        .max_bytes = quota->limit_bytes / STACKS_LIMIT_SHARE,
    };
    smp_thread_table_init(&sampler->table, quota, &sampler->budget, &sampler->vm.threads,
                          &sampler->vm.namer);
    status = create_parts(sampler, options);
    if (status != SMP_OK)
        goto done;
    *out = sampler;
    sampler = NULL;
done:
    smp_sampler_destroy(sampler);
    return status;
}

static void drop_selection(struct smp_sampler *sampler)
{
    if (sampler->selection.destroy != NULL)
        sampler->selection.destroy(sampler->selection.self);
    sampler->selection = (struct smp_selection){ 0 };
}

void smp_sampler_destroy(struct smp_sampler *sampler)
{
    if (sampler == NULL)
        return;
    smp_thread_table_fini(&sampler->table);
    drop_selection(sampler);
    smp_interval_destroy(sampler->interval);
    smp_thread_names_destroy(sampler->names);
    if (sampler->methods != NULL)
        smp_methods_release(sampler->methods);
    if (sampler->filter != NULL)
        smp_filter_destroy(sampler->filter);
    smp_free(sampler->quota, sampler->packages);
    smp_free(sampler->quota, sampler->sample.frames);
    smp_free(sampler->quota, sampler->path.locations);
    smp_free(sampler->quota, sampler);
}

/* --- options, selection --- */

static enum smp_status set_packages(struct smp_sampler *sampler, const char *packages)
{
    enum smp_status status = SMP_ENOMEM;
    struct smp_filter *filter = NULL;
    char *copy = NULL;

    if (strcmp(packages, sampler->packages) == 0)
        return SMP_OK;
    copy = smp_strndup(sampler->quota, packages, strlen(packages));
    if (copy == NULL)
        goto done;
    status = smp_filter_create(sampler->quota, packages, &filter);
    if (status != SMP_OK)
        goto done;
    smp_methods_set_filter(sampler->methods, filter);
    sampler->stack_epoch++;
    smp_filter_destroy(sampler->filter);
    sampler->filter = filter;
    smp_free(sampler->quota, sampler->packages);
    sampler->packages = copy;
    copy = NULL;
done:
    smp_free(sampler->quota, copy);
    return status;
}

enum smp_status smp_sampler_set_options(struct smp_sampler *sampler,
                                        const struct smp_options *options)
{
    const bool default_rule = uses_default_rule(sampler, options);
    const enum smp_status status = set_packages(sampler, options->monitored_packages);

    if (status != SMP_OK)
        return status;
    sampler->skip_daemon_threads = options->skip_daemon_threads;
    if (default_rule != sampler->default_name_rule) {
        sampler->default_name_rule = default_rule;
        smp_thread_names_set_rule(sampler->names, default_rule);
    }
    return SMP_OK;
}

void smp_sampler_select(struct smp_sampler *sampler, struct smp_selection selection, bool only)
{
    drop_selection(sampler);
    sampler->selection = selection;
    sampler->only = only;
    sampler->chosen_epoch++;
}

/* --- messages --- */

static void warn_of_memory(struct smp_sampler *sampler)
{
    if (sampler->warned_of_memory)
        return;
    sampler->warned_of_memory = true;
    sampler->has_news = true;
    smp_log_put(sampler->log, SMP_LOG_WARNING,
                "memory limit of %zu bytes reached: new stacks are reported as %s",
                sampler->quota->limit_bytes, smp_outcome_frame(SMP_OUTCOME_OVER_LIMIT));
}

static void count_rule_failures(struct smp_sampler *sampler, uint64_t failures)
{
    if (failures == 0)
        return;
    if (smp_interval_counter(sampler->interval, SMP_COUNTER_NAME_RULE_FAILURES) == 0) {
        sampler->has_news = true;
        smp_log_put(sampler->log, SMP_LOG_WARNING,
                    "the thread name manipulator failed for %llu threads: they are reported under "
                    "their own names",
                    (unsigned long long)failures);
    }
    smp_interval_count(sampler->interval, SMP_COUNTER_NAME_RULE_FAILURES, failures);
}

bool smp_sampler_take_news(struct smp_sampler *sampler)
{
    const bool news = sampler->has_news;

    sampler->has_news = false;
    return news;
}

/* --- one look at one thread --- */

static enum smp_outcome outcome_of(enum smp_status status, const struct smp_sample *sample)
{
    switch (status) {
    case SMP_OK:
        if (sample->count > sample->capacity || sample->leaf_count > sample->count)
            return SMP_OUTCOME_REFUSED; /* not a stack */
        if (sample->count == 0)
            return SMP_OUTCOME_EMPTY;
        return sample->omitted > 0 ? SMP_OUTCOME_CUT : SMP_OUTCOME_WALKED;
    case SMP_EGONE:
        return SMP_OUTCOME_GONE;
    case SMP_EPHASE:
        return SMP_OUTCOME_PHASE;
    case SMP_ENOMEM:
        return SMP_OUTCOME_NO_MEMORY;
    default:
        return SMP_OUTCOME_REFUSED;
    }
}

/* Where it has no place in this interval yet, or its group has changed. */
static void find_place(struct smp_sampler *sampler, struct smp_thread_record *record)
{
    if (record->place_epoch == sampler->place_epoch)
        return;
    record->place = smp_interval_find(sampler->interval, record->group_name, record->thread->serial,
                                      record->raw_name);
    record->place_epoch = sampler->place_epoch;
    smp_last_stack_forget(&record->last);
}

/* The node of a stack that is not the one of the last look; *outcome may become OVER_LIMIT. */
static uint32_t add_stack(struct smp_sampler *sampler, struct smp_thread_record *record,
                          enum smp_outcome *outcome)
{
    const struct smp_sample *sample = &sampler->sample;
    struct smp_stack_path *path = &sampler->path;
    uint32_t node = 0;

    smp_interval_saw_depth(sampler->interval, record->place, sample->count + sample->omitted);
    smp_stack_path_find(path, sampler->methods, &sampler->vm.names, sample);
    /* A stack with a frame that could not be named would be somebody else's. */
    if (path->over_limit ||
        !smp_interval_add(sampler->interval, record->place, path->locations + path->first,
                          path->count - path->first, &node)) {
        *outcome = SMP_OUTCOME_OVER_LIMIT;
        node = smp_interval_add_pseudo(sampler->interval, record->place, outcome);
        warn_of_memory(sampler);
    }
    return node;
}

static uint32_t find_node(struct smp_sampler *sampler, struct smp_thread_record *record,
                          enum smp_outcome *outcome)
{
    struct smp_last_stack *last = &record->last;
    uint32_t node;

    if (*outcome != SMP_OUTCOME_WALKED && *outcome != SMP_OUTCOME_CUT)
        return smp_interval_add_pseudo(sampler->interval, record->place, outcome);
    if (sampler->sample.omitted > 0)
        smp_interval_count(sampler->interval, SMP_COUNTER_FRAMES_OMITTED, sampler->sample.omitted);
    if (smp_last_stack_matches(last, sampler->stack_epoch, &sampler->sample)) {
        *outcome = last->outcome;
        return last->node;
    }
    node = add_stack(sampler, record, outcome);
    smp_last_stack_keep(last, &sampler->budget, sampler->stack_epoch, &sampler->sample, node,
                        *outcome);
    return node;
}

static void walk(struct smp_sampler *sampler, struct smp_thread_record *record, int64_t span_ns)
{
    struct smp_sample *sample = &sampler->sample;
    enum smp_status status;
    enum smp_outcome outcome;
    uint32_t node;

    sample->count = 0;
    sample->leaf_count = 0;
    sample->omitted = 0;
    status = sampler->vm.walker.walk(sampler->vm.walker.self, record->thread, sample);
    outcome = outcome_of(status, sample);
    find_place(sampler, record);
    node = find_node(sampler, record, &outcome);
    smp_interval_note(sampler->interval, record->place, node, outcome, span_ns);
}

static void look_at(struct smp_sampler *sampler, struct smp_thread_record *record,
                    const struct look *look)
{
    const int64_t span_ns = look->span_ns >= 0 ? look->span_ns : look->now_ns - record->credited_ns;

    record->was_looked_at = true;
    record->credited_ns = look->now_ns;
    if (span_ns > 0)
        walk(sampler, record, span_ns);
}

/* --- one look at all threads --- */

static bool is_candidate(struct smp_sampler *sampler, struct smp_thread_record *record)
{
    const struct smp_selection *selection = &sampler->selection;

    if (record->thread->is_hidden)
        return false;
    if (record->chosen_epoch != sampler->chosen_epoch) {
        record->chosen_epoch = sampler->chosen_epoch;
        record->is_chosen =
            selection->contains != NULL && selection->contains(selection->self, record->thread);
    }
    if (sampler->only || record->is_chosen)
        return record->is_chosen;
    return !(sampler->skip_daemon_threads && record->thread->is_daemon);
}

static bool on_born(void *context, struct smp_thread *thread)
{
    struct smp_sampler *sampler = context;
    const int64_t from_ns =
        thread->born_ns > sampler->marked_ns ? thread->born_ns : sampler->marked_ns;

    return smp_thread_table_add(&sampler->table, thread, from_ns);
}

static void poll_threads(struct smp_sampler *sampler)
{
    const struct smp_thread_source *source = &sampler->vm.threads;
    uint64_t unseen = 0;

    /* A source that cannot tell now is asked again at the next tick. */
    (void)source->poll(source->self, &sampler->cursor, &unseen, on_born, sampler);
    if (!sampler->is_first_poll)
        smp_interval_count(sampler->interval, SMP_COUNTER_UNSEEN_THREADS, unseen);
    sampler->is_first_poll = false;
}

/* The last of an ended thread's time. */
static void credit_end(struct smp_sampler *sampler, struct smp_thread_record *record,
                       int64_t ended_ns)
{
    enum smp_outcome outcome = SMP_OUTCOME_ENDED;
    const int64_t span_ns = ended_ns - record->credited_ns;
    uint32_t node;

    if (!record->was_looked_at) {
        if (ended_ns > sampler->marked_ns && record->naming != SMP_NAMING_SKIP &&
            is_candidate(sampler, record))
            smp_interval_count(sampler->interval, SMP_COUNTER_UNSEEN_THREADS, 1);
        return;
    }
    if (span_ns <= 0)
        return;
    find_place(sampler, record);
    node = smp_interval_add_pseudo(sampler->interval, record->place, &outcome);
    smp_interval_note(sampler->interval, record->place, node, outcome, span_ns);
}

/* A thread that ended after this look began is walked as if alive: it counts as gone during the
 * walk, and the rest of its time is credited at the next tick. */
static void remove_ended(struct smp_sampler *sampler, const struct look *look)
{
    struct smp_thread_table *table = &sampler->table;
    size_t i = 0;

    while (i < table->count) {
        struct smp_thread_record *record = &table->records[i];
        const int64_t ended_ns =
            atomic_load_explicit(&record->thread->ended_ns, memory_order_acquire);
        if (ended_ns == 0 || ended_ns > look->now_ns) {
            i++;
            continue;
        }
        if (look->span_ns < 0)
            credit_end(sampler, record, ended_ns);
        smp_thread_table_remove(table, i);
    }
}

/* Whoever is not sampled now owns the time that passes, and it is not credited later. */
static void leave_out(struct smp_thread_record *record, const struct look *look)
{
    record->is_candidate = false;
    record->was_looked_at = false;
    record->credited_ns = look->now_ns;
}

static void choose_threads(struct smp_sampler *sampler, const struct look *look)
{
    struct smp_thread_table *table = &sampler->table;

    for (size_t i = 0; i < table->count; i++) {
        struct smp_thread_record *record = &table->records[i];
        record->is_candidate = is_candidate(sampler, record);
        if (!record->is_candidate)
            leave_out(record, look);
    }
    count_rule_failures(sampler, smp_thread_names_refresh(sampler->names));
}

static void look_at_all(struct smp_sampler *sampler, const struct look *look)
{
    struct smp_thread_table *table = &sampler->table;

    sampler->threads = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct smp_thread_record *record = &table->records[i];
        if (!record->is_candidate)
            continue;
        if (record->naming == SMP_NAMING_SKIP) {
            leave_out(record, look);
            continue;
        }
        look_at(sampler, record, look);
        sampler->threads++;
    }
}

static void count_unnamed(struct smp_sampler *sampler)
{
    struct smp_methods_stats stats;

    smp_methods_get_stats(sampler->methods, &stats);
    smp_interval_count(sampler->interval, SMP_COUNTER_UNLOADED,
                       stats.unloaded - sampler->methods_seen.unloaded);
    smp_interval_count(sampler->interval, SMP_COUNTER_UNRESOLVED,
                       stats.unresolved - sampler->methods_seen.unresolved);
    sampler->methods_seen = stats;
}

static void look(struct smp_sampler *sampler, const struct look *look)
{
    smp_interval_count(sampler->interval, SMP_COUNTER_TICKS, 1);
    poll_threads(sampler);
    remove_ended(sampler, look);
    choose_threads(sampler, look);
    look_at_all(sampler, look);
    count_unnamed(sampler);
}

/* --- time --- */

void smp_sampler_mark(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms)
{
    for (size_t i = 0; i < sampler->table.count; i++)
        sampler->table.records[i].credited_ns = now_ns;
    sampler->is_running = true;
    sampler->is_first_poll = true;
    sampler->marked_ns = now_ns;
    sampler->covered_ns = now_ns;
    smp_interval_begin(sampler->interval, wall_ms);
}

void smp_sampler_pause(struct smp_sampler *sampler, int64_t now_ns)
{
    (void)now_ns; /* the tick before it has told */
    sampler->is_running = false;
}

void smp_sampler_tick(struct smp_sampler *sampler, int64_t now_ns, bool late)
{
    const struct look all = { .now_ns = now_ns, .span_ns = -1 };

    if (!sampler->is_running)
        return;
    look(sampler, &all);
    if (late)
        smp_interval_count(sampler->interval, SMP_COUNTER_LATE_TICKS, 1);
    smp_interval_cover(sampler->interval, now_ns, now_ns - sampler->covered_ns);
    sampler->covered_ns = now_ns;
}

void smp_sampler_tick_once(struct smp_sampler *sampler, int64_t now_ns, int64_t span_ns)
{
    const struct look all = { .now_ns = now_ns, .span_ns = span_ns };

    sampler->is_first_poll = !sampler->is_running;
    look(sampler, &all);
    smp_interval_cover(sampler->interval, now_ns, span_ns);
    sampler->covered_ns = now_ns;
}

void smp_sampler_count(struct smp_sampler *sampler, enum smp_counter counter, uint64_t more)
{
    smp_interval_count(sampler->interval, counter, more);
}

/* --- the end of an interval --- */

static void forget_stacks(struct smp_sampler *sampler)
{
    for (size_t i = 0; i < sampler->table.count; i++)
        smp_last_stack_fini(&sampler->table.records[i].last, &sampler->budget);
}

/* What the next interval starts with: the same names, or of a full table those still in use. NULL
 * never: where there is no memory to clear up with, the full table stays. */
static struct smp_methods *next_methods(const struct smp_sampler *sampler)
{
    const size_t most = sampler->quota->limit_bytes / NAMES_LIMIT_SHARE;
    const size_t count = smp_methods_location_count(sampler->methods);
    struct smp_methods *compacted = NULL;
    bool *used = NULL;

    if (sampler->methods_seen.bytes > most / NAMES_COMPACT_SHARE)
        used = smp_alloc(sampler->quota, count * sizeof(*used));
    if (used != NULL) {
        smp_interval_mark_used(sampler->interval, used, count);
        if (smp_methods_compact(sampler->methods, used, count, sampler->filter, &compacted) !=
            SMP_OK)
            compacted = NULL;
    }
    smp_free(sampler->quota, used);
    return compacted != NULL ? compacted : smp_methods_hold(sampler->methods);
}

/* The interval is sealed: its figures go to the closed ones. */
static void close_interval(struct smp_sampler *sampler)
{
    smp_tally_add(&sampler->closed_tally, smp_interval_tally(sampler->interval));
    for (int i = 0; i < SMP_COUNTER_COUNT; i++)
        sampler->closed_counters[i] += smp_interval_counter(sampler->interval, (enum smp_counter)i);
    smp_interval_destroy(sampler->interval);
    sampler->interval = NULL;
    sampler->place_epoch++; /* who finds a new place forgets its last stack, too */
    sampler->warned_of_memory = false;
}

enum smp_status smp_sampler_seal(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms,
                                 struct smp_snapshot **out)
{
    struct smp_methods *methods = next_methods(sampler);
    struct smp_interval *next = NULL;
    enum smp_status status = smp_interval_create(sampler->quota, methods, &next);

    if (status != SMP_OK)
        goto done;
    status = smp_interval_seal(sampler->interval, now_ns, wall_ms, out);
    if (status != SMP_OK)
        goto done;
    close_interval(sampler);
    if (sampler->is_running)
        smp_interval_begin(next, (*out)->till_wall_ms);
    sampler->interval = next;
    next = NULL;
    if (methods != sampler->methods) {
        smp_methods_release(sampler->methods);
        sampler->methods = smp_methods_hold(methods);
        smp_methods_get_stats(methods, &sampler->methods_seen);
    }
done:
    smp_interval_destroy(next);
    smp_methods_release(methods);
    return status;
}

enum smp_status smp_sampler_seal_last(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms,
                                      struct smp_snapshot **out)
{
    enum smp_status status;

    sampler->is_running = false;
    /* They are of no more use, and a full session has room for the snapshot without them. */
    forget_stacks(sampler);
    status = smp_interval_seal(sampler->interval, now_ns, wall_ms, out);
    if (status == SMP_OK)
        close_interval(sampler);
    return status;
}

void smp_sampler_get_stats(const struct smp_sampler *sampler, struct smp_sampler_stats *out)
{
    const struct smp_interval *interval = sampler->interval;

    *out = (struct smp_sampler_stats){
        .total_tally = sampler->closed_tally,
        .threads = sampler->threads,
        .locations = sampler->methods_seen.locations,
    };
    memcpy(out->total_counters, sampler->closed_counters, sizeof(out->total_counters));
    if (interval == NULL)
        return;
    out->interval_tally = *smp_interval_tally(interval);
    smp_tally_add(&out->total_tally, &out->interval_tally);
    for (int i = 0; i < SMP_COUNTER_COUNT; i++) {
        out->interval_counters[i] = smp_interval_counter(interval, (enum smp_counter)i);
        out->total_counters[i] += out->interval_counters[i];
    }
    out->nodes = smp_interval_nodes(interval);
}
