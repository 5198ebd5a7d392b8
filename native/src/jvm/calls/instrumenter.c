/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/instrumenter.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/thread.h"
#include "counting/call_arena.h"
#include "engine/session/worker.h"
#include "hotspot/flags.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jdk.h"
#include "jvm/agent/jvmti_status.h"
#include "jvm/agent/version.h"
#include "jvm/calls/class_batches.h"
#include "jvm/calls/hook_class.h"
#include "jvm/calls/redefined_classes.h"
#include "jvm/calls/reflected_calls.h"
#include "jvm/code/class_events.h"

enum {
    HOOK_EXTRA_REFS = 2 * SMP_BATCH_MOST,
    START_BATCHES = 32, /* before start returns; classes further down get their probes soon after */
    /* The nodes of call trees get half of the memory for counting. The other half is for classes
     * and for the engine's table of nodes, without which counted calls cannot be credited. */
    NODES_SHARE = 2,
    /* Since this release the first retransformation does not discard all compiled code. */
    KEEPS_COMPILED_CODE = 23
};

#define ROUND_NS 100000000LL /* interval of the thread's rounds */
#define PURGE_NS 1000000000LL
#define INSIDE_MOST_NS 10000000000LL

enum hook_mode {
    HOOKS_OFF,
    HOOKS_COUNT,
    HOOKS_REMOVE_PROBES, /* probes are being removed: only outdated bytes are refused */
    HOOK_MODES
};

static struct {
    _Atomic bool is_taken; /* set by start, cleared by stop */
    _Atomic unsigned mode; /* enum hook_mode */
    _Atomic bool is_stopping;
    _Atomic bool watches_redefinitions;  /* if so, both load hooks stay enabled for ever */
    _Atomic unsigned inside[HOOK_MODES]; /* threads inside of hooks, by mode */
    _Atomic int64_t own_cpu_ns;          /* of the instrumenter thread, up to its last round */
    _Atomic int32_t own_tid;             /* of the instrumenter thread; 0: it does not run */
    struct smp_event event;              /* wakes the thread up at stop */
    struct smp_worker worker;
    struct smp_counted_classes counted;
    struct smp_class_loaders loaders;
    struct smp_class_batches batches;
    struct smp_redefined_classes redefined;
    struct {
        struct smp_counting_plan *plan;
        char *message;
        enum smp_status status;
        bool has_discarded_code; /* result of the last start */
        bool has_run;            /* the instrumenter thread has run */
        bool is_stuck;           /* result of the thread: another thread has not left a hook */
    } start;                     /* written in start and by the instrumenter thread */
    struct {
        bool has_opened_calls;
        /* Before the library was loaded, another agent had prepared the JVM for class changes. */
        bool was_prepared;
        bool has_retransformed_early;
        uint32_t news;
        struct smp_batch_pace pace;
        int64_t next_batch_ns;
        int64_t purged_ns;
    } thread; /* used only by the instrumenter thread */
} instrumenter = { .counted = SMP_COUNTED_CLASSES_INIT, .redefined = SMP_REDEFINED_CLASSES_INIT };

void smp_instrumenter_loaded(void)
{
    instrumenter.thread.was_prepared = smp_class_changes_are_expected(NULL);
}

/* --- hooks --- */

static void go_outside(enum hook_mode mode)
{
    atomic_fetch_sub(&instrumenter.inside[mode], 1);
}

/* Marks the calling thread as inside, unless it returns HOOKS_OFF. The mode is read again after
 * the increment: either this read sees the new mode, or switch_hooks sees the thread. */
static enum hook_mode go_inside(void)
{
    for (;;) {
        const enum hook_mode mode = (enum hook_mode)atomic_load(&instrumenter.mode);

        if (mode == HOOKS_OFF)
            return HOOKS_OFF;
        atomic_fetch_add(&instrumenter.inside[mode], 1);
        if (atomic_load(&instrumenter.mode) == mode && smp_agent_is_live())
            return mode;
        go_outside(mode);
        if (!smp_agent_is_live())
            return HOOKS_OFF;
    }
}

static bool go_inside_counting(void)
{
    const enum hook_mode mode = go_inside();

    if (mode == HOOKS_REMOVE_PROBES)
        go_outside(mode);
    return mode == HOOKS_COUNT;
}

/* A class that is being loaded or changed: arguments and results of the load hook. */
struct load_event {
    jvmtiEnv *jvmti;
    JNIEnv *env;
    jclass redefined; /* NULL: the class is being loaded */
    jobject loader;
    const char *name;
    bool is_own;
    enum smp_redefined seen;
    struct smp_class_bytes given;
    struct smp_loading_class loading;
};

/* Returns whether the JVM is to use *changed. */
static bool add_probes(struct load_event *event, struct smp_class_bytes *changed)
{
    const enum hook_mode mode = go_inside();
    bool has_changed = false;

    if (mode == HOOKS_OFF)
        return false;
    event->loading.loader =
        smp_class_loaders_number(&instrumenter.loaders, event->jvmti, event->env, event->loader);
    event->loading.name = (struct smp_slice){ event->name, strlen(event->name) };
    event->loading.is_first = event->redefined == NULL;
    event->loading.is_foreign = event->redefined != NULL && !event->is_own;
    if (event->loading.loader != SMP_CLASS_LOADERS_UNKNOWN && mode == HOOKS_COUNT)
        has_changed =
            smp_counted_classes_load(&instrumenter.counted, event->jvmti, &event->loading, changed);
    else if (event->loading.loader != SMP_CLASS_LOADERS_UNKNOWN)
        has_changed = smp_counted_classes_refuse_outdated(&instrumenter.counted, event->jvmti,
                                                          &event->loading, changed);
    /* A size of 1 makes the JVM refuse the change (smp_make_jvm_refuse). */
    if (has_changed && changed->size > 1 && event->seen != SMP_CLASS_IS_REDEFINED &&
        atomic_load(&instrumenter.watches_redefinitions))
        smp_redefined_classes_note_given(&instrumenter.redefined, event->name, &event->given);
    if (event->redefined != NULL)
        smp_class_batches_left_hook(&instrumenter.batches);
    go_outside(mode);
    return has_changed;
}

static bool hand_out_redefined(const struct load_event *event, struct smp_class_bytes *changed)
{
    const struct smp_class_bytes file = event->loading.file;

    if (event->seen == SMP_CLASS_IS_LOST)
        return smp_make_jvm_refuse(event->jvmti, changed);
    return event->seen == SMP_CLASS_IS_REPLACED &&
           smp_give_to_jvm(event->jvmti, file.bytes, file.size, changed);
}

static void see_redefined(struct load_event *event)
{
    /* Another agent may hold a local reference for each class that it changes. -Xcheck:jni of JDK
     * 17 counts them as references of this hook. */
    (void)(*event->env)->EnsureLocalCapacity(event->env, HOOK_EXTRA_REFS);
    event->is_own = smp_thread_own_tid() == atomic_load(&instrumenter.own_tid);
    event->seen = smp_redefined_classes_see(&instrumenter.redefined, event->jvmti, event->env,
                                            event->redefined, event->name, event->is_own,
                                            &event->loading.file);
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are JVMTI's */
void JNICALL smp_instrumenter_on_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined,
                                      jobject loader, const char *name, SMP_UNUSED jobject domain,
                                      jint size, const unsigned char *bytes, jint *new_size,
                                      unsigned char **new_bytes)
{
    struct load_event event = {
        .jvmti = jvmti,
        .env = env,
        .redefined = redefined,
        .loader = loader,
        .name = name,
        .given = { bytes, size > 0 ? (size_t)size : 0 },
    };
    struct smp_class_bytes changed = { 0 };

    if (env == NULL || name == NULL || !smp_agent_is_live())
        return;
    event.loading.file = event.given;
    if (redefined != NULL)
        see_redefined(&event);
    if ((event.seen != SMP_CLASS_IS_LOST && add_probes(&event, &changed)) ||
        hand_out_redefined(&event, &changed)) {
        *new_size = (jint)changed.size;
        *new_bytes = (unsigned char *)(uintptr_t)changed.bytes;
    }
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are JVMTI's */
static void JNICALL on_redefinition(SMP_UNUSED jvmtiEnv *jvmti, JNIEnv *env, jclass redefined,
                                    SMP_UNUSED jobject loader, const char *name,
                                    SMP_UNUSED jobject domain, SMP_UNUSED jint size,
                                    SMP_UNUSED const unsigned char *bytes,
                                    SMP_UNUSED jint *new_size, SMP_UNUSED unsigned char **new_bytes)
{
    if (env == NULL || name == NULL || redefined == NULL || !smp_agent_is_live())
        return;
    (void)(*env)->EnsureLocalCapacity(env, HOOK_EXTRA_REFS);
    (void)smp_redefined_classes_announce(&instrumenter.redefined, env, redefined, name);
}

size_t smp_instrumenter_kept_bytes(void)
{
    return smp_quota_used(&instrumenter.redefined.quota);
}

static bool meet_super(void *self, const struct smp_loaded_class *super)
{
    return smp_counted_classes_meet_super(&instrumenter.counted, smp_agent_jvmti(), self, super);
}

static void meet_loaded(void *self, const struct smp_loaded_class *loaded)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();

    smp_counted_classes_meet(&instrumenter.counted, jvmti, self, loaded);
    if (smp_counted_classes_needs_supers(&instrumenter.counted, loaded))
        smp_super_types_each(&instrumenter.loaders, jvmti, self, loaded->type, meet_super, self);
}

void JNICALL smp_instrumenter_on_prepare(jvmtiEnv *jvmti, JNIEnv *env, SMP_UNUSED jthread thread,
                                         jclass prepared)
{
    if (!go_inside_counting())
        return;
    smp_loaded_classes_offer(&instrumenter.loaders, jvmti, env, prepared, meet_loaded, env);
    go_outside(HOOKS_COUNT);
}

static void add_reflected(SMP_UNUSED void *self, struct smp_slice class_name,
                          struct smp_slice signature)
{
    smp_lock_acquire(&instrumenter.counted.lock);
    smp_call_graph_called(instrumenter.counted.graph, class_name, signature);
    smp_lock_release(&instrumenter.counted.lock);
}

static bool note_reflected(JNIEnv *env, jobject called, jobject receiver)
{
    if (!go_inside_counting())
        return false;
    const bool is_noted =
        smp_reflected_calls_name(smp_agent_jvmti(), env, called, receiver, add_reflected, NULL);
    go_outside(HOOKS_COUNT);
    return is_noted;
}

static enum smp_status set_load_hook(jvmtiEventMode mode)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();

    if (!smp_agent_is_live())
        return SMP_EPHASE;
    return smp_jvmti_status(
        (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL));
}

/* Must come before the JVM keeps bytes of a class, which a redefinition does not renew. */
static enum smp_status watch_redefinitions(jvmtiEnv *jvmti, JNIEnv *env)
{
    const int version = smp_jvm_version(jvmti);
    enum smp_status status = SMP_OK;

    if (atomic_load(&instrumenter.watches_redefinitions) || version == 0 ||
        version >= SMP_KEEPS_REDEFINED_BYTES)
        return SMP_OK;
    status = smp_redefined_classes_watch(env, on_redefinition);
    atomic_store(&instrumenter.watches_redefinitions, status == SMP_OK);
    return status;
}

static enum smp_status begin_hooks(jvmtiEnv *jvmti, JNIEnv *env)
{
    enum smp_status status = set_load_hook(JVMTI_ENABLE);

    if (status == SMP_OK)
        status = watch_redefinitions(jvmti, env);
    atomic_store(&instrumenter.mode, HOOKS_COUNT);
    smp_prepare_event_set(SMP_PREPARE_CALLS, true);
    return status;
}

/* Sets the mode, and waits until all threads have left the hooks of the former mode. Returns false
 * if one does not leave: a hook takes microseconds, unless its thread gets no CPU. */
static bool switch_hooks(enum hook_mode mode)
{
    const unsigned former = atomic_exchange(&instrumenter.mode, mode);
    _Atomic unsigned *const inside = &instrumenter.inside[former];
    const int64_t start_ns = smp_clock_ns();

    for (unsigned round = 0; atomic_load(inside) > 0 && smp_clock_ns() - start_ns < INSIDE_MOST_NS;
         round++)
        smp_backoff(round);
    return atomic_load(inside) == 0;
}

/* --- the thread: start --- */

static enum smp_status refuse_start(enum smp_status status, const char *why)
{
    (void)snprintf(instrumenter.start.message, SMP_PLAN_MESSAGE_BYTES,
                   "calls cannot be counted: %s", why);
    return status;
}

static enum smp_status add_calls_capabilities(jvmtiEnv *jvmti)
{
    jvmtiCapabilities potential = { 0 };
    jvmtiCapabilities wanted = { .can_retransform_classes = 1 };

    if ((*jvmti)->GetPotentialCapabilities(jvmti, &potential) != JVMTI_ERROR_NONE ||
        !potential.can_retransform_classes)
        return refuse_start(SMP_EUNSUPPORTED, "this JVM does not let loaded classes be changed");
    wanted.can_retransform_any_class = potential.can_retransform_any_class;
    wanted.can_get_constant_pool = potential.can_get_constant_pool; /* for lambdas */
    wanted.can_generate_all_class_hook_events = potential.can_generate_all_class_hook_events;
    if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE)
        return refuse_start(SMP_EUNSUPPORTED, "this JVM does not let loaded classes be changed");
    return SMP_OK;
}

/*
 * Retransforms one class before the batches. An older JVM discards all compiled code at the first
 * retransformation, unless it was prepared for one at its start, and the earlier this happens, the
 * less is compiled. The engine reports it. From then on the JVM can discard changed code alone, as
 * long as the capability is held; it is never released.
 */
static void retransform_early(jvmtiEnv *jvmti, JNIEnv *env)
{
    jclass type = NULL;

    if (instrumenter.thread.has_retransformed_early ||
        smp_jvm_version(jvmti) >= KEEPS_COMPILED_CODE)
        return;
    instrumenter.thread.has_retransformed_early = true;
    type = smp_jdk_class(env, "java/lang/Void");
    if (type == NULL)
        return;
    instrumenter.start.has_discarded_code =
        (*jvmti)->RetransformClasses(jvmti, 1, &type) == JVMTI_ERROR_NONE &&
        !instrumenter.thread.was_prepared;
    (*env)->DeleteLocalRef(env, type);
}

static enum smp_status refuse_hooks(enum smp_status status, const char *reason)
{
    return status != SMP_OK && reason[0] != '\0' ? refuse_start(status, reason) : status;
}

static enum smp_status open_calls(JNIEnv *env)
{
    struct smp_counting_plan *const plan = instrumenter.start.plan;
    const struct smp_call_options options = { .quota = plan->quota,
                                              .max_bytes = plan->max_bytes / NODES_SHARE,
                                              .nodes = plan->max_nodes,
                                              .depth = (int32_t)plan->max_depth,
                                              .is_exact = plan->timing == SMP_METHOD_TIMING_EXACT };
    const enum smp_status status = smp_call_arena_open(&options);
    char reason[SMP_HOOK_REASON_BYTES] = "";

    instrumenter.thread.has_opened_calls = status == SMP_OK;
    if (status == SMP_ESTATE)
        return refuse_start(status, "another sampler counts calls in this JVM");
    if (status != SMP_OK)
        return status;
    smp_call_arena_forget_seen();
    instrumenter.thread.news = smp_call_arena_news();
    return refuse_hooks(smp_hook_class_take(env, reason), reason);
}

static void with_graph(void (*act)(struct smp_call_graph *graph))
{
    smp_lock_acquire(&instrumenter.counted.lock);
    act(instrumenter.counted.graph);
    smp_lock_release(&instrumenter.counted.lock);
}

static enum smp_status open_instrumenter(jvmtiEnv *jvmti, JNIEnv *env)
{
    enum smp_status status = add_calls_capabilities(jvmti);
    char reason[SMP_HOOK_REASON_BYTES] = "";

    if (status == SMP_OK)
        status = refuse_hooks(smp_hook_class_open(env, note_reflected, reason), reason);
    instrumenter.counted.follows_reflection = smp_reflected_calls_open(env);
    if (status == SMP_OK)
        status = smp_counted_classes_open(&instrumenter.counted, instrumenter.start.plan);
    if (status == SMP_OK)
        status = open_calls(env);
    if (status != SMP_OK)
        return status;
    retransform_early(jvmti, env);
    smp_class_batches_init(&instrumenter.batches, &instrumenter.counted, &instrumenter.loaders);
    instrumenter.thread.pace = (struct smp_batch_pace){ 0 };
    instrumenter.thread.next_batch_ns = 0;
    status = begin_hooks(jvmti, env);
    /* Classes that are loaded during this pass are seen by the load hook, which is enabled. */
    if (status == SMP_OK)
        status = smp_loaded_classes_each(&instrumenter.loaders, jvmti, env, true, meet_loaded, env);
    if (status == SMP_OK)
        with_graph(smp_call_graph_follow_loaded);
    smp_reflected_calls_follow(&instrumenter.counted);
    for (int i = 0; status == SMP_OK && i < START_BATCHES &&
                    smp_counted_classes_has_pending(&instrumenter.counted);
         i++)
        (void)smp_class_batches_run(&instrumenter.batches, jvmti, env);
    with_graph(smp_call_graph_loaded_done);
    return status;
}

/* --- the thread: rounds --- */

static void unload_classes_of(SMP_UNUSED void *self, uint64_t loader)
{
    smp_lock_acquire(&instrumenter.counted.lock);
    smp_call_graph_unload_loader(instrumenter.counted.graph, loader);
    smp_lock_release(&instrumenter.counted.lock);
}

static void purge_loaders(JNIEnv *env)
{
    if (smp_clock_ns() - instrumenter.thread.purged_ns < PURGE_NS)
        return;
    instrumenter.thread.purged_ns = smp_clock_ns();
    /* Frees the entries of the last purge. Threads that enter now may see entries of this purge. */
    if (atomic_load(&instrumenter.inside[HOOKS_COUNT]) == 0)
        smp_class_loaders_free_deferred(&instrumenter.loaders, env);
    smp_class_loaders_purge(&instrumenter.loaders, env, unload_classes_of, NULL);
}

static void run_batch_if_due(JNIEnv *env)
{
    const int64_t start_ns = smp_clock_ns();

    if (start_ns < instrumenter.thread.next_batch_ns ||
        !smp_counted_classes_has_pending(&instrumenter.counted))
        return;
    if (smp_class_batches_run(&instrumenter.batches, smp_agent_jvmti(), env)) {
        const int64_t end_ns = smp_clock_ns();
        instrumenter.thread.next_batch_ns =
            end_ns + smp_batch_pace_wait_ns(&instrumenter.thread.pace, start_ns, end_ns);
    }
}

/* Notes first entries even if no batch may begin yet, so that has_work of the figures is right. */
static void do_round(JNIEnv *env)
{
    const uint32_t news = smp_call_arena_news();

    if (news != instrumenter.thread.news) {
        instrumenter.thread.news = news;
        smp_counted_classes_note_entries(&instrumenter.counted);
    }
    smp_reflected_calls_follow(&instrumenter.counted);
    run_batch_if_due(env);
    with_graph(smp_call_graph_loaded_done);
    purge_loaders(env);
}

static void publish_own_cpu(void)
{
    atomic_store(&instrumenter.own_cpu_ns, smp_clock_own_cpu_ns());
}

static void do_rounds(JNIEnv *env)
{
    while (!atomic_load(&instrumenter.is_stopping)) {
        const uint32_t calls = smp_event_calls(&instrumenter.event);
        if (!atomic_load(&instrumenter.is_stopping))
            smp_event_sleep(&instrumenter.event, calls, ROUND_NS);
        if (!atomic_load(&instrumenter.is_stopping) && smp_agent_is_live())
            do_round(env);
        publish_own_cpu();
    }
}

/* --- the thread: stop --- */

/* Returns false if a thread does not leave a hook. The probes then stay. */
static bool remove_probes(JNIEnv *env, bool is_live)
{
    if (instrumenter.batches.counted == NULL || !is_live)
        return true;
    if (!switch_hooks(HOOKS_REMOVE_PROBES))
        return false;
    smp_class_batches_remove_probes(&instrumenter.batches, smp_agent_jvmti(), env);
    return true;
}

/*
 * The load hook stays enabled while probes are removed. Otherwise the JVM would discard its copies
 * of the original class files, and generate class files from constant pools that contain
 * everything that was ever added.
 *
 * If a thread does not leave a hook, nothing is freed, and no session can count calls again.
 */
static void close_instrumenter(JNIEnv *env)
{
    const bool is_live = smp_agent_is_live();

    if (instrumenter.thread.has_opened_calls)
        smp_call_arena_close();
    smp_prepare_event_set(SMP_PREPARE_CALLS, false);
    const bool is_removed = remove_probes(env, is_live);
    /* Switches off even if a thread is stuck, so that no other thread enters a hook. */
    instrumenter.start.is_stuck = !switch_hooks(HOOKS_OFF) || !is_removed;
    if (!instrumenter.start.is_stuck) {
        smp_counted_classes_close(&instrumenter.counted);
        smp_class_loaders_close(&instrumenter.loaders, is_live ? env : NULL);
    }
    if (!atomic_load(&instrumenter.watches_redefinitions))
        (void)set_load_hook(JVMTI_DISABLE);
    instrumenter.thread.has_opened_calls = false;
    instrumenter.batches.counted = NULL;
}

static void run_instrumenter(SMP_UNUSED void *self)
{
    JNIEnv *env = smp_agent_env();

    instrumenter.start.has_run = true;
    atomic_store(&instrumenter.own_tid, smp_thread_own_tid());
    instrumenter.start.status = open_instrumenter(smp_agent_jvmti(), env);
    publish_own_cpu();
    if (instrumenter.start.status == SMP_OK) {
        smp_worker_ready(&instrumenter.worker);
        do_rounds(env);
    }
    close_instrumenter(env);
    atomic_store(&instrumenter.own_tid, 0);
}

/* --- callers --- */

static enum smp_status attach_instrumenter(SMP_UNUSED void *self, const char *thread_name)
{
    return smp_agent_attach(thread_name);
}

static void detach_instrumenter(SMP_UNUSED void *self)
{
    smp_agent_detach();
}

static enum smp_status start_worker(void)
{
    const struct smp_attach attach = { .stack_bytes = smp_agent_stack_bytes(),
                                       .enter = attach_instrumenter,
                                       .leave = detach_instrumenter };
    enum smp_status status = smp_worker_init(&instrumenter.worker, &attach, SMP_INSTRUMENTER_THREAD,
                                             run_instrumenter, NULL);

    if (status != SMP_OK)
        return status;
    instrumenter.start.status = SMP_ETHREAD;
    status = smp_worker_start(&instrumenter.worker);
    if (status == SMP_OK && instrumenter.start.status != SMP_OK) {
        smp_worker_join(&instrumenter.worker);
        status = instrumenter.start.status;
    }
    if (status != SMP_OK)
        smp_worker_fini(&instrumenter.worker);
    return status;
}

enum smp_status smp_instrumenter_start(struct smp_counting_plan *plan,
                                       char message[SMP_PLAN_MESSAGE_BYTES])
{
    enum smp_status status;

    message[0] = '\0';
    if (!smp_agent_is_live())
        return SMP_EPHASE;
    if (atomic_exchange(&instrumenter.is_taken, true)) {
        (void)snprintf(message, SMP_PLAN_MESSAGE_BYTES, "%s",
                       "calls cannot be counted: another sampler counts calls in this JVM");
        return SMP_ESTATE;
    }
    instrumenter.start.plan = plan;
    instrumenter.start.message = message;
    instrumenter.start.has_run = false;
    instrumenter.start.has_discarded_code = false;
    atomic_store(&instrumenter.is_stopping, false);
    status = start_worker();
    instrumenter.start.plan = NULL;
    instrumenter.start.message = NULL;
    if (status != SMP_OK) {
        if (message[0] == '\0')
            (void)snprintf(message, SMP_PLAN_MESSAGE_BYTES, "calls cannot be counted: %s",
                           smp_status_text(status));
        atomic_store(&instrumenter.is_taken,
                     instrumenter.start.has_run && instrumenter.start.is_stuck);
    }
    return status;
}

void smp_instrumenter_stop(void)
{
    atomic_store(&instrumenter.is_stopping, true);
    smp_event_call(&instrumenter.event);
    smp_worker_join(&instrumenter.worker);
    smp_worker_fini(&instrumenter.worker);
    /* Must come last: the next start reuses the worker. */
    atomic_store(&instrumenter.is_taken, instrumenter.start.is_stuck);
}

struct smp_counted_classes *smp_instrumenter_classes(void)
{
    return &instrumenter.counted;
}

void smp_instrumenter_get_figures(struct smp_counter_figures *out)
{
    struct smp_counted_classes *const counted = &instrumenter.counted;
    struct smp_call_graph_figures graph;

    smp_lock_acquire(&counted->lock);
    smp_call_graph_figures(counted->graph, &graph);
    *out = (struct smp_counter_figures){
        .batches = instrumenter.batches.batches,
        .methods = graph.methods,
        .is_root_entered = graph.is_root_entered,
        .has_work = smp_call_graph_has_pending(counted->graph),
        .has_discarded_code = instrumenter.start.has_discarded_code,
        .own_cpu_ns = atomic_load(&instrumenter.own_cpu_ns),
    };
    smp_lock_release(&counted->lock);
}
