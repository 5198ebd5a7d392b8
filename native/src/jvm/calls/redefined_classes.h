/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redefined_classes.h - keeps the bytes of redefined classes (HotSwap) for a JVM that forgets them.
 *
 * A JDK before 20 keeps the bytes that a class had when an agent first changed it in its load hook,
 * and hands these in at each later retransformation. RedefineClasses does not renew them
 * (JDK-7124710). So a batch or close() would restore code that the user has replaced. Our load hook
 * hands out the redefined bytes instead:
 *
 *   RedefineClasses ─► announce ─► load hook: see, keeps the bytes: next
 *   any later hook of that class ─► see: has the JVM taken them? then they are now's
 *   RetransformClasses ─► load hook: see, now's bytes in place of the JVM's
 *
 * announce is the load hook of an environment that cannot retransform. The JVM calls such a hook at
 * a redefinition, before those of the environments that can, and never at a retransformation.
 *
 * The JVM may refuse a redefinition after its hooks have run. If it accepts, each method gets a new
 * structure, to which the method's id points from then on.
 *
 * Hooks of agents before ours have changed the bytes that are kept. If such an agent retransforms
 * the class, and its change is a different one by then, the class cannot have both: it gets the old
 * code with that change, as the JVM would do without us. The change is a different one if the JVM
 * hands in other bytes than when the class got its probes.
 *
 * Owns     the bytes, weak references to the classes; hashes of the bytes that the JVM handed in,
 *          for most classes that got probes. All are kept after a counting, like the bytes in the
 *          JVM.
 * Threads  any attached thread. The JVM makes one change of a class at a time. A lock guards all
 *          fields; it is held across calls to the JVM, none of which runs a hook.
 * Errors   without memory for its bytes a class is SMP_CLASS_IS_LOST. Past SMP_REDEFINED_LIMIT
 *          loaded classes announce returns false, and such a class may get old code back.
 * Cost     nothing for a class that is loaded. A class that is changed: a pass over the redefined
 *          classes.
 */
#ifndef SMP_JVM_CALLS_REDEFINED_CLASSES_H
#define SMP_JVM_CALLS_REDEFINED_CLASSES_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/status.h"
#include "classfile/class_bytes.h"

enum {
    SMP_REDEFINED_LIMIT = 1024,
    SMP_REDEFINED_GIVEN = 32768,         /* a power of two */
    SMP_REDEFINED_MOST_BYTES = 32 << 20, /* of all of them */
    SMP_KEEPS_REDEFINED_BYTES = 20       /* the first release of the JDK that does */
};

/* The bytes that the load hook uses for a loaded class. */
enum smp_redefined {
    SMP_CLASS_IS_AS_GIVEN,  /* the bytes that the JVM hands in */
    SMP_CLASS_IS_REDEFINED, /* the same; they are new by a redefinition */
    SMP_CLASS_IS_REPLACED,  /* other bytes, valid until the hook returns */
    SMP_CLASS_IS_LOST       /* the JVM hands in old bytes, and the right ones are not known: our own
                               thread must not change the class */
};

struct smp_class_version {
    unsigned char *bytes; /* NULL: the JVM's are right, or is_lost */
    size_t size;
    bool is_lost;
};

struct smp_redefined_class {
    jweak type; /* NULL: the place is free */
    uint32_t name_hash;
    bool is_announced; /* the next load hook is for a redefinition */
    bool has_next;
    jmethodID method;    /* any of the class, while has_next */
    uintptr_t structure; /* of that method, before the JVM got `next` */
    struct smp_class_version now;
    struct smp_class_version next;
};

struct smp_given_class {
    uint32_t name_hash;
    uint32_t bytes_hash;
};

/* Visible so that it can be static. */
struct smp_redefined_classes {
    struct smp_lock lock;
    struct smp_given_class given[SMP_REDEFINED_GIVEN]; /* by the low bits of a name's hash */
    struct smp_quota quota;                            /* of all versions */
    size_t count;                                      /* places that were ever used */
    struct smp_redefined_class classes[SMP_REDEFINED_LIMIT];
};

#define SMP_REDEFINED_CLASSES_INIT                                                 \
    {                                                                              \
        .lock = SMP_LOCK_INIT, .quota = {.limit_bytes = SMP_REDEFINED_MOST_BYTES } \
    }

/* Makes the JVM call this hook at each redefinition and at each load of a class, for ever.
 * SMP_EUNSUPPORTED, SMP_ENOMEM, SMP_EVM: nothing has changed. */
SMP_CHECKED enum smp_status smp_redefined_classes_watch(JNIEnv *env,
                                                        jvmtiEventClassFileLoadHook hook);

/* The class is about to be redefined. */
bool smp_redefined_classes_announce(struct smp_redefined_classes *redefined, JNIEnv *env,
                                    jclass type, const char *name);
/* The class gets probes, and the JVM has handed in these bytes. Not at a redefinition. */
void smp_redefined_classes_note_given(struct smp_redefined_classes *redefined, const char *name,
                                      const struct smp_class_bytes *file);
/* In the load hook of a class that is being changed. is_own: by our own thread. */
enum smp_redefined smp_redefined_classes_see(struct smp_redefined_classes *redefined,
                                             jvmtiEnv *jvmti, JNIEnv *env, jclass type,
                                             const char *name, bool is_own,
                                             struct smp_class_bytes *file);

#endif
