/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleeping_thread.h - whether a thread waits in the kernel. A test that needs another thread to
 * wait reads this instead of sleeping for a while.
 *
 * Threads  any.
 */
#ifndef SMP_TEST_SUPPORT_SLEEPING_THREAD_H
#define SMP_TEST_SUPPORT_SLEEPING_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/task_file.h"

/* Reads the state in the kernel's file. It follows the thread's name, which may contain any
 * character. */
static inline bool thread_sleeps(int32_t tid)
{
    char text[256] = "";

    if (!smp_task_file_read(tid, "stat", text, sizeof(text)))
        return false;
    const char *const end_of_name = strrchr(text, ')');
    return end_of_name != NULL && strncmp(end_of_name, ") S", 3) == 0;
}

#endif
