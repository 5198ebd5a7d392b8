/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_counter.h - what the engine needs of a JVM to count calls: probes in methods, and the trees
 * of calls that they fill. Part of jvm.h.
 *
 *   start ─► threads count, from root methods down ─► read, read, ... ─► stop
 *                      └ positions: where each of them is now, at a tick
 *
 * A tree belongs to a thread, or to virtual threads with the same name. Its nodes have ordinals
 * above 0, with holes; a node's parent is its caller, and a node never changes its method.
 *
 * Owns     all memory of counting, charged to the quota of the plan.
 * Threads  all functions on one sampler thread. Counted threads are not stopped and do not wait.
 * Errors   start as listed. No other function fails; the account has the calls that were lost.
 * Cost     read: a pass over all nodes. positions: a pass over the live threads that were ever
 *          inside of a root; some 50 ns for each.
 */
#ifndef SMP_ENGINE_CALL_COUNTER_H
#define SMP_ENGINE_CALL_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "counting/call_reader.h"
#include "counting/counting_plan.h"
#include "model/counting_account.h"
#include "model/sample.h"

enum { SMP_COUNTER_MESSAGE_BYTES = SMP_PLAN_MESSAGE_BYTES };

/* The thread, or virtual threads, that a tree belongs to. Valid during the call. */
struct smp_counted_thread {
    uint64_t tree;    /* never reused */
    uint64_t serial;  /* of smp_thread; 0: virtual threads, or a thread that the engine never saw */
    const char *name; /* the common name of virtual threads, UTF-8; NULL: none */
};

struct smp_call_rate; /* counting/adaptive_removal.h */

struct smp_counter_visitor {
    /* Called for each node that is new or has changed; callers come before callees. */
    void (*counted)(void *context, const struct smp_counted_thread *thread,
                    const struct smp_counted_call *call);
    /* The thread of the tree has ended: the tree has been read completely and is freed. */
    void (*ended)(void *context, uint64_t tree);
    void *context;
};

/* A thread inside a root. ordinal 0: it has no node because of a limit. */
struct smp_call_place {
    uint32_t ordinal;
    bool is_in_hook;        /* it runs a probe, not the method */
    bool is_between_stamps; /* it runs a part of a probe that is included in exact call times */
};

typedef void smp_on_call_place(void *context, const struct smp_counted_thread *thread,
                               const struct smp_call_place *place);

/* Since start. */
struct smp_counter_figures {
    uint64_t batches;      /* of methods that got probes */
    uint32_t methods;      /* with probes now */
    bool is_root_entered;  /* whether any root was entered */
    bool has_work;         /* methods are waiting for their probes */
    uint32_t call_cost_ns; /* approximate cost of the probes of one call; above 0 */
    uint32_t root_cost_ns; /* the same for one call of a root */
    /* The start has made the JVM discard all its compiled code. */
    bool has_discarded_code;
    int64_t own_cpu_ns; /* CPU time of the library's thread, up to its last round */
};

struct smp_call_counter {
    /*
     * Adds probes to the loaded root methods before it returns; a thread of the library adds all
     * others. Calls that began before are not counted. Holds the plan. SMP_ESTATE: another sampler
     * counts. SMP_EUNSUPPORTED: not in this JVM. SMP_EINVAL, SMP_ENOMEM, SMP_EVM. On failure
     * message has the reason, and nothing has changed.
     */
    enum smp_status (*start)(void *self, struct smp_counting_plan *plan,
                             char message[SMP_COUNTER_MESSAGE_BYTES]);
    /* Only after a start that returned SMP_OK. Ends counting. */
    void (*stop)(void *self);
    void (*read)(void *self, const struct smp_counter_visitor *visitor);
    /* Sets all counts and times to zero. Threads inside a root continue to be counted. */
    void (*reset)(void *self);
    void (*positions)(void *self, smp_on_call_place *found, void *context);
    /* Writes the names of the method, the source file of its class, valid until the next call, and
     * since when it is counted; no lines. Returns false if the number is not known. A number
     * belongs to one method from start to stop. It is below 2^62. Its lower 32 bits are small and
     * unique at any time, but later methods may reuse them. */
    bool (*name)(void *self, int64_t method, struct smp_method_info *out);
    /* Returns whether rootMethods names this method as a root without a wildcard. */
    bool (*keeps)(void *self, int64_t method);
    /* Removes the probes of these methods permanently, except of those for which keeps is true.
     * They are in the account. */
    void (*drop)(void *self, const int64_t *methods, size_t count);
    /* Called from time to time with the calls since the last time. If more than max_methods are
     * reachable, this decides which of them have probes. May be NULL. */
    void (*judge)(void *self, const struct smp_call_rate *rates, size_t count);
    /* A sample has a frame of this method; the class name is simplified and has dots. is_called: a
     * followed method below a root has called the method, so it is reachable. */
    struct smp_sampled_method (*sampled)(void *self, const char *class_name,
                                         const char *method_name, bool is_called);
    void (*get_figures)(void *self, struct smp_counter_figures *out);
    /* Adds the figures of counting: sums since the last call, and the current state. */
    void (*account)(void *self, struct smp_counting_account *out);
    void *self;
};

#endif
