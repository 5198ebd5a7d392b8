/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_file.h - reads files of the kernel: one that it has of each thread of this process, in
 * /proc/self/task/<tid>, or one of the whole system.
 *
 * Threads  any.
 * Errors   false: the thread is gone, or there is no such file.
 * Cost     3 to 9 us.
 */
#ifndef SMP_BASE_TASK_FILE_H
#define SMP_BASE_TASK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads from the beginning of a file that is open, as a string. Returns how many bytes; negative:
 * an error. */
ssize_t smp_open_file_read(int fd, char *out, size_t size);
/* What it holds, up to size - 1 bytes, as a string. */
bool smp_system_file_read(const char *path, char *out, size_t size);
/* A descriptor that programs which the process starts do not get; negative: an error. */
int smp_task_file_open(int32_t tid, const char *file);
bool smp_task_file_read(int32_t tid, const char *file, char *out, size_t size);
/* The same of what follows the first mark, however long the file is: status has a line of all
 * groups. Both together are shorter than 4 KB. False, too: there is no mark. */
bool smp_task_file_find(int32_t tid, const char *file, const char *mark, char *out, size_t size);

#endif
