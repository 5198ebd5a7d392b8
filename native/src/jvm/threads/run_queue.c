/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/run_queue.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/thread.h"

enum { PATH_BYTES = 64, TEXT_BYTES = 96, DECIMAL = 10 };

/* By all queues of the process. */
static _Atomic uint32_t kept_files;

static const char *parse_number(const char *at, uint64_t *number)
{
    *number = 0;
    while (*at >= '0' && *at <= '9')
        *number = *number * DECIMAL + (uint64_t)(*at++ - '0');
    return at;
}

bool smp_run_queue_parse(const char *text, int64_t *ns)
{
    uint64_t on_cpu = 0;
    uint64_t waiting = 0;
    const char *at = parse_number(text, &on_cpu);

    if (*at != ' ' || on_cpu == 0)
        return false; /* a thread that reads has run */
    at = parse_number(at + 1, &waiting);
    if (*at != ' ' || waiting > INT64_MAX)
        return false;
    *ns = (int64_t)waiting;
    return true;
}

static int open_schedstat(int32_t tid)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", (int)tid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_file(int fd, int64_t *ns)
{
    char text[TEXT_BYTES];
    const ssize_t length = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

    if (length <= 0)
        return false;
    text[length] = '\0';
    return smp_run_queue_parse(text, ns);
}

static void close_file(struct smp_run_queue_file *file)
{
    if (file->tid != 0) {
        (void)close(file->fd);
        atomic_fetch_sub(&kept_files, 1);
    }
    *file = (struct smp_run_queue_file){ 0 };
}

/* False: it cannot be opened, or the queues keep as many as they may. */
static bool keep_file(const struct smp_run_queue *queue, struct smp_run_queue_file *file,
                      int32_t tid)
{
    int fd = -1;

    if (atomic_fetch_add(&kept_files, 1) < queue->most)
        fd = open_schedstat(tid);
    if (fd < 0) {
        atomic_fetch_sub(&kept_files, 1);
        return false;
    }
    *file = (struct smp_run_queue_file){ .tid = tid, .fd = fd, .used = queue->reads };
    return true;
}

static bool read_once(int32_t tid, int64_t *ns)
{
    const int fd = open_schedstat(tid);
    const bool is_read = read_file(fd, ns);

    if (fd >= 0)
        (void)close(fd);
    return is_read;
}

/* The thread's file, or the one of its set that was not read for the longest time. */
static struct smp_run_queue_file *choose_file(struct smp_run_queue *queue, int32_t tid)
{
    struct smp_run_queue_file *const set =
        &queue->files[(uint32_t)tid % queue->sets * SMP_RUN_QUEUE_WAYS];
    struct smp_run_queue_file *chosen = set;

    for (int i = 0; i < SMP_RUN_QUEUE_WAYS; i++) {
        if (set[i].tid == tid)
            return &set[i];
        if (set[i].used < chosen->used)
            chosen = &set[i];
    }
    return chosen;
}

bool smp_run_queue_read(struct smp_run_queue *queue, int32_t tid, int64_t *ns)
{
    struct smp_run_queue_file *file;

    if (!queue->is_known)
        return false;
    if (queue->sets == 0)
        return read_once(tid, ns);
    file = choose_file(queue, tid);
    file->used = ++queue->reads;
    if (file->tid == tid && read_file(file->fd, ns))
        return true;
    /* Another thread's; or that of a thread which has ended, whose number this one has now. */
    close_file(file);
    return keep_file(queue, file, tid) ? read_file(file->fd, ns) : read_once(tid, ns);
}

static uint32_t most_files(void)
{
    struct rlimit limit = { 0 };
    uint64_t files = SMP_RUN_QUEUE_FILES;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    if (limit.rlim_cur / SMP_RUN_QUEUE_LIMIT_SHARE < files)
        files = limit.rlim_cur / SMP_RUN_QUEUE_LIMIT_SHARE;
    return (uint32_t)files;
}

void smp_run_queue_init(struct smp_run_queue *queue)
{
    int64_t ns = 0;

    *queue = (struct smp_run_queue){ .most = most_files() };
    queue->sets = queue->most / SMP_RUN_QUEUE_WAYS;
    queue->is_known = read_once(smp_thread_own_tid(), &ns);
}

void smp_run_queue_fini(struct smp_run_queue *queue)
{
    for (int i = 0; i < SMP_RUN_QUEUE_FILES; i++)
        close_file(&queue->files[i]);
}
