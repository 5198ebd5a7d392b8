/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/machine_time.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/task_file.h"

#define NS_PER_SECOND INT64_C(1000000000)

enum { LINE_BYTES = 256 };

/* The line's figures, in its order. */
enum { USER, NICE, KERNEL, IDLE, IO_WAIT, IRQ, SOFT_IRQ, STOLEN, FIGURES };

/* False: there are fewer. */
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
