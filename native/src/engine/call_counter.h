/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_counter.h - what the engine needs of a JVM in order to count calls: probes in methods, and
 * the trees of calls that they write to. Part of jvm.h.
 *
 *   start ─► threads count, from root methods down ─► read, read, ... ─► stop
 *                      └ positions: where each of them is now, at a tick
 *
 * A tree belongs to a thread, or to virtual threads with the same name. Its nodes have ordinals
 * above 0, with holes; a node's parent is its caller, and a node never changes its method.
 *
 * Owns     all that counting takes is charged to the quota of the plan.
 * Threads  all functions on one sampler thread. Counted threads are not stopped and do not wait.
 * Errors   start as listed. No other function fails; what cannot be counted is in the account.
 * Cost     read: a pass over all nodes. positions: a pass over the threads that were ever inside of
 *          a root and live; some 50 ns for each.
 */
#ifndef SMP_ENGINE_CALL_COUNTER_H
#define SMP_ENGINE_CALL_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "counting/counting_plan.h"
#include "model/counting_account.h"
#include "model/sample.h"

enum { SMP_COUNTER_MESSAGE_BYTES = SMP_PLAN_MESSAGE_BYTES };

/* In place of a method: calls that have no node of their own, because of a limit. */
#define SMP_METHOD_UNCOUNTED INT64_C(-1)

/* Whose tree. Borrowed for the call. */
struct smp_counted_thread {
    uint64_t tree;    /* no other one ever has this number */
    uint64_t serial;  /* smp_thread's; 0: of virtual threads, or of a thread the source never had */
    const char *name; /* of virtual threads: of the group that they share, UTF-8; NULL: none */
};

/* What was counted at one node since the last read. */
struct smp_counted_call {
    uint32_t ordinal;
    uint32_t parent; /* 0: none, the node is an outermost root */
    int64_t method;  /* or SMP_METHOD_UNCOUNTED: then only calls and loss matter, parent is 0 */
    enum smp_call_loss loss; /* why they have no node */
    bool is_root;
    int64_t calls;    /* that began */
    int64_t time_ns;  /* of roots, and with EXACT of all: with what it called, up to now */
    int64_t ended;    /* of calls with a time: those that have ended, */
    int64_t ended_ns; /* their whole time, */
    int64_t least_ns; /* the shortest of these */
    int64_t most_ns;  /* and the longest; 0: not known */
};

struct smp_call_rate; /* counting/adaptive_removal.h */

struct smp_counter_visitor {
    /* Of each node that is new or has changed; a caller comes before what it calls. */
    void (*counted)(void *context, const struct smp_counted_thread *thread,
                    const struct smp_counted_call *call);
    /* All of the tree has been read; its thread has ended and the tree is gone. */
    void (*ended)(void *context, uint64_t tree);
    void *context;
};

/* A thread that is inside of a root. ordinal 0: in no node, because of a limit. */
struct smp_call_place {
    uint32_t ordinal;
    bool is_in_hook;        /* runs a probe, not the method */
    bool is_between_stamps; /* so is this, and exact times of calls contain it */
};

typedef void smp_on_call_place(void *context, const struct smp_counted_thread *thread,
                               const struct smp_call_place *place);

/* From start on. */
struct smp_counter_figures {
    uint64_t batches;      /* times that methods got probes */
    uint32_t methods;      /* with probes now */
    bool is_root_entered;  /* was any root entered? */
    bool has_work;         /* methods wait for their probes */
    uint32_t call_cost_ns; /* about what the probes of one call cost; > 0 */
    uint32_t root_cost_ns; /* likewise, of one call of a root */
    /* The start has made the JVM throw away all that its compilers had made. */
    bool has_discarded_code;
    int64_t own_cpu_ns; /* CPU time of the library's thread, up to now or a little before */
};

/* What is known of a method that samples show; all false: it is none that is counted. */
struct smp_sampled_method {
    bool is_root;
    bool is_inside;   /* by the filter, or because it is a root */
    bool is_followed; /* what it calls is known, and has probes or gets them */
};

struct smp_call_counter {
    /*
     * Puts probes into the root methods that are loaded before it returns; all else follows on a
     * thread of the library. Calls that began before it are not counted. SMP_ESTATE: another
     * sampler counts. SMP_EUNSUPPORTED: not in this JVM. SMP_EINVAL, SMP_ENOMEM, SMP_EVM. Then
     * message says why, and nothing has changed. It holds the plan.
     */
    enum smp_status (*start)(void *self, struct smp_counting_plan *plan,
                             char message[SMP_COUNTER_MESSAGE_BYTES]);
    /* Only after a start that was SMP_OK. Nothing is counted from then on. */
    void (*stop)(void *self);
    void (*read)(void *self, const struct smp_counter_visitor *visitor);
    /* All counts and times begin at zero; threads inside of a root go on being counted. */
    void (*reset)(void *self);
    void (*positions)(void *self, smp_on_call_place *found, void *context);
    /* The method's names and its class's file, until the next call, and since when it is counted;
     * no lines. False: not known. A number belongs to one method from start to stop. It is below
     * 2^62; its lower 32 bits are small, and no other method's at that time: they are used
     * again. */
    bool (*name)(void *self, int64_t method, struct smp_method_info *out);
    /* Is it a root that rootMethods names without a star? */
    bool (*keeps)(void *self, int64_t method);
    /* These methods lose their probes for good, which the account says; those it keeps do not. */
    void (*drop)(void *self, const int64_t *methods, size_t count);
    /* How often methods were called since the last time, once in a while: which of them have probes
     * where there are more than max_methods. NULL: the counter does not ask. */
    void (*judge)(void *self, const struct smp_call_rate *rates, size_t count);
    /* A sample has a frame of this method, its class's name simplified, with dots. is_called: by
     * one below a root whose calls are followed. So it gets a probe, if it is to have one. */
    struct smp_sampled_method (*sampled)(void *self, const char *class_name,
                                         const char *method_name, bool is_called);
    void (*get_figures)(void *self, struct smp_counter_figures *out);
    /* Adds what counting did: of what is summed, since the last call; of the rest, what is so. */
    void (*account)(void *self, struct smp_counting_account *out);
    void *self;
};

#endif
