/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worklist.h - the inside of call_graph.h: what becomes of methods and call targets.
 *
 *   want ──► id, dirty class ──► expand ──► targets reached ──► process ──► want ...
 *                                  └─ of a new object ─► search ─► want ...
 *
 * Instances: rapid type analysis for callbacks. Which classes of ours have instances, and which of
 * their methods others may call:
 *
 *   code that is followed makes a class
 *   one of its methods runs for an instance
 *   a method is called that it inherits from a library outside of the filter
 *     ─► add_instance ─► search: its methods that override one of a class outside of the filter
 *        are wanted
 *
 * The JDK and the libraries call compare, equals, run or accept, and their code is not followed. So
 * each override of a method that is declared outside of the filter may be called once there is an
 * instance. It may be inherited, too. What a class overrides is known once the summaries of its
 * super types have methods (counted_classes.h: meet_super).
 *
 * Nothing here allocates but ids and names of the account: targets that wait to be processed are
 * linked through themselves.
 *
 * Threads  one at a time.
 * Errors   a method for which there is no id is counted.
 * Cost     process: O(classes that the searches of the newly reached targets visit).
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
#include "counting/places.h"
#include "counting/type_search.h"
#include "model/counting_account.h"

/* Of an indexed method. */
enum {
    SMP_MARK_ROOT = 1,
    SMP_MARK_COUNTED = 2, /* as one that gets no id or no probe, so that each counts once */
    SMP_MARK_NAMED = 4,   /* a root that is never dropped */
    SMP_MARK_MAKES = 8,   /* an initialiser: the objects that it makes exist */
    SMP_MARK_UNTRIED = 16 /* it is wanted, has no id, and waits for a place (places.h) */
};

/* How far a rule has come. */
enum smp_rule_state {
    SMP_RULE_NOT_LOADED, /* no class of its name was loaded */
    SMP_RULE_NO_METHOD,  /* a class was, without such a method */
    SMP_RULE_NEVER,      /* it is a class that never is instrumented */
    SMP_RULE_NO_CODE,    /* the method is native or abstract */
    SMP_RULE_FOUND,      /* the method has code */
    SMP_RULE_ENTERED
};

struct smp_call_graph {
    const struct smp_counting_plan *plan; /* borrowed */
    struct smp_memory_budget budget;
    struct smp_class_index index; /* its class 0 begins and ends the list of dirty classes */
    struct smp_method_ids ids;
    struct smp_type_search search;
    struct smp_counting_account *account; /* what is not counted, and why */
    uint32_t first_pending;               /* reached targets that have not been searched for yet */
    uint32_t first_changed; /* classes with instances whose overrides are to be searched for */
    uint8_t found_ahead;    /* of the target, or the class, that is searched for */
    uint32_t urgent;        /* dirty classes that come before the others */
    uint32_t max_methods;   /* with a probe at a time */
    uint32_t methods;       /* with a probe, or to get one */
    uint32_t roots;         /* of these */
    bool is_root_entered;
    bool follows_loaded; /* AUTO, as EAGER: the last of what was loaded has no probes yet */
    uint64_t batches;
    struct smp_places places;
    uint8_t *rule_states; /* by rule: enum smp_rule_state; NULL without rules */
    bool *rule_matches;   /* by rule: does it match the class being loaded? */
};

/* As methods are followed now: AUTO is EAGER for what is loaded at the start. */
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

/* Of a record that is not retired. */
static inline struct smp_indexed_method *
smp_worklist_method_of(const struct smp_call_graph *graph, const struct smp_method_record *record)
{
    return smp_worklist_method(graph, record->in_class, record->number);
}

static inline bool smp_worklist_has_probe(const struct smp_call_graph *graph,
                                          const struct smp_indexed_method *method)
{
    return method->id >= 0 &&
           smp_method_ids_at(&graph->ids, method->id)->state == SMP_METHOD_WANTED;
}

/* The dirty class that waits longest; 0: none. */
static inline uint32_t smp_worklist_first_dirty(const struct smp_call_graph *graph)
{
    return graph->index.classes.count > 0 ? smp_class_index_at(&graph->index, 0)->next_dirty : 0;
}

/* Does the rule stand for this method? */
bool smp_worklist_is_of_rule(const struct smp_call_graph *graph, const struct smp_root_rule *rule,
                             int32_t id);

void smp_worklist_set_dirty(struct smp_call_graph *graph, uint32_t dirty);
/* The same, before those that wait longer. */
void smp_worklist_set_urgent(struct smp_call_graph *graph, uint32_t dirty);
void smp_worklist_set_clean(struct smp_call_graph *graph, uint32_t clean);

/* The method has an id. */
void smp_worklist_set_state(struct smp_call_graph *graph, const struct smp_indexed_method *method,
                            enum smp_method_state state);
/* The method can be called: it gets an id, unless there is a reason why not. */
void smp_worklist_add(struct smp_call_graph *graph, uint32_t in_class, uint32_t method);
/* "too large: com.acme.Order.add"; why may be NULL. */
void smp_worklist_text(const struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                       const char *why, char out[SMP_MAX_COUNTING_NAME_BYTES]);
/* It has no probe any more, nor does it wait for one. code: of the account, which says why before
 * its name. */
void smp_worklist_take_probe(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                             enum smp_counting code, const char *why);

/* What the method calls is reached, as if it had been entered. */
void smp_worklist_expand(struct smp_call_graph *graph, uint32_t in_class, uint32_t method);
/* The same, looking ahead as many calls; nothing happens where that is no more than before. A
 * target keeps the most it got while it is reached. */
void smp_worklist_look_ahead(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                             uint8_t ahead);
/* The class is in use, so its initialisers have run, and constructors maybe, perhaps long ago: the
 * objects that they make exist. What else they call is not reached by that. For a class that has
 * other bytes now. */
void smp_worklist_adopt_initialisers(struct smp_call_graph *graph, uint32_t in_class);
/* It does not call that any more. No target that is pending is reached by it alone. */
void smp_worklist_unexpand(struct smp_call_graph *graph, struct smp_class_body *body);
/* What the reached targets of all its super types find through a class that is new. */
void smp_worklist_visit_class(struct smp_call_graph *graph, uint32_t visited);
/* As smp_call_graph_called says. To be processed. */
void smp_worklist_called(struct smp_call_graph *graph, uint32_t owner, uint32_t signature);
/* As smp_call_graph_sampled says, of one class. To be processed. */
void smp_worklist_sampled(struct smp_call_graph *graph, uint32_t in_class, struct smp_slice name,
                          bool is_called, struct smp_call_graph_sample *out);
/* Searches for all that is pending. */
void smp_worklist_process(struct smp_call_graph *graph);

#endif
