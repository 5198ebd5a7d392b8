/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_graph_account.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"

#define USUAL_ROOTS "main(String[]) or run()"

enum { SHOWN_BYTES = 256, MS_PER_S = 1000, TIME_BYTES = 32 };

/* --- roots --- */

/* reason: NULL, or what comes before its text. */
static void add_rule(struct smp_counting_account *out, const char *rule, enum smp_counting code,
                     const char *reason)
{
    char shown[SHOWN_BYTES];
    int length = 0;

    if (reason != NULL)
        length = snprintf(shown, sizeof(shown) / 2, "%s: ", reason);
    (void)smp_utf8_from_modified(shown + length, sizeof(shown) - (size_t)length, rule,
                                 strlen(rule));
    smp_counting_account_add(out, code, 1);
    (void)smp_counting_account_name(out, code, shown);
}

static void add_rules(struct smp_counting_account *out, const struct smp_call_graph *graph)
{
    /* COUNT: no line of its own. */
    static const struct {
        enum smp_counting code;
        const char *reason;
    } states[] = {
        [SMP_RULE_NOT_LOADED] = { SMP_COUNTING_ROOTS_NOT_LOADED, NULL },
        [SMP_RULE_NO_METHOD] = { SMP_COUNTING_ROOTS_NOT_FOUND, NULL },
        [SMP_RULE_NEVER] = { SMP_COUNTING_LEFT_ALONE, "the probes themselves run through it" },
        [SMP_RULE_NO_CODE] = { SMP_COUNTING_LEFT_ALONE, "native or abstract" },
        [SMP_RULE_NO_PROBE] = { SMP_COUNTING_COUNT, NULL },
        [SMP_RULE_FOUND] = { SMP_COUNTING_ROOTS_NOT_ENTERED, NULL },
        [SMP_RULE_ENTERED] = { SMP_COUNTING_COUNT, NULL },
    };
    const struct smp_root_rules *const rules = smp_call_graph_rules(graph);
    const size_t count = smp_root_rules_count(rules);
    struct smp_call_graph_figures figures;

    smp_call_graph_figures(graph, &figures);
    for (size_t i = 0; i < count; i++) {
        const enum smp_rule_state state = smp_call_graph_rule_state(graph, i);
        if (states[state].code != SMP_COUNTING_COUNT)
            add_rule(out, smp_root_rules_text(rules, i), states[state].code, states[state].reason);
    }
    /* What TOTAL begins with. One that was entered may have been dropped. */
    if (count == 0 && figures.roots == 0 && !figures.is_root_entered)
        add_rule(out, USUAL_ROOTS, SMP_COUNTING_ROOTS_NOT_LOADED, NULL);
    if (figures.roots > 0 && !figures.is_root_entered)
        smp_counting_account_add(out, SMP_COUNTING_NOT_ENTERED, figures.methods);
}

/* --- what is left out --- */

/* Of one that has a time: "since 2026-11-23T09:41:07Z: com.acme.Order.total" */
static void add_lost(struct smp_counting_account *out, enum smp_counting code,
                     const struct smp_losses *losses)
{
    smp_counting_account_add(out, code, losses->count);
    for (uint32_t i = 0; i < losses->named; i++) {
        const time_t since = (time_t)(losses->since_ms[i] / MS_PER_S);
        char text[SMP_LOSS_TEXT_BYTES + TIME_BYTES];
        char when[TIME_BYTES] = "";
        struct tm utc;

        if (since != 0 && gmtime_r(&since, &utc) != NULL)
            (void)strftime(when, sizeof(when), "since %Y-%m-%dT%H:%M:%SZ: ", &utc);
        (void)snprintf(text, sizeof(text), "%s%s", when, losses->texts[i]);
        (void)smp_counting_account_name(out, code, text);
    }
}

static void name_waiting(void *self, const char *method)
{
    (void)smp_counting_account_name(self, SMP_COUNTING_OVER_METHOD_LIMIT, method);
}

static void add_waiting(struct smp_counting_account *out, const struct smp_call_graph *graph)
{
    struct smp_call_graph_figures figures;

    smp_call_graph_figures(graph, &figures);
    smp_counting_account_add(out, SMP_COUNTING_OVER_METHOD_LIMIT, figures.waiting);
    if (figures.waiting > 0)
        smp_call_graph_each_waiting(graph, SMP_LOSSES_NAMED, name_waiting, out);
}

void smp_call_graph_account(const struct smp_call_graph *graph, struct smp_counting_account *out)
{
    static const enum smp_counting codes[SMP_CALL_GRAPH_LOSS_COUNT] = {
        [SMP_LOSS_LEFT_ALONE] = SMP_COUNTING_LEFT_ALONE,
        [SMP_LOSS_EXCLUDED] = SMP_COUNTING_EXCLUDED,
        [SMP_LOSS_TRIVIAL] = SMP_COUNTING_TRIVIAL,
        [SMP_LOSS_DROPPED] = SMP_COUNTING_DROPPED,
        [SMP_LOSS_SAMPLED] = SMP_COUNTING_SAMPLED,
    };

    add_rules(out, graph);
    for (int i = 0; i < SMP_CALL_GRAPH_LOSS_COUNT; i++)
        add_lost(out, codes[i], smp_call_graph_losses(graph, (enum smp_call_graph_loss)i));
    add_waiting(out, graph);
}
