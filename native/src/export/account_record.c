/* SPDX-License-Identifier: Apache-2.0 */
#include "export/account_record.h"

#include <inttypes.h>

#include "model/escape.h"

#define NS_PER_MS 1000000
#define HUNDREDTHS 10000.0 /* of a percent, in the whole */

enum {
    LINES_BYTES = 8192,        /* of all that is not about counting */
    COUNTING_LINE_BYTES = 128, /* of one line, without its names */
    ESCAPE_BYTES = 6,          /* of a byte of a name at most: \u000a */
    LABEL_BYTES = 16           /* in front of a name, or between two */
};

#define DROPPED_LABEL "not counted "

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

static void put_longest(struct smp_bytes *out, const char *text, int64_t ns)
{
    if (ns > 0)
        smp_bytes_printf(out, "%s: %" PRId64 " ms\n", text, ns / NS_PER_MS);
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

/* "not counted since 2026-11-23T09:41:07Z: com.acme.Order.total" */
static void put_dropped_lines(struct smp_bytes *out, const struct smp_counting_account *account)
{
    for (size_t i = 0; i < smp_counting_account_listed(account, SMP_COUNTING_DROPPED); i++) {
        smp_bytes_puts(out, DROPPED_LABEL);
        smp_escape_put(out, smp_counting_account_name_at(account, SMP_COUNTING_DROPPED, i));
        smp_bytes_puts(out, "\n");
    }
}

/* "3 methods instrumented, root not entered since" */
static void put_not_entered(struct smp_bytes *out, uint64_t methods)
{
    const char *const text = smp_counting_text(SMP_COUNTING_NOT_ENTERED);

    if (methods == 1)
        smp_bytes_printf(out, "1 method%s\n", text + sizeof("methods") - 1);
    else
        smp_bytes_printf(out, "%" PRIu64 " %s\n", methods, text);
}

static void put_counting_line(struct smp_bytes *out, const struct smp_counting_account *account,
                              enum smp_counting counting)
{
    const uint64_t figure = smp_counting_account_figure(account, counting);
    const bool is_apart = counting == SMP_COUNTING_DROPPED;
    const size_t listed = is_apart ? 0 : smp_counting_account_listed(account, counting);

    if (figure == 0)
        return;
    if (counting == SMP_COUNTING_NOT_ENTERED) {
        put_not_entered(out, figure);
        return;
    }
    smp_bytes_printf(out, "%s: %" PRIu64, smp_counting_text(counting), figure);
    for (size_t i = 0; i < listed; i++) {
        smp_bytes_puts(out, i == 0 ? " (" : ", ");
        smp_escape_put(out, smp_counting_account_name_at(account, counting, i));
    }
    if (listed > 0 && figure > listed)
        smp_bytes_printf(out, ", \u2026 %" PRIu64 " more", figure - listed);
    smp_bytes_puts(out, listed > 0 ? ")\n" : "\n");
    if (is_apart)
        put_dropped_lines(out, account);
}

size_t smp_account_record_limit(const struct smp_profile *profile)
{
    const size_t name_bytes = ESCAPE_BYTES * (size_t)SMP_MAX_COUNTING_NAME_BYTES + LABEL_BYTES;
    size_t bytes = LINES_BYTES;

    for (int i = 0; profile->counts.account != NULL && i < SMP_COUNTING_COUNT; i++)
        bytes +=
            COUNTING_LINE_BYTES +
            smp_counting_account_listed(profile->counts.account, (enum smp_counting)i) * name_bytes;
    return bytes;
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
    for (int i = 0; profile->counts.account != NULL && i < SMP_COUNTING_COUNT; i++)
        put_counting_line(out, profile->counts.account, (enum smp_counting)i);
    put_figure(out, TEXTS[LINE_NAMES_LOST], names_lost(profile->groups));
    if (profile->packages[0] == '\0' &&
        (smp_tree_measures(profile->tree) & SMP_STATE_MEASURES) != 0)
        smp_bytes_printf(out, "%s\n", TEXTS[LINE_APPLICATION]);
    if (smp_profile_misses_packages(profile)) {
        smp_bytes_printf(out, "%s: ", TEXTS[LINE_MISSED_PACKAGES]);
        smp_escape_put(out, profile->packages);
        smp_bytes_puts(out, "\n");
    }
    put_longest(out, TEXTS[LINE_LONGEST_HANDSHAKE], profile->longest_handshake_ns);
    put_longest(out, TEXTS[LINE_LONGEST_HANDLER], profile->longest_handler_ns);
    if (profile->signal_taker[0] != '\0') {
        smp_bytes_printf(out, "%s: ", TEXTS[LINE_SIGNAL_TAKEN]);
        smp_escape_put(out, profile->signal_taker);
        smp_bytes_puts(out, "\n");
    }
    smp_bytes_printf(out, "%s: %zu of %zu bytes\n", TEXTS[LINE_MEMORY_USED],
                     profile->memory_used_bytes, profile->memory_limit_bytes);
    put_own_cpu(out, profile->own_cpu_ns, profile->elapsed_ns);
}
