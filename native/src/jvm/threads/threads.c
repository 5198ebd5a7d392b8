/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Java id comes from the field Thread.tid: getId() may be overridden by a subclass, and JVMTI's
 * thread-local storage would need a lock across its get and set.
 */
#include "jvm/threads/threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "handler/signal.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jdk.h"
#include "jvm/agent/jvmti_status.h"
#include "jvm/threads/hidden_threads.h"
#include "jvm/threads/registry.h"
#include "jvm/threads/thread_name.h"
#include "jvm/threads/tid_resolver.h"
#include "jvm/threads/virtual_threads.h"

#define NS_PER_MS INT64_C(1000000)

enum {
    POLL_BATCH = 128,
    SCAN_EXTRA_REFS = 32,
    MOST_START_CPU_MS = 5 /* of CPU time to start a thread; some 100 us are usual */
};

static struct smp_registry registry = SMP_REGISTRY_INIT;
/* Thread.tid, which is the same at every open. */
static _Atomic(jfieldID) id_field;
/* Thread.eetop, the address of the JVM's thread object; NULL: there is no such field. */
static _Atomic(jfieldID) address_field;
/* Thread.threadStatus, until JDK 18; since then of the object that Thread.holder refers to. NULL:
 * there is no such field. */
static _Atomic(jfieldID) holder_field;
static _Atomic(jfieldID) status_field;

static struct smp_jvm_thread *entry_of(const struct smp_thread *thread)
{
    return (struct smp_jvm_thread *)(uintptr_t)thread;
}

static void find_status_field(JNIEnv *env, jclass thread_class)
{
    jclass owner = thread_class;

    holder_field = smp_jdk_field(env, thread_class, "holder", "Ljava/lang/Thread$FieldHolder;");
    if (holder_field != NULL)
        owner = smp_jdk_class(env, "java/lang/Thread$FieldHolder");
    status_field = smp_jdk_field(env, owner, "threadStatus", "I");
    if (owner != NULL && owner != thread_class)
        (*env)->DeleteLocalRef(env, owner);
}

static enum smp_status find_thread_fields(JNIEnv *env)
{
    if (id_field != NULL)
        return SMP_OK;
    jclass thread_class = smp_jdk_class(env, "java/lang/Thread");
    if (thread_class == NULL)
        return SMP_EVM;
    address_field = smp_jdk_field(env, thread_class, "eetop", "J");
    find_status_field(env, thread_class);
    id_field = smp_jdk_field(env, thread_class, "tid", "J");
    (*env)->DeleteLocalRef(env, thread_class);
    return id_field != NULL ? SMP_OK : SMP_EUNSUPPORTED;
}

enum smp_status smp_threads_id_of(JNIEnv *env, jobject thread, int64_t *out)
{
    enum smp_status status = find_thread_fields(env);

    if (status == SMP_OK)
        *out = (*env)->GetLongField(env, thread, id_field);
    return status;
}

uintptr_t smp_threads_address(JNIEnv *env, jobject thread)
{
    if (address_field == NULL)
        return 0;
    return (uintptr_t)(*env)->GetLongField(env, thread, address_field);
}

int32_t smp_threads_status(JNIEnv *env, jobject thread)
{
    jint status = 0;

    if (status_field == NULL)
        return 0;
    if (holder_field == NULL)
        return (*env)->GetIntField(env, thread, status_field);
    jobject holder = (*env)->GetObjectField(env, thread, holder_field);
    if (holder == NULL)
        return 0;
    status = (*env)->GetIntField(env, holder, status_field);
    (*env)->DeleteLocalRef(env, holder);
    return status;
}

/*
 * Ends a request that was given up: a thread that ends with the signal blocked never answers. Waits
 * for a handler that is walking, because it reads the entry.
 */
static void end_given_up(uint64_t cookie)
{
    smp_signal_release(cookie);
    smp_signal_let_finish(cookie);
}

/* entry may be NULL. env NULL, or a JVM that shuts down: the JVM frees the reference. */
static void dispose_entry(JNIEnv *env, struct smp_jvm_thread *entry)
{
    if (entry == NULL)
        return;
    for (size_t i = 0; i < SMP_WALK_INFO_REQUESTS; i++) {
        if (entry->info.requests[i] != 0)
            end_given_up(entry->info.requests[i]);
    }
    if (env != NULL && smp_agent_is_live())
        (*env)->DeleteGlobalRef(env, entry->ref);
    smp_free(NULL, entry);
}

static void dispose_released(struct smp_jvm_thread *entry)
{
    dispose_entry(smp_agent_env(), entry);
}

/* ------------------------------------------------------------------------------ starts and ends */

struct smp_stack_bounds smp_stack_bounds_own(void)
{
    struct smp_stack_bounds bounds = { 0 };
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return bounds;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0)
        bounds = (struct smp_stack_bounds){ (uintptr_t)low, (uintptr_t)low + size };
    (void)pthread_attr_destroy(&attributes);
    return bounds;
}

/* The entry gets a new reference; the caller still owns thread. */
static void add_entry(JNIEnv *env, jthread thread, const struct smp_jvm_thread *proto)
{
    struct smp_jvm_thread *entry = smp_alloc(NULL, sizeof(*entry));
    jobject ref = entry != NULL ? (*env)->NewGlobalRef(env, thread) : NULL;

    if (ref == NULL) {
        smp_free(NULL, entry);
        smp_registry_miss(&registry);
        return;
    }
    *entry = *proto;
    entry->ref = ref;
    if (!smp_registry_add(&registry, entry))
        dispose_entry(env, entry);
}

/* Called on the thread itself. The JVM needs some 100 us to start a thread. If a thread of native
 * code has used more before it attached, that is not time of a Java thread. */
static int64_t cpu_before_start(void)
{
    const int64_t cpu_ns = smp_clock_own_cpu_ns();

    return cpu_ns > MOST_START_CPU_MS * NS_PER_MS ? cpu_ns : 0;
}

/*
 * Registers the calling thread. If tid and stack are 0 (not known), the thread was listed by a scan
 * instead, and may have ended since, or be past its ThreadEnd.
 */
static void adopt_thread(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, int32_t tid,
                         struct smp_stack_bounds stack)
{
    jvmtiThreadInfo info = { 0 };
    const int64_t java_id = (*env)->GetLongField(env, thread, id_field);

    if (smp_registry_is_internal(&registry, tid, java_id))
        return;
    const jvmtiError error = (*jvmti)->GetThreadInfo(jvmti, thread, &info);
    if (error == JVMTI_ERROR_OUT_OF_MEMORY)
        smp_registry_miss(&registry);
    if (error != JVMTI_ERROR_NONE)
        return; /* it has ended meanwhile */
    const bool hidden = smp_hidden_threads_is_hidden(jvmti, env, thread, &info);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
    if (info.thread_group != NULL)
        (*env)->DeleteLocalRef(env, info.thread_group);
    if (info.context_class_loader != NULL)
        (*env)->DeleteLocalRef(env, info.context_class_loader);
    if (hidden)
        return;
    struct smp_jvm_thread proto = {
        .thread = { .started_ns = smp_clock_ns(),
                    .started_cpu_ns = tid != 0 ? cpu_before_start() : 0,
                    .os_tid = tid,
                    .is_daemon = info.is_daemon != 0 },
        .java_id = java_id,
        .info = { .java_thread = smp_threads_address(env, thread),
                  .stack_low = stack.low,
                  .stack_high = stack.high,
                  .is_carrier = smp_virtual_threads_is_carrier(env, thread) },
    };
    if (tid == 0)
        smp_gate_init_unsure(&proto.info.gate);
    add_entry(env, thread, &proto);
}

void JNICALL smp_threads_on_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    if (smp_agent_is_live())
        adopt_thread(jvmti, env, thread, smp_thread_own_tid(), smp_stack_bounds_own());
}

/* Prevents new walks from outside, and waits for one in progress. */
static void keep_readers_out(JNIEnv *env, int64_t java_id)
{
    struct smp_jvm_thread *entry = smp_registry_hold(&registry, java_id);

    if (entry == NULL)
        return;
    smp_gate_close(&entry->info.gate);
    (void)smp_gate_wait(&entry->info.gate, SMP_GATE_MOST_MS);
    entry->info.java_thread = 0;
    dispose_entry(env, smp_registry_release(&registry, entry));
}

void JNICALL smp_threads_on_end(SMP_UNUSED jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    if (!smp_agent_is_live()) {
        smp_gate_close(&smp_gate_process); /* the hook of the JVM's death may be about to */
        (void)smp_gate_wait(&smp_gate_process, SMP_GATE_MOST_MS);
        return;
    }
    const int64_t java_id = (*env)->GetLongField(env, thread, id_field);
    keep_readers_out(env, java_id);
    dispose_entry(env,
                  smp_registry_end(&registry, java_id, smp_clock_ns(), smp_clock_own_cpu_ns()));
    smp_signal_thread_ends(smp_thread_own_tid());
}

enum smp_status smp_threads_open(JNIEnv *env)
{
    const enum smp_status status = find_thread_fields(env);

    if (status != SMP_OK)
        return status;
    smp_jvm_thread_name_init(env);
    (void)smp_virtual_threads_init(env);
    return smp_registry_open(&registry);
}

/* Returns the JVM's thread object of the calling thread; 0 if it is not known. */
static uintptr_t own_address(jvmtiEnv *jvmti, JNIEnv *env)
{
    jthread current = NULL;

    if ((*jvmti)->GetCurrentThread(jvmti, &current) != JVMTI_ERROR_NONE || current == NULL)
        return 0;
    const uintptr_t address = smp_threads_address(env, current);
    (*env)->DeleteLocalRef(env, current);
    return address;
}

enum smp_status smp_threads_scan(JNIEnv *env)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jint count = 0;
    jthread *threads = NULL;
    enum smp_status status = SMP_ENOMEM;

    if (!smp_local_frame_push(env, SCAN_EXTRA_REFS))
        return SMP_ENOMEM;
    status = smp_jvmti_status((*jvmti)->GetAllThreads(jvmti, &count, &threads));
    if (status == SMP_OK && (*env)->EnsureLocalCapacity(env, count + SCAN_EXTRA_REFS) != JNI_OK)
        (*env)->ExceptionClear(env); /* the references exist already: only -Xcheck:jni complains */
    for (jint i = 0; status == SMP_OK && i < count; i++)
        adopt_thread(jvmti, env, threads[i], 0, (struct smp_stack_bounds){ 0 });
    if (status == SMP_OK) {
        smp_registry_purge(&registry);
        smp_tid_resolver_restart(own_address(jvmti, env));
        smp_tid_resolver_run(&registry, dispose_released);
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
    smp_local_frame_pop(env);
    return status;
}

void smp_threads_close(JNIEnv *env)
{
    struct smp_jvm_thread *entry = smp_registry_close(&registry);

    while (entry != NULL) {
        struct smp_jvm_thread *next = entry->next;
        dispose_entry(env, entry);
        entry = next;
    }
}

void smp_threads_gone(struct smp_thread *thread)
{
    const struct smp_jvm_thread *entry = entry_of(thread);

    dispose_entry(smp_agent_env(), smp_registry_end(&registry, entry->java_id, smp_clock_ns(), 0));
}

/* ----------------------------------------------------------------------------------- the source */

struct reading {
    uint64_t *cursor;
    uint64_t *unseen;
    bool is_first; /* holes are threads that ended before this reader began, and were not missed */
    smp_on_thread_started *started;
    void *context;
};

/* Counts the hole between the cursor and this serial as threads that were never seen. */
static void pass_hole(const struct reading *reading, uint64_t serial)
{
    if (!reading->is_first)
        *reading->unseen += serial - *reading->cursor - 1;
    *reading->cursor = serial - 1;
}

/* Returns false if the thread was refused. */
static bool offer_thread(const struct reading *reading, struct smp_jvm_thread *entry)
{
    const uint64_t serial = entry->thread.serial;

    pass_hole(reading, serial);
    if (entry->thread.is_hidden) {
        dispose_entry(smp_agent_env(), smp_registry_release(&registry, entry));
    } else if (!reading->started(reading->context, &entry->thread)) {
        return false;
    }
    *reading->cursor = serial;
    return true;
}

static enum smp_status poll_started_threads(SMP_UNUSED void *self, uint64_t *cursor,
                                            uint64_t *unseen, smp_on_thread_started *started,
                                            void *context)
{
    const struct reading reading = { cursor, unseen, *cursor == 0, started, context };
    struct smp_jvm_thread *batch[POLL_BATCH];
    uint64_t newest = 0;
    size_t count = POLL_BATCH;
    bool taken = true;

    if (!smp_agent_is_live())
        return SMP_EPHASE;
    smp_tid_resolver_run(&registry, dispose_released);
    while (taken && count == POLL_BATCH) {
        count = smp_registry_collect(&registry, *cursor, batch, POLL_BATCH, &newest);
        for (size_t i = 0; i < count; i++) {
            taken = taken && offer_thread(&reading, batch[i]);
            if (!taken)
                dispose_entry(smp_agent_env(), smp_registry_release(&registry, batch[i]));
        }
    }
    if (taken)
        pass_hole(&reading, newest + 1);
    return SMP_OK;
}

static void drop_thread(SMP_UNUSED void *self, struct smp_thread *thread)
{
    dispose_entry(smp_agent_env(), smp_registry_release(&registry, entry_of(thread)));
}

static bool listen_for_starts(SMP_UNUSED void *self, uint64_t cursor,
                              struct smp_start_listener *listener)
{
    return smp_registry_listen(&registry, cursor, listener);
}

static void stop_listening(SMP_UNUSED void *self, struct smp_start_listener *listener)
{
    smp_registry_unlisten(&registry, listener);
}

static enum smp_status read_thread_name(SMP_UNUSED void *self, struct smp_thread *thread,
                                        void **seen, char *out, size_t size, bool *changed)
{
    if (!smp_agent_is_live())
        return SMP_EPHASE;
    if (thread->ended_ns != 0)
        return SMP_EGONE;
    JNIEnv *env = smp_agent_env();
    if (env == NULL)
        return SMP_EVM;
    return smp_jvm_thread_name_read(env, smp_threads_ref(thread), seen, out, size, changed);
}

static void forget_name(SMP_UNUSED void *self, void *seen)
{
    if (seen != NULL)
        smp_jvm_thread_name_forget(smp_agent_is_live() ? smp_agent_env() : NULL, seen);
}

struct smp_thread_source smp_threads_source(void)
{
    return (struct smp_thread_source){
        .poll = poll_started_threads,
        .drop = drop_thread,
        .listen = listen_for_starts,
        .unlisten = stop_listening,
        .name = read_thread_name,
        .forget = forget_name,
    };
}

jthread smp_threads_ref(const struct smp_thread *thread)
{
    return entry_of(thread)->ref;
}

struct smp_walk_info *smp_threads_walk_info(struct smp_thread *thread)
{
    return &entry_of(thread)->info;
}

int64_t smp_threads_java_id(const struct smp_thread *thread)
{
    return entry_of(thread)->java_id;
}

bool smp_threads_find(int64_t java_id, uint64_t *serial)
{
    struct smp_jvm_thread *entry = smp_registry_hold(&registry, java_id);

    if (entry == NULL)
        return false;
    *serial = entry->thread.serial;
    dispose_released(smp_registry_release(&registry, entry));
    return true;
}

uint64_t smp_threads_search(smp_thread_test *test, void *context)
{
    return smp_registry_search(&registry, test, context);
}

/* ---------------------------------------------------------------------------- the library's own */

enum smp_status smp_threads_enter(void)
{
    return smp_registry_enter(&registry, smp_thread_own_tid());
}

void smp_threads_leave(void)
{
    smp_registry_leave(&registry, smp_thread_own_tid());
}

enum smp_status smp_threads_hide(JNIEnv *env, jobject thread)
{
    int64_t java_id = 0;
    enum smp_status status = smp_threads_id_of(env, thread, &java_id);

    if (status == SMP_OK)
        status = smp_registry_hide(&registry, java_id);
    return status;
}
