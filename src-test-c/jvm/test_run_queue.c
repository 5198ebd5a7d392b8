/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jvm/threads/run_queue.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

#include "base/thread.h"

enum { THREADS = 400 };

static size_t open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count;
}

static void figures_of_the_kernel_are_read(void **state)
{
    int64_t ns = -1;

    (void)state;
    assert_true(smp_run_queue_parse("1234 5678 9\n", &ns));
    assert_int_equal(ns, 5678);
    assert_true(smp_run_queue_parse("1 0 1\n", &ns));
    assert_int_equal(ns, 0);
}

static void a_kernel_without_figures_is_refused(void **state)
{
    static const char *const texts[] = { "", "\n", "0 0 0\n", "12", "12 ", "x 1 2", "1,2 3" };
    int64_t ns = 4711;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_false(smp_run_queue_parse(texts[i], &ns));
    assert_int_equal(ns, 4711);
}

/* Threads that wait, with their ids. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int32_t tids[THREADS];
    size_t count;
    bool is_over;
} crowd = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *wait_in_crowd(void *unused)
{
    pthread_mutex_lock(&crowd.mutex);
    crowd.tids[crowd.count++] = smp_thread_own_tid();
    pthread_cond_broadcast(&crowd.changed);
    while (!crowd.is_over)
        pthread_cond_wait(&crowd.changed, &crowd.mutex);
    pthread_mutex_unlock(&crowd.mutex);
    return unused;
}

static void start_crowd(pthread_t threads[THREADS])
{
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_in_crowd, NULL), 0);
    pthread_mutex_lock(&crowd.mutex);
    while (crowd.count < THREADS)
        pthread_cond_wait(&crowd.changed, &crowd.mutex);
    pthread_mutex_unlock(&crowd.mutex);
}

static void end_crowd(const pthread_t threads[THREADS])
{
    pthread_mutex_lock(&crowd.mutex);
    crowd.is_over = true;
    pthread_cond_broadcast(&crowd.changed);
    pthread_mutex_unlock(&crowd.mutex);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void read_crowd(struct smp_run_queue *queue, bool lives)
{
    for (size_t i = 0; i < THREADS; i++) {
        int64_t ns = 0;
        assert_int_equal(smp_run_queue_read(queue, crowd.tids[i], &ns), lives);
    }
}

/* With a limit of the process's files: how many may stay open. */
static void assert_keeps(rlim_t limit, size_t most)
{
    static struct smp_run_queue queue;
    struct rlimit before;
    struct rlimit small;
    size_t files;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    small = before;
    small.rlim_cur = limit;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
    files = open_files();
    smp_run_queue_init(&queue);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (queue.is_known) {
        read_crowd(&queue, true);
        read_crowd(&queue, true);
        assert_in_range(open_files() - files, most / 2, most);
    }
    smp_run_queue_fini(&queue);
    assert_int_equal(open_files(), files);
}

/* The limit is one for all of them. */
static void assert_two_keep_as_many_as_one(void)
{
    static struct smp_run_queue queues[2];
    const size_t files = open_files();

    for (int i = 0; i < 2; i++)
        smp_run_queue_init(&queues[i]);
    if (queues[0].is_known) {
        for (int i = 0; i < 4; i++)
            read_crowd(&queues[i % 2], true);
        assert_in_range(open_files() - files, queues[0].most / 2, queues[0].most);
    }
    for (int i = 0; i < 2; i++)
        smp_run_queue_fini(&queues[i]);
    assert_int_equal(open_files(), files);
}

static void files_of_threads_stay_open_up_to_a_limit(void **state)
{
    static struct smp_run_queue queue;
    pthread_t threads[THREADS];

    (void)state;
    start_crowd(threads);
    assert_keeps(1024, SMP_RUN_QUEUE_FILES);
    assert_keeps(400, 100);
    assert_keeps(32, 8);
    assert_two_keep_as_many_as_one();
    smp_run_queue_init(&queue);
    if (queue.is_known)
        read_crowd(&queue, true);
    end_crowd(threads);
    if (queue.is_known)
        read_crowd(&queue, false); /* they have ended */
    smp_run_queue_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_the_kernel_are_read),
        cmocka_unit_test(a_kernel_without_figures_is_refused),
        cmocka_unit_test(files_of_threads_stay_open_up_to_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
