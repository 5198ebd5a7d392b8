/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worklist.h - the internals of call_graph.h: the state of methods and call targets.
 *
 *   add ──► id, pending class ──► visit ──► reachable targets ──► process ──► add ...
 *                                  └─ a new object ─► search ─► add ...
 *
 * Callbacks are found by rapid type analysis: it finds which of the user's classes have instances,
 * and which of their methods other code may call:
 *
 *   followed code makes an object of a class
 *   one of its methods runs on an object
 *   a method is called that it inherits from a library outside of the filter
 *     ─► add_instance ─► search: its methods that override a method from outside of the filter are
 *        reachable
 *
 * The JDK and the libraries call compare, equals, run or accept, but their code is not followed.
 * So once there is an instance, overrides of methods that are declared outside of the filter may
 * be called, own or inherited ones. The overridden methods are known once the summaries of the
 * super types have methods (counted_classes.h: meet_super).
 *
 * If more methods are reachable than may have probes, the methods that are called most have them
 * (exchange.c).
 *
 *   reachable, no place free ──► waits, untried ──trial──► has a probe ──► called less than the
 *                                                              ▲           others: waits, tried
 *                                                              └── called more than one of them ─┘
 *
 * The number of a method's calls is known only once it has had a probe. So some places are used
 * for trials as long as there are untried methods: an exchange takes them from the methods with
 * the fewest calls and gives them to untried methods, and the next exchange compares all of them.
 * Each method has one trial; methods with many callers come first. The exchange after the last
 * trial leaves the methods with the most calls, and is the last one until another method waits.
 *
 *   measure: some judgements with calls ──► exchange ──► its batches are done ──► measure ...
 *
 * Roots keep their places and are tried first: without them nothing below is counted. A method
 * whose class is still pending keeps its place too, because its calls are not known yet.
 *
 * Only ids and names of the account are allocated here: queued targets are linked through
 * themselves.
 *
 * Threads  one at a time.
 * Errors   a method for which there is no id waits for one, and the account lists it. Without
 *          memory no places are exchanged.
 * Cost     process: O(classes that the searches for the new targets visit). An exchange
 *          sorts all methods that have, or had, a probe.
 */
#ifndef SMP_COUNTING_WORKLIST_H
#define SMP_COUNTING_WORKLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"
#include "counting/class_index.h"
#include "counting/counting_plan.h"
#include "counting/method_ids.h"
#include "model/counting_account.h"

/* Flags of an indexed method. */
enum {
    SMP_MARK_ROOT = 1,
    SMP_MARK_COUNTED = 2, /* already in the account as a method without id or probe */
    SMP_MARK_NAMED = 4,   /* a root that a rule names without stars: never dropped */
    SMP_MARK_MAKES = 8,   /* an initialiser that has run: the objects that it makes exist */
    SMP_MARK_UNTRIED = 16 /* without an id, waits for a place (exchange.c) */
};

/* The progress of a rule. */
enum smp_rule_state {
    SMP_RULE_NOT_LOADED, /* no class of its name was loaded */
    SMP_RULE_NO_METHOD,  /* a class was loaded, without such a method */
    SMP_RULE_NEVER,      /* the class is never instrumented */
    SMP_RULE_NO_CODE,    /* the method is native or abstract */
    SMP_RULE_FOUND,      /* the method has code */
    SMP_RULE_ENTERED
};

enum {
    SMP_PLACES_APPLIED = 2,  /* judgements until a batch that was begun has surely ended */
    SMP_PLACES_PATIENCE = 3, /* judgements with calls before an exchange */
    SMP_PLACES_PRECISION = 1000000,
    SMP_PLACES_TRIAL_SHARE = 8, /* one in so many places is for trials */
    SMP_PLACES_TRIALS = 512,    /* most trials at a time */
    SMP_PLACES_MANY_CALLERS = 64,
    SMP_PLACES_SOME_CALLERS = 4
};

enum smp_places_phase { SMP_PLACES_IDLE, SMP_PLACES_APPLYING, SMP_PLACES_MEASURING };

/* Zeroed: nothing waits. */
struct smp_places {
    uint32_t waiting;
    uint32_t untried; /* of these: without an id */
    enum smp_places_phase phase;
    uint32_t judgements; /* in this phase; measuring: those with calls */
    uint64_t root_calls; /* in this measurement */
    bool has_calls;      /* since the last judgement */
    bool has_trial;      /* methods are on trial until the next exchange */
    bool is_stuck;       /* no trial is possible for lack of ids or memory */
    int32_t id_end;      /* the end of the ids when the measurement began */
};

struct smp_call_graph {
    const struct smp_counting_plan *plan; /* borrowed */
    struct smp_memory_budget budget;
    struct smp_class_index index; /* its class 0 is the head of the list of pending classes */
    struct smp_method_ids ids;
    struct smp_counting_account *account; /* methods and classes without probes */
    uint32_t first_queued;  /* reachable targets whose methods are still to be searched for */
    uint32_t first_changed; /* classes with instances whose overrides are to be searched for */
    uint8_t found_ahead;    /* the look-ahead from methods that the running search finds */
    uint32_t urgent;        /* pending classes that come before the others */
    uint32_t max_methods;   /* with a probe at a time */
    uint32_t methods;       /* with a probe, or to get one */
    uint32_t roots;         /* of these */
    bool is_root_entered;
    bool follows_loaded; /* AUTO is EAGER now: not all loaded classes have their probes yet */
    uint64_t batches;
    struct smp_places places;
    uint8_t *rule_states; /* by rule: enum smp_rule_state; NULL without rules */
    bool *rule_matches;   /* by rule: whether it matches the class being loaded */
};

/* Returns the scheme now: AUTO is EAGER for classes that are loaded at the start. */
static inline enum smp_instrumentation smp_worklist_scheme(const struct smp_call_graph *graph)
{
    if (graph->plan->instrumentation != SMP_INSTRUMENTATION_AUTO)
        return graph->plan->instrumentation;
    return graph->follows_loaded ? SMP_INSTRUMENTATION_EAGER : SMP_INSTRUMENTATION_LAZY;
}

static inline struct smp_indexed_method *smp_worklist_method(const struct smp_call_graph *graph,
                                                             uint32_t in_class, uint32_t method)
{
    return &smp_class_index_at(&graph->index, in_class)->body.methods[method];
}

/* Returns the method of a record that is not retired. */
static inline struct smp_indexed_method *
smp_worklist_method_of(const struct smp_call_graph *graph, const struct smp_method_record *record)
{
    return smp_worklist_method(graph, record->in_class, record->number);
}

static inline bool smp_worklist_has_probe(const struct smp_call_graph *graph,
                                          const struct smp_indexed_method *method)
{
    return method->id >= 0 &&
           smp_method_ids_at(&graph->ids, method->id)->state == SMP_METHOD_INSTRUMENTED;
}

/* Returns the pending class that waits longest; 0: none. */
static inline uint32_t smp_worklist_first_pending(const struct smp_call_graph *graph)
{
    return graph->index.classes.count > 0 ? smp_class_index_at(&graph->index, 0)->next_pending : 0;
}

/* Returns whether the rule matches this method. */
bool smp_worklist_is_of_rule(const struct smp_call_graph *graph, const struct smp_root_rule *rule,
                             int32_t id);

void smp_worklist_add_pending(struct smp_call_graph *graph, uint32_t pending);
/* As smp_worklist_add_pending, at the head of the list. */
void smp_worklist_add_urgent(struct smp_call_graph *graph, uint32_t pending);
void smp_worklist_remove_pending(struct smp_call_graph *graph, uint32_t removed);

/* Sets the state of a method that has an id. */
void smp_worklist_set_state(struct smp_call_graph *graph, const struct smp_indexed_method *method,
                            enum smp_method_state state);
/* Gives a method that can be called an id, unless there is a reason not to. */
void smp_worklist_add(struct smp_call_graph *graph, uint32_t in_class, uint32_t method);
/* Writes "too large: com.acme.Order.add"; why may be NULL. */
void smp_worklist_text(const struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                       const char *why, char out[SMP_MAX_COUNTING_NAME_BYTES]);
/* Removes the method's probe, or ends its wait for one. code, why: for the account. */
void smp_worklist_take_probe(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                             enum smp_counting code, const char *why);

bool smp_places_is_free(const struct smp_call_graph *graph);
/* Returns whether the method waits for a place. */
bool smp_places_waits(const struct smp_call_graph *graph, const struct smp_indexed_method *method);
/* Begin and end the wait of a method without an id for a place. Repeated calls do no harm. */
void smp_places_wait(struct smp_call_graph *graph, struct smp_indexed_method *method);
void smp_places_end_trial(struct smp_call_graph *graph, struct smp_indexed_method *method);

/* Makes the targets that the method calls reachable, as if it had been entered. */
void smp_worklist_visit(struct smp_call_graph *graph, uint32_t in_class, uint32_t method);
/* As smp_worklist_visit, with another look-ahead; does nothing if it is not larger than before. A
 * target keeps its largest look-ahead while it is reachable. */
void smp_worklist_look_ahead(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                             uint8_t ahead);
/* For a class that has other bytes now. A class in use has run its initialiser, and maybe its
 * constructors, so the objects that they make exist. Their other calls do not become reachable. */
void smp_worklist_adopt_initialisers(struct smp_call_graph *graph, uint32_t in_class);
/* Makes the methods of the body unvisited, and releases their targets. No queued target may be
 * reachable through this body alone. */
void smp_worklist_release(struct smp_call_graph *graph, struct smp_class_body *body);
/* Searches a new class for the reachable targets of all its super types. */
void smp_worklist_visit_class(struct smp_call_graph *graph, uint32_t visited);
/* As smp_call_graph_called; the caller calls process afterwards. */
void smp_worklist_called(struct smp_call_graph *graph, uint32_t owner, uint32_t signature);
/* As smp_call_graph_sampled, for one class; the caller calls process afterwards. */
void smp_worklist_sampled(struct smp_call_graph *graph, uint32_t in_class, struct smp_slice name,
                          bool is_called, struct smp_sampled_method *out);
/* Searches for the methods of all queued targets, until the queue is empty. */
void smp_worklist_process(struct smp_call_graph *graph);

#endif
