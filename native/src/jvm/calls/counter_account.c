/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/counter_account.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "classfile/rewrite.h"
#include "counting/call_arena.h"
#include "counting/root_rules.h"
#include "jvm/calls/instrumenter.h"

enum { SHOWN_BYTES = 256 };

/* Where a method stands that the rewriter has left alone; COUNT: it is none of these. */
static const enum smp_counting codes[SMP_REWRITE_COUNT] = {
    [SMP_REWRITE_NOT_PLANNED] = SMP_COUNTING_COUNT,
    [SMP_REWRITE_DONE] = SMP_COUNTING_COUNT,
    [SMP_REWRITE_NATIVE_OR_ABSTRACT] = SMP_COUNTING_NATIVE_OR_ABSTRACT,
    [SMP_REWRITE_TOO_LARGE] = SMP_COUNTING_TOO_LARGE,
    [SMP_REWRITE_JUMP_TOO_FAR] = SMP_COUNTING_JUMP_TOO_FAR,
    [SMP_REWRITE_UNKNOWN_CODE] = SMP_COUNTING_UNKNOWN_CODE,
    [SMP_REWRITE_NO_ROOM_IN_POOL] = SMP_COUNTING_NO_ROOM_IN_POOL,
};

static void add_rule(struct smp_counting_account *out, const struct smp_root_rules *rules,
                     size_t rule, enum smp_counting code)
{
    const char *const text = smp_root_rules_text(rules, rule);
    char shown[SHOWN_BYTES];

    (void)smp_utf8_from_modified(shown, sizeof(shown), text, strlen(text));
    smp_counting_account_add(out, code, 1);
    (void)smp_counting_account_name(out, code, shown);
}

static void add_rules(struct smp_counting_account *out, const struct smp_reach *reach)
{
    static const enum smp_counting states[] = {
        [SMP_RULE_NOT_LOADED] = SMP_COUNTING_ROOTS_NOT_LOADED,
        [SMP_RULE_NO_METHOD] = SMP_COUNTING_ROOTS_NOT_FOUND,
        [SMP_RULE_NEVER] = SMP_COUNTING_ROOTS_NEVER,
        [SMP_RULE_NO_CODE] = SMP_COUNTING_NATIVE_OR_ABSTRACT,
        [SMP_RULE_FOUND] = SMP_COUNTING_ROOTS_NOT_ENTERED,
    };
    const struct smp_root_rules *const rules = smp_reach_options(reach)->rules;

    for (size_t i = 0; i < smp_root_rules_count(rules); i++) {
        const enum smp_rule_state state = smp_reach_rule_state(reach, i);
        if (state != SMP_RULE_ENTERED)
            add_rule(out, rules, i, states[state]);
    }
}

static void add_lost_names(struct smp_counting_account *out, enum smp_counting code,
                           const struct smp_losses *losses)
{
    smp_counting_account_add(out, code, losses->count);
    for (uint32_t i = 0; i < losses->named; i++)
        (void)smp_counting_account_name(out, code, losses->texts[i]);
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

static void add_reach(void *self, const struct smp_reach *reach, const uint64_t *left_alone)
{
    struct smp_counting_account *const out = self;

    add_rules(out, reach);
    add_left_alone(out, smp_reach_losses(reach, SMP_LOSS_LEFT_ALONE), left_alone);
    add_lost_names(out, SMP_COUNTING_EXCLUDED, smp_reach_losses(reach, SMP_LOSS_EXCLUDED));
    add_lost_names(out, SMP_COUNTING_OVER_METHOD_LIMIT,
                   smp_reach_losses(reach, SMP_LOSS_METHOD_LIMIT));
    add_lost_names(out, SMP_COUNTING_CLASS_OVER_MEMORY_LIMIT,
                   smp_reach_losses(reach, SMP_LOSS_MEMORY_LIMIT));
    add_lost_names(out, SMP_COUNTING_DROPPED, smp_reach_losses(reach, SMP_LOSS_DROPPED));
}

void smp_counter_account_add(struct smp_counter_account_seen *seen,
                             struct smp_counting_account *out)
{
    const uint64_t lost_roots = smp_call_arena_losses().roots;
    struct smp_instrumenter_figures figures;

    smp_instrumenter_get_figures(&figures);
    smp_instrumenter_inspect(add_reach, out);
    smp_counting_account_add(out, SMP_COUNTING_INSTRUMENTED, figures.reach.methods);
    smp_counting_account_add(out, SMP_COUNTING_BATCHES, figures.batches - seen->batches);
    smp_counting_account_add(out, SMP_COUNTING_MALFORMED_CLASS, figures.malformed);
    smp_counting_account_add(out, SMP_COUNTING_OVER_MEMORY_LIMIT, lost_roots - seen->lost_roots);
    seen->batches = figures.batches;
    seen->lost_roots = lost_roots;
}
