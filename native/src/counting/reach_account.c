/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/reach_account.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum { SHOWN_RULE_BYTES = 300, LINE_BYTES = 512 };

static const char *const NOTE_TEXTS[SMP_REACH_NOTE_COUNT] = {
#define X(code, text) text,
    SMP_REACH_NOTE_MAP(X)
#undef X
};

struct account {
    smp_reach_each_line *each;
    void *self;
};

static void tell(const struct account *account, enum smp_reach_note note, uint64_t count,
                 int64_t since_ms, const char *what)
{
    char text[LINE_BYTES];
    const struct smp_reach_line line = {
        .note = note, .count = count, .since_ms = since_ms, .text = text, .about = what
    };

    (void)snprintf(text, sizeof(text), "%s%s", NOTE_TEXTS[note], what);
    account->each(account->self, &line);
}

static void tell_rule(const struct account *account, enum smp_rule_state state, const char *rule)
{
    static const enum smp_reach_note NOTES[] = { [SMP_RULE_NOT_LOADED] = SMP_NOTE_ROOT_NOT_LOADED,
                                                 [SMP_RULE_NO_METHOD] = SMP_NOTE_ROOT_NO_METHOD,
                                                 [SMP_RULE_NEVER] = SMP_NOTE_ROOT_NEVER,
                                                 [SMP_RULE_NO_CODE] = SMP_NOTE_ROOT_NO_CODE };
    char shown[SHOWN_RULE_BYTES];

    if (state >= SMP_RULE_FOUND)
        return;
    (void)smp_utf8_from_modified(shown, sizeof(shown), rule, strlen(rule));
    tell(account, NOTES[state], 1, 0, shown);
}

static void tell_rules(const struct smp_reach *reach, const struct account *account)
{
    const struct smp_reach_options *const options = smp_reach_options(reach);
    const size_t rules = smp_root_rules_count(options->rules);
    struct smp_reach_figures figures;

    for (size_t i = 0; i < rules; i++)
        tell_rule(account, smp_reach_rule_state(reach, i), smp_root_rules_text(options->rules, i));
    smp_reach_figures(reach, &figures);
    if (rules == 0 && options->scheme == SMP_SCHEME_TOTAL && figures.roots == 0)
        tell(account, SMP_NOTE_ROOT_NOT_LOADED, 1, 0, "main(String[]) or run()");
    if (figures.roots > 0 && !figures.is_root_entered) {
        char text[LINE_BYTES];
        const struct smp_reach_line line = { .note = SMP_NOTE_NOT_ENTERED,
                                             .count = figures.methods,
                                             .text = text };

        (void)snprintf(text, sizeof(text), "%" PRIu32 " method%s%s", figures.methods,
                       figures.methods == 1 ? "" : "s", NOTE_TEXTS[SMP_NOTE_NOT_ENTERED]);
        account->each(account->self, &line);
    }
}

static void tell_losses(const struct smp_losses *losses, const struct account *account,
                        enum smp_reach_note note, const char *things)
{
    const uint64_t more = losses->count - losses->named;
    char what[LINE_BYTES / 2];

    for (uint32_t i = 0; i < losses->named; i++)
        tell(account, note, 1, losses->since_ms[i], losses->texts[i]);
    if (more == 0)
        return;
    (void)snprintf(what, sizeof(what), "%" PRIu64 " more %s%s", more, things,
                   more == 1 ? "" : (note == SMP_NOTE_MEMORY_LIMIT ? "es" : "s"));
    tell(account, note, more, 0, what);
}

void smp_reach_account(const struct smp_reach *reach, smp_reach_each_line *each, void *self)
{
    static const struct {
        enum smp_reach_loss loss;
        enum smp_reach_note note;
        const char *thing;
    } LOSSES[SMP_REACH_LOSS_COUNT] = {
        { SMP_LOSS_LEFT_ALONE, SMP_NOTE_LEFT_ALONE, "method" },
        { SMP_LOSS_EXCLUDED, SMP_NOTE_EXCLUDED, "method" },
        { SMP_LOSS_METHOD_LIMIT, SMP_NOTE_METHOD_LIMIT, "method" },
        { SMP_LOSS_MEMORY_LIMIT, SMP_NOTE_MEMORY_LIMIT, "class" },
        { SMP_LOSS_DROPPED, SMP_NOTE_DROPPED, "method" },
    };
    const struct account account = { .each = each, .self = self };

    tell_rules(reach, &account);
    for (size_t i = 0; i < SMP_REACH_LOSS_COUNT; i++)
        tell_losses(smp_reach_losses(reach, LOSSES[i].loss), &account, LOSSES[i].note,
                    LOSSES[i].thing);
}
