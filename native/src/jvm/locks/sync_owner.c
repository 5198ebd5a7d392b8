/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/locks/sync_owner.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jdk.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"

#define LOCKS "java/util/concurrent/locks/"

/* The upper half of a ReentrantReadWriteLock's state: the readers. Since JDK 25 it is a long. */
enum { READERS_SHIFT = 16, LONG_READERS_SHIFT = 32 };

static struct {
    bool is_looked_up;
    jfieldID blocker; /* NULL: owners cannot be read */
    jfieldID owner;
    jfieldID state;
    jfieldID long_state; /* NULL: not in this JDK */
    jfieldID carrier;    /* of a virtual thread; NULL: not in this JDK */
    jclass ownable;      /* global references */
    jclass queued;
    jclass long_queued;
    jclass read_write;
    jclass semaphore;
    jclass reentrant;
    jclass virtual;
} known;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static jclass keep_lock_class(JNIEnv *env, const char *name)
{
    jclass found = smp_jdk_class(env, name);
    jclass kept = found != NULL ? (*env)->NewGlobalRef(env, found) : NULL;

    if (found != NULL)
        (*env)->DeleteLocalRef(env, found);
    return kept;
}

static void find_known(JNIEnv *env)
{
    jclass thread = smp_jdk_class(env, "java/lang/Thread");

    known.ownable = keep_lock_class(env, LOCKS "AbstractOwnableSynchronizer");
    known.queued = keep_lock_class(env, LOCKS "AbstractQueuedSynchronizer");
    known.long_queued = keep_lock_class(env, LOCKS "AbstractQueuedLongSynchronizer");
    known.read_write = keep_lock_class(env, LOCKS "ReentrantReadWriteLock$Sync");
    known.reentrant = keep_lock_class(env, LOCKS "ReentrantLock$Sync");
    known.semaphore = keep_lock_class(env, "java/util/concurrent/Semaphore$Sync");
    known.virtual = keep_lock_class(env, "java/lang/VirtualThread");
    known.owner = smp_jdk_field(env, known.ownable, "exclusiveOwnerThread", "Ljava/lang/Thread;");
    known.state = smp_jdk_field(env, known.queued, "state", "I");
    known.long_state = smp_jdk_field(env, known.long_queued, "state", "J");
    known.carrier = smp_jdk_field(env, known.virtual, "carrierThread", "Ljava/lang/Thread;");
    if (known.owner != NULL && known.state != NULL && known.read_write != NULL &&
        known.semaphore != NULL && known.reentrant != NULL)
        known.blocker = smp_jdk_field(env, thread, "parkBlocker", "Ljava/lang/Object;");
    if (thread != NULL)
        (*env)->DeleteLocalRef(env, thread);
    known.is_looked_up = true;
}

static bool is_known(JNIEnv *env)
{
    pthread_mutex_lock(&mutex);
    if (!known.is_looked_up)
        find_known(env);
    pthread_mutex_unlock(&mutex);
    return known.blocker != NULL;
}

/* Converts "Lcom/acme/Cart;" to "com.acme.Cart". Removes "$NonfairSync" and the like from the
 * JDK's own locks. */
static void put_lock_name(const char *signature, char name[SMP_LOCK_NAME_BYTES])
{
    const bool is_part = strncmp(signature, "Ljava/util/concurrent/", 22) == 0;
    size_t length;

    if (signature[0] != 'L')
        return;
    length = strcspn(signature + 1, is_part ? ";$" : ";");
    length = smp_utf8_prefix(signature + 1, length, SMP_LOCK_NAME_BYTES - 1);
    for (size_t i = 0; i < length; i++)
        name[i] = signature[1 + i] == '/' ? '.' : signature[1 + i];
    name[length] = '\0';
}

static void name_lock(JNIEnv *env, jobject blocker, struct smp_lock_owner *out)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jclass owner = (*env)->GetObjectClass(env, blocker);
    char *signature = NULL;

    if ((*jvmti)->GetClassSignature(jvmti, owner, &signature, NULL) == JVMTI_ERROR_NONE &&
        signature != NULL) {
        put_lock_name(signature, out->lock);
        (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    }
    (*env)->DeleteLocalRef(env, owner);
}

/* Sets the registered thread as owner; for a virtual thread the carrier on which it is mounted. */
static void set_owner(JNIEnv *env, jobject thread, struct smp_lock_owner *out)
{
    const bool is_virtual = known.virtual != NULL &&
                            (*env)->IsInstanceOf(env, thread, known.virtual) == JNI_TRUE;
    jobject carrier = NULL;
    int64_t id = 0;

    if (is_virtual && known.carrier != NULL) {
        carrier = (*env)->GetObjectField(env, thread, known.carrier);
        if (carrier == NULL) {
            out->kind = SMP_OWNER_UNMOUNTED;
            return;
        }
    }
    out->kind = SMP_OWNER_UNREAD;
    if ((!is_virtual || carrier != NULL) &&
        smp_threads_id_of(env, carrier != NULL ? carrier : thread, &id) == SMP_OK &&
        smp_threads_find(id, &out->serial))
        out->kind = SMP_OWNER_THREAD;
    if (carrier != NULL)
        (*env)->DeleteLocalRef(env, carrier);
}

struct lock_state {
    uint64_t held;
    uint64_t readers; /* of a ReentrantReadWriteLock */
};

static bool read_lock_state(JNIEnv *env, jobject blocker, struct lock_state *out)
{
    if ((*env)->IsInstanceOf(env, blocker, known.queued) == JNI_TRUE) {
        out->held = (uint32_t)(*env)->GetIntField(env, blocker, known.state);
        out->readers = out->held >> READERS_SHIFT;
        return true;
    }
    if (known.long_state == NULL ||
        (*env)->IsInstanceOf(env, blocker, known.long_queued) == JNI_FALSE)
        return false;
    out->held = (uint64_t)(*env)->GetLongField(env, blocker, known.long_state);
    out->readers = out->held >> LONG_READERS_SHIFT;
    return true;
}

/* Sets the kind of a lock without an exclusive owner. Either several threads hold it, or it is
 * free and the waiting thread has not noticed yet. */
static void judge_state(JNIEnv *env, jobject blocker, struct smp_lock_owner *out)
{
    struct lock_state state;

    if (!read_lock_state(env, blocker, &state))
        return;
    if ((*env)->IsInstanceOf(env, blocker, known.semaphore) == JNI_TRUE)
        out->kind = state.held == 0 ? SMP_OWNER_PERMITS : SMP_OWNER_NONE;
    else if (state.held == 0)
        out->kind = SMP_OWNER_NONE;
    else if ((*env)->IsInstanceOf(env, blocker, known.read_write) == JNI_TRUE)
        out->kind = state.readers != 0 ? SMP_OWNER_READERS : SMP_OWNER_UNREAD;
    else if ((*env)->IsInstanceOf(env, blocker, known.reentrant) == JNI_TRUE)
        out->kind = SMP_OWNER_UNREAD; /* locked, but the owner is not set yet */
}

static void read_blocker(JNIEnv *env, jobject blocker, struct smp_lock_owner *out)
{
    out->kind = SMP_OWNER_UNKNOWN;
    name_lock(env, blocker, out);
    if ((*env)->IsInstanceOf(env, blocker, known.ownable) == JNI_FALSE)
        return;
    jobject owner = (*env)->GetObjectField(env, blocker, known.owner);
    if (owner == NULL) {
        judge_state(env, blocker, out);
        return;
    }
    set_owner(env, owner, out);
    (*env)->DeleteLocalRef(env, owner);
}

void smp_sync_owner_read(JNIEnv *env, jobject thread, struct smp_lock_owner *out)
{
    *out = (struct smp_lock_owner){ .kind = SMP_OWNER_UNREAD };
    if (!is_known(env)) {
        out->kind = SMP_OWNER_UNKNOWN;
        return;
    }
    jobject blocker = (*env)->GetObjectField(env, thread, known.blocker);
    if (blocker == NULL)
        return;
    read_blocker(env, blocker, out);
    (*env)->DeleteLocalRef(env, blocker);
}
