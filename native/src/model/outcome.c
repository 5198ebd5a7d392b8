/* SPDX-License-Identifier: Apache-2.0 */
#include "model/outcome.h"

#include <stddef.h>

static const struct {
    enum smp_outcome_kind kind;
    enum smp_shown shown;
    const char *code;
    const char *text;
    const char *frame;
} OUTCOMES[SMP_OUTCOME_COUNT] = {
#define X(outcome_code, outcome_kind, when, outcome_text, outcome_frame, words) \
    { .kind = SMP_KIND_##outcome_kind,                                          \
      .shown = SMP_SHOWN_##when,                                                \
      .code = #outcome_code,                                                    \
      .text = (outcome_text),                                                   \
      .frame = (outcome_frame) },
    SMP_OUTCOME_MAP(X)
#undef X
};

static const struct {
    enum smp_shown shown;
    const char *code;
    const char *text;
} COUNTERS[SMP_COUNTER_COUNT] = {
#define X(counter_code, when, counter_text, words) \
    { .shown = SMP_SHOWN_##when, .code = #counter_code, .text = (counter_text) },
    SMP_COUNTER_MAP(X)
#undef X
};

void smp_tally_note(struct smp_tally *tally, enum smp_outcome outcome)
{
    smp_tally_note_all(tally, outcome, 1);
}

void smp_tally_note_all(struct smp_tally *tally, enum smp_outcome outcome, uint64_t polls)
{
    tally->polls += polls;
    tally->outcomes[outcome] += polls;
}

void smp_tally_add(struct smp_tally *to, const struct smp_tally *from)
{
    to->polls += from->polls;
    for (size_t i = 0; i < SMP_OUTCOME_COUNT; i++)
        to->outcomes[i] += from->outcomes[i];
}

uint64_t smp_tally_samples(const struct smp_tally *tally)
{
    uint64_t sum = 0;

    for (int i = 0; i < SMP_OUTCOME_COUNT; i++) {
        if (smp_outcome_is_sample((enum smp_outcome)i))
            sum += tally->outcomes[i];
    }
    return sum;
}

const char *smp_outcome_code(enum smp_outcome outcome)
{
    return OUTCOMES[outcome].code;
}

const char *smp_outcome_text(enum smp_outcome outcome)
{
    return OUTCOMES[outcome].text;
}

const char *smp_outcome_frame(enum smp_outcome outcome)
{
    return OUTCOMES[outcome].frame;
}

enum smp_shown smp_outcome_shown(enum smp_outcome outcome)
{
    return OUTCOMES[outcome].shown;
}

enum smp_outcome_kind smp_outcome_kind_of(enum smp_outcome outcome)
{
    return OUTCOMES[outcome].kind;
}

bool smp_outcome_is_sample(enum smp_outcome outcome)
{
    const enum smp_outcome_kind kind = smp_outcome_kind_of(outcome);

    return kind == SMP_KIND_WALKED || kind == SMP_KIND_IDLE || kind == SMP_KIND_RECOVERED;
}

const char *smp_counter_code(enum smp_counter counter)
{
    return COUNTERS[counter].code;
}

const char *smp_counter_text(enum smp_counter counter)
{
    return COUNTERS[counter].text;
}

enum smp_shown smp_counter_shown(enum smp_counter counter)
{
    return COUNTERS[counter].shown;
}

bool smp_shown_in_short(enum smp_shown shown, uint64_t figure, uint64_t polls)
{
    static const int per_mille[] = {
#define X(level, least, words) least,
        SMP_SHOWN_MAP(X)
#undef X
    };

    return figure > 0 && per_mille[shown] >= 0 &&
           (double)figure * 1000.0 >= (double)polls * per_mille[shown];
}
