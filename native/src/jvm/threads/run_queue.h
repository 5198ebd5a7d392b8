/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_queue.h - how long threads have waited for a CPU, by the kernel (schedstat of a thread).
 *
 * To read a file that is kept open takes a sixth of the time that opening it takes, too. So the
 * files of threads that were read lately are kept. All samplers of a process together keep at most
 * SMP_RUN_QUEUE_FILES, and at most a quarter of the files that the process may have open. Files of
 * other threads are opened and closed for each read.
 *
 * Owns     the open files.
 * Threads  one at a time.
 * Errors   false: the kernel does not say it. If it did not of the creating thread, it is not asked
 *          again (is_known).
 * Cost     0.4 to 1.1 us, with a file that has to be opened 4 us more.
 */
#ifndef SMP_JVM_THREADS_RUN_QUEUE_H
#define SMP_JVM_THREADS_RUN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SMP_RUN_QUEUE_FILES = 256,
    SMP_RUN_QUEUE_LIMIT_SHARE = 4, /* of the files that the process may have open */
    SMP_RUN_QUEUE_WAYS = 2         /* files that compete for one place */
};

struct smp_run_queue_file {
    int32_t tid; /* 0: none */
    int fd;
    uint64_t used; /* when it was read last */
};

struct smp_run_queue {
    bool is_known; /* the kernel has figures */
    uint32_t most; /* files that all queues may keep together */
    uint32_t sets; /* of SMP_RUN_QUEUE_WAYS files each; 0: none is kept */
    uint64_t reads;
    struct smp_run_queue_file files[SMP_RUN_QUEUE_FILES];
};

void smp_run_queue_init(struct smp_run_queue *queue);
void smp_run_queue_fini(struct smp_run_queue *queue);

/* Of all the thread's life. */
bool smp_run_queue_read(struct smp_run_queue *queue, int32_t tid, int64_t *ns);

/* text: of schedstat, "<ns on a CPU> <ns waiting for one> <slices>". False: it has no figures. */
bool smp_run_queue_parse(const char *text, int64_t *ns);

#endif
