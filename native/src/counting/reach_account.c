/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/reach_account.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"

#define USUAL_ROOTS "main(String[]) or run()"

enum { SHOWN_BYTES = 256, MS_PER_S = 1000, TIME_BYTES = 32 };

/* Where a method stands that the rewriter has left alone; COUNT: it is none of these. */
static const enum smp_counting codes[SMP_REWRITE_COUNT] = {
    [SMP_REWRITE_NOT_PLANNED] = SMP_COUNTING_COUNT,
    [SMP_REWRITE_DONE] = SMP_COUNTING_COUNT,
    [SMP_REWRITE_NATIVE_OR_ABSTRACT] = SMP_COUNTING_NATIVE_OR_ABSTRACT,
    [SMP_REWRITE_PASSES_ON] = SMP_COUNTING_TRIVIAL,
    [SMP_REWRITE_TOO_LARGE] = SMP_COUNTING_TOO_LARGE,
    [SMP_REWRITE_JUMP_TOO_FAR] = SMP_COUNTING_JUMP_TOO_FAR,
    [SMP_REWRITE_UNKNOWN_CODE] = SMP_COUNTING_UNKNOWN_CODE,
    [SMP_REWRITE_NO_ROOM_IN_POOL] = SMP_COUNTING_NO_ROOM_IN_POOL,
};

/* --- roots --- */

static void add_rule(struct smp_counting_account *out, const char *rule, enum smp_counting code)
{
    char shown[SHOWN_BYTES];

    (void)smp_utf8_from_modified(shown, sizeof(shown), rule, strlen(rule));
    smp_counting_account_add(out, code, 1);
    (void)smp_counting_account_name(out, code, shown);
}

static void add_rules(struct smp_counting_account *out, const struct smp_reach *reach)
{
    /* COUNT: no line of its own. */
    static const enum smp_counting states[] = {
        [SMP_RULE_NOT_LOADED] = SMP_COUNTING_ROOTS_NOT_LOADED,
        [SMP_RULE_NO_METHOD] = SMP_COUNTING_ROOTS_NOT_FOUND,
        [SMP_RULE_NEVER] = SMP_COUNTING_ROOTS_NEVER,
        [SMP_RULE_NO_CODE] = SMP_COUNTING_NATIVE_OR_ABSTRACT,
        [SMP_RULE_NO_PROBE] = SMP_COUNTING_COUNT,
        [SMP_RULE_FOUND] = SMP_COUNTING_ROOTS_NOT_ENTERED,
        [SMP_RULE_ENTERED] = SMP_COUNTING_COUNT,
    };
    const struct smp_root_rules *const rules = smp_reach_options(reach)->rules;
    const size_t count = smp_root_rules_count(rules);
    struct smp_reach_figures figures;

    smp_reach_figures(reach, &figures);
    for (size_t i = 0; i < count; i++) {
        const enum smp_rule_state state = smp_reach_rule_state(reach, i);
        if (states[state] != SMP_COUNTING_COUNT)
            add_rule(out, smp_root_rules_text(rules, i), states[state]);
    }
    /* What TOTAL begins with. One that was entered may have been dropped. */
    if (count == 0 && figures.roots == 0 && !figures.is_root_entered)
        add_rule(out, USUAL_ROOTS, SMP_COUNTING_ROOTS_NOT_LOADED);
    if (figures.roots > 0 && !figures.is_root_entered)
        smp_counting_account_add(out, SMP_COUNTING_NOT_ENTERED, figures.methods);
}

/* --- what is left out --- */

static void add_lost_names(struct smp_counting_account *out, enum smp_counting code,
                           const struct smp_losses *losses)
{
    smp_counting_account_add(out, code, losses->count);
    for (uint32_t i = 0; i < losses->named; i++)
        (void)smp_counting_account_name(out, code, losses->texts[i]);
}

/* "since 2026-11-23T09:41:07Z: com.acme.Order.total" */
static void add_dropped(struct smp_counting_account *out, const struct smp_losses *losses)
{
    smp_counting_account_add(out, SMP_COUNTING_DROPPED, losses->count);
    for (uint32_t i = 0; i < losses->named; i++) {
        const time_t since = (time_t)(losses->since_ms[i] / MS_PER_S);
        char text[SMP_LOSS_TEXT_BYTES + TIME_BYTES];
        char when[TIME_BYTES] = "";
        struct tm utc;

        if (gmtime_r(&since, &utc) != NULL)
            (void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
        (void)snprintf(text, sizeof(text), "since %s: %s", when, losses->texts[i]);
        (void)smp_counting_account_name(out, SMP_COUNTING_DROPPED, text);
    }
}

/* "too large: com.acme.Big.parse" */
static void name_left_alone(struct smp_counting_account *out, const char *text)
{
    for (int i = 0; i < SMP_REWRITE_COUNT; i++) {
        const char *const why = smp_rewrite_text((enum smp_rewrite)i);
        const size_t length = strlen(why);
        if (codes[i] != SMP_COUNTING_COUNT && strncmp(text, why, length) == 0 &&
            strncmp(text + length, ": ", 2) == 0) {
            (void)smp_counting_account_name(out, codes[i], text + length + 2);
            return;
        }
    }
    (void)smp_counting_account_name(out, SMP_COUNTING_REFUSED_CLASS, text);
}

static void add_left_alone(struct smp_counting_account *out, const struct smp_losses *losses,
                           const uint64_t *left_alone)
{
    uint64_t others = losses->count;

    for (int i = 0; i < SMP_REWRITE_COUNT; i++) {
        if (codes[i] == SMP_COUNTING_COUNT)
            continue;
        smp_counting_account_add(out, codes[i], left_alone[i]);
        others -= left_alone[i] < others ? left_alone[i] : others;
    }
    smp_counting_account_add(out, SMP_COUNTING_REFUSED_CLASS, others);
    for (uint32_t i = 0; i < losses->named; i++)
        name_left_alone(out, losses->texts[i]);
}

static void name_waiting(void *self, const char *method)
{
    (void)smp_counting_account_name(self, SMP_COUNTING_OVER_METHOD_LIMIT, method);
}

static void add_waiting(struct smp_counting_account *out, const struct smp_reach *reach)
{
    struct smp_reach_figures figures;

    smp_reach_figures(reach, &figures);
    smp_counting_account_add(out, SMP_COUNTING_OVER_METHOD_LIMIT, figures.waiting);
    if (figures.waiting > 0)
        smp_reach_each_waiting(reach, SMP_LOSSES_NAMED, name_waiting, out);
}

void smp_reach_account(const struct smp_reach *reach, const uint64_t *left_alone,
                       struct smp_counting_account *out)
{
    static const struct {
        enum smp_reach_loss loss;
        enum smp_counting code;
    } plain[] = {
        { SMP_LOSS_EXCLUDED, SMP_COUNTING_EXCLUDED },
        { SMP_LOSS_TRIVIAL, SMP_COUNTING_TRIVIAL },
        { SMP_LOSS_MEMORY_LIMIT, SMP_COUNTING_CLASS_OVER_MEMORY_LIMIT },
        { SMP_LOSS_SAMPLED, SMP_COUNTING_SAMPLED },
    };

    add_rules(out, reach);
    add_left_alone(out, smp_reach_losses(reach, SMP_LOSS_LEFT_ALONE), left_alone);
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        add_lost_names(out, plain[i].code, smp_reach_losses(reach, plain[i].loss));
    add_waiting(out, reach);
    add_dropped(out, smp_reach_losses(reach, SMP_LOSS_DROPPED));
}
