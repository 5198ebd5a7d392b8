/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "counting/call_graph.h"
#include "counting/worklist.h"

static const char USUAL_ROOTS[] = "main(String[]) or run()";

/* --- roots --- */

static void add_rule(struct smp_counting_account *out, struct smp_slice rule,
                     enum smp_counting code, const char *reason)
{
    char shown[SMP_MAX_COUNTING_NAME_BYTES];
    const int length = snprintf(shown, sizeof(shown) / 2, "%s: ", reason);

    (void)smp_utf8_from_modified(shown + length, sizeof(shown) - (size_t)length, rule.bytes,
                                 rule.length);
    smp_counting_account_add(out, code, 1);
    (void)smp_counting_account_name(out, code, shown);
}

static bool has_probed_root(const struct smp_call_graph *graph, const struct smp_root_rule *rule)
{
    for (int32_t id = 0; id < smp_method_ids_end(&graph->ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

        if (record != NULL && record->state == SMP_METHOD_WANTED &&
            (smp_worklist_method_of(graph, record)->flags & SMP_MARK_ROOT) != 0 &&
            smp_worklist_is_of_rule(graph, rule, id))
            return true;
    }
    return false;
}

static void add_rules(struct smp_counting_account *out, const struct smp_call_graph *graph)
{
    static const struct {
        enum smp_counting code;
        const char *reason; /* NULL: the rule is not in the account */
    } states[] = {
        [SMP_RULE_NOT_LOADED] = { SMP_COUNTING_ROOTS_WITHOUT_CALLS, "not loaded yet" },
        [SMP_RULE_NO_METHOD] = { SMP_COUNTING_ROOTS_WITHOUT_CALLS, "not found in its class" },
        [SMP_RULE_NEVER] = { SMP_COUNTING_LEFT_ALONE, "the probes themselves run through it" },
        [SMP_RULE_NO_CODE] = { SMP_COUNTING_LEFT_ALONE, "native or abstract" },
        [SMP_RULE_FOUND] = { SMP_COUNTING_ROOTS_WITHOUT_CALLS, "not entered since it is counted" },
        [SMP_RULE_ENTERED] = { SMP_COUNTING_COUNT, NULL },
    };
    const enum smp_rule_state usual = graph->roots == 0 ? SMP_RULE_NOT_LOADED : SMP_RULE_FOUND;

    for (size_t i = 0; i < graph->plan->rule_count; i++) {
        const struct smp_root_rule *const rule = &graph->plan->rules[i];
        const enum smp_rule_state state = (enum smp_rule_state)graph->rule_states[i];
        /* A root without a probe is listed with its own reason. */
        if (states[state].reason != NULL &&
            (state != SMP_RULE_FOUND || has_probed_root(graph, rule)))
            add_rule(out, rule->text, states[state].code, states[state].reason);
    }
    /* The roots of TOTAL without rules. An entered root may have been dropped since. */
    if (graph->plan->rule_count == 0 && !graph->is_root_entered)
        add_rule(out, (struct smp_slice){ USUAL_ROOTS, sizeof(USUAL_ROOTS) - 1 },
                 states[usual].code, states[usual].reason);
}

/* --- methods and classes without probes --- */

static void add_lost(struct smp_counting_account *out, const struct smp_call_graph *graph,
                     enum smp_counting code)
{
    smp_counting_account_add(out, code, smp_counting_account_figure(graph->account, code));
    for (size_t i = 0; i < smp_counting_account_listed(graph->account, code); i++)
        (void)smp_counting_account_name(out, code,
                                        smp_counting_account_name_at(graph->account, code, i));
}

static void add_waiting(struct smp_counting_account *out, const struct smp_call_graph *graph)
{
    const enum smp_counting code = SMP_COUNTING_OVER_METHOD_LIMIT;
    uint32_t left = graph->places.waiting;
    char text[SMP_MAX_COUNTING_NAME_BYTES];

    smp_counting_account_add(out, code, left);
    for (uint32_t c = 1; c < graph->index.classes.top && left > 0; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, c);

        for (uint32_t m = 0; it->name != 0 && m < it->body.method_count && left > 0; m++) {
            if (!smp_places_waits(graph, &it->body.methods[m]))
                continue;
            smp_worklist_text(graph, c, m, NULL, text);
            (void)smp_counting_account_name(out, code, text);
            left = smp_counting_account_listed(out, code) < SMP_MAX_COUNTING_NAMES ? left - 1 : 0;
        }
    }
}

void smp_call_graph_account(const struct smp_call_graph *graph, struct smp_counting_account *out)
{
    add_rules(out, graph);
    add_lost(out, graph, SMP_COUNTING_LEFT_ALONE);
    add_lost(out, graph, SMP_COUNTING_EXCLUDED);
    add_lost(out, graph, SMP_COUNTING_TRIVIAL);
    add_lost(out, graph, SMP_COUNTING_DROPPED);
    add_lost(out, graph, SMP_COUNTING_SAMPLED);
    add_waiting(out, graph);
}
