/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of this process, named as the JVM names its threads. */
#include "jvm/threads/os_threads.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "support/failing_alloc.h"
#include "support/one_cpu.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

struct worker {
    const char *name;
    int64_t burn_ns; /* CPU time */
    pthread_t thread;
    _Atomic int32_t tid;
    atomic_bool burns_on; /* whatever CPU time it has used */
    /* It sleeps until it may continue: a wait that polls uses more CPU time the longer it
     * lasts. */
    sem_t has_begun;
    sem_t may_burn;
    sem_t has_burnt;
    sem_t may_end;
};

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ;
}

static void *work(void *self)
{
    struct worker *worker = self;

    (void)pthread_setname_np(pthread_self(), worker->name);
    atomic_store(&worker->tid, gettid());
    (void)sem_post(&worker->has_begun);
    await(&worker->may_burn);
    const int64_t end_ns = smp_clock_own_cpu_ns() + worker->burn_ns;
    while (smp_clock_own_cpu_ns() < end_ns || atomic_load(&worker->burns_on))
        ;
    (void)sem_post(&worker->has_burnt);
    await(&worker->may_end);
    return NULL;
}

static void start(struct worker *worker)
{
    assert_int_equal(sem_init(&worker->has_begun, 0, 0), 0);
    assert_int_equal(sem_init(&worker->may_burn, 0, 0), 0);
    assert_int_equal(sem_init(&worker->has_burnt, 0, 0), 0);
    assert_int_equal(sem_init(&worker->may_end, 0, 0), 0);
    assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
    await(&worker->has_begun);
}

static void burn(struct worker *worker)
{
    (void)sem_post(&worker->may_burn);
    await(&worker->has_burnt);
}

static void end(struct worker *worker)
{
    (void)sem_post(&worker->may_end);
    (void)pthread_join(worker->thread, NULL);
}

/* Returns all CPU time that it has used. The part beyond the intended time depends on the machine:
 * the clock advances while a virtual machine has lost its CPU. */
static int64_t used_by(const struct worker *worker)
{
    int64_t cpu_ns = 0;

    assert_true(smp_clock_thread_cpu_ns(worker->tid, &cpu_ns));
    return cpu_ns;
}

static int64_t used_by_process(void)
{
    struct timespec used;

    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
    return (int64_t)used.tv_sec * SECOND + used.tv_nsec;
}

struct result {
    int32_t java_tid; /* registered as a Java thread */
    int64_t cpu_ns[SMP_OS_THREAD_KIND_COUNT];
    uint64_t ids[64];
    size_t count;
};

static bool is_java(void *context, int32_t tid)
{
    return ((struct result *)context)->java_tid == tid;
}

static void used(void *context, enum smp_os_thread_kind kind, uint64_t id, const char *name,
                 int64_t cpu_ns)
{
    struct result *result = context;

    if (kind == SMP_OS_THREAD_JIT)
        assert_string_equal(name, "C2 CompilerThread");
    assert_true(strlen(name) < SMP_OS_THREAD_NAME_BYTES);
    result->cpu_ns[kind] += cpu_ns;
    result->ids[result->count++] = id;
}

static struct result read_now(struct smp_os_threads *os_threads, int32_t java_tid)
{
    const struct smp_os_thread_source source = smp_os_threads_source(os_threads);
    struct result result = { .java_tid = java_tid };

    source.read(source.self, is_java, used, &result);
    return result;
}

static void each_read_reports_the_time_since_the_last_one(void **state)
{
    struct worker gc = { .name = "GC Thread#0", .burn_ns = 30 * MS };
    struct worker java = { .name = "worker-1", .burn_ns = 300 * MS };
    struct worker late = { .name = "C2 CompilerThre", .burn_ns = 25 * MS };
    struct smp_os_threads *os_threads = NULL;

    (void)state;
    assert_int_equal(smp_os_threads_create(&os_threads), SMP_OK);
    start(&gc);
    start(&java);
    const int64_t gc_before_ns = used_by(&gc);
    const int64_t before_ns = used_by_process();
    assert_int_equal(read_now(os_threads, java.tid).count, 0); /* the first read only begins */
    const int64_t gc_begin_ns = used_by(&gc);
    const int64_t java_begin_ns = used_by(&java);
    burn(&gc);
    burn(&java);
    const int64_t java_burnt_ns = used_by(&java) - java_begin_ns;
    start(&late);
    burn(&late);
    const int64_t gc_burnt_ns = used_by(&gc);
    const int64_t late_burnt_ns = used_by(&late);
    const struct result result = read_now(os_threads, java.tid);
    assert_in_range(result.cpu_ns[SMP_OS_THREAD_GC], gc_burnt_ns - gc_begin_ns,
                    used_by(&gc) - gc_before_ns);
    assert_true(result.cpu_ns[SMP_OS_THREAD_GC] >= 30 * MS);
    /* New since the last read: all CPU time that it has ever used. */
    assert_in_range(result.cpu_ns[SMP_OS_THREAD_JIT], late_burnt_ns, used_by(&late));
    assert_int_equal(result.cpu_ns[SMP_OS_THREAD_VM], 0);
    /* This thread is of no known kind, and the Java thread is not counted. */
    assert_in_range(result.cpu_ns[SMP_OS_THREAD_OTHER], 0,
                    used_by_process() - before_ns - java_burnt_ns);
    for (size_t i = 0; i < result.count; i++)
        assert_true(result.ids[i] > INT64_MAX);
    end(&late);
    /* Its time is not reported twice, neither while it waits nor after its end. */
    const int64_t later_ns = used_by_process();
    const struct result later = read_now(os_threads, java.tid);
    assert_in_range(later.cpu_ns[SMP_OS_THREAD_GC], 0, used_by(&gc) - gc_burnt_ns);
    end(&gc);
    const struct result last = read_now(os_threads, java.tid);
    assert_in_range(last.cpu_ns[SMP_OS_THREAD_GC], 0, used_by_process() - later_ns);
    end(&java);
    smp_os_threads_destroy(os_threads);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

/* As for a thread that native code attaches and detaches for each call of Java. */
static void time_as_a_java_thread_is_not_reported(void **state)
{
    (void)state;
    for (int was_native = 0; was_native < 2; was_native++) {
        struct worker worker = { .name = "G1 native", .burn_ns = 100 * MS };
        struct smp_os_threads *os_threads = NULL;
        assert_int_equal(smp_os_threads_create(&os_threads), SMP_OK);
        const struct smp_os_thread_source source = smp_os_threads_source(os_threads);
        start(&worker);
        source.java_ended(source.self, worker.tid); /* before the first read: no effect */
        (void)read_now(os_threads, was_native == 0 ? worker.tid : 0);
        burn(&worker);
        const int64_t burnt_ns = used_by(&worker);
        source.java_ended(source.self, worker.tid);
        const struct result result = read_now(os_threads, 0);
        assert_in_range(result.cpu_ns[SMP_OS_THREAD_GC], 0, used_by(&worker) - burnt_ns);
        end(&worker);
        source.java_ended(source.self, worker.tid); /* there is no such thread */
        smp_os_threads_destroy(os_threads);
    }
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

/* So that thousands of Java threads that are not yet known at the first read cost no file each. */
static void a_name_is_read_when_it_is_reported_first(void **state)
{
    struct worker worker = { .name = "not yet", .burn_ns = 30 * MS };
    struct smp_os_threads *os_threads = NULL;

    (void)state;
    assert_int_equal(smp_os_threads_create(&os_threads), SMP_OK);
    start(&worker);
    (void)read_now(os_threads, 0);
    assert_int_equal(pthread_setname_np(worker.thread, "GC Thread#1"), 0);
    burn(&worker);
    assert_true(read_now(os_threads, 0).cpu_ns[SMP_OS_THREAD_GC] >= 30 * MS);
    end(&worker);
    smp_os_threads_destroy(os_threads);
}

static int64_t count_gc_ns;

static void used_by_gc(void *context, enum smp_os_thread_kind kind, uint64_t id, const char *name,
                       int64_t cpu_ns)
{
    (void)context;
    (void)id;
    (void)name;
    count_gc_ns += kind == SMP_OS_THREAD_GC ? cpu_ns : 0;
}

static void many_threads_fit_and_a_refusal_loses_nothing(void **state)
{
    enum { THREADS = 150 };
    static struct worker workers[THREADS];
    struct failing_alloc failing;
    struct smp_os_threads *os_threads = NULL;
    struct result result = { .java_tid = 0 };

    (void)state;
    assert_int_equal(smp_os_threads_create(&os_threads), SMP_OK);
    const struct smp_os_thread_source source = smp_os_threads_source(os_threads);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .name = "G1 Conc#1", .burn_ns = MS / 10 };
        start(&workers[i]);
    }
    source.read(source.self, is_java, used_by_gc, &result);
    count_gc_ns = 0;
    for (int i = 0; i < THREADS; i++)
        burn(&workers[i]);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    source.read(source.self, is_java, used_by_gc, &result);
    failing_alloc_disarm(&failing);
    assert_int_equal(count_gc_ns, 0);
    source.read(source.self, is_java, used_by_gc, &result);
    assert_true(count_gc_ns >= THREADS * MS / 10);
    for (int i = 0; i < THREADS; i++)
        end(&workers[i]);
    smp_os_threads_destroy(os_threads);
}

/* That is better than time reported twice. */
static void after_an_end_without_memory_the_next_read_reports_nothing(void **state)
{
    enum { THREADS = 40 }; /* more than the first table holds */
    static struct worker workers[THREADS];
    struct failing_alloc failing;
    struct smp_os_threads *os_threads = NULL;

    (void)state;
    assert_int_equal(smp_os_threads_create(&os_threads), SMP_OK);
    const struct smp_os_thread_source source = smp_os_threads_source(os_threads);
    (void)read_now(os_threads, 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .name = "G1 native", .burn_ns = MS / 10 };
        start(&workers[i]);
        burn(&workers[i]);
    }
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    for (int i = 0; i < THREADS; i++)
        source.java_ended(source.self, workers[i].tid);
    failing_alloc_disarm(&failing);
    assert_int_equal(read_now(os_threads, 0).count, 0);
    for (int i = 0; i < THREADS; i++)
        end(&workers[i]);
    smp_os_threads_destroy(os_threads);
}

static void kinds_follow_from_the_beginning_of_names(void **state)
{
    static const struct {
        const char *name;
        enum smp_os_thread_kind kind;
    } cases[] = {
        { "GC Thread#12", SMP_OS_THREAD_GC },
        { "G1 Main Marker", SMP_OS_THREAD_GC },
        { "ZWorkerYoung#1", SMP_OS_THREAD_GC },
        { "C1 CompilerThre", SMP_OS_THREAD_JIT },
        { "C2 Comp..hread0", SMP_OS_THREAD_JIT },
        { "VM Thread", SMP_OS_THREAD_VM },
        { "VM Periodic Tas", SMP_OS_THREAD_VM },
        { "VM Peri..k Thread", SMP_OS_THREAD_VM },
        { "Signal Dispatch", SMP_OS_THREAD_SERVICE },
        { "Signal ..patcher", SMP_OS_THREAD_SERVICE },
        { "threads-sampler", SMP_OS_THREAD_SAMPLER },
        { "java", SMP_OS_THREAD_OTHER },
        { "", SMP_OS_THREAD_OTHER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(smp_os_threads_kind(cases[i].name), cases[i].kind);
}

static void cut_names_are_completed(void **state)
{
    static const struct {
        const char *comm;
        const char *name;
    } cases[] = {
        { "C2 CompilerThre", "C2 CompilerThread" },
        { "C2 Comp..hread0", "C2 CompilerThread0" },
        { "C1 Comp..read12", "C1 CompilerThread12" },
        { "VM Periodic Tas", "VM Periodic Task Thread" },
        { "VM Peri..Thread", "VM Periodic Task Thread" },
        { "Shenandoah GC T", "Shenandoah GC Threads" },
        { "Shenand..eads#1", "Shenandoah GC Threads#1" },
        { "Shenandoah Cont", "Shenandoah Control Thread" },
        { "Monitor Deflati", "Monitor Deflation Thread" },
        { "JVMCI-native Co", "JVMCI-native CompilerThread" },
        { "JVMCI-n..d12345", "JVMCI-native CompilerThread12345" },
        { "GC Thread#0", "GC Thread#0" },
        { "G1 Main Marker", "G1 Main Marker" },
        { "Attach Listener", "Attach Listener" },
        { "threads-sampler", "threads-sampler" },
        { "C2 Comp..123456", "C2 CompilerThread123456" },
        { "C2 Comp..hreads", "C2 Comp..hreads" },
        { "a name of 15 by", "a name of 15 by" },
        { "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[SMP_OS_THREAD_NAME_BYTES];
        smp_os_threads_whole_name(cases[i].comm, name);
        assert_int_equal(strncmp(name, cases[i].name, sizeof(name) - 1), 0);
    }
}

/* Reads until the state is the wanted one: a thread needs a CPU in order to fall asleep. */
static bool becomes_runnable(const struct smp_os_thread_source *source, int32_t tid, bool wanted)
{
    const int64_t end_ns = smp_clock_ns() + 120 * SECOND;

    do {
        if (source->is_runnable(source->self, tid) == wanted)
            return true;
        usleep(50);
    } while (smp_clock_ns() < end_ns);
    return false;
}

/* The running thread and this one share a CPU, so it always waits when this thread reads. */
static void a_thread_that_waits_for_a_cpu_is_runnable(void **state)
{
    struct worker worker = { .name = "odd ) R name (", .burns_on = true };
    struct smp_os_threads *os_threads = NULL;
    cpu_set_t before;

    (void)state;
    confine_to_one_cpu(&before);
    assert_int_equal(smp_os_threads_create(&os_threads), SMP_OK);
    const struct smp_os_thread_source source = smp_os_threads_source(os_threads);
    start(&worker);
    assert_true(becomes_runnable(&source, worker.tid, false));
    (void)sem_post(&worker.may_burn);
    assert_true(becomes_runnable(&source, worker.tid, true));
    atomic_store(&worker.burns_on, false);
    end(&worker);
    /* A joined thread may still be listed for a moment. */
    assert_true(becomes_runnable(&source, worker.tid, false));
    assert_false(source.is_runnable(source.self, 0));
    smp_os_threads_destroy(os_threads);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static enum smp_status create_and_destroy(void *self)
{
    struct smp_os_threads *os_threads = NULL;
    const enum smp_status status = smp_os_threads_create(&os_threads);

    (void)self;
    smp_os_threads_destroy(os_threads);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    (void)state;
    assert_int_equal(failing_alloc_each_step(create_and_destroy, NULL).refused, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_read_reports_the_time_since_the_last_one),
        cmocka_unit_test(time_as_a_java_thread_is_not_reported),
        cmocka_unit_test(a_name_is_read_when_it_is_reported_first),
        cmocka_unit_test(many_threads_fit_and_a_refusal_loses_nothing),
        cmocka_unit_test(after_an_end_without_memory_the_next_read_reports_nothing),
        cmocka_unit_test(kinds_follow_from_the_beginning_of_names),
        cmocka_unit_test(cut_names_are_completed),
        cmocka_unit_test(a_thread_that_waits_for_a_cpu_is_runnable),
        cmocka_unit_test(each_allocation_may_be_refused),
    };
    return cmocka_run_group_tests_name("os_threads", tests, NULL, NULL);
}
