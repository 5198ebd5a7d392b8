/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redefined_classes.h - keeps the bytes of redefined classes (HotSwap) for a JVM that does not.
 *
 * A JDK before 20 keeps the bytes that a class had when a load hook first changed it, and passes
 * these to the hooks at each later retransformation, even after RedefineClasses (JDK-7124710). A
 * batch or close() would therefore restore code that the user has replaced. Our load hook returns
 * the redefined bytes instead:
 *
 *   RedefineClasses ─► announce ─► load hook: see, keeps the bytes: next
 *   a later hook of that class ─► see: if the JVM has accepted them, next becomes now
 *   RetransformClasses ─► load hook: see, uses the bytes of now instead of the JVM's
 *
 * announce is called by the load hook of a second environment, which cannot retransform. The JVM
 * calls such a hook at a redefinition, before all others, and never at a retransformation.
 *
 * The JVM may refuse a redefinition after the hooks have run. If it accepts, each jmethodID points
 * to a new HotSpot Method; this is how `see` recognizes it.
 *
 * The kept bytes contain the changes of agents before ours. If such an agent retransforms the
 * class with a different change, the class cannot have both the redefined code and that change. It
 * gets the old code with the change, as in a JVM without us. The change is different if the JVM
 * passes other bytes than when the class got its probes.
 *
 * Owns     the bytes, weak references to the classes, and hashes of the bytes that the JVM passed
 *          for most classes with probes. All are kept after stop, like the bytes in the JVM.
 * Threads  any attached thread. The JVM changes a class on one thread at a time. A lock guards all
 *          fields. It is held across calls to the JVM, none of which runs a hook.
 * Errors   without memory for its bytes a class is SMP_CLASS_IS_LOST. Beyond SMP_REDEFINED_LIMIT
 *          classes announce returns false, and such a class may get old code again.
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
    SMP_REDEFINED_MOST_BYTES = 32 << 20, /* of all versions */
    SMP_KEEPS_REDEFINED_BYTES = 20       /* the first JDK that keeps them itself */
};

/* The bytes that the load hook uses for a loaded class. */
enum smp_redefined {
    SMP_CLASS_IS_AS_GIVEN,  /* the bytes that the JVM passes to the hook */
    SMP_CLASS_IS_REDEFINED, /* the same bytes, which come from a redefinition */
    SMP_CLASS_IS_REPLACED,  /* other bytes, valid until the hook returns */
    SMP_CLASS_IS_LOST       /* the JVM passes old bytes, the right ones are unknown: do not change
                               it */
};

struct smp_class_version {
    unsigned char *bytes; /* NULL: the JVM passes the right bytes, or is_lost */
    size_t size;
    bool is_lost;
};

struct smp_redefined_class {
    jweak type; /* NULL: the entry is free */
    uint32_t name_hash;
    bool is_announced; /* the next load hook is for a redefinition */
    bool has_next;
    jmethodID method;    /* any method of the class, while has_next */
    uintptr_t structure; /* structure_of(method) before the JVM got `next` */
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
    struct smp_given_class given[SMP_REDEFINED_GIVEN]; /* indexed by the low bits of name_hash */
    struct smp_quota quota;                            /* of all versions */
    size_t count;                                      /* entries that were ever used */
    struct smp_redefined_class classes[SMP_REDEFINED_LIMIT];
};

#define SMP_REDEFINED_CLASSES_INIT                                                 \
    {                                                                              \
        .lock = SMP_LOCK_INIT, .quota = {.limit_bytes = SMP_REDEFINED_MOST_BYTES } \
    }

/* Makes the JVM call this hook at each redefinition and each load of a class, for ever.
 * SMP_EUNSUPPORTED, SMP_ENOMEM, SMP_EVM. */
SMP_CHECKED enum smp_status smp_redefined_classes_watch(JNIEnv *env,
                                                        jvmtiEventClassFileLoadHook hook);

/* The class is about to be redefined. */
bool smp_redefined_classes_announce(struct smp_redefined_classes *redefined, JNIEnv *env,
                                    jclass type, const char *name);
/* Records the bytes that the JVM passed for a class that gets probes. Not at a redefinition. */
void smp_redefined_classes_note_given(struct smp_redefined_classes *redefined, const char *name,
                                      const struct smp_class_bytes *file);
/* Called in the load hook of a class that is being changed. is_own: our own thread changes it. */
enum smp_redefined smp_redefined_classes_see(struct smp_redefined_classes *redefined,
                                             jvmtiEnv *jvmti, JNIEnv *env, jclass type,
                                             const char *name, bool is_own,
                                             struct smp_class_bytes *file);

#endif
