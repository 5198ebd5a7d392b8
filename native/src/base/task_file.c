/* SPDX-License-Identifier: Apache-2.0 */
#include "base/task_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_BYTES = 64 };

bool smp_task_file_read(int32_t tid, const char *file, char *out, size_t size)
{
    char path[PATH_BYTES];
    ssize_t length;
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    length = read(fd, out, size - 1);
    (void)close(fd);
    if (length < 0)
        return false;
    out[length] = '\0';
    return true;
}
