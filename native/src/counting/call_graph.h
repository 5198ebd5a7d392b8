/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_graph.h - which methods are counted: the roots, and what can be called from there. One
 * engine for three schemes.
 *
 *   a class is loaded ──► its roots are wanted
 *                    └──► reached targets that now find a method of it, or through it
 *   a method is wanted ──► it gets an id, its class is dirty
 *   a method is expanded ──► the targets that it calls are reached ──► methods that they find
 *
 *   LAZY   expands a method when it is entered for the first time, and what is found by that, up to
 *          look_ahead calls away: with 1 what it calls is wanted, with 2 what that calls too
 *   EAGER  expands a method as soon as it is wanted: the transitive closure of the loaded classes
 *   TOTAL  expands nothing; all methods of classes that pass the filter are wanted, and the roots
 *          say from where on calls are counted (without rules: main(String[]) and each run())
 *
 * What a target finds: in the classes of its name the method, or the one inherited; if the call is
 * dispatched, also that of every loaded subtype: overrides, and methods that a subtype inherits
 * from elsewhere. Which class of a name a loader would find is not known here, so all of that name
 * count. A target whose class is not loaded waits for it. It stays reached while a loaded class
 * has an expanded method that calls it. A method stays wanted as long as its class is loaded.
 *
 * Never wanted: native and abstract methods, classes that never are instrumented (call_filter.h).
 * Not wanted unless they are roots: trivial methods, those that the filter excludes.
 * What is excluded is not expanded either, so what a library calls back is found only where a
 * method of ours names it: a method handle of a lambda does. But some classes only pass calls on,
 * lambdas and each java.lang.reflect.Proxy: those that are excluded are expanded when reached, and
 * are no step away: with look_ahead 2 a method of ours may call another through each of them.
 * What is called by reflection is named by no byte code: called() says it.
 *
 *   dirty classes ──► take_batch ──► (RetransformClasses) ──► load, plan ──► the class is clean
 *                                        └─ failed: put_back, or refuse_class
 *
 * Owns     its index, ids and lists; the plan is borrowed and must outlive it.
 * Threads  one at a time: the caller has a lock.
 * Errors   create, load: SMP_ENOMEM where the limit, the quota or the system refuse memory. A class
 *          that does not fit is not known, nor what was known of it before; it is counted and
 *          named.
 * Cost     load: O(size of the class + its super types and the targets reached on them + what is
 *          newly reached). entered: a bit, the first time O(what is newly reached). Memory:
 *          class_index.h.
 */
#ifndef SMP_COUNTING_CALL_GRAPH_H
#define SMP_COUNTING_CALL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "counting/class_summary.h"
#include "counting/counting_plan.h"
#include "counting/method_ids.h"
#include "model/counting_account.h"

/* What the rewriter does with a method. */
struct smp_method_probe {
    int32_t id; /* -1: no probe */
    bool is_root;
};

struct smp_call_graph_figures {
    uint32_t classes;     /* loaded, as far as known */
    uint32_t methods;     /* that are to have a probe */
    uint32_t waiting;     /* that have none because of the limit */
    uint32_t ids;         /* in use, retired ones with them */
    uint32_t retired;     /* of these; their classes have gone */
    uint32_t roots;       /* of the methods */
    bool is_root_entered; /* has a root been entered? */
    uint64_t batches;
    uint64_t steps; /* classes visited by searches: what it costs, without a clock */
    size_t used_bytes;
};

struct smp_call_graph;

/* max_ids: of the methods that have a probe, which may be as many as the plan says and as there are
 * ids, and of those that had one. SMP_EINVAL: a limit of the plan is out of its range. */
SMP_CHECKED enum smp_status smp_call_graph_create(const struct smp_counting_plan *plan,
                                                  uint32_t max_ids, struct smp_call_graph **out);
void smp_call_graph_destroy(struct smp_call_graph *graph);

/*
 * A class was loaded, or has other bytes now. Methods that it keeps keep their ids. *out is its
 * index, the same as before; it is valid until unload.
 */
SMP_CHECKED enum smp_status smp_call_graph_load(struct smp_call_graph *graph,
                                                const struct smp_class_summary *summary,
                                                uint32_t *out);
/* 0: it is not known. */
uint32_t smp_call_graph_find(const struct smp_call_graph *graph, uint64_t loader,
                             struct smp_slice name);
/* Is the index one of a class now? It may have become another one's. */
bool smp_call_graph_is_loaded(const struct smp_call_graph *graph, uint32_t class_id);
/* Its ids are retired. */
void smp_call_graph_unload(struct smp_call_graph *graph, uint32_t unloaded);
void smp_call_graph_unload_loader(struct smp_call_graph *graph, uint64_t loader);

/*
 * The plan for the bytes that were loaded last: a probe for each of count methods, in the order of
 * the class file. The class is clean now. Returns how many have a probe.
 */
size_t smp_call_graph_plan(struct smp_call_graph *graph, uint32_t planned,
                           struct smp_method_probe *out, size_t count);
/* The JVM has the bytes of the last plan: the probes that are new in it are there since then. */
void smp_call_graph_probed(struct smp_call_graph *graph, uint32_t probed, int64_t since_ms);
/* Classes whose plan has changed since it was made, those waiting longest first; they are clean
 * now. Returns how many, at most max. */
size_t smp_call_graph_take_batch(struct smp_call_graph *graph, uint32_t *out, size_t max);
bool smp_call_graph_has_dirty(const struct smp_call_graph *graph);
bool smp_call_graph_is_dirty(const struct smp_call_graph *graph, uint32_t class_id);
/* It was in a batch that failed: it is to be in a later one. */
void smp_call_graph_put_back(struct smp_call_graph *graph, uint32_t returned);
/* The JVM does not let this class be changed: none of its methods gets a probe any more. why is
 * static. */
void smp_call_graph_refuse_class(struct smp_call_graph *graph, uint32_t refused, const char *why);
bool smp_call_graph_is_refused(const struct smp_call_graph *graph, uint32_t class_id);
/* The method could not get its probe: "too large". LAZY expands it, as its entry will not show.
 * code: of the account. */
void smp_call_graph_leave_alone(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                                enum smp_counting code, const char *why);

/* A probe was run for the first time. Ids that are retired or unknown are ignored. */
void smp_call_graph_entered(struct smp_call_graph *graph, int32_t id);
/* AUTO, once all loaded classes are known: if few pass the filter, what they call from the roots
 * down is wanted, as with EAGER; until done, of which nothing is dirty: then it is LAZY. */
void smp_call_graph_follow_loaded(struct smp_call_graph *graph);
void smp_call_graph_loaded_done(struct smp_call_graph *graph);
/* This method, `name.descriptor`, was called by reflection, of an object of this class or of the
 * class itself: it is wanted, or the one that is inherited. Once is enough: it stays so. */
void smp_call_graph_called(struct smp_call_graph *graph, struct smp_slice class_name,
                           struct smp_slice signature);
/*
 * A sample has a frame of a method of this name, of a class whose name may be simplified
 * (model/class_name.h). is_called: by a method that is followed, and below a root. So it is wanted,
 * whatever has called it.
 */
struct smp_call_graph_sample smp_call_graph_sampled(struct smp_call_graph *graph,
                                                    struct smp_slice class_name,
                                                    struct smp_slice method_name, bool is_called);
/* Is it a root that a rule without stars names? It is never dropped. */
bool smp_call_graph_is_kept(const struct smp_call_graph *graph, int32_t id);
/* Its probe is to be taken out for good. False: it is kept, or has none. */
bool smp_call_graph_drop(struct smp_call_graph *graph, int32_t id, int64_t wall_ms);

/* Methods that are called most have the places that max_methods allows (places.h). The method was
 * called so often since the last judgement. */
void smp_call_graph_note_calls(struct smp_call_graph *graph, int32_t id, uint64_t calls);
/* Once in a while. True: methods have lost their probes, or got them. */
bool smp_call_graph_judge_places(struct smp_call_graph *graph);
/* Frees retired ids that nothing uses any more. */
uint32_t smp_call_graph_recycle(struct smp_call_graph *graph, smp_id_in_use *in_use, void *self);

const struct smp_method_ids *smp_call_graph_ids(const struct smp_call_graph *graph);
void smp_call_graph_figures(const struct smp_call_graph *graph, struct smp_call_graph_figures *out);
/* Why nothing is counted, or not all: adds roots that are not loaded, not found or not entered, and
 * methods and classes that are left out. Figures are complete; a name there is no memory for is
 * missing. */
void smp_call_graph_account(const struct smp_call_graph *graph, struct smp_counting_account *out);

#endif
