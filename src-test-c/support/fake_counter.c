/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_counter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/counting_account.h"

static enum smp_status start(void *self, struct smp_counting_plan *plan,
                             char message[SMP_COUNTER_MESSAGE_BYTES])
{
    struct fake_counter *counter = self;
    const struct smp_slice first =
        plan->rule_count > 0 ? plan->rules[0].text : (struct smp_slice){ "", 0 };

    counter->starts++;
    counter->plan = *plan;
    (void)snprintf(counter->roots, sizeof(counter->roots), "%.*s", (int)first.length, first.bytes);
    if (counter->start_status != SMP_OK)
        (void)snprintf(message, SMP_COUNTER_MESSAGE_BYTES, "a fake counter refuses");
    return counter->start_status;
}

static void stop(void *self)
{
    ((struct fake_counter *)self)->stops++;
}

/* Includes the call that is still running. */
static int64_t time_of_node(const struct fake_call_node *node)
{
    return node->time_ns + (node->running > 0 ? smp_clock_ns() - node->entered_ns : 0);
}

static void see_node(struct fake_call_node *node)
{
    node->seen_calls = node->calls;
    node->seen_time_ns = time_of_node(node);
    node->ended = 0;
    node->ended_ns = 0;
    node->least_ns = 0;
    node->most_ns = 0;
}

static void tell_node(struct fake_counted_thread *thread, uint32_t ordinal,
                      const struct smp_counter_visitor *visitor)
{
    struct fake_call_node *node = &thread->nodes[ordinal];
    const struct smp_counted_call call = {
        .ordinal = ordinal,
        .parent = node->parent,
        .method = node->method,
        .is_root = node->is_root,
        .calls = node->calls - node->seen_calls,
        .time_ns = time_of_node(node) - node->seen_time_ns,
        .ended = node->ended,
        .ended_ns = node->ended_ns,
        .least_ns = node->least_ns,
        .most_ns = node->most_ns,
    };

    if (!node->is_new && call.calls == 0 && call.time_ns == 0 && call.ended == 0)
        return;
    node->is_new = false;
    see_node(node);
    visitor->counted(visitor->context, &thread->thread, &call);
}

static void read_thread(struct fake_counted_thread *thread,
                        const struct smp_counter_visitor *visitor)
{
    const struct smp_counted_call uncounted = { .ordinal = 1,
                                                .loss = SMP_LOST_OVER_NODES,
                                                .method = SMP_METHOD_UNCOUNTED,
                                                .calls = thread->uncounted };

    for (uint32_t i = 1; i <= thread->count; i++)
        tell_node(thread, i, visitor);
    if (thread->uncounted > 0)
        visitor->counted(visitor->context, &thread->thread, &uncounted);
    thread->uncounted = 0;
    if (thread->has_ended) {
        thread->is_gone = true;
        visitor->ended(visitor->context, thread->thread.tree);
    }
}

static void read_all(void *self, const struct smp_counter_visitor *visitor)
{
    struct fake_counter *counter = self;

    counter->reads++;
    for (size_t i = 0; i < counter->thread_count; i++) {
        if (!counter->threads[i].is_gone)
            read_thread(&counter->threads[i], visitor);
    }
}

static void reset(void *self)
{
    struct fake_counter *counter = self;

    counter->resets++;
    for (size_t i = 0; i < counter->thread_count; i++) {
        for (uint32_t node = 1; node <= counter->threads[i].count; node++)
            see_node(&counter->threads[i].nodes[node]);
        counter->threads[i].uncounted = 0;
    }
}

static void positions(void *self, smp_on_call_place *found, void *context)
{
    struct fake_counter *counter = self;

    counter->position_calls++;
    for (size_t i = 0; i < counter->thread_count; i++) {
        const struct fake_counted_thread *thread = &counter->threads[i];
        const struct smp_call_place place = { .ordinal = thread->position,
                                              .is_in_hook = thread->is_in_hook,
                                              .is_between_stamps = thread->is_between_stamps };
        if (thread->position == 0 || thread->has_ended)
            continue;
        counter->places++;
        if (counter->clock != NULL)
            fake_clock_spend_cpu(counter->clock, counter->place_cost_ns);
        found(context, &thread->thread, &place);
    }
}

static bool name_of(void *self, int64_t method, struct smp_method_info *out)
{
    const struct fake_counter *counter = self;

    if (method >= counter->method_count)
        return false;
    out->class_name = counter->methods[method].class_name;
    out->method_name = counter->methods[method].method_name;
    return true;
}

static bool keeps(void *self, int64_t method)
{
    const struct fake_counter *counter = self;

    return method < counter->method_count && counter->methods[method].is_kept;
}

/* The methods root and waits are instrumented; the calls of waits are not followed. */
static struct smp_sampled_method sampled(void *self, const char *class_name,
                                         const char *method_name, bool is_called)
{
    struct fake_counter *counter = self;
    const size_t length = strlen(counter->sampled);

    (void)snprintf(counter->sampled + length, sizeof(counter->sampled) - length, "%s%s.%s ",
                   is_called ? "+" : "", class_name, method_name);
    const bool is_root = strcmp(method_name, "root") == 0;
    return (struct smp_sampled_method){ .is_root = is_root,
                                        .is_inside = is_root || strcmp(method_name, "waits") == 0,
                                        .is_followed = is_root };
}

static void drop(void *self, const int64_t *methods, size_t count)
{
    struct fake_counter *counter = self;

    for (size_t i = 0; i < count && counter->dropped_count < FAKE_COUNTER_DROPPED; i++)
        counter->dropped[counter->dropped_count++] = methods[i];
}

static void get_figures(void *self, struct smp_counter_figures *out)
{
    *out = ((struct fake_counter *)self)->figures;
}

static void account(void *self, struct smp_counting_account *out)
{
    struct fake_counter *counter = self;

    smp_counting_account_add(out, SMP_COUNTING_INSTRUMENTED, counter->figures.methods);
    smp_counting_account_add(out, SMP_COUNTING_BATCHES,
                             counter->figures.batches - counter->batches_told);
    counter->batches_told = counter->figures.batches;
}

struct fake_counter *fake_counter_create(void)
{
    struct fake_counter *counter = calloc(1, sizeof(*counter));

    assert_non_null(counter);
    counter->figures.call_cost_ns = 10;
    counter->figures.root_cost_ns = 40;
    counter->threads = calloc(FAKE_COUNTER_THREADS, sizeof(*counter->threads));
    assert_non_null(counter->threads);
    return counter;
}

void fake_counter_destroy(struct fake_counter *counter)
{
    for (size_t i = 0; i < counter->thread_count; i++)
        free(counter->threads[i].nodes);
    free(counter->threads);
    free(counter);
}

struct smp_call_counter fake_counter_interface(struct fake_counter *counter)
{
    return (struct smp_call_counter){
        .start = start,
        .stop = stop,
        .read = read_all,
        .reset = reset,
        .positions = positions,
        .name = name_of,
        .keeps = keeps,
        .drop = drop,
        .sampled = sampled,
        .get_figures = get_figures,
        .account = account,
        .self = counter,
    };
}

int fake_counter_thread(struct fake_counter *counter, uint64_t serial, const char *name)
{
    struct fake_counted_thread *thread = &counter->threads[counter->thread_count];

    assert_true(counter->thread_count < FAKE_COUNTER_THREADS);
    thread->nodes = calloc(FAKE_COUNTER_NODES, sizeof(*thread->nodes));
    assert_non_null(thread->nodes);
    thread->thread = (struct smp_counted_thread){ .tree = 1000 + counter->thread_count,
                                                  .serial = serial,
                                                  .name = name };
    return (int)counter->thread_count++;
}

int64_t fake_counter_method(struct fake_counter *counter, const char *class_name,
                            const char *method_name)
{
    assert_true(counter->method_count < FAKE_COUNTER_METHODS);
    counter->methods[counter->method_count].class_name = class_name;
    counter->methods[counter->method_count].method_name = method_name;
    return counter->method_count++;
}

static uint32_t child_of(struct fake_counted_thread *thread, int64_t method, bool is_root)
{
    for (uint32_t i = 1; i <= thread->count; i++) {
        if (thread->nodes[i].parent == thread->position && thread->nodes[i].method == method &&
            thread->nodes[i].is_root == is_root)
            return i;
    }
    assert_true(thread->count + 1 < FAKE_COUNTER_NODES);
    thread->nodes[++thread->count] = (struct fake_call_node){
        .parent = thread->position, .method = method, .is_root = is_root, .is_new = true
    };
    return thread->count;
}

void fake_counter_enter(struct fake_counter *counter, int thread, int64_t method, bool is_root)
{
    struct fake_counted_thread *entered = &counter->threads[thread];
    struct fake_call_node *node;

    assert_true(is_root || entered->position != 0);
    entered->position = child_of(entered, method, is_root);
    node = &entered->nodes[entered->position];
    node->calls++;
    node->running = 1;
    node->entered_ns = smp_clock_ns();
    counter->figures.is_root_entered = true;
}

void fake_counter_exit(struct fake_counter *counter, int thread)
{
    struct fake_counted_thread *left = &counter->threads[thread];
    struct fake_call_node *node = &left->nodes[left->position];
    const int64_t took_ns = smp_clock_ns() - node->entered_ns;

    assert_true(left->position != 0);
    node->running = 0;
    left->position = node->parent;
    node->time_ns += took_ns;
    if (!node->is_root && counter->plan.timing != SMP_METHOD_TIMING_EXACT)
        return;
    node->least_ns = node->ended == 0 || took_ns < node->least_ns ? took_ns : node->least_ns;
    node->most_ns = took_ns > node->most_ns ? took_ns : node->most_ns;
    node->ended++;
    node->ended_ns += took_ns;
}

void fake_counter_call(struct fake_counter *counter, int thread, int64_t method, int64_t times)
{
    struct fake_counted_thread *called = &counter->threads[thread];
    uint32_t node;

    fake_counter_enter(counter, thread, method, false);
    node = called->position;
    fake_counter_exit(counter, thread);
    called->nodes[node].calls += times - 1;
    if (called->nodes[node].ended > 0)
        called->nodes[node].ended += times - 1;
}

void fake_counter_end(struct fake_counter *counter, int thread)
{
    counter->threads[thread].has_ended = true;
}
