/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/call_counter.h"

#include <stdatomic.h>
#include <string.h>

#include "counting/call_arena.h"
#include "counting/call_past.h"
#include "counting/call_pools.h"
#include "counting/call_reader.h"
#include "counting/call_shared.h"
#include "jvm/calls/call_threads.h"
#include "jvm/calls/instrumenter.h"

enum {
    /* Of a call whose probes the JIT compilers have not inlined away (facts: 3 to 9 ns). */
    CALL_COST_NS = 8,
    EXACT_CALL_COST_NS = 25,
    ROOT_COST_NS = 32 /* measured (bench: call-hooks): by JNI, with two time stamps */
};

/* Of the one that counts; only its sampler thread. */
static struct {
    bool is_exact;
    bool has_dropped; /* trees are to begin anew */
    struct {
        uint64_t batches;
        uint64_t lost_roots;
        uint64_t lost_threads;
        uint64_t misplaced;
    } seen; /* in the account already */
    struct smp_counted_name name;
} counting;

/* What there is of these now is in no account. */
static void see_all_losses(void)
{
    counting.seen.lost_roots = smp_call_arena_losses().roots;
    counting.seen.lost_threads = smp_call_threads_lost();
    counting.seen.misplaced = smp_call_past_count();
}

static enum smp_status start_counting(SMP_UNUSED void *self, struct smp_counting_plan *plan,
                                      char message[SMP_COUNTER_MESSAGE_BYTES])
{
    const enum smp_status status = smp_instrumenter_start(plan, message);

    if (status != SMP_OK)
        return status;
    /* Of threads that have ended while nothing was counted. */
    smp_call_threads_retire();
    smp_call_threads_forget();
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
    struct smp_counted_thread thread; /* of the last delta; those of one tree come in a row */
};

static struct smp_counted_thread describe_tree(uint64_t tree, int64_t java_id, uint32_t pool)
{
    return (struct smp_counted_thread){ .tree = tree,
                                        .serial = smp_call_threads_find(java_id),
                                        .name = smp_call_pool_name(pool) };
}

static int64_t number_of(int32_t method)
{
    return method == SMP_CALL_UNCOUNTED
               ? SMP_METHOD_UNCOUNTED
               : smp_counted_classes_number(smp_instrumenter_classes(), method);
}

static void on_delta(void *self, const struct smp_call_delta *delta)
{
    struct counter_reading *const reading = self;
    const struct smp_counted_call call = { .ordinal = delta->ordinal,
                                           .parent = delta->parent,
                                           .method = number_of(delta->method),
                                           .limit = delta->limit,
                                           .is_root = delta->is_root,
                                           .calls = delta->calls,
                                           .time_ns = delta->time_ns,
                                           .ended = delta->ended,
                                           .ended_ns = delta->ended_ns,
                                           .least_ns = delta->least_ns,
                                           .most_ns = delta->most_ns };

    if (reading->thread.tree != delta->tree)
        reading->thread = describe_tree(delta->tree, delta->tid, delta->pool);
    reading->visitor->counted(reading->visitor->context, &reading->thread, &call);
}

static void on_tree_end(void *self, uint64_t tree)
{
    const struct counter_reading *const reading = self;

    reading->visitor->ended(reading->visitor->context, tree);
}

/*
 * Once the probes of dropped methods are gone, the nodes below them are not reached any more: what
 * is called there has new ones. A full tree has no room for those, and a call without a node is of
 * no method that could be dropped, however much it costs.
 */
static void keep_id(SMP_UNUSED void *self, int32_t pushed)
{
    smp_counted_classes_keep_id(smp_instrumenter_classes(), pushed);
}

static void renew_after_drop(void)
{
    struct smp_instrumenter_figures figures;

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

    smp_call_threads_retire();
    const bool renews = smp_counted_classes_begin_renewal(smp_instrumenter_classes());
    if (renews)
        each.on_kept = keep_id;
    renew_after_drop();
    smp_call_read(&each);
    if (renews)
        smp_counted_classes_end_renewal(smp_instrumenter_classes());
    smp_call_threads_forget();
}

static void reset_counts(SMP_UNUSED void *self)
{
    smp_call_reset();
    see_all_losses();
}

static void find_positions(SMP_UNUSED void *self, smp_on_call_place *found, void *context)
{
    struct smp_call_shared *const shared = smp_call_shared_memory();
    const uint32_t count = atomic_load(&shared->state_count);

    for (uint32_t i = 0; i < count && i < SMP_CALL_STATES; i++) {
        const struct smp_call_state *const state = &shared->states[i];
        const int64_t java_id = atomic_load_explicit(&state->tid, memory_order_acquire);
        struct smp_call_position position = { 0 };

        if (java_id == 0 || atomic_load_explicit(&state->position, memory_order_relaxed) == NULL ||
            !smp_call_position_of(java_id, &position))
            continue;
        const struct smp_counted_thread thread =
            describe_tree(position.tree, java_id, position.pool);
        const struct smp_call_place place = { .ordinal = position.ordinal,
                                              .is_in_hook = position.is_in_hook,
                                              .is_between_stamps = position.is_between_stamps };
        found(context, &thread, &place);
    }
}

/* --- methods --- */

static bool name_counted(SMP_UNUSED void *self, int64_t method, struct smp_method_info *out)
{
    struct smp_counted_name *const name = &counting.name;

    if (!smp_instrumenter_name(method, name))
        return false;
    *out =
        (struct smp_method_info){ .class_name = name->class_name,
                                  .method_name = name->method_name,
                                  .descriptor =
                                      name->descriptor[0] != '\0' ? name->descriptor : NULL,
                                  .file = name->source_file[0] != '\0' ? name->source_file : NULL,
                                  .since_ms = name->since_ms };
    return true;
}

static bool keeps_method(SMP_UNUSED void *self, int64_t method)
{
    return smp_instrumenter_keeps(method);
}

static void drop_methods(SMP_UNUSED void *self, const int64_t *methods, size_t count)
{
    counting.has_dropped |= smp_instrumenter_drop(methods, count);
}

static void judge_calls(SMP_UNUSED void *self, const struct smp_call_rate *rates, size_t count)
{
    counting.has_dropped |= smp_instrumenter_judge(rates, count);
}

static struct smp_sampled_method note_sampled(SMP_UNUSED void *self, const char *class_name,
                                              const char *method_name, bool is_called)
{
    const struct smp_call_graph_sample seen =
        smp_instrumenter_sampled(class_name, method_name, is_called);

    return (struct smp_sampled_method){ .is_root = seen.is_root,
                                        .is_inside = seen.is_inside,
                                        .is_followed = seen.is_followed };
}

static void get_counter_figures(SMP_UNUSED void *self, struct smp_counter_figures *out)
{
    struct smp_instrumenter_figures figures;

    smp_instrumenter_get_figures(&figures);
    *out = (struct smp_counter_figures){ .batches = figures.batches,
                                         .methods = figures.graph.methods,
                                         .is_root_entered = figures.graph.is_root_entered,
                                         .has_work = figures.has_work,
                                         .has_discarded_code = figures.has_discarded_code,
                                         .own_cpu_ns = figures.own_cpu_ns,
                                         .call_cost_ns =
                                             counting.is_exact ? EXACT_CALL_COST_NS : CALL_COST_NS,
                                         .root_cost_ns = ROOT_COST_NS };
}

static void add_classes(void *self, const struct smp_counted_classes *counted)
{
    smp_call_graph_account(counted->graph, self);
    smp_counted_classes_add_unfollowed(counted, self);
}

/* What has come to one of all since the last account. */
static void add_more(struct smp_counting_account *out, enum smp_counting code, uint64_t all,
                     uint64_t *seen)
{
    smp_counting_account_add(out, code, all - *seen);
    *seen = all;
}

static void add_counting_account(SMP_UNUSED void *self, struct smp_counting_account *out)
{
    struct smp_instrumenter_figures figures;

    smp_instrumenter_get_figures(&figures);
    smp_instrumenter_inspect(add_classes, out);
    smp_counting_account_add(out, SMP_COUNTING_INSTRUMENTED, figures.graph.methods);
    if (figures.malformed > 0)
        (void)smp_counting_account_name(out, SMP_COUNTING_LEFT_ALONE,
                                        "a class file that is not understood");
    smp_counting_account_add(out, SMP_COUNTING_LEFT_ALONE, figures.malformed);
    add_more(out, SMP_COUNTING_BATCHES, figures.batches, &counting.seen.batches);
    add_more(out, SMP_COUNTING_OVER_MEMORY_LIMIT, smp_call_arena_losses().roots,
             &counting.seen.lost_roots);
    add_more(out, SMP_COUNTING_OVER_ENDED_THREADS, smp_call_threads_lost(),
             &counting.seen.lost_threads);
    add_more(out, SMP_COUNTING_BEGAN_BEFORE, smp_call_past_count(), &counting.seen.misplaced);
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
