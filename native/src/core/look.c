/* SPDX-License-Identifier: Apache-2.0 */
#include "core/look.h"

#include "base/clock.h"
#include "core/cpu_look.h"

#define NS_PER_MS INT64_C(1000000)

/* --- when --- */

void smp_look_put_at(struct smp_looker *looker, struct smp_thread_record *record, int64_t at_ns)
{
    smp_wheel_put(&looker->wheel, &record->due, at_ns);
}

void smp_look_put_after(struct smp_looker *looker, struct smp_thread_record *record, int64_t now_ns,
                        int64_t gap_ns)
{
    smp_look_put_at(looker, record,
                    gap_ns <= looker->interval_ns ? now_ns + 1
                                                  : now_ns + gap_ns - looker->interval_ns / 2);
}

/* Of one that has been idle, as far as is known. */
static int64_t idle_gap_ns(struct smp_looker *looker, const struct smp_thread_record *record,
                           int64_t now_ns)
{
    const int64_t most_ns =
        smp_idle_gap_ns(now_ns - record->idle.since_ns, looker->interval_ns, looker->lookback_ns,
                        smp_budget_random(&looker->budget));

    return smp_idle_meeting_ns(now_ns, most_ns, looker->interval_ns) - now_ns;
}

/* Hundreds that wake up for a moment now and then must not leave nothing for the few that work. It
 * goes by what a thread has used for some time, not by what it does at this look: else what was
 * found at the end of a short gap and of a long one would not be of one kind. */
static int64_t quietness(const struct smp_thread_record *record)
{
    const int64_t times = SMP_WHOLE_USE / SMP_BUSY_SHARE / (record->use + 1);

    if (times < 1)
        return 1;
    return times < SMP_MOST_QUIETNESS ? times : SMP_MOST_QUIETNESS;
}

/* It used so much of the time since the last look. */
static void learn_use(struct smp_thread_record *record, int64_t used_ns, int64_t span_ns)
{
    enum { SLOWNESS = 4 };
    const int64_t use = used_ns < span_ns ? used_ns * SMP_WHOLE_USE / span_ns : SMP_WHOLE_USE;

    record->use += (use - record->use) / SLOWNESS;
}

static int64_t next_gap_ns(struct smp_looker *looker, const struct smp_thread_record *record,
                           int64_t now_ns)
{
    return record->idle.has_leaf ? idle_gap_ns(looker, record, now_ns) : looker->interval_ns;
}

/* Where there is not CPU time for all. Whoever is idle is passed over as well: thousands of them
 * would leave nothing for the few that run, and what they do is known afterwards all the same. */
static int64_t thinned_gap_ns(struct smp_looker *looker, const struct smp_thread_record *record,
                              int64_t gap_ns)
{
    const int64_t thin_ns = smp_budget_next_ticks(&looker->budget) * gap_ns * quietness(record);

    return thin_ns < SMP_MOST_THIN_MS * NS_PER_MS ? thin_ns : SMP_MOST_THIN_MS * NS_PER_MS;
}

static bool is_short_of_time(const struct smp_looker *looker)
{
    return looker->budget.share < SMP_BUDGET_WHOLE;
}

/* Who has just been looked at. */
static void schedule(struct smp_looker *looker, struct smp_thread_record *record, int64_t now_ns)
{
    const int64_t gap_ns = next_gap_ns(looker, record, now_ns);

    record->is_drawn = is_short_of_time(looker);
    record->thin_tick = looker->tick + (uint64_t)(gap_ns / looker->interval_ns);
    smp_look_put_after(looker, record, now_ns,
                       record->is_drawn ? thinned_gap_ns(looker, record, gap_ns) : gap_ns);
}

bool smp_look_pass_over(struct smp_looker *looker, struct smp_thread_record *record)
{
    const int64_t now_ns = looker->look->now_ns;

    if (record->is_drawn || record->unanswered_ns != 0 || !record->was_looked_at ||
        !is_short_of_time(looker))
        return false;
    record->is_drawn = true;
    const int64_t gap_ns = next_gap_ns(looker, record, now_ns);
    const int64_t thin_ns = thinned_gap_ns(looker, record, gap_ns);
    if (thin_ns <= gap_ns)
        return false;
    smp_look_put_after(looker, record, now_ns, thin_ns - gap_ns);
    return true;
}

/* --- time that is kept --- */

void smp_look_count_as_sampled(struct smp_looker *looker, struct smp_thread_record *record,
                               bool is_sampled)
{
    if (record->is_counted == is_sampled)
        return;
    record->is_counted = is_sampled;
    looker->threads += is_sampled ? 1 : (uint64_t)-1;
}

void smp_look_begin(struct smp_thread_record *record, int64_t now_ns)
{
    record->credited_ns = now_ns;
    record->idle = (struct smp_idle){ 0 };
    record->is_drawn = false;
    record->unanswered_ns = 0;
    record->is_asked = false;
}

/* Whoever is not sampled now owns the time that passes, and it is not credited later. */
void smp_look_leave_out(struct smp_looker *looker, struct smp_thread_record *record)
{
    record->was_looked_at = false;
    smp_look_begin(record, looker->look->now_ns);
    smp_look_count_as_sampled(looker, record, false);
}

/* Where the time of a thread goes whose stack is the one it had, as far as is known. */
static struct smp_spot kept_spot(struct smp_looker *looker, struct smp_thread_record *record)
{
    struct smp_spot spot;

    if (record->idle.has_leaf && smp_credit_idle(&looker->credit, record, &spot))
        return spot;
    return smp_credit_pseudo(&looker->credit, record, SMP_OUTCOME_BUDGET);
}

static int64_t kept_ns(const struct smp_looker *looker, const struct smp_thread_record *record)
{
    return record->was_looked_at ? looker->covered_ns - record->credited_ns : 0;
}

/* What is kept for the record up to the last tick is credited. Its clock is left alone: what it
 * used is found at the next look. */
void smp_look_credit_kept(struct smp_looker *looker, struct smp_thread_record *record)
{
    const int64_t span_ns = kept_ns(looker, record);
    struct smp_spot spot;

    if (span_ns <= 0)
        return;
    spot = kept_spot(looker, record);
    smp_credit_note(&looker->credit, &spot, span_ns);
    record->credited_ns = looker->covered_ns;
}

/* May be told while a user's rule is asked, when the JVM cannot be: so a stack that has to be added
 * is added afterwards. */
void smp_look_leaving(void *context, struct smp_thread_record *record)
{
    struct smp_looker *looker = context;

    if (kept_ns(looker, record) <= 0 || record->has_left)
        return;
    record->left_place = smp_credit_place(&looker->credit, record);
    record->has_left = true;
}

/* Credits what was kept in the place the record has left. */
void smp_look_credit_left(struct smp_looker *looker, struct smp_thread_record *record)
{
    const struct smp_place place = record->place;
    const uint64_t epoch = record->place_epoch;

    if (!record->has_left)
        return;
    record->has_left = false;
    record->place = record->left_place;
    record->place_epoch = looker->credit.place_epoch;
    smp_look_credit_kept(looker, record);
    record->place = place;
    record->place_epoch = epoch;
    smp_last_stack_forget(&record->last);
}

/* The last of an ended thread's time. It woke up to end: the little time that takes is the last
 * interval's. */
static void credit_end(struct smp_looker *looker, struct smp_thread_record *record,
                       int64_t ended_ns)
{
    int64_t span_ns = ended_ns - record->credited_ns;
    struct smp_spot spot;

    if (!record->was_looked_at) {
        if (ended_ns > looker->marked_ns && record->naming != SMP_NAMING_SKIP &&
            smp_looker_chooses(looker, record))
            smp_interval_count(looker->credit.interval, SMP_COUNTER_UNSEEN_THREADS, 1);
        return;
    }
    if (smp_idle_is_long(span_ns, looker->interval_ns) && record->idle.has_leaf &&
        smp_credit_idle(&looker->credit, record, &spot)) {
        smp_credit_note(&looker->credit, &spot, span_ns - looker->interval_ns);
        span_ns = looker->interval_ns;
    }
    if (span_ns <= 0)
        return;
    spot = smp_credit_pseudo(&looker->credit, record, SMP_OUTCOME_ENDED);
    smp_credit_note(&looker->credit, &spot, span_ns);
}

/* A thread that ended after this look began is walked as if alive: it counts as gone during the
 * walk, and the rest of its time is credited at the next tick. True: the record is gone. */
bool smp_look_remove_ended(struct smp_looker *looker, struct smp_thread_record *record)
{
    const int64_t ended_ns = atomic_load_explicit(&record->thread->ended_ns, memory_order_acquire);

    if (ended_ns == 0 || ended_ns > looker->look->now_ns)
        return false;
    if (looker->is_cpu)
        smp_cpu_look_stop(looker, record);
    else if (looker->look->span_ns < 0)
        credit_end(looker, record, ended_ns);
    smp_look_count_as_sampled(looker, record, false);
    smp_wheel_remove(&looker->wheel, &record->due);
    smp_thread_table_remove(&looker->table, record);
    return true;
}

/* --- one look: what was found --- */

/* How a walk ended. */
struct found {
    enum smp_outcome outcome;
    const struct smp_sample *sample;
    const char *group_name; /* NULL: the thread's own */
    bool is_late;           /* there is none yet, but there will be one */
};

static struct smp_gap gap_of(const struct smp_looker *looker,
                             const struct smp_thread_record *record, int64_t span_ns)
{
    return (struct smp_gap){
        .span_ns = span_ns,
        .interval_ns = looker->interval_ns,
        .is_measured = record->reading.is_measured && looker->look->span_ns < 0,
        .used_ns = record->reading.used_ns,
        .is_running = record->reading.activity == SMP_ACTIVITY_RUNNING,
    };
}

static void credit_cpu(struct smp_looker *looker, const struct smp_spot *spot,
                       const struct smp_gap *gap, int64_t unseen_ns)
{
    struct smp_interval *interval = looker->credit.interval;

    if (!gap->is_measured)
        return;
    if (gap->is_running)
        smp_interval_used_cpu(interval, spot->place, spot->node, gap->used_ns);
    else if (gap->used_ns > 0)
        smp_interval_ran_unseen(interval, spot->place, unseen_ns, gap->used_ns);
}

static bool has_stack(enum smp_outcome outcome)
{
    return smp_outcome_frame(outcome) == NULL || outcome == SMP_OUTCOME_EMPTY ||
           outcome == SMP_OUTCOME_OVER_LIMIT;
}

/* Where no answer came it is most likely where it was seen last: a pseudo-frame would make all
 * other shares too large together, and say nothing. That it was not seen is counted. */
static struct smp_spot find_spot(struct smp_looker *looker, struct smp_thread_record *record,
                                 const struct found *found)
{
    struct smp_spot spot;

    if (found->is_late && !record->had_guest && smp_credit_idle(&looker->credit, record, &spot)) {
        if (spot.outcome == SMP_OUTCOME_IDLE)
            spot.outcome = found->outcome;
        return spot;
    }
    return smp_credit_found(&looker->credit, record, found->outcome, found->sample,
                            found->group_name);
}

/* The end of each look: credits the time, and says when the next one is. */
static void finish(struct smp_looker *looker, struct smp_thread_record *record,
                   const struct found *found)
{
    const int64_t now_ns = looker->look->now_ns;
    const int64_t span_ns =
        looker->look->span_ns >= 0 ? looker->look->span_ns : now_ns - record->credited_ns;
    struct smp_gap gap = gap_of(looker, record, span_ns);
    struct smp_shares shares;
    struct smp_spot old;
    struct smp_spot spot;

    /* Before the stack is replaced. */
    gap.knows_old = gap.is_measured && smp_idle_is_long(span_ns, looker->interval_ns) &&
                    record->reading.had_leaf && smp_credit_idle(&looker->credit, record, &old);
    spot = find_spot(looker, record, found);
    gap.is_same = gap.knows_old && old.node == spot.node;
    shares = smp_idle_split(&gap);
    if (shares.old_ns > 0)
        smp_credit_note(&looker->credit, &old, shares.old_ns);
    smp_credit_note(&looker->credit, &spot, shares.found_ns);
    credit_cpu(looker, &spot, &gap, shares.unseen_ns);
    record->credited_ns = now_ns;
    record->unanswered_ns = 0;
    record->is_asked = false;
    if (record->reading.activity == SMP_ACTIVITY_RAN ||
        record->reading.activity == SMP_ACTIVITY_NONE) {
        record->idle.has_leaf =
            has_stack(spot.outcome) && record->last.epoch == looker->credit.stack_epoch;
        if (record->reading.activity == SMP_ACTIVITY_RAN)
            record->idle.since_ns = now_ns;
    }
    schedule(looker, record, now_ns);
}

/* It has run, so it is idle no more; what goes to the stack it had before is known now. */
static void credit_idle_part(struct smp_looker *looker, struct smp_thread_record *record)
{
    struct smp_gap gap = gap_of(looker, record, looker->look->now_ns - record->credited_ns);
    struct smp_shares shares;
    struct smp_spot old;

    gap.knows_old = record->reading.had_leaf && smp_credit_idle(&looker->credit, record, &old);
    shares = smp_idle_split(&gap);
    if (shares.old_ns <= 0)
        return;
    smp_credit_note(&looker->credit, &old, shares.old_ns);
    record->credited_ns += shares.old_ns;
}

static void count_unanswered(struct smp_looker *looker, struct smp_thread_record *record)
{
    smp_interval_skip(looker->credit.interval, smp_credit_place(&looker->credit, record),
                      SMP_OUTCOME_UNANSWERED, 1);
    smp_look_put_at(looker, record, looker->look->now_ns + 1);
}

/*
 * A thread that does not answer is one that waits for a CPU: it is where it was when it lost it. So
 * its time waits, too: for the answer where it was asked, else as if this look had not been. Not
 * past the end of an interval, and where it runs without answering, not for ever.
 */
static bool wait_for_answer(struct smp_looker *looker, struct smp_thread_record *record)
{
    const struct smp_look *look = looker->look;

    if (look->is_settling || look->span_ns >= 0)
        return false;
    if (record->unanswered_ns == 0)
        record->unanswered_ns = look->now_ns;
    if (look->now_ns - record->unanswered_ns > SMP_MAX_UNANSWERED_MS * NS_PER_MS)
        return false;
    credit_idle_part(looker, record);
    record->asked_until_ns = look->now_ns;
    record->asked_clock_ns = record->idle.cpu_ns;
    record->asked_used_ns = record->reading.is_measured ? record->reading.used_ns : -1;
    if (record->reading.is_measured)
        record->idle.cpu_ns -= record->reading.used_ns;
    else
        record->idle.has_clock = false;
    count_unanswered(looker, record);
    return true;
}

static void finish_without(struct smp_looker *looker, struct smp_thread_record *record,
                           enum smp_outcome outcome)
{
    const struct found found = {
        .outcome = outcome,
        .is_late = outcome == SMP_OUTCOME_UNANSWERED && looker->look->is_settling,
    };

    if (outcome != SMP_OUTCOME_UNANSWERED || !wait_for_answer(looker, record))
        finish(looker, record, &found);
}

/* --- one look: walks --- */

static enum smp_outcome outcome_of(enum smp_status status, const struct smp_sample *sample)
{
    switch (status) {
    case SMP_OK:
        if (sample->count > sample->capacity || sample->leaf_count > sample->count)
            return SMP_OUTCOME_REFUSED; /* not a stack */
        if (sample->count == 0)
            return SMP_OUTCOME_EMPTY;
        return sample->omitted > 0 ? SMP_OUTCOME_CUT : SMP_OUTCOME_WALKED;
    case SMP_EGONE:
        return SMP_OUTCOME_GONE;
    case SMP_EPHASE:
        return SMP_OUTCOME_PHASE;
    case SMP_ENOMEM:
        return SMP_OUTCOME_NO_MEMORY;
    default:
        return SMP_OUTCOME_REFUSED;
    }
}

static void walk(struct smp_looker *looker, struct smp_thread_record *record)
{
    const struct smp_walker *walker = &looker->vm->walker;
    struct smp_sample *sample = &looker->sample;
    struct found found = { .sample = sample };

    sample->count = 0;
    sample->leaf_count = 0;
    sample->omitted = 0;
    found.outcome = outcome_of(walker->walk(walker->self, record->thread, sample), sample);
    finish(looker, record, &found);
}

enum smp_outcome smp_look_outcome(enum smp_answer answer, const struct smp_sample *sample)
{
    static const enum smp_outcome outcomes[SMP_ANSWER_COUNT] = {
#define X(code, outcome) [SMP_ANSWER_##code] = SMP_OUTCOME_##outcome,
        SMP_ANSWER_MAP(X)
#undef X
    };
    const enum smp_outcome outcome =
        (unsigned)answer < SMP_ANSWER_COUNT ? outcomes[answer] : SMP_OUTCOME_REFUSED;

    if (smp_outcome_frame(outcome) != NULL)
        return outcome;
    if (sample == NULL || outcome_of(SMP_OK, sample) == SMP_OUTCOME_REFUSED)
        return SMP_OUTCOME_REFUSED;
    if (sample->count == 0)
        return SMP_OUTCOME_EMPTY;
    return outcome == SMP_OUTCOME_WALKED && sample->omitted > 0 ? SMP_OUTCOME_CUT : outcome;
}

/* The user's rule leaves this virtual thread out: its time is nobody's. */
static void leave_out_guest(struct smp_looker *looker, struct smp_thread_record *record)
{
    if (looker->look->span_ns < 0)
        credit_idle_part(looker, record);
    record->credited_ns = looker->look->now_ns;
    record->unanswered_ns = 0;
    record->is_asked = false;
    schedule(looker, record, looker->look->now_ns);
}

const char *smp_look_group_of_guest(struct smp_looker *looker, const struct smp_guest *guest)
{
    uint64_t failures = 0;
    const char *group = smp_thread_names_of_guest(looker->names, guest, &failures);

    smp_interval_count(looker->credit.interval, SMP_COUNTER_NAME_RULE_FAILURES, failures);
    return group;
}

static void take_answer(struct smp_looker *looker, struct smp_thread_record *record,
                        enum smp_answer answer, const struct smp_sample *sample,
                        const struct smp_guest *guest)
{
    static const struct smp_sample none = { 0 };
    const enum smp_outcome outcome = smp_look_outcome(answer, sample);
    const struct found found = {
        .outcome = outcome,
        .sample = sample != NULL && outcome != SMP_OUTCOME_EMPTY ? sample : &none,
        .group_name = guest != NULL ? smp_look_group_of_guest(looker, guest) : NULL,
    };

    record->had_guest = guest != NULL;
    if (guest != NULL && found.group_name == NULL)
        leave_out_guest(looker, record);
    else
        finish(looker, record, &found);
}

static void on_answer(void *context, uint64_t token, enum smp_answer answer,
                      const struct smp_sample *sample, const struct smp_guest *guest)
{
    struct smp_looker *looker = context;
    struct smp_thread_record *record = (struct smp_thread_record *)(uintptr_t)token;

    looker->in_flight--;
    if (answer == SMP_ANSWER_UNANSWERED) {
        record->is_asked = true;
        finish_without(looker, record, SMP_OUTCOME_UNANSWERED);
    } else {
        take_answer(looker, record, answer, sample, guest);
    }
}

/* The answer to an earlier look: it is credited as of the last tick at which it was true. */
static void on_late_answer(void *context, uint64_t token, enum smp_answer answer,
                           const struct smp_sample *sample, const struct smp_guest *guest)
{
    struct smp_looker *looker = context;
    struct smp_thread_record *record = (struct smp_thread_record *)(uintptr_t)token;
    struct smp_look *look = looker->look;
    struct smp_look asked = { .now_ns = record->asked_until_ns, .span_ns = -1 };

    record->reading = (struct smp_reading){
        .activity = SMP_ACTIVITY_RUNNING,
        .is_measured = record->asked_used_ns >= 0,
        .used_ns = record->asked_used_ns,
        .clock_ns = record->asked_clock_ns,
    };
    record->idle.cpu_ns = record->asked_clock_ns;
    record->idle.has_clock = true;
    looker->look = &asked;
    take_answer(looker, record, answer, sample, guest);
    looker->look = look;
}

static void collect_within(struct smp_looker *looker, int64_t wait_ns)
{
    const struct smp_async_walker *async = &looker->vm->async;

    if (looker->in_flight > 0)
        async->collect(async->self, smp_clock_ns() + wait_ns, on_answer, looker);
}

/* For a moment: who does not answer at a tick is asked again at the next one. */
static void collect_soon(struct smp_looker *looker)
{
    const int64_t share_ns = looker->interval_ns / SMP_ANSWER_WAIT_SHARE;
    const int64_t most_ns = SMP_ANSWER_WAIT_MS * NS_PER_MS;

    collect_within(looker, share_ns < most_ns ? share_ns : most_ns);
}

/* Takes the answers to all that was asked. */
void smp_look_collect(struct smp_looker *looker)
{
    /* At the end of an interval time cannot wait for an answer: who only waits for a CPU gets one.
     */
    if (looker->look->is_settling)
        collect_within(looker, SMP_LAST_ANSWER_WAIT_MS * NS_PER_MS);
    else
        collect_soon(looker);
}

/* Has waiting for answers taken so long that the next tick is near? */
static bool has_waited_enough(const struct smp_looker *looker)
{
    return smp_clock_ns() - looker->look->begun_ns > looker->interval_ns / SMP_MAX_WAITS_SHARE;
}

static void ask(struct smp_looker *looker, struct smp_thread_record *record)
{
    const struct smp_async_walker *async = &looker->vm->async;

    if (looker->in_flight == SMP_MAX_REQUESTS) {
        collect_soon(looker);
        if (has_waited_enough(looker)) {
            finish_without(looker, record, SMP_OUTCOME_BUDGET);
            return;
        }
    }
    switch (async->request(async->self, record->thread, (uint64_t)(uintptr_t)record)) {
    case SMP_OK:
        looker->in_flight++;
        return;
    case SMP_ESTATE: /* has not even answered the one before */
        finish_without(looker, record, SMP_OUTCOME_UNANSWERED);
        return;
    case SMP_EGONE:
        finish_without(looker, record, SMP_OUTCOME_GONE);
        return;
    case SMP_EQUOTA:
        finish_without(looker, record, SMP_OUTCOME_QUEUE);
        return;
    case SMP_EUNSUPPORTED:
        walk(looker, record);
        return;
    case SMP_EINVAL:
        finish_without(looker, record, SMP_OUTCOME_UNIDENTIFIED);
        return;
    default:
        finish_without(looker, record, SMP_OUTCOME_REFUSED);
    }
}

/* --- one look --- */

/* Until the next tick. */
static void pass_by(struct smp_looker *looker, struct smp_thread_record *record)
{
    smp_look_leave_out(looker, record);
    smp_look_put_at(looker, record, looker->look->now_ns + 1);
}

/* False: it is not sampled now. */
static bool is_sampled(struct smp_looker *looker, struct smp_thread_record *record)
{
    if (looker->default_name_rule || looker->look->is_settling) {
        record->is_candidate = smp_looker_chooses(looker, record);
        if (!record->is_candidate) {
            smp_look_leave_out(looker, record);
            smp_look_put_after(looker, record, looker->look->now_ns, looker->lookback_ns);
            return false;
        }
    }
    if (record->is_candidate && record->naming != SMP_NAMING_SKIP)
        return true;
    pass_by(looker, record);
    return false;
}

/* Who has run may have renamed itself. Who has not is renamed by others only, and that mostly soon
 * after it was made: to read a name that nobody has touched for a while costs as much as the clock.
 */
static bool is_name_due(const struct smp_looker *looker, const struct smp_thread_record *record)
{
    const int64_t now_ns = looker->look->now_ns;
    const int64_t age_ns = now_ns - record->named_ns;

    return looker->look->span_ns >= 0 || record->reading.activity != SMP_ACTIVITY_NONE ||
           !record->idle.has_leaf || age_ns >= SMP_NAME_AGE_MS * NS_PER_MS ||
           age_ns >= (now_ns - record->idle.since_ns) / SMP_NAME_SHARE || record->seen == NULL;
}

/* False: it came and went. */
static bool read_name(struct smp_looker *looker, struct smp_thread_record *record)
{
    if (!looker->default_name_rule || looker->look->is_settling || !is_name_due(looker, record))
        return true;
    record->named_ns = looker->look->now_ns;
    smp_thread_names_read(looker->names, record);
    smp_look_credit_left(looker, record);
    if (record->is_candidate)
        return true;
    pass_by(looker, record);
    return false;
}

/* It was due more than half a tick ago, and waited in line. */
static bool has_waited(const struct smp_looker *looker, const struct smp_thread_record *record)
{
    return looker->look->span_ns < 0 &&
           looker->look->now_ns - record->due.at_ns > looker->interval_ns / 2 * 3;
}

/* From thin_tick on, before this one: at a thread that is idle not one in every tick. */
static uint64_t passed_over(struct smp_looker *looker, const struct smp_thread_record *record,
                            bool was_idle)
{
    uint64_t at = record->thin_tick;
    uint64_t looks = 0;

    if (!was_idle)
        return looker->tick - at;
    for (; at < looker->tick; looks++) {
        const int64_t ago_ns = (int64_t)(looker->tick - at) * looker->interval_ns;
        at += (uint64_t)(idle_gap_ns(looker, record, looker->look->now_ns - ago_ns) /
                         looker->interval_ns);
    }
    return looks;
}

/* The looks that would have been made since its last one. */
static void count_passed_over(struct smp_looker *looker, struct smp_thread_record *record,
                              bool was_idle)
{
    if (record->was_looked_at && looker->tick > record->thin_tick &&
        (record->is_drawn || has_waited(looker, record)))
        smp_interval_skip(looker->credit.interval, smp_credit_place(&looker->credit, record),
                          SMP_OUTCOME_BUDGET, passed_over(looker, record, was_idle));
    record->is_drawn = false;
}

static void credit_idle(struct smp_looker *looker, struct smp_thread_record *record)
{
    const int64_t now_ns = looker->look->now_ns;
    struct smp_spot spot;

    if (!smp_credit_idle(&looker->credit, record, &spot)) {
        walk(looker, record);
        return;
    }
    smp_credit_note(&looker->credit, &spot, now_ns - record->credited_ns);
    record->credited_ns = now_ns;
    schedule(looker, record, now_ns);
}

/* A thread that was preempted does not move either; to walk it would be to wait for it. To ask the
 * system costs more than the rest of a look. */
static bool is_running(const struct smp_looker *looker, const struct smp_thread_record *record)
{
    const struct smp_task_source *tasks = &looker->vm->tasks;

    if (record->reading.activity == SMP_ACTIVITY_RUNNING)
        return true;
    if (!looker->is_async || record->reading.activity == SMP_ACTIVITY_UNKNOWN)
        return false;
    return smp_idle_has_run_all_along(&record->reading) ||
           (tasks->is_runnable != NULL &&
            tasks->is_runnable(tasks->self, smp_thread_record_tid(record)));
}

/* One whose tid is not known may run: the asynchronous walker says what can be done with it. */
static bool is_asked(const struct smp_looker *looker, const struct smp_thread_record *record)
{
    return looker->is_async &&
           (record->reading.activity == SMP_ACTIVITY_RUNNING || smp_thread_record_tid(record) == 0);
}

/* It has run since the last look, or nothing is known of it. */
static void find_out(struct smp_looker *looker, struct smp_thread_record *record)
{
    struct smp_reading *reading = &record->reading;

    /* Nobody walks thousands of threads in order to end an interval, where there is no time to do
     * so in between. */
    if (looker->look->is_settling && looker->budget.share < SMP_BUDGET_WHOLE &&
        reading->activity != SMP_ACTIVITY_NONE) {
        reading->activity = SMP_ACTIVITY_UNKNOWN;
        finish_without(looker, record, SMP_OUTCOME_BUDGET);
        return;
    }
    /* Where it ran when it was asked it is asked again, even if it waits by now: it has answered
     * meanwhile, and the time until then belongs there. */
    if (record->unanswered_ns != 0 || is_running(looker, record))
        reading->activity = SMP_ACTIVITY_RUNNING;
    if (is_asked(looker, record))
        ask(looker, record);
    else
        walk(looker, record);
}

/*
 * Each tick is a look of its own, however long the answer to an earlier one takes: as long as its
 * clock stands the thread is where it was asked; from then on it is where this look finds it. To
 * charge all of that to the place it was asked in would prefer long waits to short ones. True: this
 * look is over.
 */
static bool has_still_to_answer(struct smp_looker *looker, struct smp_thread_record *record)
{
    const struct smp_async_walker *async = &looker->vm->async;
    const struct smp_look *look = looker->look;

    if (!record->is_asked || record->reading.activity == SMP_ACTIVITY_UNKNOWN)
        return false;
    if (async->take_late(async->self, record->thread, (uint64_t)(uintptr_t)record, on_late_answer,
                         looker)) {
        smp_idle_begin(&record->idle, smp_thread_record_tid(record), &record->reading);
        return record->credited_ns >= look->now_ns;
    }
    if (record->reading.clock_ns != record->asked_clock_ns || look->is_settling)
        return false;
    record->unanswered_ns = look->now_ns;
    record->asked_until_ns = look->now_ns;
    count_unanswered(looker, record);
    return true;
}

static void look_with_clock(struct smp_looker *looker, struct smp_thread_record *record)
{
    struct smp_reading *reading = &record->reading;

    if (has_still_to_answer(looker, record))
        return;
    const int64_t span_ns = looker->look->now_ns - record->credited_ns;
    smp_idle_finish(&record->idle, smp_thread_record_tid(record), reading);
    count_passed_over(looker, record, reading->activity == SMP_ACTIVITY_NONE || reading->had_leaf);
    /* A native thread that has been attached brings along what it used before. */
    if (!record->was_looked_at && reading->used_ns > span_ns + looker->interval_ns)
        reading->is_measured = false;
    record->was_looked_at = true;
    if (reading->is_measured)
        learn_use(record, reading->used_ns, span_ns);
    if (reading->activity == SMP_ACTIVITY_NONE && record->idle.has_leaf)
        credit_idle(looker, record);
    else
        find_out(looker, record);
}

/* Of which nothing is kept: running, or not. */
static void look_once(struct smp_looker *looker, struct smp_thread_record *record)
{
    record->idle = (struct smp_idle){ 0 };
    smp_idle_begin(&record->idle, smp_thread_record_tid(record), &record->reading);
    smp_idle_finish(&record->idle, smp_thread_record_tid(record), &record->reading);
    record->idle.has_clock = false;
    record->was_looked_at = !looker->is_cpu; /* there nothing is kept */
    if (looker->is_cpu && !is_running(looker, record))
        return;
    find_out(looker, record);
}

static void start_clock(struct smp_looker *looker, struct smp_thread_record *record)
{
    record->was_looked_at = true;
    if (record->credited_ns < looker->look->now_ns)
        record->credited_ns = looker->look->now_ns;
    record->use = SMP_WHOLE_USE; /* until more is known */
    if (!record->idle.has_clock)
        smp_idle_start(&record->idle, smp_thread_record_tid(record), looker->look->now_ns);
    schedule(looker, record, looker->look->now_ns);
}

/* False: the record is gone. */
bool smp_look_at(struct smp_looker *looker, struct smp_thread_record *record)
{
    const struct smp_look *look = looker->look;
    const bool has_time = look->span_ns < 0 && look->now_ns > record->credited_ns;

    if (smp_look_remove_ended(looker, record))
        return false;
    if (!is_sampled(looker, record))
        return true;
    if (has_time)
        smp_idle_begin(&record->idle, smp_thread_record_tid(record), &record->reading);
    if (!read_name(looker, record))
        return true;
    smp_look_count_as_sampled(looker, record, true);
    if (look->span_ns > 0)
        look_once(looker, record);
    else if (has_time)
        look_with_clock(looker, record);
    else
        start_clock(looker, record);
    return true;
}
