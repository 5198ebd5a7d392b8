/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/call_counter.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "counting/adaptive_removal.h"
#include "counting/call_arena.h"
#include "counting/call_path.h"
#include "counting/call_reader.h"
#include "counting/call_shared.h"
#include "jvm/agent/agent.h"
#include "jvm/calls/instrumenter.h"
#include "jvm/calls/reflected_calls.h"
#include "jvm/threads/threads.h"

enum {
    /* Measured: 3 to 9 ns for a call whose probes were not inlined by the JIT compiler. */
    CALL_COST_NS = 8,
    EXACT_CALL_COST_NS = 25,
    ROOT_COST_NS = 32, /* measured (bench: call-hooks): a JNI call and two time stamps */
    NAME_BYTES = 1024,
    FILE_BYTES = 256
};

/* The session that counts; only its sampler thread uses this. */
static struct {
    bool is_exact;
    bool has_dropped; /* trees must be replaced by empty ones */
    struct {
        uint64_t batches;
        uint64_t lost_roots;
        uint64_t misplaced;
    } seen; /* counted in earlier accounts */
    struct {
        char class_name[NAME_BYTES];
        char method_name[NAME_BYTES];
        char descriptor[NAME_BYTES];
        char file[FILE_BYTES];
    } name; /* result of the last name(); UTF-8, truncated if necessary */
} counting;

/* Losses up to now are not part of any account. */
static void see_all_losses(void)
{
    counting.seen.lost_roots = smp_call_arena_lost_roots();
    counting.seen.misplaced = smp_call_misplaced();
}

static enum smp_status start_counting(SMP_UNUSED void *self, struct smp_counting_plan *plan,
                                      char message[SMP_COUNTER_MESSAGE_BYTES])
{
    const enum smp_status status = smp_instrumenter_start(plan, message);

    if (status != SMP_OK)
        return status;
    counting.is_exact = plan->timing == SMP_METHOD_TIMING_EXACT;
    counting.has_dropped = false;
    counting.seen.batches = 0;
    see_all_losses();
    return status;
}

static void stop_counting(SMP_UNUSED void *self)
{
    smp_instrumenter_stop();
}

/* --- reading --- */

struct counter_reading {
    const struct smp_counter_visitor *visitor;
    struct smp_counted_thread thread; /* of the last delta; the deltas of a tree are consecutive */
};

static struct smp_counted_thread describe_tree(uint64_t tree, uint64_t serial, uint32_t pool)
{
    return (struct smp_counted_thread){ .tree = tree,
                                        .serial = serial,
                                        .name = smp_call_pool_name(pool) };
}

static void on_delta(void *self, const struct smp_call_delta *delta)
{
    struct counter_reading *const reading = self;
    struct smp_counted_call call = delta->call;

    if (call.method != SMP_METHOD_UNCOUNTED)
        call.method = smp_counted_classes_number(smp_instrumenter_classes(), (int32_t)call.method);
    if (reading->thread.tree != delta->tree)
        reading->thread = describe_tree(delta->tree, delta->thread_serial, delta->pool);
    reading->visitor->counted(reading->visitor->context, &reading->thread, &call);
}

static void on_tree_end(void *self, uint64_t tree)
{
    const struct counter_reading *const reading = self;

    reading->visitor->ended(reading->visitor->context, tree);
}

static void keep_id(SMP_UNUSED void *self, int32_t pushed)
{
    smp_counted_classes_keep_id(smp_instrumenter_classes(), pushed);
}

/*
 * Replaces the trees after the probes of dropped methods were removed. The nodes below those
 * methods are not reached any more, and calls there need new nodes. In a full tree they would get
 * none, and adaptive removal cannot see a method whose calls have no node.
 */
static void renew_after_drop(void)
{
    struct smp_counter_figures figures;

    if (!counting.has_dropped)
        return;
    smp_instrumenter_get_figures(&figures);
    if (figures.has_work)
        return;
    smp_call_arena_renew();
    counting.has_dropped = false;
}

static void read_counts(SMP_UNUSED void *self, const struct smp_counter_visitor *visitor)
{
    struct counter_reading reading = { .visitor = visitor };
    struct smp_call_visitor each = { .self = &reading,
                                     .on_delta = on_delta,
                                     .on_end = on_tree_end };

    const bool renews = smp_counted_classes_begin_renewal(smp_instrumenter_classes());
    if (renews)
        each.on_kept = keep_id;
    renew_after_drop();
    smp_call_read(&each);
    if (renews)
        smp_counted_classes_end_renewal(smp_instrumenter_classes());
}

static void reset_counts(SMP_UNUSED void *self)
{
    smp_call_reset();
    see_all_losses();
}

static void find_positions(SMP_UNUSED void *self, smp_on_call_place *found, void *context)
{
    struct smp_call_shared *const shared = smp_call_memory;
    const uint32_t count = atomic_load(&shared->state_count);

    for (uint32_t i = 0; i < count && i < SMP_CALL_STATES; i++) {
        const struct smp_call_state *const state = &shared->states[i];
        const int64_t java_id = atomic_load_explicit(&state->tid, memory_order_acquire);
        struct smp_call_position position = { 0 };

        if (java_id == 0 || atomic_load_explicit(&state->position, memory_order_relaxed) == NULL ||
            !smp_call_position_of(java_id, &position))
            continue;
        const struct smp_counted_thread thread =
            describe_tree(position.tree, position.thread_serial, position.pool);
        const struct smp_call_place place = { .ordinal = position.ordinal,
                                              .is_in_hook = position.is_in_hook,
                                              .is_between_stamps = position.is_between_stamps };
        found(context, &thread, &place);
    }
}

/* --- methods --- */

/* Returns -1 if no method has this number any more. */
static int32_t id_of_number(int64_t number)
{
    const struct smp_counted_classes *const counted = smp_instrumenter_classes();
    const int32_t pushed = smp_counted_classes_pushed(counted, number);

    return pushed < 0 ? -1 : smp_counted_classes_id(counted, pushed);
}

static void write_name(char *out, size_t size, struct smp_slice text)
{
    (void)smp_utf8_from_modified(out, size, text.bytes, text.length);
}

static void fill_name(const struct smp_method_name *name)
{
    const bool has_room = name->descriptor.length < sizeof(counting.name.descriptor);

    write_name(counting.name.class_name, NAME_BYTES, name->class_name);
    write_name(counting.name.method_name, NAME_BYTES, name->method_name);
    write_name(counting.name.file, FILE_BYTES, name->source_file);
    write_name(counting.name.descriptor, NAME_BYTES,
               has_room ? name->descriptor : (struct smp_slice){ 0 });
    for (char *at = counting.name.class_name; *at != '\0'; at++)
        *at = *at == '/' ? '.' : *at;
}

/* A method may be called before its batch has ended and has stored the time: its probe is new. */
static int64_t since_of(const struct smp_method_record *record)
{
    if (record->since_ms == SMP_METHOD_SINCE_LOAD)
        return 0;
    return record->since_ms > 0 ? record->since_ms : smp_clock_wall_ms();
}

/* The caller holds the lock. */
static bool find_name(const struct smp_counted_classes *counted, int64_t number, int64_t *since_ms)
{
    const struct smp_method_ids *const ids = smp_call_graph_ids(counted->graph);
    const int32_t pushed = smp_counted_classes_pushed(counted, number);
    const int32_t id = id_of_number(number);
    const bool has_id =
        id >= 0 && id < smp_method_ids_end(ids) && smp_method_ids_at(ids, id) != NULL;
    const struct smp_method_name *const leftover =
        id < 0 ? smp_leftovers_find(&counted->leftovers, pushed) : NULL;

    if (!has_id && leftover == NULL)
        return false;
    const struct smp_method_name name = has_id ? smp_method_ids_name(ids, id) : *leftover;
    *since_ms = has_id ? since_of(smp_method_ids_at(ids, id)) : 0;
    fill_name(&name);
    return true;
}

static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static bool name_counted(SMP_UNUSED void *self, int64_t method, struct smp_method_info *out)
{
    struct smp_counted_classes *const counted = smp_instrumenter_classes();
    int64_t since_ms = 0;

    smp_lock_acquire(&counted->lock);
    const bool is_known = find_name(counted, method, &since_ms);
    smp_lock_release(&counted->lock);
    if (is_known)
        *out = (struct smp_method_info){ .class_name = counting.name.class_name,
                                         .method_name = counting.name.method_name,
                                         .descriptor = text_or_null(counting.name.descriptor),
                                         .file = text_or_null(counting.name.file),
                                         .since_ms = since_ms };
    return is_known;
}

static bool keeps_method(SMP_UNUSED void *self, int64_t method)
{
    struct smp_counted_classes *const counted = smp_instrumenter_classes();
    const int32_t id = id_of_number(method);

    smp_lock_acquire(&counted->lock);
    const bool is_kept = id >= 0 && smp_call_graph_is_kept(counted->graph, id);
    smp_lock_release(&counted->lock);
    return is_kept;
}

static void drop_methods(SMP_UNUSED void *self, const int64_t *methods, size_t count)
{
    struct smp_counted_classes *const counted = smp_instrumenter_classes();

    smp_lock_acquire(&counted->lock);
    for (size_t i = 0; i < count; i++) {
        const int32_t id = id_of_number(methods[i]);
        if (id >= 0)
            counting.has_dropped |= smp_call_graph_drop(counted->graph, id, smp_clock_wall_ms());
    }
    smp_lock_release(&counted->lock);
}

static void judge_calls(SMP_UNUSED void *self, const struct smp_call_rate *rates, size_t count)
{
    struct smp_counted_classes *const counted = smp_instrumenter_classes();

    smp_lock_acquire(&counted->lock);
    for (size_t i = 0; i < count; i++)
        smp_call_graph_note_calls(counted->graph, id_of_number(rates[i].method), rates[i].calls);
    counting.has_dropped |= smp_call_graph_judge_places(counted->graph);
    smp_lock_release(&counted->lock);
}

/* A class with a longer name never has a probe. */
static struct smp_sampled_method note_sampled(SMP_UNUSED void *self, const char *class_name,
                                              const char *method_name, bool is_called)
{
    struct smp_counted_classes *const counted = smp_instrumenter_classes();
    char internal[NAME_BYTES];
    const size_t length = strnlen(class_name, sizeof(internal));

    if (length == sizeof(internal))
        return (struct smp_sampled_method){ 0 };
    for (size_t i = 0; i < length; i++)
        internal[i] = class_name[i] == '.' ? '/' : class_name[i];
    smp_lock_acquire(&counted->lock);
    const struct smp_sampled_method sampled =
        smp_call_graph_sampled(counted->graph, (struct smp_slice){ internal, length },
                               (struct smp_slice){ method_name, strlen(method_name) }, is_called);
    smp_lock_release(&counted->lock);
    return sampled;
}

static void get_counter_figures(SMP_UNUSED void *self, struct smp_counter_figures *out)
{
    smp_instrumenter_get_figures(out);
    out->call_cost_ns = counting.is_exact ? EXACT_CALL_COST_NS : CALL_COST_NS;
    out->root_cost_ns = ROOT_COST_NS;
}

/* Adds the calls that were lost since the last account. */
static void add_lost_calls(struct smp_counting_account *out, enum smp_call_loss loss, uint64_t all,
                           uint64_t *seen)
{
    (void)smp_counting_account_add_for(out, SMP_COUNTING_CALLS_WITHOUT_PLACE,
                                       smp_call_loss_text(loss), all - *seen);
    *seen = all;
}

static void add_counting_account(SMP_UNUSED void *self, struct smp_counting_account *out)
{
    struct smp_counted_classes *const counted = smp_instrumenter_classes();
    const uint64_t malformed = counted->malformed;
    struct smp_counter_figures figures;

    smp_instrumenter_get_figures(&figures);
    /* In a short program the instrumenter may not have run a round since the first entries. */
    smp_counted_classes_note_entries(counted);
    smp_lock_acquire(&counted->lock);
    smp_call_graph_account(counted->graph, out);
    smp_reflected_calls_account(counted, out);
    smp_lock_release(&counted->lock);
    smp_counting_account_add(out, SMP_COUNTING_INSTRUMENTED, figures.methods);
    if (malformed > 0)
        (void)smp_counting_account_name(out, SMP_COUNTING_LEFT_ALONE,
                                        "a class file that is not understood");
    smp_counting_account_add(out, SMP_COUNTING_LEFT_ALONE, malformed);
    smp_counting_account_add(out, SMP_COUNTING_BATCHES, figures.batches - counting.seen.batches);
    counting.seen.batches = figures.batches;
    add_lost_calls(out, SMP_LOST_OVER_MEMORY, smp_call_arena_lost_roots(),
                   &counting.seen.lost_roots);
    add_lost_calls(out, SMP_LOST_BEGAN_BEFORE, smp_call_misplaced(), &counting.seen.misplaced);
}

struct smp_call_counter smp_jvm_call_counter(void)
{
    return (struct smp_call_counter){ .start = start_counting,
                                      .stop = stop_counting,
                                      .read = read_counts,
                                      .reset = reset_counts,
                                      .positions = find_positions,
                                      .name = name_counted,
                                      .keeps = keeps_method,
                                      .drop = drop_methods,
                                      .judge = judge_calls,
                                      .sampled = note_sampled,
                                      .get_figures = get_counter_figures,
                                      .account = add_counting_account };
}

/* --- threads --- */

bool smp_call_counter_has_threads(void)
{
    return atomic_load(&smp_call_memory->state_count) > 0;
}

const void *smp_call_counter_state_of(int64_t java_id)
{
    return java_id == 0 || smp_call_generation() == 0 ? NULL : smp_call_state_find(java_id);
}

void smp_call_counter_on_thread_end(JNIEnv *env, jobject thread)
{
    int64_t java_id = 0;

    if (smp_agent_is_live() && smp_call_counter_has_threads() &&
        smp_threads_id_of(env, thread, &java_id) == SMP_OK)
        smp_call_arena_retire(java_id);
}
