/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted_classes.h - the classes of this JVM as call_graph.h sees them: what is known of each,
 * which bytes it gets.
 *
 *   the load hook's bytes ─► summary ─► call graph: load, plan ─► rewriter ─► bytes with probes
 *   a class that is there already, or is prepared ─► summary by JVMTI ─► call graph: load
 *     one that is counted ─► the same of its super types, with methods: what it overrides
 *
 *   a root is found ─► java.lang.reflect.Method, Constructor: hand out what they call (TOTAL: no)
 *
 * A mark for each class says whether its bytes have probes, and whether a change of it waits until
 * it is prepared.
 *
 * Ids that probes push are the call graph's and a base: the base rises where classes may still have
 * probes of an earlier counting, so that these never mean a method of this one. Ids of unloaded
 * classes come back once no tree has them (begin_renewal); the number of an id and of how often it
 * was used before belongs to one method.
 *
 * Owns     the call graph, the marks; holds the plan.
 * Threads  open, close: one at a time, with no other thread inside. The others: any attached one;
 *          one lock, never held across a call to the JVM.
 * Errors   a class for which there is no memory is not counted, and that is; it is never harmed.
 * Cost     load: parsing and summary of the class, some microseconds for each KB of it; one
 *          that no probe goes to is read no further than its super types.
 */
#ifndef SMP_JVM_CALLS_COUNTED_CLASSES_H
#define SMP_JVM_CALLS_COUNTED_CLASSES_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/status.h"
#include "classfile/class_bytes.h"
#include "counting/call_graph.h"
#include "jvm/calls/leftover_methods.h"
#include "jvm/calls/loaded_classes.h"
#include "model/counting_account.h"

enum {
    SMP_COUNTED_PROBED = 1,   /* its bytes have probes, or had when they were made last */
    SMP_COUNTED_WAITING = 2,  /* it was not found, or not prepared, when it was to be changed */
    SMP_COUNTED_KEPT = 4,     /* the JVM does not give its bytes back */
    SMP_COUNTED_LEFTOVER = 8, /* may have probes that are not in its plan, until it is changed */
    SMP_COUNTED_SUPER = 16,   /* its methods are known, and those of all its super types */
    SMP_COUNTED_RETRIED = 32, /* its last change was refused, maybe for outdated bytes */
    SMP_LEFTOVERS_LIMIT = 4096
};

/* What is known of a class beside the call graph. */
struct smp_class_mark {
    uint32_t name_hash;
    uint32_t foreign_hash; /* of the bytes that another agent's change had; 0: ours had them, too */
    uint16_t place;        /* in the batch that it was in last */
    uint8_t flags;
};

/* What is known of an id beside the call graph. */
struct smp_id_use {
    uint32_t count; /* how often it has come back, so that its number is one method's */
    bool is_pushed; /* a probe has been made with it; with the lock held */
    bool is_due;    /* the reader's: it comes back unless a tree still has it */
};

enum {
    SMP_RENEWAL_IDS = 1024, /* so many ids of unloaded classes have to wait, */
    SMP_RENEWAL_SHARE = 8,  /* or that part of the limit of methods; */
    SMP_RENEWAL_READS = 64  /* after so many reads those that trees still had count, too */
};

/* Classes that are not counted. */
struct smp_counted_losses {
    _Atomic uint64_t malformed;
    _Atomic uint64_t no_memory;
};

/* Visible so that it can be static. */
struct smp_counted_classes {
    struct smp_lock lock;           /* guards the call graph, marks, leftovers; not losses */
    struct smp_call_graph *graph;   /* NULL: not open */
    struct smp_counting_plan *plan; /* held while open */
    int32_t id_base;                /* constant while open */
    struct smp_class_mark *marks;   /* by the call graph's index */
    size_t mark_count;
    uint32_t max_ids; /* call_graph.h */
    struct {
        struct smp_id_use *uses; /* by id */
        uint32_t held;           /* ids that trees still had the last time */
        uint32_t reads;          /* since then; up to SMP_RENEWAL_READS */
    } renewal;                   /* the reader's, while open */
    bool follows_reflection;     /* this JDK lets it: set before open */
    bool has_reflection;         /* the classes of reflection are to be changed, or were */
    struct smp_counted_losses losses;
    /* Hashes of the names of classes that may have probes of an earlier counting. They outlast
     * close. */
    uint32_t leftovers[SMP_LEFTOVERS_LIMIT];
    size_t leftover_count;
    struct smp_leftover_methods leftover_methods; /* of these; until ids begin anew */
};

#define SMP_COUNTED_CLASSES_INIT \
    {                            \
        .lock = SMP_LOCK_INIT    \
    }

/* SMP_ENOMEM. */
SMP_CHECKED enum smp_status smp_counted_classes_open(struct smp_counted_classes *counted,
                                                     struct smp_counting_plan *plan);
/* A second close is fine. */
void smp_counted_classes_close(struct smp_counted_classes *counted);

/* The load hook's class. */
struct smp_loading_class {
    struct smp_class_bytes file;
    struct smp_slice name; /* as the event says; length 0: it does not */
    uint64_t loader;
    bool is_first;   /* it is loaded only now: nothing of it has run */
    bool is_foreign; /* another agent changes a class that is there: that may still be refused */
};

/* True: *out are bytes with probes, allocated by JVMTI, for the JVM. */
bool smp_counted_classes_load(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                              const struct smp_loading_class *loading, struct smp_class_bytes *out);
/* A class that is loaded, maybe prepared: makes it known where it is not. A change of it that
 * waited for that is due now. */
void smp_counted_classes_meet(struct smp_counted_classes *counted, jvmtiEnv *jvmti, JNIEnv *env,
                              const struct smp_loaded_class *loaded);
/* Is the class counted, so that what it overrides matters? Then its super types are to be met. */
bool smp_counted_classes_needs_supers(const struct smp_counted_classes *counted,
                                      const struct smp_loaded_class *loaded);
/* False: those above it are known already. */
bool smp_counted_classes_meet_super(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                                    JNIEnv *env, const struct smp_loaded_class *super);

/* The call graph's id for an id as probes push it, or -1. */
int32_t smp_counted_classes_id(const struct smp_counted_classes *counted, int32_t pushed);
/* The reader's. The number of what a probe pushes, and the other way round: -1 where the id has
 * come back since. */
int64_t smp_counted_classes_number(const struct smp_counted_classes *counted, int32_t pushed);
int32_t smp_counted_classes_pushed(const struct smp_counted_classes *counted, int64_t number);
/* Before the reader reads the trees. Ids of unloaded classes that no probe has pushed come back. If
 * enough others wait, all trees begin anew (call_arena.h), and the result is true: then the reader
 * reports the id of each node of a tree that stays (keep_id), and ends the renewal. */
bool smp_counted_classes_begin_renewal(struct smp_counted_classes *counted);
void smp_counted_classes_keep_id(struct smp_counted_classes *counted, int32_t pushed);
void smp_counted_classes_end_renewal(struct smp_counted_classes *counted);
/* With the lock held. Is the index one of a class of that name, now? */
bool smp_counted_classes_is_named(struct smp_counted_classes *counted, uint32_t index,
                                  struct smp_slice name);
/* Once there is a root: reflective calls are handed to the hook from the next batch on. */
void smp_counted_classes_want_reflection(struct smp_counted_classes *counted);
/* With the lock held: classes of reflection that do not hand out what they call, in the account. */
void smp_counted_classes_add_unfollowed(const struct smp_counted_classes *counted,
                                        struct smp_counting_account *out);
/* Tells the call graph which methods have been entered for the first time. */
void smp_counted_classes_note_entries(struct smp_counted_classes *counted);
/* Is any class to be changed? */
bool smp_counted_classes_has_due(struct smp_counted_classes *counted);
/* All classes that may have probes are to be changed, and no others. */
void smp_counted_classes_make_probed_due(struct smp_counted_classes *counted);
/* Classes that may still have probes are remembered beyond close, and so are the names of their
 * methods. */
void smp_counted_classes_keep_leftovers(struct smp_counted_classes *counted);

#endif
