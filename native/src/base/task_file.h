/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_file.h - reads files of /proc: of a thread of this process (/proc/self/task/<tid>), and of
 * the whole system.
 *
 * Threads  any.
 * Errors   false: the thread has ended, or there is no such file.
 * Cost     3 to 9 us.
 */
#ifndef SMP_BASE_TASK_FILE_H
#define SMP_BASE_TASK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads an open file from its beginning, as a string. Returns the number of bytes; negative on
 * error. */
ssize_t smp_open_file_read(int fd, char *out, size_t size);
/* Reads up to size - 1 bytes of a file, as a string. */
bool smp_system_file_read(const char *path, char *out, size_t size);
/* Opens the file close-on-exec. Returns its descriptor; negative on error. */
int smp_task_file_open(int32_t tid, const char *file);
bool smp_task_file_read(int32_t tid, const char *file, char *out, size_t size);
/* Reads the text after the first mark, however far into the file it is: status has a line of all
 * groups, which may be long. mark and out together are shorter than 4 KB. Also returns false if
 * there is no mark. */
bool smp_task_file_find(int32_t tid, const char *file, const char *mark, char *out, size_t size);

#endif
