/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/cpu_supply.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/task_file.h"

#define NS_PER_SECOND INT64_C(1000000000)

enum {
    STAT_BYTES = 4096, /* of a group's files */
    LINE_BYTES = 256,  /* of the machine's */
    NUMBER_BYTES = 64,
    NS_PER_US = 1000,
    MILLI = 1000
};

/* --- the control group --- */

static const char root_folder[] = "/sys/fs/cgroup";

/* Returns whether "cpu" is one of the controllers in "cpu,cpuacct". */
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

/* A line is "<number>:<controllers>:<path>". The one line of version 2 names no controllers. */
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
    written = snprintf(out, size, "%s%s%.*s%.*s", root_folder, name_length > 0 ? "/" : "",
                       name_length, names + 1, path_length, path + 1);
    return written > 0 && (size_t)written < size;
}

bool smp_cpu_quota_folder(const char *groups, char *out, size_t size)
{
    char path[SMP_CPU_QUOTA_PATH_BYTES];
    bool is_found = false;

    while (*groups != '\0') {
        const size_t length = strcspn(groups, "\n");
        /* A controller is of version 1 or of version 2; a line that names it comes first. */
        if (put_group_path(groups, length, path, sizeof(path)) &&
            (!is_found || strncmp(groups, "0::", 3) != 0)) {
            is_found = snprintf(out, size, "%s", path) < (int)size;
        }
        groups += length + (groups[length] == '\n');
    }
    return is_found;
}

/* Reads blanks and digits. Returns false if there is no digit, as in "max" and "-1". */
static bool parse_digits(const char *text, int64_t *number)
{
    const char *const digits = text + strspn(text, " ");
    const char *end = NULL;

    *number = smp_decimal_parse_long(digits, &end);
    return end != digits;
}

static bool parse_figure(const char *stat, const char *name, int64_t *figure)
{
    const char *const at = strstr(stat, name);

    return at != NULL && (at == stat || at[-1] == '\n') && parse_digits(at + strlen(name), figure);
}

int64_t smp_cpu_quota_parse(const char *stat)
{
    int64_t figure = 0;

    if (parse_figure(stat, "throttled_usec ", &figure))
        return figure > INT64_MAX / NS_PER_US ? INT64_MAX : figure * NS_PER_US;
    return parse_figure(stat, "throttled_time ", &figure) ? figure : 0;
}

/* Finds the folder of this process's control group. Returns false without one. */
static bool find_folder(char folder[SMP_CPU_QUOTA_PATH_BYTES])
{
    char groups[STAT_BYTES];

    return smp_system_file_read("/proc/self/cgroup", groups, sizeof(groups)) &&
           smp_cpu_quota_folder(groups, folder, SMP_CPU_QUOTA_PATH_BYTES);
}

static bool read_in(const char *folder, const char *name, char *out, size_t size)
{
    char path[SMP_CPU_QUOTA_PATH_BYTES];
    const int length = snprintf(path, sizeof(path), "%s/%s", folder, name);

    return length > 0 && (size_t)length < sizeof(path) && smp_system_file_read(path, out, size);
}

/* In a container the path is often the host's, but the container sees its group as the root. */
int64_t smp_cpu_quota_throttled_ns(void)
{
    char folder[SMP_CPU_QUOTA_PATH_BYTES];
    char stat[STAT_BYTES];

    if (find_folder(folder) && read_in(folder, "cpu.stat", stat, sizeof(stat)))
        return smp_cpu_quota_parse(stat);
    return read_in(root_folder, "cpu.stat", stat, sizeof(stat)) ||
                   read_in("/sys/fs/cgroup/cpu", "cpu.stat", stat, sizeof(stat))
               ? smp_cpu_quota_parse(stat)
               : 0;
}

uint32_t smp_cpu_quota_parse_milli(const char *quota, const char *period)
{
    int64_t quota_us = 0;
    int64_t period_us = 0;

    if (!parse_digits(quota, &quota_us) || !parse_digits(period, &period_us) || period_us == 0)
        return 0;
    quota_us = quota_us > INT32_MAX ? 0 : quota_us * MILLI / period_us;
    return quota_us > INT32_MAX ? 0 : (uint32_t)quota_us;
}

/* Version 2 has both numbers in one file: "150000 100000", or "max 100000". */
static uint32_t quota_of(const char *folder)
{
    char quota[NUMBER_BYTES];
    char period[NUMBER_BYTES];

    if (read_in(folder, "cpu.max", quota, sizeof(quota)))
        return smp_cpu_quota_parse_milli(quota, quota + strcspn(quota, " "));
    return read_in(folder, "cpu.cfs_quota_us", quota, sizeof(quota)) &&
                   read_in(folder, "cpu.cfs_period_us", period, sizeof(period))
               ? smp_cpu_quota_parse_milli(quota, period)
               : 0;
}

static uint32_t smaller_quota(uint32_t a, uint32_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

uint32_t smp_cpu_quota_milli(void)
{
    char folder[SMP_CPU_QUOTA_PATH_BYTES];
    uint32_t milli = smaller_quota(quota_of(root_folder), quota_of("/sys/fs/cgroup/cpu"));

    if (!find_folder(folder))
        return milli;
    for (char *end; strlen(folder) > sizeof(root_folder) - 1; *end = '\0') {
        milli = smaller_quota(milli, quota_of(folder));
        end = strrchr(folder, '/');
    }
    return milli;
}

/* --- the machine --- */

/* The line's figures, in its order. */
enum { USER, NICE, KERNEL, IDLE, IO_WAIT, IRQ, SOFT_IRQ, STOLEN, FIGURES };

/* Returns false if the line has fewer figures. */
static bool parse_figures(const char *at, int64_t figures[FIGURES])
{
    for (size_t i = 0; i < FIGURES; i++) {
        const char *const digits = at + strspn(at, " ");
        figures[i] = smp_decimal_parse_long(digits, &at);
        if (at == digits)
            return false;
    }
    return true;
}

void smp_machine_time_parse(const char *stat, int64_t ns_per_tick, struct smp_machine_time *out)
{
    static const char name[] = "cpu ";
    int64_t figures[FIGURES];

    *out = (struct smp_machine_time){ 0 };
    if (strncmp(stat, name, sizeof(name) - 1) != 0 ||
        !parse_figures(stat + sizeof(name) - 1, figures))
        return;
    out->worked_ns =
        (figures[USER] + figures[NICE] + figures[KERNEL] + figures[IRQ] + figures[SOFT_IRQ]) *
        ns_per_tick;
    out->stolen_ns = figures[STOLEN] * ns_per_tick;
}

void smp_machine_time_read(struct smp_machine_time *out)
{
    char stat[LINE_BYTES];
    const long ticks = sysconf(_SC_CLK_TCK);

    *out = (struct smp_machine_time){ 0 };
    if (ticks > 0 && smp_system_file_read("/proc/stat", stat, sizeof(stat)))
        smp_machine_time_parse(stat, NS_PER_SECOND / ticks, out);
}
