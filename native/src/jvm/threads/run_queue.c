/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/run_queue.h"

#include "base/decimal.h"
#include "base/task_file.h"
#include "base/thread.h"

enum { TEXT_BYTES = 96 };

bool smp_run_queue_parse(const char *text, int64_t *ns)
{
    const char *end = NULL;
    const int64_t on_cpu_ns = smp_decimal_parse_long(text, &end);

    if (*end != ' ' || on_cpu_ns == 0)
        return false; /* 0: the kernel does not count, because a thread with a file has run */
    const int64_t waiting_ns = smp_decimal_parse_long(end + 1, &end);
    if (*end != ' ' || waiting_ns == INT64_MAX)
        return false;
    *ns = waiting_ns;
    return true;
}

bool smp_run_queue_read(struct smp_run_queue *queue, int32_t tid, int64_t *ns)
{
    char text[TEXT_BYTES];

    return queue->is_known && smp_kept_files_read(&queue->files, tid, text, sizeof(text)) &&
           smp_run_queue_parse(text, ns);
}

void smp_run_queue_init(struct smp_run_queue *queue)
{
    char text[TEXT_BYTES];
    int64_t ns = 0;

    *queue = (struct smp_run_queue){ 0 };
    smp_kept_files_init(&queue->files, "schedstat");
    queue->is_known =
        smp_task_file_read(smp_thread_own_tid(), queue->files.name, text, sizeof(text)) &&
        smp_run_queue_parse(text, &ns);
}

void smp_run_queue_fini(struct smp_run_queue *queue)
{
    smp_kept_files_fini(&queue->files);
}
