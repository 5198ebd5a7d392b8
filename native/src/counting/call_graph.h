/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_graph.h - chooses the methods that are counted: the roots, and the methods that are
 * reachable from there. All schemes share it.
 *
 *   a class is loaded ──► its roots are reachable
 *                    └──► reachable call targets find its methods
 *   a method is reachable ──► it gets an id, and its class is pending (for retransformation)
 *   a method is visited ──► the targets it calls are reachable, and so are the methods they find
 *
 *   LAZY   visits a method when it is entered for the first time, and looks ahead from there up to
 *          look_ahead calls: with 1 its callees are reachable, with 2 also theirs
 *   EAGER  visits a method as soon as it is reachable: the transitive closure of the loaded classes
 *   TOTAL  visits nothing. All methods of classes that pass the filter are reachable, and the roots
 *          say from where on calls are counted (without rules: main(String[]) and each run())
 *   AUTO   EAGER for the classes loaded at the start if few of them pass the filter, then LAZY
 *
 * A target finds a method, own or inherited, in the classes of its name. If the call is
 * dispatched, it also finds the overrides in all loaded subtypes, and methods that subtypes
 * inherit from elsewhere. All classes of a name count, because it is not known here which one a
 * loader would find. A target whose class is not loaded waits for it. A target stays reachable
 * while a loaded class has a visited method that calls it. A method stays reachable as long as its
 * class is loaded.
 *
 * Native and abstract methods are never instrumented, nor are classes whose methods the probes
 * themselves call (call_filter.h). Trivial methods and excluded ones are instrumented only as
 * roots. An excluded method is not visited either. Methods that a library calls back are found if
 * visited code makes an object of their class or a method handle (worklist.h). Proxies and lambdas
 * only pass calls on: excluded ones are visited as soon as they are reachable, and do not count as
 * a step. With look_ahead 2 a user's method may call another one through them. Byte code does not
 * name reflective calls; called() reports them.
 *
 *   pending classes ──► take_batch ──► (RetransformClasses) ──► load, plan ──► no longer pending
 *                                          └─ failed: put_back, or refuse_class
 *
 * Owns     its index, ids and lists; borrows the plan, which must outlive it.
 * Threads  one at a time: the caller holds a lock.
 * Errors   create, load: SMP_ENOMEM where the limit, the quota or the system refuse memory. A
 *          class that does not fit is forgotten; the account lists it.
 * Cost     load: O(size of the class + its super types and their reachable targets + the methods
 *          that become reachable). entered: a bit; the first time O(methods that become reachable).
 *          Memory: class_index.h.
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

enum {
    SMP_GRAPH_IDS = 2, /* ids for each probe: a method that lost its probe keeps its id */
    SMP_GRAPH_LEAST_IDS = 1 << 16 /* the lowest number of ids */
};

/* The probe that a method gets. */
struct smp_method_probe {
    int32_t id; /* -1: no probe */
    bool is_root;
};

struct smp_call_graph_figures {
    uint32_t classes;     /* loaded and known */
    uint32_t methods;     /* that have a probe or get one */
    uint32_t waiting;     /* methods without a probe because of the limit */
    uint32_t ids;         /* in use, with the retired ones */
    uint32_t retired;     /* ids of unloaded classes */
    uint32_t roots;       /* of the methods */
    bool is_root_entered; /* a root has been entered */
    uint64_t batches;
    uint64_t steps; /* classes visited by searches: a measure of the cost without a clock */
    size_t used_bytes;
};

struct smp_call_graph;

/* max_ids: for methods that have a probe or had one. At most as many methods have a probe as the
 * plan allows and as there are ids. SMP_EINVAL: a limit of the plan is out of its range. */
SMP_CHECKED enum smp_status smp_call_graph_create(const struct smp_counting_plan *plan,
                                                  uint32_t max_ids, struct smp_call_graph **out);
void smp_call_graph_destroy(struct smp_call_graph *graph);

/* A class was loaded, or has other bytes now. Methods that it still has keep their ids. *out is its
 * index, valid until unload; new bytes do not change it. */
SMP_CHECKED enum smp_status smp_call_graph_load(struct smp_call_graph *graph,
                                                const struct smp_class_summary *summary,
                                                uint32_t *out);
/* Returns 0 if the class is not known. */
uint32_t smp_call_graph_find(const struct smp_call_graph *graph, uint64_t loader,
                             struct smp_slice name);
/* Returns whether a class has this index now, which may be another class than before. */
bool smp_call_graph_is_loaded(const struct smp_call_graph *graph, uint32_t class_id);
/* Retires the ids of its methods. */
void smp_call_graph_unload(struct smp_call_graph *graph, uint32_t unloaded);
void smp_call_graph_unload_loader(struct smp_call_graph *graph, uint64_t loader);

/* Writes the plan for the bytes that were loaded last: a probe for each of count methods, in the
 * order of the class file. The class is no longer pending. Returns how many have a probe. */
size_t smp_call_graph_plan(struct smp_call_graph *graph, uint32_t planned,
                           struct smp_method_probe *out, size_t count);
/* Dates the new probes of the last plan: the JVM uses its bytes since since_ms. */
void smp_call_graph_probed(struct smp_call_graph *graph, uint32_t probed, int64_t since_ms);
/* Takes at most max pending classes, whose plan has changed since they got their bytes; those that
 * wait longest come first. They are no longer pending. Returns how many. */
size_t smp_call_graph_take_batch(struct smp_call_graph *graph, uint32_t *out, size_t max);
bool smp_call_graph_has_pending(const struct smp_call_graph *graph);
bool smp_call_graph_is_pending(const struct smp_call_graph *graph, uint32_t class_id);
/* Makes the class pending, for example because its batch failed. */
void smp_call_graph_put_back(struct smp_call_graph *graph, uint32_t returned);
/* Notes that the JVM does not allow this class to be changed: it gets no probes. why: static
 * storage. */
void smp_call_graph_refuse_class(struct smp_call_graph *graph, uint32_t refused, const char *why);
bool smp_call_graph_is_refused(const struct smp_call_graph *graph, uint32_t class_id);
/* Notes that the method could not get its probe (why: "too large"). LAZY visits it now, because no
 * probe will report its entry. code: of the account. */
void smp_call_graph_leave_alone(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                                enum smp_counting code, const char *why);

/* Notes the first run of the method's probe. Ignores retired and unknown ids. */
void smp_call_graph_entered(struct smp_call_graph *graph, int32_t id);
/* For AUTO. follow_loaded is called once all loaded classes are known: if few of them pass the
 * filter, the graph becomes EAGER. loaded_done makes it LAZY once no class is pending. */
void smp_call_graph_follow_loaded(struct smp_call_graph *graph);
void smp_call_graph_loaded_done(struct smp_call_graph *graph);
/* Makes a method reachable, own or inherited, that was called by reflection on an object of this
 * class or on the class itself. signature: `name.descriptor`. */
void smp_call_graph_called(struct smp_call_graph *graph, struct smp_slice class_name,
                           struct smp_slice signature);
/* Reports a sampled frame of a method of this name. The class name may be simplified
 * (model/class_name.h). is_called: the frame is below a root and was called from a followed
 * method, so the method is reachable, whatever kind of call it was. */
struct smp_sampled_method smp_call_graph_sampled(struct smp_call_graph *graph,
                                                 struct smp_slice class_name,
                                                 struct smp_slice method_name, bool is_called);
/* Returns whether it is a root that a rule without stars names, which is never dropped. */
bool smp_call_graph_is_kept(const struct smp_call_graph *graph, int32_t id);
/* Removes its probe for good. Returns false if it has none, or must keep it. */
bool smp_call_graph_drop(struct smp_call_graph *graph, int32_t id, int64_t wall_ms);

/* Notes the method's calls since the last judgement, for the limit of methods. */
void smp_call_graph_note_calls(struct smp_call_graph *graph, int32_t id, uint64_t calls);
/* To be called regularly. Returns whether methods have lost or got their probes. */
bool smp_call_graph_judge_places(struct smp_call_graph *graph);
/* Frees retired ids that nothing uses any more. */
uint32_t smp_call_graph_recycle(struct smp_call_graph *graph, smp_id_in_use *in_use, void *self);

const struct smp_method_ids *smp_call_graph_ids(const struct smp_call_graph *graph);
void smp_call_graph_figures(const struct smp_call_graph *graph, struct smp_call_graph_figures *out);
/* Adds why calls are not counted: roots that are not loaded, not found or not entered, and methods
 * and classes without probes. Figures are complete; names may be missing for lack of memory. */
void smp_call_graph_account(const struct smp_call_graph *graph, struct smp_counting_account *out);

#endif
