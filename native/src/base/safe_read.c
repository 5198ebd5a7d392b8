/* SPDX-License-Identifier: Apache-2.0 */
#include "base/safe_read.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/syscall_filter.h"

static _Atomic pid_t this_process; /* 0: not permitted, or not tried yet */
static smp_safe_read_trial *_Atomic test_trial;
static _Atomic uint64_t *_Atomic test_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_tried;
static const char *refusal_text;

static void count_call(void)
{
    _Atomic uint64_t *calls = atomic_load_explicit(&test_count, memory_order_relaxed);

    if (calls != NULL)
        (void)atomic_fetch_add_explicit(calls, 1, memory_order_relaxed);
}

static bool read_parts(pid_t process, const struct smp_safe_part *parts, size_t count)
{
    const int saved = errno;
    struct iovec into[SMP_SAFE_PARTS];
    struct iovec from[SMP_SAFE_PARTS];
    size_t size = 0;

    if (count > SMP_SAFE_PARTS)
        return false;
    for (size_t i = 0; i < count; i++) {
        into[i] = (struct iovec){ .iov_base = parts[i].to, .iov_len = parts[i].size };
        from[i] = (struct iovec){ .iov_base = (void *)parts[i].address, /* NOLINT */
                                  .iov_len = parts[i].size };
        size += parts[i].size;
    }
    count_call();
    const ssize_t copied =
        (ssize_t)syscall(SYS_process_vm_readv, process, into, count, from, count, 0UL);
    errno = saved;
    return copied >= 0 && (size_t)copied == size;
}

static bool read_from(pid_t process, void *to, uintptr_t address, size_t size)
{
    const struct smp_safe_part part = { .to = to, .address = address, .size = size };

    return read_parts(process, &part, 1);
}

/* Returns whether a read of a mapped word succeeds and one of an unmapped word fails. */
static bool reads_right(pid_t process)
{
    const uint64_t there = 0x736166652d726561U;
    uint64_t found = 0;

    return read_from(process, &found, (uintptr_t)&there, sizeof(found)) && found == there &&
           !read_from(process, &found, sizeof(found), sizeof(found));
}

static bool read_own_word(void)
{
    uint64_t word = 0;

    return read_from(getpid(), &word, (uintptr_t)&word, sizeof(word));
}

static const char *find_refusal(void)
{
    smp_safe_read_trial *trial = atomic_load(&test_trial);
    const char *refusal = NULL;

    if (trial != NULL)
        return trial(&refusal) ? NULL : refusal;
    refusal = smp_syscall_filter_refusal(read_own_word,
                                         "a filter of system calls forbids process_vm_readv");
    if (refusal != NULL)
        return refusal;
    return reads_right(getpid()) ? NULL : "the system does not permit process_vm_readv";
}

const char *smp_safe_read_refusal(void)
{
    const char *refusal = NULL;

    (void)pthread_mutex_lock(&mutex);
    if (!is_tried) {
        refusal_text = find_refusal();
        is_tried = true;
        atomic_store(&this_process, refusal_text == NULL ? getpid() : 0);
    }
    refusal = refusal_text;
    (void)pthread_mutex_unlock(&mutex);
    return refusal;
}

bool smp_safe_read(void *to, uintptr_t address, size_t size)
{
    const pid_t process = atomic_load_explicit(&this_process, memory_order_relaxed);

    return process != 0 && read_from(process, to, address, size);
}

bool smp_safe_read_parts(const struct smp_safe_part *parts, size_t count)
{
    const pid_t process = atomic_load_explicit(&this_process, memory_order_relaxed);

    return process != 0 && read_parts(process, parts, count);
}

void smp_safe_read_count_calls(_Atomic uint64_t *calls)
{
    atomic_store(&test_count, calls);
}

void smp_safe_read_set_trial(smp_safe_read_trial *trial)
{
    (void)pthread_mutex_lock(&mutex);
    is_tried = false;
    atomic_store(&this_process, 0);
    atomic_store(&test_trial, trial);
    (void)pthread_mutex_unlock(&mutex);
}
