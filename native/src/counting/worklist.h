/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worklist.h - the inside of call_graph.h: what becomes of methods and call targets.
 *
 *   want ──► id, dirty class ──► expand ──► targets reached ──► drain ──► want ...
 *                                  └─ of a new object ─► search ─► want ...
 *
 * Instances: rapid type analysis for callbacks. Which classes of ours have instances, and which of
 * their methods others may call:
 *
 *   code that is followed makes a class
 *   one of its methods runs for an instance
 *   a method is called that it inherits from a library outside of the filter
 *     ─► add ─► search: its methods that override one of a class outside of the filter are wanted
 *
 * The JDK and the libraries call compare, equals, run or accept, and their code is not followed. So
 * each override of a method that is declared outside of the filter may be called once there is an
 * instance. It may be inherited, too. What a class overrides is known once the summaries of its
 * super types have methods (counted_classes.h: meet_super).
 *
 * Nothing here allocates but ids: targets that wait to be drained are linked through themselves.
 *
 * Threads  one at a time.
 * Errors   a method for which there is no id is counted.
 * Cost     drain: O(classes that the searches of the newly reached targets visit).
 */
#ifndef SMP_COUNTING_WORKLIST_H
#define SMP_COUNTING_WORKLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"
#include "counting/class_index.h"
#include "counting/counting_plan.h"
#include "counting/losses.h"
#include "counting/method_ids.h"
#include "counting/places.h"
#include "counting/type_search.h"

/* Of an indexed method. */
enum {
    SMP_MARK_ROOT = 1,
    SMP_MARK_COUNTED = 2,    /* as one that gets no id or no probe, so that each counts once */
    SMP_MARK_LEFT_ALONE = 4, /* has an id and no probe */
    SMP_MARK_DROPPED = 8,    /* likewise */
    SMP_MARK_NAMED = 16,     /* a root that is never dropped */
    SMP_MARK_MAKES = 32,     /* an initialiser: the objects that it makes exist */
    SMP_MARK_WAITING = 64    /* it is wanted and has no place (places.h) */
};

enum smp_root_kind {
    SMP_ROOT_NONE,
    SMP_ROOT_MATCHED, /* one of all that a rule with stars stands for, or of TOTAL's usual ones */
    SMP_ROOT_NAMED    /* by a rule without stars, whatever other rules say */
};

struct smp_call_graph {
    const struct smp_counting_plan *plan; /* borrowed */
    struct smp_memory_budget budget;
    struct smp_class_index index;
    struct smp_method_ids ids;
    struct smp_type_search search;
    uint32_t first_pending; /* reached targets that have not been searched for yet */
    uint32_t first_changed; /* classes with instances whose overrides are to be searched for */
    uint8_t found_ahead;    /* of the target, or the class, that is searched for */
    uint32_t first_dirty;   /* classes, those waiting longest first */
    uint32_t last_dirty;
    uint32_t urgent;      /* of these */
    uint32_t max_methods; /* with a probe at a time */
    uint32_t methods;     /* with a probe, or to get one */
    uint32_t roots;       /* of these */
    bool is_root_entered;
    bool follows_loaded; /* AUTO, as EAGER: the last of what was loaded has no probes yet */
    uint64_t batches;
    struct smp_losses losses[SMP_CALL_GRAPH_LOSS_COUNT];
    struct smp_places places;
    size_t rule_count;
    uint8_t *rule_states; /* enum smp_rule_state; NULL without rules */
    bool *rule_matches;   /* the class that is being loaded; NULL without rules */
};

/* As methods are followed now: AUTO is EAGER for what is loaded at the start. */
static inline enum smp_instrumentation smp_worklist_scheme(const struct smp_call_graph *graph)
{
    if (graph->plan->instrumentation != SMP_INSTRUMENTATION_AUTO)
        return graph->plan->instrumentation;
    return graph->follows_loaded ? SMP_INSTRUMENTATION_EAGER : SMP_INSTRUMENTATION_LAZY;
}

static inline struct smp_indexed_method *smp_worklist_method(struct smp_call_graph *graph,
                                                             uint32_t in_class, uint32_t method)
{
    return &smp_class_index_at(&graph->index, in_class)->body.methods[method];
}

static inline bool smp_worklist_has_probe(const struct smp_indexed_method *method)
{
    return method->id >= 0 &&
           (method->flags & (SMP_MARK_LEFT_ALONE | SMP_MARK_DROPPED | SMP_MARK_WAITING)) == 0;
}

void smp_worklist_set_dirty(struct smp_call_graph *graph, uint32_t dirty);
/* The same, before those that wait longer. */
void smp_worklist_set_urgent(struct smp_call_graph *graph, uint32_t dirty);
void smp_worklist_set_clean(struct smp_call_graph *graph, uint32_t clean);

/* How far a rule has come: never back by this. */
void smp_worklist_advance_rule(struct smp_call_graph *graph, size_t rule,
                               enum smp_rule_state state);
/* Of all rules that stand for this method. */
void smp_worklist_advance_rules_of(struct smp_call_graph *graph, int32_t id,
                                   enum smp_rule_state state);
/* Before its method is wanted, and for one that has kept its id. */
void smp_worklist_set_root(struct smp_call_graph *graph, struct smp_indexed_method *method,
                           enum smp_root_kind kind);
/* The method can be called: it gets an id, unless there is a reason why not. */
void smp_worklist_add(struct smp_call_graph *graph, uint32_t in_class, uint32_t method);
/* "com.acme.Order.add" */
void smp_worklist_text(const struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                       char out[SMP_LOSS_TEXT_BYTES]);
/* It has no place and no probe, and is not to wait for one: why says more. */
void smp_worklist_refuse_waiting(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                                 const char *why);
/* It has no probe any more. why: NULL, or what the losses say before its name. */
void smp_worklist_take_probe(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                             enum smp_call_graph_loss loss, const char *why, int64_t wall_ms);

/* What the method calls is reached, as if it had been entered. */
void smp_worklist_expand(struct smp_call_graph *graph, uint32_t in_class, uint32_t method);
/* The same, looking ahead as many calls; nothing happens where that is no more than before. A
 * target keeps the most it got while it is reached. */
void smp_worklist_look_ahead(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                             uint8_t ahead);
/* The class is in use, so its initialisers have run, and constructors maybe, perhaps long ago: the
 * objects that they make exist. What else they call is not reached by that. */
void smp_worklist_initialise(struct smp_call_graph *graph, uint32_t in_class);
/* Is it a constructor, or a static initialiser? */
bool smp_worklist_is_initialiser(const struct smp_call_graph *graph,
                                 const struct smp_indexed_method *method);
bool smp_worklist_is_jdk_class(const struct smp_call_graph *graph,
                               const struct smp_indexed_class *it);
/* As smp_worklist_initialise, of a class that has other bytes now. */
void smp_worklist_adopt_initialisers(struct smp_call_graph *graph, uint32_t in_class);
/* It does not call that any more. No target that is pending is reached by it alone. */
void smp_worklist_unexpand(struct smp_call_graph *graph, struct smp_class_body *body);
/* What the reached targets of all its super types find through a class that is new. */
void smp_worklist_visit_class(struct smp_call_graph *graph, uint32_t visited);
/* What this method of this class is, or the one that it inherits, is wanted. To be drained. */
void smp_worklist_find(struct smp_call_graph *graph, uint32_t owner, uint32_t signature);
/* All methods of this name that the class declares are wanted. To be drained. */
void smp_worklist_add_named(struct smp_call_graph *graph, uint32_t in_class, struct smp_slice name);
/* As smp_call_graph_sampled says, of one class. To be drained. */
void smp_worklist_sampled(struct smp_call_graph *graph, uint32_t in_class, struct smp_slice name,
                          bool is_called, struct smp_call_graph_sample *out);
/* What a search finds is wanted (smp_method_found). */
void smp_worklist_found(void *self, uint32_t in_class, uint32_t method);
/* Searches for all that is pending. */
void smp_worklist_process(struct smp_call_graph *graph);

/* ahead: how many calls are looked ahead from its overrides. To be drained. */
void smp_instances_add(struct smp_call_graph *graph, uint32_t made, uint8_t ahead);
/* Of all loaded classes of a name. */
void smp_instances_add_named(struct smp_call_graph *graph, uint32_t name, uint8_t ahead);
/* This method is called. If its class is a library's, outside of the filter, each subtype that is
 * inside may be the one it is called for, and be called back by it. Classes of the JDK have too
 * many subtypes for that. To be drained. */
void smp_instances_leave(struct smp_call_graph *graph, uint32_t in_class, uint32_t method);
/* Its super types, which the search has just found, are others now. */
void smp_instances_visit(struct smp_call_graph *graph, uint32_t visited);
/* What waits longest is searched for. Only if graph->first_changed is not 0. */
void smp_instances_search(struct smp_call_graph *graph);

#endif
