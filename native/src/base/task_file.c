/* SPDX-License-Identifier: Apache-2.0 */
#include "base/task_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 64, PIECE_BYTES = 4096 };

static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

int smp_task_file_open(int32_t tid, const char *file)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, file);
    return open_file(path);
}

ssize_t smp_open_file_read(int fd, char *out, size_t size)
{
    const ssize_t length = pread(fd, out, size - 1, 0);

    if (length >= 0)
        out[length] = '\0';
    return length;
}

static bool read_and_close(int fd, char *out, size_t size)
{
    ssize_t length;

    if (fd < 0)
        return false;
    length = smp_open_file_read(fd, out, size);
    (void)close(fd);
    return length >= 0;
}

bool smp_system_file_read(const char *path, char *out, size_t size)
{
    return read_and_close(open_file(path), out, size);
}

bool smp_task_file_read(int32_t tid, const char *file, char *out, size_t size)
{
    return read_and_close(smp_task_file_open(tid, file), out, size);
}

/* Reads piece by piece. Bytes that may begin the mark or its value are kept for the next piece. */
static bool find(int fd, const char *mark, char *out, size_t size)
{
    const size_t mark_length = strlen(mark);
    char text[PIECE_BYTES + 1];
    size_t length = 0;
    const char *at = NULL;
    ssize_t got = 1;

    while (got > 0) {
        got = read(fd, text + length, PIECE_BYTES - length);
        length += got > 0 ? (size_t)got : 0;
        text[length] = '\0';
        at = strstr(text, mark);
        const char *kept = at;
        if (kept == NULL)
            kept = text + length - (length < mark_length ? length : mark_length);
        length = (size_t)(text + length - kept);
        if (at != NULL && length >= mark_length + size - 1)
            break;
        memmove(text, kept, length + 1);
        at = at != NULL ? text : NULL;
    }
    if (at != NULL)
        (void)snprintf(out, size, "%s", at + mark_length);
    return at != NULL;
}

bool smp_task_file_find(int32_t tid, const char *file, const char *mark, char *out, size_t size)
{
    const int fd = smp_task_file_open(tid, file);
    bool is_found;

    if (fd < 0)
        return false;
    is_found = find(fd, mark, out, size);
    (void)close(fd);
    return is_found;
}
