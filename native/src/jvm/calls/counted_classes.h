/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted_classes.h - connects the classes of this JVM with the call graph, and makes the bytes
 * that each class gets.
 *
 *   bytes in the load hook ─► summary ─► call graph: load, plan ─► rewriter ─► bytes with probes
 *   a loaded or prepared class ─► summary by JVMTI ─► call graph: load
 *     if it is counted ─► the same for its super types, with the methods that it may override
 *
 * The mark of a class says whether its bytes have probes, and whether its change waits until it is
 * prepared.
 *
 * Probes push ids of the call graph plus a base. The base rises if classes may still have probes of
 * an earlier counting, so that those never mean a method of this one. Ids of unloaded classes are
 * used again once no tree has them (begin_renewal). An id together with the number of its former
 * uses belongs to one method for ever.
 *
 * Owns     the call graph, the marks; holds the plan.
 * Threads  open, close: one at a time, with no other thread inside. All others: any attached
 *          thread; one lock, never held across a call to the JVM.
 * Errors   a class for which there is no memory is not counted; it is never harmed.
 * Cost     load: parsing and summary of the class, some microseconds for each KB. A class that gets
 *          no probes is read no further than its super types.
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
#include "jvm/calls/leftovers.h"
#include "jvm/calls/loaded_classes.h"
#include "model/counting_account.h"

/* The classes whose methods call by reflection. */
#define SMP_REFLECT_METHOD "java/lang/reflect/Method"
#define SMP_REFLECT_CONSTRUCTOR "java/lang/reflect/Constructor"

enum {
    SMP_COUNTED_PROBED = 1,   /* its bytes have probes, or had when they were made last */
    SMP_COUNTED_WAITING = 2,  /* it was not found, or not prepared, when it was to be changed */
    SMP_COUNTED_KEPT = 4,     /* its probes could not be removed */
    SMP_COUNTED_LEFTOVER = 8, /* may have probes outside of its plan, until it is changed */
    SMP_COUNTED_SUPER = 16,   /* its methods are known, and those of all its super types */
    SMP_COUNTED_RETRIED = 32  /* its last change was refused, perhaps for outdated bytes */
};

/* State of a class beside the call graph. */
struct smp_class_mark {
    uint32_t name_hash;
    uint32_t foreign_hash; /* of the bytes of a foreign change that ours has not seen; 0: none */
    uint16_t place;        /* in its last batch */
    uint8_t flags;
};

/* State of an id beside the call graph. */
struct smp_id_use {
    uint32_t count; /* of former uses, which makes its number unique */
    bool is_pushed; /* a probe has been made with it; with the lock held */
    bool is_due;    /* the reader's: it is freed unless a tree still has it */
};

enum {
    SMP_RENEWAL_IDS = 1024, /* so many retired ids begin a renewal, */
    SMP_RENEWAL_SHARE = 8,  /* or that part of all ids; */
    SMP_RENEWAL_READS = 64  /* after so many reads ids that trees kept the last time count, too */
};

/* Visible so that it can be static. */
struct smp_counted_classes {
    struct smp_lock lock;           /* guards the call graph, marks, leftovers; not malformed */
    struct smp_call_graph *graph;   /* NULL: not open */
    struct smp_counting_plan *plan; /* held while open */
    int32_t id_base;                /* constant while open */
    struct smp_class_mark *marks;   /* by the call graph's index */
    size_t mark_count;
    uint32_t max_ids; /* call_graph.h */
    struct {
        struct smp_id_use *uses;    /* by id */
        uint32_t held;              /* ids that trees kept at the last renewal */
        uint32_t reads;             /* since then; up to SMP_RENEWAL_READS */
    } renewal;                      /* the reader's, while open */
    bool follows_reflection;        /* this JDK allows it; set before open */
    bool has_reflection;            /* the classes of reflection are changed, or pending */
    _Atomic uint64_t malformed;     /* class files that are not understood, and not counted */
    struct smp_leftovers leftovers; /* kept beyond close; methods until id_base is 0 again */
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

/* The class in the load hook. */
struct smp_loading_class {
    struct smp_class_bytes file;
    struct smp_slice name; /* from the event; length 0: unknown */
    uint64_t loader;
    bool is_first;   /* it is being loaded: none of its code has run */
    bool is_foreign; /* another agent changes a loaded class, which the JVM may still refuse */
};

/* Copies bytes to memory of the JVM, as a load hook must. Fails if the JVM has none. */
bool smp_give_to_jvm(jvmtiEnv *jvmti, const void *made, size_t size, struct smp_class_bytes *out);
/* Hands out a byte that is no class file: the JVM refuses it, and the class stays as it is. */
bool smp_make_jvm_refuse(jvmtiEnv *jvmti, struct smp_class_bytes *out);
/* Returns whether *out has bytes for the JVM, allocated by JVMTI. */
bool smp_counted_classes_load(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                              const struct smp_loading_class *loading, struct smp_class_bytes *out);
/* For a load hook that adds no probes. If the bytes are from before another agent's change, returns
 * true, and *out makes the JVM refuse them. */
bool smp_counted_classes_refuse_outdated(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                                         const struct smp_loading_class *loading,
                                         struct smp_class_bytes *out);
/* The class is loaded, maybe prepared: makes it known to the call graph. If its change waited for
 * its preparation, the class is pending now. */
void smp_counted_classes_meet(struct smp_counted_classes *counted, jvmtiEnv *jvmti, JNIEnv *env,
                              const struct smp_loaded_class *loaded);
/* Is the class counted? Then meet_super must be called for its super types, as it may override
 * their methods. */
bool smp_counted_classes_needs_supers(const struct smp_counted_classes *counted,
                                      const struct smp_loaded_class *loaded);
/* Returns false if the super types above this one are known already. */
bool smp_counted_classes_meet_super(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                                    JNIEnv *env, const struct smp_loaded_class *super);

/* Returns the call graph's id for an id that probes push, or -1. */
int32_t smp_counted_classes_id(const struct smp_counted_classes *counted, int32_t pushed);
/* On the reader's thread: the number of a pushed id, and the reverse, which is -1 if the id has got
 * another method since. */
int64_t smp_counted_classes_number(const struct smp_counted_classes *counted, int32_t pushed);
int32_t smp_counted_classes_pushed(const struct smp_counted_classes *counted, int64_t number);
/* To be called before the reader reads the trees. Frees ids of unloaded classes that no probe has
 * pushed. If enough other ids are retired, all trees begin anew (call_arena.h), and the result is
 * true: the reader then calls keep_id for each node of a tree that stays, and end_renewal. */
bool smp_counted_classes_begin_renewal(struct smp_counted_classes *counted);
void smp_counted_classes_keep_id(struct smp_counted_classes *counted, int32_t pushed);
void smp_counted_classes_end_renewal(struct smp_counted_classes *counted);
/* With the lock held: does a class of that name have this index now? */
bool smp_counted_classes_is_named(struct smp_counted_classes *counted, uint32_t index,
                                  struct smp_slice name);
/* Tells the call graph which methods have been entered for the first time. */
void smp_counted_classes_note_entries(struct smp_counted_classes *counted);
/* Is any class pending? */
bool smp_counted_classes_has_pending(struct smp_counted_classes *counted);
/* Makes all classes that may have probes pending, and no others. */
void smp_counted_classes_make_probed_pending(struct smp_counted_classes *counted);
/* Remembers the classes that may still have probes, with the names of their methods. */
void smp_counted_classes_keep_leftovers(struct smp_counted_classes *counted);

#endif
