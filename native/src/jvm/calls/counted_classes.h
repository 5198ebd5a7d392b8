/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted_classes.h - adds the classes of this JVM to the call graph, and probes to their bytes.
 *
 *   bytes in the load hook ─► summary ─► call graph: load, plan ─► rewriter ─► bytes with probes
 *   a loaded or prepared class ─► summary by JVMTI ─► call graph: load
 *     if the class is counted ─► likewise its super types, whose methods it may override
 *
 * Each class has a mark: whether its bytes have probes, and whether its change waits until it is
 * prepared.
 *
 * A probe pushes the call graph's id of its method plus a base. The base rises if classes may
 * still have probes of an earlier session, so that their ids are not mistaken for methods of this
 * session. Ids of unloaded classes are reused when no tree has them any more (begin_renewal). An
 * id together with the number of its former uses identifies one method for ever.
 *
 * Owns     the call graph, the marks; holds the plan.
 * Threads  open, close: one at a time, while no other thread is inside. All others: any attached
 *          thread. One lock, never held across a call to the JVM.
 * Errors   without memory a class is not counted and keeps its bytes.
 * Cost     load: parsing and summarizing the class, some microseconds for each KB. The methods of
 *          most JDK classes are not read.
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

/* The classes whose methods call by reflection. */
#define SMP_REFLECT_METHOD "java/lang/reflect/Method"
#define SMP_REFLECT_CONSTRUCTOR "java/lang/reflect/Constructor"

enum {
    SMP_COUNTED_PROBED = 1,   /* its last planned bytes have probes */
    SMP_COUNTED_WAITING = 2,  /* its batch did not find it, or it was not prepared */
    SMP_COUNTED_KEPT = 4,     /* its probes could not be removed */
    SMP_COUNTED_LEFTOVER = 8, /* may have probes that are not in its plan, until it is changed */
    SMP_COUNTED_SUPER = 16,   /* a super type of a counted class; its methods are known */
    SMP_COUNTED_RETRIED = 32  /* its last change was refused, perhaps because of outdated bytes */
};

/* State of a class that the call graph does not have. */
struct smp_class_mark {
    uint32_t name_hash;
    uint32_t foreign_hash; /* hash of the bytes that another agent has just set; 0: none */
    uint16_t place;        /* index in its last batch */
    uint8_t flags;
};

/* State of an id that the call graph does not have. */
struct smp_id_use {
    uint32_t count; /* number of former uses; makes the method's number unique */
    bool is_pushed; /* a probe with it was made; guarded by the lock */
    bool is_due;    /* to be freed unless a tree still has it; used only by the reader */
};

enum {
    SMP_RENEWAL_IDS = 1024, /* a renewal begins at this number of retired ids, */
    SMP_RENEWAL_SHARE = 8,  /* or at the number of all ids divided by this; */
    SMP_RENEWAL_READS = 64  /* reads after which ids that trees kept the last time count as well */
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
        uint32_t held;              /* retired ids that trees kept at the last renewal */
        uint32_t reads;             /* since the last renewal */
    } renewal;                      /* used only by the reader, while open */
    bool follows_reflection;        /* this JDK allows it; set before open */
    bool has_reflection;            /* Method and Constructor are changed or pending */
    _Atomic uint64_t malformed;     /* class files that could not be parsed and are not counted */
    struct smp_leftovers leftovers; /* kept after close; the methods until id_base is 0 again */
};

#define SMP_COUNTED_CLASSES_INIT \
    {                            \
        .lock = SMP_LOCK_INIT    \
    }

/* SMP_ENOMEM. */
SMP_CHECKED enum smp_status smp_counted_classes_open(struct smp_counted_classes *counted,
                                                     struct smp_counting_plan *plan);
/* May be called again. */
void smp_counted_classes_close(struct smp_counted_classes *counted);

/* A class in the load hook. */
struct smp_loading_class {
    struct smp_class_bytes file;
    struct smp_slice name; /* the event's; length 0: unknown */
    uint64_t loader;
    bool is_first;   /* it is being loaded: none of its code has run */
    bool is_foreign; /* another agent changes a loaded class, which the JVM may still refuse */
};

/* Copies bytes to memory of the JVM, as required of a load hook. Returns false without memory. */
bool smp_give_to_jvm(jvmtiEnv *jvmti, const void *made, size_t size, struct smp_class_bytes *out);
/* Returns a byte that is no class file: the JVM refuses the change, the class keeps its bytes. */
bool smp_make_jvm_refuse(jvmtiEnv *jvmti, struct smp_class_bytes *out);
/* Returns whether *out has bytes for the JVM, allocated by JVMTI. */
bool smp_counted_classes_load(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                              const struct smp_loading_class *loading, struct smp_class_bytes *out);
/* For a load hook that adds no probes. Returns true if the bytes are older than another agent's
 * change; *out then makes the JVM refuse the change. */
bool smp_counted_classes_refuse_outdated(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                                         const struct smp_loading_class *loading,
                                         struct smp_class_bytes *out);
/* Adds a loaded, perhaps prepared class to the call graph. Makes the class pending if its change
 * waited until it is prepared. */
void smp_counted_classes_meet(struct smp_counted_classes *counted, jvmtiEnv *jvmti, JNIEnv *env,
                              const struct smp_loaded_class *loaded);
/* Returns whether the class is counted. If so, the caller must call meet_super for its super
 * types, because the class may override their methods. */
bool smp_counted_classes_needs_supers(const struct smp_counted_classes *counted,
                                      const struct smp_loaded_class *loaded);
/* Returns false if the super types above this one are already known. */
bool smp_counted_classes_meet_super(struct smp_counted_classes *counted, jvmtiEnv *jvmti,
                                    JNIEnv *env, const struct smp_loaded_class *super);

/* Converts an id that probes push to the call graph's id, or to -1. */
int32_t smp_counted_classes_id(const struct smp_counted_classes *counted, int32_t pushed);
/* Converts a pushed id to the number of its method, and back. Returns -1 if the id belongs to
 * another method since. Only on the reader's thread. */
int64_t smp_counted_classes_number(const struct smp_counted_classes *counted, int32_t pushed);
int32_t smp_counted_classes_pushed(const struct smp_counted_classes *counted, int64_t number);
/* Called before the reader reads the trees. Frees ids of unloaded classes that no probe has
 * pushed. If enough other ids are retired, replaces all trees (call_arena.h) and returns true. The
 * reader must then call keep_id for each node of a remaining tree, and end_renewal. */
bool smp_counted_classes_begin_renewal(struct smp_counted_classes *counted);
void smp_counted_classes_keep_id(struct smp_counted_classes *counted, int32_t pushed);
void smp_counted_classes_end_renewal(struct smp_counted_classes *counted);
/* Returns whether the class with this index has this name. The caller holds the lock. */
bool smp_counted_classes_is_named(struct smp_counted_classes *counted, uint32_t index,
                                  struct smp_slice name);
/* Reports methods that were entered for the first time to the call graph. */
void smp_counted_classes_note_entries(struct smp_counted_classes *counted);
/* Returns whether any class is pending. */
bool smp_counted_classes_has_pending(struct smp_counted_classes *counted);
/* Makes exactly those classes pending that may have probes. */
void smp_counted_classes_make_probed_pending(struct smp_counted_classes *counted);
/* Records the classes that may still have probes as leftovers, with the names of their methods. */
void smp_counted_classes_keep_leftovers(struct smp_counted_classes *counted);

#endif
