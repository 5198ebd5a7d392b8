/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/java_session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/core_anchor.h"
#include "com_incapsula_sampler_internal_engine_NativeBridge.h"
#include "engine/session/dump.h"
#include "engine/sources/calls.h"
#include "handler/pauses.h"
#include "jni/callbacks.h"
#include "jni/name_callback.h"
#include "jvm/agent/agent.h"
#include "jvm/calls/call_counter.h"
#include "jvm/code/methods.h"
#include "jvm/locks/lock_owners.h"
#include "jvm/threads/os_threads.h"
#include "jvm/threads/thread_filter.h"
#include "jvm/threads/threads.h"
#include "jvm/walk/async.h"
#include "jvm/walk/by_jvmti.h"
#include "jvm/walk/by_signal.h"
#include "jvm/walk/cpu_timers.h"
#include "jvm/walk/outside.h"
#include "jvm/walk/unmounted.h"

enum { ABI = com_incapsula_sampler_internal_engine_NativeBridge_ABI };

struct smp_java_session {
    struct smp_session *core;
    struct smp_jni_callbacks *callbacks;
    struct smp_jni_name_callback *name_callback;
    struct smp_jvm_methods *methods;
    struct smp_os_threads *os_threads;
    struct smp_by_signal *async;    /* NULL: the engine is JVMTI */
    struct smp_outside *outside;    /* as async */
    int signal;                     /* of async */
    struct smp_jvm_cpu_timers *cpu; /* NULL: the clock is WALL */
    struct smp_unmounted *unmounted;
    int pauses;        /* its number in handler/pauses.h */
    _Atomic bool open; /* destroy must close the agent and the walks */
};

static enum smp_status enter(SMP_UNUSED void *self, const char *thread_name)
{
    return smp_agent_attach(thread_name);
}

static void leave(SMP_UNUSED void *self)
{
    smp_agent_detach();
}

static struct smp_async_walker async_of(const struct smp_java_session *java_session)
{
    if (java_session->async == NULL)
        return (struct smp_async_walker){ 0 };
    return smp_by_signal_functions(java_session->async);
}

static struct smp_walker walker_of(const struct smp_java_session *java_session)
{
    return java_session->outside != NULL ? smp_outside_functions(java_session->outside)
                                         : smp_by_jvmti();
}

static struct smp_cpu_timers session_cpu_timers(const struct smp_java_session *java_session)
{
    if (java_session->cpu == NULL)
        return (struct smp_cpu_timers){ 0 };
    return smp_jvm_cpu_timers_functions(java_session->cpu);
}

static int64_t take_longest_pause(void *self, bool is_handshake)
{
    const struct smp_java_session *java_session = self;

    return smp_pauses_take(java_session->pauses,
                           is_handshake ? SMP_PAUSE_HANDSHAKE : SMP_PAUSE_HANDLER);
}

static struct smp_session_config config_of(struct smp_java_session *java_session)
{
    return (struct smp_session_config){
        .vm = { .threads = smp_threads_source(),
                .walker = walker_of(java_session),
                .owners = smp_jvm_lock_owners(),
                .async = async_of(java_session),
                .cpu = session_cpu_timers(java_session),
                .names = smp_jvm_methods_source(java_session->methods),
                .name_callback = smp_jni_name_callback_functions(java_session->name_callback),
                .os_threads = smp_os_threads_source(java_session->os_threads),
                .virtual_threads = smp_unmounted_functions(java_session->unmounted),
                .calls = smp_jvm_call_counter(),
                .pauses = { .take_longest = take_longest_pause, .self = java_session } },
        .attach = { .stack_bytes = smp_agent_stack_bytes(), .enter = enter, .leave = leave },
        .outputer = smp_jni_callbacks_outputer(java_session->callbacks),
    };
}

/* Lets walks copy the names of methods without an id to the table that resolves them. */
static void connect_names(const struct smp_java_session *java_session)
{
    struct smp_named_methods *named = smp_jvm_methods_named(java_session->methods);

    if (java_session->async != NULL)
        smp_by_signal_name_by(java_session->async, named);
    if (java_session->outside != NULL)
        smp_outside_name_by(java_session->outside, named);
}

/* The core session is created with its walkers, so the options for walkers are read before. */
static enum smp_status make_walkers(struct smp_java_session *java_session,
                                    const struct smp_options *options)
{
    enum smp_status status = SMP_OK;

    java_session->signal = (int)options->sampling_signal;
    if (options->engine == SMP_ENGINE_AUTO)
        status = smp_by_signal_create((size_t)options->max_depth_frames, java_session->signal,
                                      &java_session->async);
    if (status == SMP_OK && options->engine == SMP_ENGINE_AUTO)
        status =
            smp_outside_create((size_t)options->max_depth_frames, NULL, &java_session->outside);
    if (status == SMP_OK && options->clock == SMP_CLOCK_CPU)
        status = smp_jvm_cpu_timers_create(java_session->async, java_session->signal,
                                           &java_session->cpu);
    if (status == SMP_OK)
        status = smp_unmounted_create((size_t)options->max_depth_frames, &java_session->unmounted);
    return status;
}

static enum smp_status make_java_parts(JNIEnv *env, struct smp_java_session *java_session,
                                       const struct smp_options *options, jobject callbacks)
{
    enum smp_status status = smp_jni_callbacks_create(env, callbacks, &java_session->callbacks);

    if (status == SMP_OK)
        status =
            smp_jni_name_callback_create(java_session->callbacks, &java_session->name_callback);
    if (status == SMP_OK)
        status = smp_jvm_methods_create(&java_session->methods);
    if (status == SMP_OK)
        status = smp_os_threads_create(&java_session->os_threads);
    if (status == SMP_OK)
        status = make_walkers(java_session, options);
    if (status == SMP_OK) {
        connect_names(java_session);
        const struct smp_session_config config = config_of(java_session);
        status = smp_session_create(&config, options, &java_session->core);
    }
    return status;
}

enum smp_status smp_java_session_create(JNIEnv *env, const struct smp_options *options,
                                        jobject callbacks, char message[SMP_OPTIONS_MESSAGE_BYTES],
                                        struct smp_java_session **out)
{
    struct smp_java_session *java_session = NULL;
    enum smp_status status;

    message[0] = '\0';
    if (callbacks == NULL) {
        (void)snprintf(message, SMP_OPTIONS_MESSAGE_BYTES, "callbacks must not be null");
        return SMP_EINVAL;
    }
    java_session = smp_alloc(NULL, sizeof(*java_session));
    if (java_session == NULL)
        return SMP_ENOMEM;
    java_session->pauses = smp_pauses_open();
    status = make_java_parts(env, java_session, options, callbacks);
    if (status == SMP_OK)
        *out = java_session;
    else
        smp_java_session_destroy(env, java_session);
    return status;
}

static void close_vm(const struct smp_java_session *java_session)
{
    if (java_session->async != NULL) {
        smp_outside_close();
        smp_async_close();
    }
    smp_agent_close();
    smp_core_anchor_end_sampling();
}

static enum smp_status refuse_cpu_clock(char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    char refusal[SMP_ASYNC_REFUSAL_BYTES];

    smp_async_refusal(refusal);
    (void)snprintf(message, SMP_OPTIONS_MESSAGE_BYTES,
                   "clock CPU needs asynchronous walks, which this JVM refuses: %s", refusal);
    return SMP_EUNSUPPORTED;
}

/* Without asynchronous walks the session runs on JVMTI, unless its clock is CPU. Fails if no thread
 * can be started. */
static enum smp_status open_walks(const struct smp_java_session *java_session,
                                  char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    enum smp_status status = smp_agent_open();

    if (status != SMP_OK || java_session->async == NULL)
        return status;
    status = smp_async_open(java_session->signal);
    if (status == SMP_EUNSUPPORTED && java_session->cpu == NULL)
        status = SMP_OK;
    if (status == SMP_EUNSUPPORTED) {
        status = refuse_cpu_clock(message);
        smp_async_close();
    }
    if (status == SMP_OK)
        smp_outside_open();
    else
        smp_agent_close();
    return status;
}

/* Names the library whose core already samples. Two builds may have the same version, so the
 * message has the file. */
static void name_rival(const struct smp_core_rival *rival, char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    static const char cure[] = "close its samplers first, or keep one version";

    if (rival->abi == ABI)
        (void)snprintf(message, SMP_OPTIONS_MESSAGE_BYTES,
                       "another build of threads-sampler samples this JVM, from %s: %s",
                       rival->path, cure);
    else
        (void)snprintf(message, SMP_OPTIONS_MESSAGE_BYTES,
                       "another version of threads-sampler samples this JVM, from %s, with version"
                       " %u of the seam between Java and C, where this one has version %d: %s",
                       rival->path, (unsigned)rival->abi, ABI, cure);
}

/* Cores of different versions never sample one JVM at the same time: each would have its own events
 * and handlers, and would sample the threads of the other. */
static enum smp_status open_vm(const struct smp_java_session *java_session,
                               char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    struct smp_core_rival rival;
    enum smp_status status;

    if (!smp_core_anchor_begin_sampling(&rival)) {
        name_rival(&rival, message);
        return SMP_EUNSUPPORTED;
    }
    status = open_walks(java_session, message);
    if (status != SMP_OK)
        smp_core_anchor_end_sampling();
    return status;
}

void smp_java_session_destroy(JNIEnv *env, struct smp_java_session *java_session)
{
    if (java_session == NULL)
        return;
    smp_session_destroy(java_session->core);
    if (java_session->open)
        close_vm(java_session);
    smp_pauses_close(java_session->pauses);
    smp_jvm_cpu_timers_destroy(java_session->cpu);
    smp_by_signal_destroy(java_session->async);
    smp_outside_destroy(java_session->outside);
    smp_unmounted_destroy(env, java_session->unmounted);
    smp_os_threads_destroy(java_session->os_threads);
    smp_jvm_methods_destroy(java_session->methods);
    smp_jni_name_callback_destroy(env, java_session->name_callback);
    smp_jni_callbacks_destroy(env, java_session->callbacks);
    smp_free(NULL, java_session);
}

enum smp_status smp_java_session_start(struct smp_java_session *java_session,
                                       char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    enum smp_status status = SMP_OK;

    message[0] = '\0';
    status = open_vm(java_session, message);
    if (status != SMP_OK)
        return status;
    status = smp_session_start(java_session->core);
    if (status == SMP_OK)
        java_session->open = true;
    else
        close_vm(java_session);
    return status;
}

enum smp_status smp_java_session_select(struct smp_java_session *java_session, JNIEnv *env,
                                        jobjectArray threads, bool only)
{
    struct smp_thread_filter thread_filter = { 0 };
    enum smp_status status =
        smp_jvm_thread_filter_create(env, only ? threads : NULL, &thread_filter);

    if (status == SMP_OK)
        status = smp_session_select(java_session->core, thread_filter, only);
    return status;
}

static void add_limitation(struct smp_java_session_status *status, const char *code,
                           const char *reason)
{
    struct smp_java_session_limitation *const next = &status->limitations[status->count];

    if (reason == NULL || reason[0] == '\0')
        return;
    next->code = code;
    (void)snprintf(next->reason, sizeof(next->reason), "%s", reason);
    status->count++;
}

static void add_walks(const struct smp_java_session *java_session,
                      struct smp_java_session_status *status)
{
    char refusal[SMP_ASYNC_REFUSAL_BYTES] = "";
    char own[SMP_ASYNC_REFUSAL_BYTES];
    char cut[SMP_ASYNC_REFUSAL_BYTES];

    if (java_session->async != NULL)
        smp_async_refusal(refusal);
    if (java_session->async == NULL || refusal[0] != '\0') {
        status->mode = "JVMTI";
        add_limitation(status, "ASYNC_WALK_REFUSED", refusal);
        return;
    }
    smp_async_own_refusal(own);
    status->mode = own[0] == '\0' ? "OWN" : "ASYNC_GET_CALL_TRACE";
    add_limitation(status, "WAITING_THREADS_BY_JVMTI", own);
    if (own[0] != '\0')
        return;
    smp_async_chunks_refusal(cut);
    add_limitation(status, "VIRTUAL_THREADS_CUT", cut);
}

void smp_java_session_get_status(const struct smp_java_session *java_session,
                                 struct smp_java_session_status *status)
{
    struct smp_statistics statistics;
    const struct smp_source_live *const source = &statistics.ticker.sampler.source;

    *status = (struct smp_java_session_status){ .count = 0 };
    add_walks(java_session, status);
    smp_session_get_statistics(java_session->core, &statistics);
    add_limitation(status, "UNMOUNTED_VIRTUAL_THREADS_NOT_SAMPLED", source->refusal);
    add_limitation(status, "CALLS_NOT_COUNTED", source->counting_refusal);
}

/* Returns the words for a limitation in the engine's text. */
static const char *words_of_limitation(const char *code)
{
    static const struct {
        const char *code;
        const char *words;
    } words[] = {
        { "ASYNC_WALK_REFUSED", "async walk refused" },
        { "WAITING_THREADS_BY_JVMTI",
          "waiting threads by JVMTI, running ones by AsyncGetCallTrace" },
        { "VIRTUAL_THREADS_CUT", "virtual threads cut where they parked" },
        { "UNMOUNTED_VIRTUAL_THREADS_NOT_SAMPLED", "unmounted virtual threads not sampled" },
        { "CALLS_NOT_COUNTED", "calls not counted" },
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i].code, code) == 0)
            return words[i].words;
    }
    return code;
}

void smp_java_session_engine(const struct smp_java_session *java_session,
                             char out[SMP_JAVA_SESSION_ENGINE_BYTES])
{
    struct smp_java_session_status status;

    smp_java_session_get_status(java_session, &status);
    (void)snprintf(out, SMP_JAVA_SESSION_ENGINE_BYTES, "%s",
                   strcmp(status.mode, "JVMTI") == 0 ? "JVMTI" : "HYBRID");
    for (size_t i = 0; i < status.count; i++) {
        const struct smp_java_session_limitation *const each = &status.limitations[i];
        const size_t length = strlen(out);
        (void)snprintf(out + length, SMP_JAVA_SESSION_ENGINE_BYTES - length, " (%s: %s)",
                       words_of_limitation(each->code), each->reason);
    }
}

void smp_java_session_dump(const struct smp_java_session *java_session, struct smp_bytes *out)
{
    char engine[SMP_JAVA_SESSION_ENGINE_BYTES];

    smp_java_session_engine(java_session, engine);
    smp_dump_session(java_session->core, engine, out);
}

struct smp_session *smp_java_session_core(const struct smp_java_session *java_session)
{
    return java_session->core;
}
