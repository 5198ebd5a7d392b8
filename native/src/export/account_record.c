/* SPDX-License-Identifier: Apache-2.0 */
#include "export/account_record.h"

#include <inttypes.h>

#include "model/escape.h"

#define NS_PER_MS 1000000
#define HUNDREDTHS 10000.0 /* of a percent, in the whole */

enum line {
#define X(line, text, words) LINE_##line,
    SMP_ACCOUNT_LINE_MAP(X)
#undef X
};

static const char *const TEXTS[] = {
#define X(line, text, words) text,
    SMP_ACCOUNT_LINE_MAP(X)
#undef X
};

static void put_figure(struct smp_bytes *out, const char *text, uint64_t value)
{
    if (value > 0)
        smp_bytes_printf(out, "%s: %" PRIu64 "\n", text, value);
}

static uint64_t names_lost(struct smp_thread_groups *groups)
{
    const size_t count = smp_thread_groups_count(groups);
    uint64_t lost = 0;

    for (size_t i = 0; i < count; i++)
        lost +=
            smp_thread_groups_info(groups, (struct smp_group){ .index = (uint32_t)i })->names_lost;
    return lost;
}

/* Put together from whole numbers: "%.2f" would follow the locale the JVM has set. */
static void put_own_cpu(struct smp_bytes *out, int64_t own_cpu_ns, int64_t elapsed_ns)
{
    int64_t hundredths = 0;

    if (elapsed_ns > 0)
        hundredths = (int64_t)((double)own_cpu_ns * HUNDREDTHS / (double)elapsed_ns + 0.5);
    smp_bytes_printf(out, "%s: %" PRId64 " ms, %" PRId64 ".%02" PRId64 " %% of the interval\n",
                     TEXTS[LINE_OWN_CPU], own_cpu_ns / NS_PER_MS, hundredths / 100,
                     hundredths % 100);
}

void smp_account_record_rows(const struct smp_profile *profile, struct smp_bytes *out)
{
    if (profile->is_cpu_clock)
        smp_bytes_printf(out, "%s\n", TEXTS[LINE_CLOCK]);
    put_figure(out, TEXTS[LINE_POLLS], profile->tally.polls);
    put_figure(out, TEXTS[LINE_SAMPLES], smp_tally_samples(&profile->tally));
    for (int outcome = 0; outcome < SMP_OUTCOME_COUNT; outcome++) {
        put_figure(out, smp_outcome_text((enum smp_outcome)outcome),
                   profile->tally.outcomes[outcome]);
    }
    for (int counter = 0; counter < SMP_COUNTER_COUNT; counter++) {
        put_figure(out, smp_counter_text((enum smp_counter)counter), profile->counters[counter]);
    }
    put_figure(out, TEXTS[LINE_NAMES_LOST], names_lost(profile->groups));
    if (smp_profile_misses_packages(profile)) {
        smp_bytes_printf(out, "%s: ", TEXTS[LINE_MISSED_PACKAGES]);
        smp_escape_put(out, profile->packages);
        smp_bytes_puts(out, "\n");
    }
    smp_bytes_printf(out, "%s: %zu of %zu bytes\n", TEXTS[LINE_MEMORY_USED],
                     profile->memory_used_bytes, profile->memory_limit_bytes);
    put_own_cpu(out, profile->own_cpu_ns, profile->elapsed_ns);
}
