/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_counter.h - a counter of calls whose threads do what the test says.
 *
 *   struct fake_counter *counter = fake_counter_create();
 *   int main_thread = fake_counter_thread(counter, serial, "main");
 *   int handle = fake_counter_method(counter, "app.Shop", "handle");
 *   fake_counter_enter(counter, main_thread, handle, true);      a root
 *   ...
 *   fake_counter_exit(counter, main_thread);
 *
 * Times are those of base/clock.h.
 *
 * Owns     its threads, nodes and names, from malloc.
 * Threads  the test's own.
 * Errors   fail the test.
 * Cost     small inputs.
 */
#ifndef SMP_SUPPORT_FAKE_COUNTER_H
#define SMP_SUPPORT_FAKE_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/call_counter.h"
#include "support/fake_clock.h"

enum {
    FAKE_COUNTER_THREADS = 3000,
    FAKE_COUNTER_NODES = 400,
    FAKE_COUNTER_METHODS = 64,
    FAKE_COUNTER_SAMPLED_BYTES = 1024,
    FAKE_COUNTER_DROPPED = 64
};

struct fake_call_node {
    uint32_t parent;
    int64_t method;
    bool is_root;
    bool is_new;
    int64_t calls;
    int64_t time_ns; /* of calls that have ended */
    int64_t entered_ns;
    int64_t running; /* of calls that are still running */
    int64_t ended;
    int64_t ended_ns;
    int64_t least_ns;
    int64_t most_ns;
    int64_t seen_calls;
    int64_t seen_time_ns;
};

struct fake_counted_thread {
    struct smp_counted_thread thread;
    struct fake_call_node *nodes; /* indexed by ordinal, from 1 */
    uint32_t count;
    uint32_t position; /* 0: the thread is outside of all roots */
    bool is_in_hook;
    bool is_between_stamps;
    bool has_ended;
    bool is_gone;
    int64_t uncounted;
};

/* Tests may read and write the fields. */
struct fake_counter {
    enum smp_status start_status;
    struct smp_counter_figures figures;
    struct smp_counting_plan plan; /* of the last start; its texts are not kept */
    char roots[100];
    size_t starts;
    size_t stops;
    size_t reads;
    size_t resets;
    size_t position_calls;
    /* NULL, or the clock that counts CPU time for looking up positions: */
    struct fake_clock *clock;
    int64_t place_cost_ns; /* the CPU time for each position */
    size_t places;         /* positions found so far */
    int64_t dropped[FAKE_COUNTER_DROPPED];
    size_t dropped_count;
    uint64_t batches_told;
    /* methods that samples have shown; + marks those that are called */
    char sampled[FAKE_COUNTER_SAMPLED_BYTES];
    struct {
        const char *class_name;
        const char *method_name;
        bool is_kept;
    } methods[FAKE_COUNTER_METHODS];
    int32_t method_count;
    struct fake_counted_thread *threads;
    size_t thread_count;
};

struct fake_counter *fake_counter_create(void);
void fake_counter_destroy(struct fake_counter *counter);
struct smp_call_counter fake_counter_interface(struct fake_counter *counter);

int fake_counter_thread(struct fake_counter *counter, uint64_t serial, const char *name);
int64_t fake_counter_method(struct fake_counter *counter, const char *class_name,
                            const char *method_name);
void fake_counter_enter(struct fake_counter *counter, int thread, int64_t method, bool is_root);
void fake_counter_exit(struct fake_counter *counter, int thread);
/* The call begins and ends, this many times. */
void fake_counter_call(struct fake_counter *counter, int thread, int64_t method, int64_t times);
/* Ends the thread; the next read reports it. */
void fake_counter_end(struct fake_counter *counter, int thread);

#endif
