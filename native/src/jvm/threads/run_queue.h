/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_queue.h - reads how long threads have waited for a CPU (the kernel's schedstat of a thread).
 *
 * Owns     files of threads (kept_files.h).
 * Threads  one at a time.
 * Errors   false: the kernel has no such figure. If it has none for the thread that calls init,
 *          no file is read later (is_known).
 * Cost     0.4 to 1.1 us, with a file that has to be opened 4 us more.
 */
#ifndef SMP_JVM_THREADS_RUN_QUEUE_H
#define SMP_JVM_THREADS_RUN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/threads/kept_files.h"

struct smp_run_queue {
    bool is_known; /* the kernel has figures */
    struct smp_kept_files files;
};

void smp_run_queue_init(struct smp_run_queue *queue);
void smp_run_queue_fini(struct smp_run_queue *queue);

/* Reads the waiting time since the thread's start. */
bool smp_run_queue_read(struct smp_run_queue *queue, int32_t tid, int64_t *ns);

/* text: of schedstat, "<ns on a CPU> <ns waiting for one> <slices>"; false without figures. */
bool smp_run_queue_parse(const char *text, int64_t *ns);

#endif
