/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/cpu_quota.h"

#include <stdio.h>
#include <string.h>

#include "base/task_file.h"

enum { STAT_BYTES = 4096, DECIMAL = 10, NS_PER_US = 1000 };

/* Is "cpu" one of the controllers in "cpu,cpuacct"? */
static bool has_cpu(const char *controllers, size_t length)
{
    const char *const end = controllers + length;

    while (controllers < end) {
        const char *comma = memchr(controllers, ',', (size_t)(end - controllers));
        const char *const stop = comma == NULL ? end : comma;
        if (stop - controllers == 3 && memcmp(controllers, "cpu", 3) == 0)
            return true;
        controllers = stop + 1;
    }
    return false;
}

/* A line is "<number>:<controllers>:<path>"; of version 2 there is one without controllers. */
static bool put_group_path(const char *line, size_t length, char *out, size_t size)
{
    const char *const names = memchr(line, ':', length);
    const char *const path =
        names == NULL ? NULL : memchr(names + 1, ':', length - (size_t)(names + 1 - line));
    int written;

    if (path == NULL)
        return false;
    const int name_length = (int)(path - names - 1);
    const int path_length = (int)(length - (size_t)(path + 1 - line));
    if (name_length > 0 && !has_cpu(names + 1, (size_t)name_length))
        return false;
    written = snprintf(out, size, "/sys/fs/cgroup%s%.*s%.*s/cpu.stat", name_length > 0 ? "/" : "",
                       name_length, names + 1, path_length, path + 1);
    return written > 0 && (size_t)written < size;
}

bool smp_cpu_quota_path(const char *groups, char *out, size_t size)
{
    char path[SMP_CPU_QUOTA_PATH_BYTES];
    bool is_found = false;

    while (*groups != '\0') {
        const size_t length = strcspn(groups, "\n");
        /* A controller is of version 1 or of version 2: what names it counts. */
        if (put_group_path(groups, length, path, sizeof(path)) &&
            (!is_found || strncmp(groups, "0::", 3) != 0)) {
            is_found = snprintf(out, size, "%s", path) < (int)size;
        }
        groups += length + (groups[length] == '\n');
    }
    return is_found;
}

static bool parse_figure(const char *stat, const char *name, int64_t *figure)
{
    const char *at = strstr(stat, name);

    if (at == NULL || (at != stat && at[-1] != '\n'))
        return false;
    at += strlen(name);
    *figure = 0;
    while (*at >= '0' && *at <= '9')
        *figure = *figure * DECIMAL + (*at++ - '0');
    return true;
}

int64_t smp_cpu_quota_parse(const char *stat)
{
    int64_t figure = 0;

    if (parse_figure(stat, "throttled_usec ", &figure))
        return figure * NS_PER_US;
    return parse_figure(stat, "throttled_time ", &figure) ? figure : 0;
}

/* In a container the path is often that of the host: its group is then the root that is seen. */
int64_t smp_cpu_quota_throttled_ns(void)
{
    char groups[STAT_BYTES];
    char stat[STAT_BYTES];
    char path[SMP_CPU_QUOTA_PATH_BYTES];

    if (smp_system_file_read("/proc/self/cgroup", groups, sizeof(groups)) &&
        smp_cpu_quota_path(groups, path, sizeof(path)) &&
        smp_system_file_read(path, stat, sizeof(stat)))
        return smp_cpu_quota_parse(stat);
    return smp_system_file_read("/sys/fs/cgroup/cpu.stat", stat, sizeof(stat)) ||
                   smp_system_file_read("/sys/fs/cgroup/cpu/cpu.stat", stat, sizeof(stat))
               ? smp_cpu_quota_parse(stat)
               : 0;
}
