/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/call_counter.h"

#include <stdatomic.h>
#include <string.h>

#include "counting/call_arena.h"
#include "counting/call_pools.h"
#include "counting/call_reader.h"
#include "counting/call_renewal.h"
#include "counting/call_shared.h"
#include "jvm/calls/call_threads.h"
#include "jvm/calls/counter_account.h"
#include "jvm/calls/instrumenter.h"

enum {
    /* Of a call whose probes the JIT compilers have not inlined away (facts: 3 to 9 ns). */
    CALL_COST_NS = 8,
    EXACT_CALL_COST_NS = 25,
    ROOT_COST_NS = 32, /* measured (bench: call-hooks): by JNI, with two time stamps */
    /* Nodes of threads have half of the memory for counting. The rest is for classes, and for what
     * the engine knows of each node: without that a call is counted and credited nowhere. */
    NODES_SHARE = 2
};

_Static_assert((int)SMP_COUNTER_MESSAGE_BYTES >= (int)SMP_COUNTED_MESSAGE_BYTES, "messages");
/* Of the one that counts; only its sampler thread. */
static struct {
    bool is_exact;
    bool has_dropped;                     /* trees are to begin anew */
    struct smp_counter_account_seen seen; /* in the account already */
    struct smp_counted_name name;
} counting;

static enum smp_scheme scheme_of(enum smp_instrumentation instrumentation)
{
    switch (instrumentation) {
    case SMP_INSTRUMENTATION_EAGER:
        return SMP_SCHEME_EAGER;
    case SMP_INSTRUMENTATION_TOTAL:
        return SMP_SCHEME_TOTAL;
    default:
        return SMP_SCHEME_LAZY;
    }
}

static enum smp_status start_counting(SMP_UNUSED void *self, const struct smp_counting_plan *plan,
                                      char message[SMP_COUNTER_MESSAGE_BYTES])
{
    const struct smp_instrumenter_options options = {
        .classes = { .quota = plan->quota,
                     .roots = plan->roots,
                     .filter = plan->filter,
                     .scheme = scheme_of(plan->instrumentation),
                     .max_methods = plan->max_methods,
                     .look_ahead = SMP_REACH_LOOK_AHEAD },
        .calls = { .quota = plan->quota,
                   .max_bytes =
                       plan->quota != NULL ? plan->quota->limit_bytes / NODES_SHARE : SIZE_MAX,
                   .nodes = plan->max_nodes,
                   .depth = (int32_t)plan->max_depth,
                   .is_exact = plan->timing == SMP_METHOD_TIMING_EXACT },
    };

    const enum smp_status status = smp_instrumenter_start(&options, message);
    if (status != SMP_OK)
        return status;
    /* Of threads that have ended while nothing was counted. */
    smp_call_threads_retire();
    smp_call_threads_forget();
    counting.is_exact = options.calls.is_exact;
    counting.has_dropped = false;
    counting.seen = smp_counter_account_begin();
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
    return method == SMP_CALL_UNCOUNTED ? SMP_METHOD_UNCOUNTED : smp_instrumenter_number(method);
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
static void renew_after_drop(void)
{
    struct smp_instrumenter_figures figures;

    if (!counting.has_dropped)
        return;
    smp_instrumenter_get_figures(&figures);
    if (figures.has_work)
        return;
    smp_call_renewal_begin();
    counting.has_dropped = false;
}

static void read_counts(SMP_UNUSED void *self, const struct smp_counter_visitor *visitor)
{
    struct counter_reading reading = { .visitor = visitor };
    const struct smp_call_visitor each = { .self = &reading,
                                           .on_delta = on_delta,
                                           .on_end = on_tree_end };

    smp_call_threads_retire();
    const bool renews = smp_instrumenter_begin_renewal();
    renew_after_drop();
    smp_call_read(&each);
    if (renews)
        smp_instrumenter_end_renewal();
    smp_call_threads_forget();
}

static void reset_counts(SMP_UNUSED void *self)
{
    smp_call_reset();
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
                                  .descriptor = name->descriptor[0] != '\0' ? name->descriptor
                                                                            : NULL,
                                  .file = name->source_file[0] != '\0' ? name->source_file : NULL };
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

static struct smp_sampled_method note_sampled(SMP_UNUSED void *self, const char *class_name,
                                              const char *method_name, bool is_called)
{
    const struct smp_reach_sample seen =
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
                                         .methods = figures.reach.methods,
                                         .is_root_entered = figures.reach.is_root_entered,
                                         .has_work = figures.has_work,
                                         .has_discarded_code = figures.has_discarded_code,
                                         .own_cpu_ns = figures.own_cpu_ns,
                                         .call_cost_ns =
                                             counting.is_exact ? EXACT_CALL_COST_NS : CALL_COST_NS,
                                         .root_cost_ns = ROOT_COST_NS };
}

static void add_counting_account(SMP_UNUSED void *self, struct smp_counting_account *out)
{
    smp_counter_account_add(&counting.seen, out);
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
                                      .sampled = note_sampled,
                                      .get_figures = get_counter_figures,
                                      .account = add_counting_account };
}
