/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/os_threads.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/decimal.h"
#include "base/hash_map.h"
#include "base/task_file.h"
#include "jvm/threads/cpu_demand.h"
#include "jvm/threads/cpu_supply.h"
#include "jvm/threads/kept_files.h"
#include "jvm/threads/run_queue.h"

enum {
    STAT_BYTES = 512,
    COMM_LENGTH = 15, /* of a thread's name in the kernel */
    CUT_HEAD = 7,     /* characters kept of a name that was cut in the middle */
    CUT_TAIL = 6
};

struct os_thread {
    int32_t tid; /* 0: a free slot */
    bool is_named;
    enum smp_os_thread_kind kind; /* valid if is_named, as name */
    int64_t cpu_ns;               /* at the last read, or when it ended as a Java thread */
    char name[SMP_OS_THREAD_NAME_BYTES];
};

struct smp_os_threads {
    struct smp_memory_budget budget;
    struct smp_hash_map known; /* of the last read, by tid */
    bool was_read;
    struct smp_cpu_demand demand;
    struct smp_kept_files stats;
    struct smp_run_queue run_queue;
};

/* --- names --- */

static const struct {
    const char *start;
    enum smp_os_thread_kind kind;
} STARTS[] = {
    { "GC Thread", SMP_OS_THREAD_GC },      { "G1 ", SMP_OS_THREAD_GC },
    { "ZDriver", SMP_OS_THREAD_GC },        { "ZDirect", SMP_OS_THREAD_GC },
    { "ZStat", SMP_OS_THREAD_GC },          { "ZUncomm", SMP_OS_THREAD_GC },
    { "ZUnmapp", SMP_OS_THREAD_GC },        { "ZWorker", SMP_OS_THREAD_GC },
    { "ZReserv", SMP_OS_THREAD_GC },        { "XDriver", SMP_OS_THREAD_GC },
    { "XWorker", SMP_OS_THREAD_GC },        { "Shenand", SMP_OS_THREAD_GC },
    { "C1 Comp", SMP_OS_THREAD_JIT },       { "C2 Comp", SMP_OS_THREAD_JIT },
    { "JVMCI", SMP_OS_THREAD_JIT },         { "Sweeper", SMP_OS_THREAD_JIT },
    { "VM Thread", SMP_OS_THREAD_VM },      { "VM Peri", SMP_OS_THREAD_VM },
    { "Referen", SMP_OS_THREAD_SERVICE },   { "Finaliz", SMP_OS_THREAD_SERVICE },
    { "Signal ", SMP_OS_THREAD_SERVICE },   { "Common-", SMP_OS_THREAD_SERVICE },
    { "Service", SMP_OS_THREAD_SERVICE },   { "Monitor ", SMP_OS_THREAD_SERVICE },
    { "Notific", SMP_OS_THREAD_SERVICE },   { "Attach ", SMP_OS_THREAD_SERVICE },
    { "JFR ", SMP_OS_THREAD_SERVICE },      { "threads-sampler", SMP_OS_THREAD_SAMPLER },
    { "threads..", SMP_OS_THREAD_SAMPLER },
};

enum smp_os_thread_kind smp_os_threads_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(STARTS) / sizeof(STARTS[0]); i++) {
        if (strncmp(name, STARTS[i].start, strlen(STARTS[i].start)) == 0)
            return STARTS[i].kind;
    }
    return SMP_OS_THREAD_OTHER;
}

/* Names that are longer than the kernel keeps. Some of them end in a number. */
static const char *const LONG_NAMES[] = {
    "Shenandoah GC Threads",      "Shenandoah Control Thread",
    "Shenandoah Uncommit Thread", "StringDedupProcessor",
    "C1 CompilerThread",          "C2 CompilerThread",
    "JVMCI CompilerThread",       "JVMCI-native CompilerThread",
    "VM Periodic Task Thread",    "Reference Handler",
    "Signal Dispatcher",          "Monitor Deflation Thread",
    "Notification Thread",        "JFR Recorder Thread",
    "JFR Periodic Tasks",         "JFR Thread Sampler",
    "JFR CPU Sampler Thread",     "idle-timeout-task", /* of jdk.httpserver */
};

/* Returns the length of the number at the end of comm, "0" or "#0"; 0 if there is none. */
static size_t comm_number_length(const char *comm)
{
    const size_t length = strlen(comm);
    size_t count = 0;

    while (count < CUT_TAIL && count < length && comm[length - 1 - count] >= '0' &&
           comm[length - 1 - count] <= '9')
        count++;
    return count + (count > 0 && count < CUT_TAIL && comm[length - 1 - count] == '#');
}

/* Returns whether comm is "1234567..123456" of a name that consists of whole and a number. */
static bool is_middle_cut(const char *comm, const char *whole, size_t number)
{
    const size_t tail = CUT_TAIL - number;
    const size_t length = strlen(whole);

    return strncmp(comm, whole, CUT_HEAD) == 0 && memcmp(comm + CUT_HEAD, "..", 2) == 0 &&
           length >= CUT_HEAD + tail &&
           memcmp(comm + COMM_LENGTH - CUT_TAIL, whole + length - tail, tail) == 0;
}

void smp_os_threads_whole_name(const char *comm, char name[SMP_OS_THREAD_NAME_BYTES])
{
    const size_t number = comm_number_length(comm);

    (void)snprintf(name, SMP_OS_THREAD_NAME_BYTES, "%s", comm);
    if (strlen(comm) != COMM_LENGTH)
        return;
    for (size_t i = 0; i < sizeof(LONG_NAMES) / sizeof(LONG_NAMES[0]); i++) {
        if (strncmp(comm, LONG_NAMES[i], COMM_LENGTH) == 0)
            (void)snprintf(name, SMP_OS_THREAD_NAME_BYTES, "%s", LONG_NAMES[i]);
        else if (is_middle_cut(comm, LONG_NAMES[i], number))
            (void)snprintf(name, SMP_OS_THREAD_NAME_BYTES, "%s%s", LONG_NAMES[i],
                           comm + COMM_LENGTH - number);
    }
}

/* Called only when a thread is reported: at the first read Java threads are not known yet, and
 * there may be thousands. */
static void read_os_thread_name(struct os_thread *os_thread)
{
    char comm[COMM_LENGTH + 2] = ""; /* with the newline */

    if (os_thread->is_named)
        return;
    os_thread->is_named = true;
    if (!smp_task_file_read(os_thread->tid, "comm", comm, sizeof(comm)))
        comm[0] = '\0';
    comm[strcspn(comm, "\n")] = '\0';
    smp_os_threads_whole_name(comm, os_thread->name);
    os_thread->kind = smp_os_threads_kind(comm);
}

/* --- reading --- */

static uint64_t os_thread_key(const void *slot)
{
    return (uint64_t)((const struct os_thread *)slot)->tid;
}

static const struct smp_hash_slots os_thread_slots = { .bytes = sizeof(struct os_thread),
                                                       .used_at = offsetof(struct os_thread, tid),
                                                       .eighths = 4,
                                                       .key = os_thread_key };

/* The state of one read. */
struct reading {
    struct smp_os_threads *os_threads;
    struct smp_hash_map seen;
    smp_is_java_tid *is_java;
    smp_on_os_thread *used;
    void *context;
};

static struct os_thread *find_os_thread(const struct smp_os_threads *os_threads, int32_t tid)
{
    return smp_hash_map_find(&os_threads->known, &os_thread_slots, (uint64_t)tid);
}

/* Returns the thread's entry of the last read, or a new one. */
static struct os_thread known_os_thread(const struct smp_os_threads *os_threads, int32_t tid,
                                        int64_t cpu_ns)
{
    const struct os_thread *known = find_os_thread(os_threads, tid);

    /* A clock that went back belongs to another thread with the same tid. */
    if (known != NULL && known->cpu_ns <= cpu_ns)
        return *known;
    return (struct os_thread){ .tid = tid };
}

/* Returns false if the table cannot grow. */
static bool read_os_thread(struct reading *reading, int32_t tid)
{
    struct os_thread os_thread;
    int64_t cpu_ns = 0;
    int64_t more_ns;

    if (reading->is_java(reading->context, tid) || !smp_clock_thread_cpu_ns(tid, &cpu_ns))
        return true;
    if (reading->seen.count >= SMP_OS_THREADS_MAX ||
        !smp_hash_map_reserve(&reading->seen, &os_thread_slots, &reading->os_threads->budget, 1))
        return false;
    os_thread = known_os_thread(reading->os_threads, tid, cpu_ns);
    more_ns = cpu_ns - os_thread.cpu_ns;
    os_thread.cpu_ns = cpu_ns;
    if (reading->os_threads->was_read && more_ns > 0) {
        read_os_thread_name(&os_thread);
        reading->used(reading->context, os_thread.kind, SMP_SERIAL_OTHER | (uint32_t)tid,
                      os_thread.name, more_ns);
    }
    *(struct os_thread *)smp_hash_map_put(&reading->seen, &os_thread_slots, (uint64_t)tid) =
        os_thread;
    return true;
}

/* Returns false if the process's threads cannot be listed. */
static bool read_each_os_thread(struct reading *reading)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry = NULL;
    bool goes_on = true;

    if (folder == NULL)
        return false;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own */
    while (goes_on && (entry = readdir(folder)) != NULL) {
        const char *end = NULL;
        const uint32_t tid = smp_decimal_parse(entry->d_name, &end); /* 0 for "." and ".." */
        goes_on = tid == 0 || read_os_thread(reading, (int32_t)tid);
    }
    (void)closedir(folder);
    return true;
}

static void read_os_threads(void *self, smp_is_java_tid *is_java, smp_on_os_thread *used,
                            void *context)
{
    struct smp_os_threads *os_threads = self;
    struct reading reading = {
        .os_threads = os_threads, .is_java = is_java, .used = used, .context = context
    };

    if (!smp_hash_map_reserve(&reading.seen, &os_thread_slots, &os_threads->budget,
                              os_threads->known.count + 1))
        return;
    if (!read_each_os_thread(&reading)) {
        smp_hash_map_fini(&reading.seen, &os_thread_slots, &os_threads->budget);
        return;
    }
    smp_hash_map_fini(&os_threads->known, &os_thread_slots, &os_threads->budget);
    os_threads->known = reading.seen;
    os_threads->was_read = true;
}

/* Returns NULL without memory. */
static struct os_thread *add_os_thread(struct smp_os_threads *os_threads, int32_t tid)
{
    struct os_thread *added = NULL;

    if (os_threads->known.count >= SMP_OS_THREADS_MAX ||
        !smp_hash_map_reserve(&os_threads->known, &os_thread_slots, &os_threads->budget, 1))
        return NULL;
    added = smp_hash_map_put(&os_threads->known, &os_thread_slots, (uint64_t)tid);
    *added = (struct os_thread){ .tid = tid };
    return added;
}

/* Without memory the next read only notes the clocks, and reports nothing: it is better to lose
 * time than to report it twice. */
static void begin_where_java_ended(void *self, int32_t tid)
{
    struct smp_os_threads *os_threads = self;
    struct os_thread *os_thread = NULL;
    int64_t cpu_ns = 0;

    if (!os_threads->was_read || !smp_clock_thread_cpu_ns(tid, &cpu_ns))
        return;
    os_thread = find_os_thread(os_threads, tid);
    if (os_thread == NULL)
        os_thread = add_os_thread(os_threads, tid);
    if (os_thread != NULL)
        os_thread->cpu_ns = cpu_ns;
    else
        os_threads->was_read = false;
}

static bool does_task_run(struct smp_kept_files *stats, int32_t tid)
{
    char text[STAT_BYTES];
    const char *name_end;

    if (!smp_kept_files_read(stats, tid, text, sizeof(text)))
        return false;
    /* "<tid> (<name>) <state> ...": a name may hold anything, but no later field does. */
    name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'R';
}

static bool may_task_wait(void *self, int32_t tid)
{
    struct smp_os_threads *os_threads = self;

    return smp_cpu_demand_may_wait(&os_threads->demand) && does_task_run(&os_threads->stats, tid);
}

static bool read_queued_ns(void *self, int32_t tid, int64_t *ns)
{
    return smp_run_queue_read(&((struct smp_os_threads *)self)->run_queue, tid, ns);
}

static int64_t read_throttled_ns(void *self)
{
    (void)self;
    return smp_cpu_quota_throttled_ns();
}

static uint32_t read_quota_milli(void *self)
{
    (void)self;
    return smp_cpu_quota_milli();
}

static void read_machine_time(void *self, struct smp_machine_time *out)
{
    (void)self;
    smp_machine_time_read(out);
}

/* Returns whether this is the number of an input or output system call. */
static bool is_io_call(long number)
{
    static const long calls[] = {
        SYS_read,      SYS_write,   SYS_pread64,     SYS_pwrite64, SYS_readv,
        SYS_writev,    SYS_ppoll,   SYS_accept4,     SYS_accept,   SYS_connect,
        SYS_recvfrom,  SYS_recvmsg, SYS_sendto,      SYS_sendmsg,  SYS_fsync,
        SYS_fdatasync, SYS_openat,  SYS_epoll_pwait, SYS_sendfile, SYS_pselect6,
#ifdef SYS_poll /* not on AArch64 */
        SYS_poll,      SYS_open,    SYS_epoll_wait,  SYS_select,
#endif
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (calls[i] == number)
            return true;
    }
    return false;
}

/* "<number> <arguments ...>", or "running". */
static bool is_task_in_io(void *self, int32_t tid)
{
    char text[STAT_BYTES];
    const char *end = NULL;

    (void)self;
    if (!smp_task_file_read(tid, "syscall", text, sizeof(text)) || text[0] < '0' || text[0] > '9')
        return false;
    const uint32_t number = text[0] == '0' && text[1] == ' ' ? 0 : smp_decimal_parse(text, &end);
    return is_io_call((long)number);
}

/* --- life --- */

enum smp_status smp_os_threads_create(struct smp_os_threads **out)
{
    struct smp_os_threads *os_threads = smp_alloc(NULL, sizeof(*os_threads));

    if (os_threads == NULL)
        return SMP_ENOMEM;
    smp_cpu_demand_init(&os_threads->demand);
    smp_kept_files_init(&os_threads->stats, "stat");
    smp_run_queue_init(&os_threads->run_queue);
    os_threads->budget.max_bytes = SIZE_MAX; /* SMP_OS_THREADS_MAX is the limit */
    *out = os_threads;
    return SMP_OK;
}

void smp_os_threads_destroy(struct smp_os_threads *os_threads)
{
    if (os_threads == NULL)
        return;
    smp_cpu_demand_fini(&os_threads->demand);
    smp_kept_files_fini(&os_threads->stats);
    smp_run_queue_fini(&os_threads->run_queue);
    smp_hash_map_fini(&os_threads->known, &os_thread_slots, &os_threads->budget);
    smp_free(NULL, os_threads);
}

struct smp_os_thread_source smp_os_threads_source(struct smp_os_threads *os_threads)
{
    return (struct smp_os_thread_source){
        .read = read_os_threads,
        .java_ended = begin_where_java_ended,
        .is_runnable = may_task_wait,
        .queued_ns = os_threads->run_queue.is_known ? read_queued_ns : NULL,
        .throttled_ns = read_throttled_ns,
        .quota_milli = read_quota_milli,
        .machine_time = read_machine_time,
        .is_in_io = is_task_in_io,
        .self = os_threads,
    };
}
