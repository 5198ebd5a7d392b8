/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/async.h"

#include <jvmti.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/once.h"
#include "hotspot/code_copies.h"
#include "hotspot/exports.h"
#include "hotspot/frames.h"
#include "hotspot/method_table.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/version.h"
#include "jvm/check/check.h"
#include "jvm/code/class_events.h"
#include "jvm/code/code_events.h"
#include "jvm/code/code_map.h"
#include "jvm/code/continuations.h"
#include "jvm/code/method_ids.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/self_test.h"
#include "jvm/walk/signals.h"

enum {
    DEATH_WAIT_NS = 20000000, /* longest wait for running handlers, which take microseconds */
    SELF_TESTS = 4            /* tries; a garbage collection or a busy machine may make one fail */
};

static struct {
    struct smp_once once;
    _Atomic bool usable;
    /* written only by open and close */
    bool is_proven;                 /* a walk of a running method has passed; not tested again */
    struct smp_async async;         /* constant while usable */
    struct smp_frames_cache *cache; /* while it exists own is constant, for late handlers */
    struct smp_own_walk own;
    struct smp_own_walk on_stack; /* like own, but without frames in the heap */
    _Atomic bool lacks_layout;    /* at this open the layout of the thread object was not found */
    _Atomic bool cuts_virtual_threads;
    struct smp_chunks chunks; /* how own reads frames in the heap */
    pthread_mutex_t mutex;    /* guards the refusals */
    char refusal[SMP_ASYNC_REFUSAL_BYTES];
    char chunks_refusal[SMP_CHUNKS_REASON_BYTES];
} state = { .once = SMP_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER };

static void set_refusal(const char *reason)
{
    pthread_mutex_lock(&state.mutex);
    (void)snprintf(state.refusal, sizeof(state.refusal), "%s", reason);
    pthread_mutex_unlock(&state.mutex);
}

/* The reason is "" on JDKs without virtual threads. */
static void set_chunks_refusal(const char *reason)
{
    pthread_mutex_lock(&state.mutex);
    (void)snprintf(state.chunks_refusal, sizeof(state.chunks_refusal), "%s", reason);
    pthread_mutex_unlock(&state.mutex);
}

void smp_async_chunks_refusal(char out[SMP_ASYNC_REFUSAL_BYTES])
{
    pthread_mutex_lock(&state.mutex);
    (void)snprintf(out, SMP_ASYNC_REFUSAL_BYTES, "%s",
                   smp_virtual_threads_in_use() ? state.chunks_refusal : "");
    pthread_mutex_unlock(&state.mutex);
}

bool smp_async_reads_heap(void)
{
    return state.own.chunks != NULL && !atomic_load(&state.cuts_virtual_threads);
}

void smp_async_cut_virtual_threads(const char *reason)
{
    if (!atomic_exchange(&state.cuts_virtual_threads, true))
        set_chunks_refusal(reason);
}

bool smp_async_walks_by_itself(void)
{
    return state.own.walk != NULL && !state.lacks_layout && smp_hotspot_is_usable();
}

void smp_async_own_refusal(char out[SMP_ASYNC_REFUSAL_BYTES])
{
    char reason[SMP_LAYOUT_REASON_BYTES];

    smp_hotspot_refusal(reason);
    if (reason[0] == '\0' && !smp_async_walks_by_itself()) /* the reason is from this open */
        (void)snprintf(reason, sizeof(reason), "%s",
                       state.lacks_layout ? "unknown layout of the thread object"
                                          : "the check was not possible");
    (void)snprintf(out, SMP_ASYNC_REFUSAL_BYTES, "%s", reason);
}

static bool has_a_walk(void)
{
    return state.async.walk != NULL || smp_async_walks_by_itself();
}

/* Our own walk may be refused at any time (check/check.h). Some JVMs have no other walk. */
void smp_async_refusal(char out[SMP_ASYNC_REFUSAL_BYTES])
{
    char own[SMP_LAYOUT_REASON_BYTES];
    size_t length = 0;

    pthread_mutex_lock(&state.mutex);
    (void)snprintf(out, SMP_ASYNC_REFUSAL_BYTES, "%s", state.refusal);
    pthread_mutex_unlock(&state.mutex);
    smp_hotspot_refusal(own);
    if (own[0] == '\0' || (out[0] == '\0' && (!atomic_load(&state.usable) || has_a_walk())))
        return;
    length = strlen(out);
    (void)snprintf(out + length, SMP_ASYNC_REFUSAL_BYTES - length, "%s%s",
                   length > 0 ? "; the sampler's own walk: " : "", own);
}

bool smp_async_is_usable(void)
{
    return atomic_load_explicit(&state.usable, memory_order_acquire) && smp_agent_is_live() &&
           has_a_walk();
}

const struct smp_async *smp_async_get(void)
{
    return &state.async;
}

const struct smp_own_walk *smp_async_own_walk(void)
{
    static _Atomic uint64_t believed_epoch;
    const uint64_t epoch = smp_class_unload_epoch();

    if (!smp_async_walks_by_itself())
        return NULL;
    if (atomic_exchange(&believed_epoch, epoch) != epoch)
        smp_frames_cache_renew(state.own.cache);
    return atomic_load(&state.cuts_virtual_threads) ? &state.on_stack : &state.own;
}

int smp_async_signal(int wanted)
{
    const int number = smp_signals_number(wanted);

    return smp_signals_is_installed(number) ? number : state.async.signal;
}

/* ---------------------------------------------------------------------------------- up and down */

/* Describes the calling thread, which is in a native method called from Java. */
static struct smp_check_caller describe_caller(jvmtiEnv *jvmti, JNIEnv *env)
{
    struct smp_check_caller caller = { .jvmti = jvmti, .env = env };
    jthread current = NULL;

    if ((*jvmti)->GetCurrentThread(jvmti, &current) != JVMTI_ERROR_NONE || current == NULL)
        return caller;
    caller.java_thread = smp_threads_address(env, current);
    (*env)->DeleteLocalRef(env, current);
    return caller;
}

static const struct smp_chunks *find_chunks(JNIEnv *env)
{
    char reason[SMP_CHUNKS_REASON_BYTES];
    const bool is_found = smp_continuations_find(smp_hotspot_layout(), env, &state.chunks, reason);

    set_chunks_refusal(is_found ? "" : reason);
    return is_found ? &state.chunks : NULL;
}

/* Called after the code events are enabled, which finds the layout. */
static void prepare_own_walk(const struct smp_check_caller *caller)
{
    (void)!smp_hotspot_prove(caller); /* on failure smp_hotspot_is_usable returns false */
    smp_frames_set_virtual_root(smp_virtual_threads_boundary());
    if (state.cache == NULL && smp_frames_cache_create(&state.cache) == SMP_OK) {
        state.own =
            smp_own_walk_make(smp_hotspot_layout(), state.cache, smp_virtual_threads_boundary());
        state.on_stack = state.own;
        if (smp_hotspot_is_usable() && !atomic_load(&state.cuts_virtual_threads))
            state.own.chunks = find_chunks(caller->env);
    }
}

/* Finds the layouts of the JVM's thread objects and code. Fills in self, the calling thread. */
static void prepare_layouts(jvmtiEnv *jvmti, JNIEnv *env, struct smp_walk_target *self)
{
    const struct smp_stack_bounds stack = smp_stack_bounds_own();
    struct smp_check_caller caller = describe_caller(jvmti, env);

    (void)smp_virtual_threads_init(env);
    if (caller.java_thread == 0)
        return;
    caller.stack_high = stack.high;
    state.async.layout =
        smp_thread_layout_find(env, caller.java_thread, caller.stack_high, smp_code_map_is_java);
    /* The next open may find it. At this one the code of our callers may not be known yet. */
    state.lacks_layout = state.async.layout.jvm.last_sp == 0;
    prepare_own_walk(&caller);
    self->java_thread = caller.java_thread;
    self->layout = state.async.layout.jvm;
    self->stack_low = stack.low;
    self->stack_high = stack.high;
}

static const char *install_handler(int signal)
{
    state.async.signal = smp_signals_number(signal);
    const char *refusal = smp_signals_refusal();
    if (refusal != NULL)
        return refusal;
    if (smp_signals_install(state.async.signal) != SMP_OK)
        return "the signal cannot be used";
    atomic_store(&smp_signal_process.is_open, true);
    return NULL;
}

/* Returns AsyncGetCallTrace, or NULL with the reason. */
static smp_jvm_walk *find_jvm_walk(jvmtiEnv *jvmti, JNIEnv *env, const char **reason)
{
    smp_jvm_walk *walk = NULL;

    *reason = "no AsyncGetCallTrace in this JVM";
    /* C does not convert data pointers to function pointers. */
    *(void **)&walk = smp_symbol("AsyncGetCallTrace");
    if (walk == NULL || !smp_jvm_version_has_value_classes(smp_jvm_version(jvmti), env))
        return walk;
    *reason = "AsyncGetCallTrace crashes JVMs with value classes";
    return NULL;
}

/* Returns NULL if an engine can walk, or else the reason. Fills in self, the calling thread. */
static const char *prepare_walks(int signal, JNIEnv *env, struct smp_walk_target *self)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    const char *without = NULL;

    if (env == NULL || !smp_agent_is_live())
        return "the JVM is not live";
    state.async = (struct smp_async){ 0 };
    state.async.walk = find_jvm_walk(jvmti, env, &without);
    const char *reason = smp_code_events_open(jvmti);
    if (reason == NULL) {
        smp_method_ids_open(env);
        prepare_layouts(jvmti, env, self);
        reason = has_a_walk() ? install_handler(signal) : without;
    }
    return reason;
}

/* Walks the calling thread and an internal thread. *reason is NULL if both stacks are right. */
static enum smp_status test_walks(const struct smp_walk_target *target, JNIEnv *env,
                                  const char **reason)
{
    enum smp_status status = SMP_OK;

    for (int i = 0; i < SELF_TESTS && status == SMP_OK; i++) {
        *reason = smp_self_test_native(state.async.signal, target);
        if (*reason == NULL && !state.is_proven)
            status = smp_self_test_java(state.async.signal, target, env, reason);
        if (*reason == NULL)
            break;
    }
    return status;
}

/* Tests AsyncGetCallTrace, which is the next engine if our own walk is refused later. */
static bool is_jvm_walk_right(struct smp_walk_target self)
{
    bool is_right = false;

    self.walk = state.async.walk;
    for (int i = 0; i < SELF_TESTS && !is_right; i++)
        is_right = smp_self_test_native(state.async.signal, &self) == NULL;
    return is_right;
}

/* Called if our own walk has failed the test. Refuses it only if AsyncGetCallTrace passes:
 * otherwise both may have failed for the same cause, such as a signal that does not arrive. */
static enum smp_status test_next_engine(struct smp_walk_target self, JNIEnv *env,
                                        const char **reason)
{
    const char *const own_reason = *reason;

    self.own = NULL;
    self.walk = state.async.walk;
    const enum smp_status status = test_walks(&self, env, reason);
    if (status == SMP_OK && *reason == NULL)
        smp_hotspot_refuse(own_reason);
    return status;
}

/* After SMP_OK, *reason is NULL if walks are usable, or else says why not. */
static enum smp_status open_async(int signal, const char **reason)
{
    JNIEnv *env = smp_agent_env();
    struct smp_walk_target self = { .env = env, .was_alive = true };
    enum smp_status status = SMP_OK;

    *reason = prepare_walks(signal, env, &self);
    if (*reason != NULL)
        return SMP_OK;
    if (smp_async_own_walk() != NULL && state.async.walk != NULL && !is_jvm_walk_right(self))
        state.async.walk = NULL;
    self.own = smp_async_own_walk();
    self.walk = self.own == NULL ? state.async.walk : NULL;
    status = test_walks(&self, env, reason);
    if (status == SMP_OK && *reason != NULL && self.own != NULL && state.async.walk != NULL)
        status = test_next_engine(self, env, reason);
    state.is_proven = state.is_proven || (status == SMP_OK && *reason == NULL);
    return status;
}

/* Returns false if a handler is still running. */
static bool wait_for_handlers(void)
{
    const struct timespec pause = { .tv_nsec = 100000 };

    for (long waited = 0; waited < DEATH_WAIT_NS; waited += pause.tv_nsec) {
        bool busy = smp_cpu_timer_is_busy();
        for (size_t i = 0; i < SMP_SIGNAL_SLOTS; i++)
            busy = busy || smp_signal_is_busy(&smp_signal_slots[i]);
        if (!busy)
            return true;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

static void close_async(void)
{
    atomic_store(&state.usable, false);
    atomic_store(&smp_signal_process.is_open, false);
    if (wait_for_handlers()) { /* on timeout the next open reuses the cache */
        smp_frames_cache_destroy(state.cache);
        state.cache = NULL;
        state.own = (struct smp_own_walk){ 0 };
    }
    smp_method_ids_close();
    smp_code_events_close();
    smp_method_table_empty();
    smp_code_copies_empty();
}

enum smp_status smp_async_open(int signal)
{
    enum smp_status status = SMP_OK;
    const char *reason = NULL;

    if (smp_once_open(&state.once)) {
        status = open_async(signal, &reason);
        set_refusal(status == SMP_OK && reason != NULL ? reason : "");
        if (status != SMP_OK || reason != NULL)
            close_async();
        else
            atomic_store_explicit(&state.usable, true, memory_order_release);
        smp_once_finish(&state.once, status == SMP_OK);
    } else if (smp_async_is_usable()) {
        (void)!smp_signals_install(smp_signals_number(signal));
    }
    if (status == SMP_OK && !smp_async_is_usable())
        status = SMP_EUNSUPPORTED;
    return status;
}

void smp_async_close(void)
{
    if (!smp_once_close(&state.once))
        return;
    close_async();
    smp_once_finish(&state.once, false);
}

void smp_async_vm_dies(void)
{
    atomic_store(&state.usable, false);
    atomic_store(&smp_signal_process.is_open, false);
    (void)wait_for_handlers();
}
