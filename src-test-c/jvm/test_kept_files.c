/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jvm/threads/kept_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/thread.h"

enum { THREADS = 400, TEXT_BYTES = 512 };

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

/* Waiting threads and their ids. */
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

static void read_crowd(struct smp_kept_files *kept, bool lives)
{
    for (size_t i = 0; i < THREADS; i++) {
        char text[TEXT_BYTES];
        assert_int_equal(smp_kept_files_read(kept, crowd.tids[i], text, sizeof(text)), lives);
    }
}

/* Returns how many files of the crowd are kept: a set keeps at most SMP_KEPT_FILES_WAYS. */
static size_t files_in_sets(uint32_t sets)
{
    size_t in_set[SMP_KEPT_FILES] = { 0 };
    size_t count = 0;

    for (size_t i = 0; i < THREADS; i++) {
        if (in_set[(uint32_t)crowd.tids[i] % sets]++ < SMP_KEPT_FILES_WAYS)
            count++;
    }
    return count;
}

/* Sets a limit of the process's files and asserts how many remain open. */
static void assert_keeps(rlim_t limit, uint32_t most)
{
    static struct smp_kept_files kept;
    struct rlimit before;
    struct rlimit small;
    size_t files;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    small = before;
    small.rlim_cur = limit;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
    files = open_files();
    smp_kept_files_init(&kept, "stat");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    read_crowd(&kept, true);
    read_crowd(&kept, true);
    assert_int_equal(kept.most, most);
    assert_int_equal(open_files() - files, files_in_sets(kept.sets));
    smp_kept_files_fini(&kept);
    assert_int_equal(open_files(), files);
}

/* The limit applies to all instances together. */
static void assert_two_keep_as_many_as_one(void)
{
    static struct smp_kept_files kept[2];
    const size_t files = open_files();

    for (int i = 0; i < 2; i++)
        smp_kept_files_init(&kept[i], i == 0 ? "stat" : "comm");
    for (int i = 0; i < 4; i++)
        read_crowd(&kept[i % 2], true);
    assert_in_range(open_files() - files, files_in_sets(kept[0].sets), kept[0].most);
    for (int i = 0; i < 2; i++)
        smp_kept_files_fini(&kept[i]);
    assert_int_equal(open_files(), files);
}

static void files_of_threads_stay_open_up_to_a_limit(void **state)
{
    static struct smp_kept_files kept;
    pthread_t threads[THREADS];

    (void)state;
    start_crowd(threads);
    assert_keeps(1024, SMP_KEPT_FILES);
    assert_keeps(400, 100);
    assert_keeps(32, 8);
    assert_two_keep_as_many_as_one();
    smp_kept_files_init(&kept, "stat");
    read_crowd(&kept, true);
    end_crowd(threads);
    read_crowd(&kept, false); /* the threads have ended */
    smp_kept_files_fini(&kept);
}

/* The second read returns current data, from the file that the first read opened. */
static void a_kept_file_is_read_anew(void **state)
{
    static struct smp_kept_files kept;
    const int32_t tid = smp_thread_own_tid();
    char first[TEXT_BYTES];
    char text[TEXT_BYTES];
    const size_t files = open_files();

    (void)state;
    smp_kept_files_init(&kept, "comm");
    assert_true(smp_kept_files_read(&kept, tid, first, sizeof(first)));
    assert_int_equal(pthread_setname_np(pthread_self(), "renamed"), 0);
    assert_true(smp_kept_files_read(&kept, tid, text, sizeof(text)));
    assert_string_equal(text, "renamed\n");
    assert_int_equal(open_files(), files + 1);
    assert_true(smp_kept_files_read(&kept, tid, text, 4));
    assert_string_equal(text, "ren");
    smp_kept_files_fini(&kept);
    first[strcspn(first, "\n")] = '\0';
    assert_int_equal(pthread_setname_np(pthread_self(), first), 0);
}

static int kept_fd(const struct smp_kept_files *kept, int32_t tid)
{
    for (int i = 0; i < SMP_KEPT_FILES; i++) {
        if (kept->files[i].tid == tid)
            return kept->files[i].fd;
    }
    return -1;
}

/* A program that the process starts inherits none of them. */
static void kept_files_are_closed_by_exec(void **state)
{
    static struct smp_kept_files kept;
    const int32_t tid = smp_thread_own_tid();
    char text[TEXT_BYTES];

    (void)state;
    smp_kept_files_init(&kept, "stat");
    assert_true(smp_kept_files_read(&kept, tid, text, sizeof(text)));
    assert_int_equal(fcntl(kept_fd(&kept, tid), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    smp_kept_files_fini(&kept);
}

/* A program closes all files that it did not open, and then opens its own. */
static void a_file_closed_under_us_is_noticed(void **state)
{
    const int32_t own = smp_thread_own_tid();
    static struct smp_kept_files kept;
    char text[TEXT_BYTES];
    char expected[32];

    (void)state;
    (void)snprintf(expected, sizeof(expected), "%d (", own);
    smp_kept_files_init(&kept, "stat");
    assert_true(smp_kept_files_read(&kept, own, text, sizeof(text)));
    const int fd = kept_fd(&kept, own);
    FILE *const others = tmpfile();
    assert_non_null(others);
    assert_true(fputs("a file of the program's", others) >= 0 && fflush(others) == 0);
    assert_int_equal(dup2(fileno(others), fd), fd);
    for (int i = 0; i < SMP_KEPT_FILES_CHECK; i++)
        assert_true(smp_kept_files_read(&kept, own, text, sizeof(text)));
    assert_memory_equal(text, expected, strlen(expected));
    smp_kept_files_fini(&kept);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    (void)close(fd);
    (void)fclose(others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_threads_stay_open_up_to_a_limit),
        cmocka_unit_test(a_kept_file_is_read_anew),
        cmocka_unit_test(kept_files_are_closed_by_exec),
        cmocka_unit_test(a_file_closed_under_us_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
