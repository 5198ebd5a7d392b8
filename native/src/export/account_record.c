/* SPDX-License-Identifier: Apache-2.0 */
#include "export/account_record.h"

#include <inttypes.h>

#include "export/hot_groups.h"
#include "model/escape.h"

#define NS_PER_MS 1000000
#define HUNDREDTHS 10000.0 /* hundredths of a percent in the whole */
#define TENTHS 1000.0

enum {
    LINES_BYTES = 8192,        /* all lines except those about counting */
    COUNTING_LINE_BYTES = 128, /* one line, without its names */
    ESCAPE_BYTES = 6,          /* most bytes of an escaped one: \u000a */
    LABEL_BYTES = 16           /* before a name, or between two */
};

#define DROPPED_LABEL "not counted "

enum line {
#define X(line, shown, text, words) LINE_##line,
    SMP_ACCOUNT_LINE_MAP(X)
#undef X
};

static const char *const TEXTS[] = {
#define X(line, shown, text, words) text,
    SMP_ACCOUNT_LINE_MAP(X)
#undef X
};

static const enum smp_shown SHOWN[] = {
#define X(line, shown, text, words) SMP_SHOWN_##shown,
    SMP_ACCOUNT_LINE_MAP(X)
#undef X
};

/* An account that is being written. */
struct account {
    const struct smp_profile *profile;
    struct smp_bytes *out;
    bool is_short;
};

static bool has_line(const struct account *account, enum smp_shown shown, uint64_t figure)
{
    return account->is_short ? smp_shown_in_short(shown, figure, account->profile->tally.polls)
                             : figure > 0;
}

static void put_figure(const struct account *account, enum smp_shown shown, const char *text,
                       uint64_t value)
{
    if (has_line(account, shown, value))
        smp_bytes_printf(account->out, "%s: %" PRIu64 "\n", text, value);
}

/* Returns the share of the sampled threads' time that has a stack, in tenths of a percent, rounded
 * down; -1 if there is no time. */
static int stack_share(const struct smp_profile *profile)
{
    double all_ns = 0;
    double without_ns = 0;

    for (uint32_t i = 0; i < smp_thread_groups_count(profile->groups); i++) {
        if (smp_profile_group_info(profile, i)->kind == SMP_GROUP_SAMPLED &&
            !smp_profile_group_is_jvm(profile, i)) {
            all_ns += (double)smp_profile_group_total(profile, i, SMP_MEASURE_WALL);
            without_ns += (double)smp_hot_group_without_stack(profile, i);
        }
    }
    if (all_ns <= 0)
        return -1;
    const double without = without_ns * TENTHS / all_ns;
    return (int)TENTHS - (int)without - (without > (int)without ? 1 : 0);
}

/* "polls: 5922, 99.8 % of the time with a stack" */
static void put_polls(const struct account *account)
{
    const uint64_t polls = account->profile->tally.polls;

    if (!account->is_short) {
        put_figure(account, SMP_SHOWN_ALWAYS, TEXTS[LINE_POLLS], polls);
        return;
    }
    const int share = stack_share(account->profile);
    smp_bytes_printf(account->out, "%s: %" PRIu64, TEXTS[LINE_POLLS], polls);
    if (share >= 0)
        smp_bytes_printf(account->out, ", %d.%d %% of the time with a stack", share / 10,
                         share % 10);
    smp_bytes_puts(account->out, "\n");
}

static void put_longest(struct smp_bytes *out, const char *text, int64_t ns)
{
    if (ns > 0)
        smp_bytes_printf(out, "%s: %" PRId64 " ms\n", text, ns / NS_PER_MS);
}

static uint64_t names_lost(const struct smp_profile *profile)
{
    const size_t count = smp_thread_groups_count(profile->groups);
    uint64_t lost = 0;

    for (uint32_t i = 0; i < count; i++)
        lost += smp_profile_group_info(profile, i)->names_lost;
    return lost;
}

/* Uses whole numbers: "%.2f" would follow the locale that the JVM has set. */
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

static void put_counting_line(const struct account *to, enum smp_counting counting)
{
    const struct smp_counting_account *const account = to->profile->counts.account;
    struct smp_bytes *const out = to->out;
    const uint64_t figure = smp_counting_account_figure(account, counting);
    const uint64_t unlisted = smp_counting_account_unlisted(account, counting);
    const bool is_apart = counting == SMP_COUNTING_DROPPED;
    const size_t listed = is_apart ? 0 : smp_counting_account_listed(account, counting);

    if (!has_line(to, smp_counting_shown(counting), figure))
        return;
    smp_bytes_printf(out, "%s: %" PRIu64, smp_counting_text(counting), figure);
    for (size_t i = 0; i < listed; i++) {
        smp_bytes_puts(out, i == 0 ? " (" : ", ");
        smp_escape_put(out, smp_counting_account_name_at(account, counting, i));
    }
    if (listed > 0 && unlisted > 0)
        smp_bytes_printf(out, ", \u2026 %" PRIu64 " more", unlisted);
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

static void put_tally(const struct account *account)
{
    for (int i = 0; i < SMP_OUTCOME_COUNT; i++) {
        const enum smp_outcome outcome = (enum smp_outcome)i;
        put_figure(account, smp_outcome_shown(outcome), smp_outcome_text(outcome),
                   account->profile->tally.outcomes[i]);
    }
    for (int i = 0; i < SMP_COUNTER_COUNT; i++) {
        const enum smp_counter counter = (enum smp_counter)i;
        put_figure(account, smp_counter_shown(counter), smp_counter_text(counter),
                   account->profile->counters[i]);
    }
}

/* Writes notes on missed packages, long walks and a lost signal. */
static void put_notes(const struct account *account)
{
    const struct smp_profile *const profile = account->profile;
    struct smp_bytes *const out = account->out;

    if (smp_profile_guesses_application(profile) &&
        (smp_tree_measures(profile->tree) & SMP_STATE_MEASURES) != 0 &&
        has_line(account, SHOWN[LINE_APPLICATION], 1))
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
}

void smp_account_record_rows(const struct smp_profile *profile, bool is_short,
                             struct smp_bytes *out)
{
    const struct account account = { .profile = profile, .out = out, .is_short = is_short };

    if (profile->is_cpu_clock)
        smp_bytes_printf(out, "%s\n", TEXTS[LINE_CLOCK]);
    put_polls(&account);
    put_figure(&account, SHOWN[LINE_SAMPLES], TEXTS[LINE_SAMPLES],
               smp_tally_samples(&profile->tally));
    put_tally(&account);
    for (int i = 0; profile->counts.account != NULL && i < SMP_COUNTING_COUNT; i++)
        put_counting_line(&account, (enum smp_counting)i);
    put_figure(&account, SHOWN[LINE_NAMES_LOST], TEXTS[LINE_NAMES_LOST], names_lost(profile));
    put_notes(&account);
    smp_bytes_printf(out, "%s: %zu of %zu bytes\n", TEXTS[LINE_MEMORY_USED],
                     profile->memory_used_bytes, profile->memory_limit_bytes);
    put_own_cpu(out, profile->own_cpu_ns, profile->elapsed_ns);
}
