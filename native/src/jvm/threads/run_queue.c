/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/run_queue.h"

#include "base/task_file.h"
#include "base/thread.h"

enum { TEXT_BYTES = 96, DECIMAL = 10 };

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
