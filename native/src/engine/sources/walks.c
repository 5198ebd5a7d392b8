/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/walks.h"

#include "base/clock.h"

#define NS_PER_MS INT64_C(1000000)

#define HOLDER UINT64_C(1) /* a bit of a token that aligned records do not have */

struct smp_thread_record *smp_walks_record_of(uint64_t token)
{
    token &= ~HOLDER;
    return (struct smp_thread_record *)(uintptr_t)token; /* NOLINT(performance-no-int-to-ptr) */
}

uint64_t smp_walks_token_of(const struct smp_thread_record *record)
{
    return (uint64_t)(uintptr_t)record;
}

enum smp_status smp_walks_init(struct smp_walks *walks, struct smp_quota *quota,
                               const struct smp_jvm *jvm, struct smp_sampled_threads *threads,
                               const struct smp_options *options)
{
    const size_t depth = (size_t)options->max_depth_frames;

    *walks = (struct smp_walks){
        .quota = quota,
        .jvm = jvm,
        .threads = threads,
        .is_async = jvm->async.request != NULL && options->engine != SMP_ENGINE_JVMTI,
        .options = options,
        .sample.capacity = depth,
    };
    walks->sample.frames = smp_alloc(quota, depth * sizeof(*walks->sample.frames));
    return walks->sample.frames != NULL ? SMP_OK : SMP_ENOMEM;
}

void smp_walks_fini(struct smp_walks *walks)
{
    smp_free(walks->quota, walks->sample.frames);
}

/* --- from outside --- */

enum smp_outcome smp_walks_outcome(enum smp_status status, const struct smp_sample *sample)
{
    switch (status) {
    case SMP_OK:
        if (sample->count > sample->capacity || sample->leaf_count > sample->count)
            return SMP_OUTCOME_REFUSED_BY_JVM; /* not a stack */
        if (sample->count == 0)
            return SMP_OUTCOME_NO_JAVA_FRAMES;
        return sample->omitted > 0 ? SMP_OUTCOME_DEEP_STACK_CUT : SMP_OUTCOME_WALKED;
    case SMP_EGONE:
        return SMP_OUTCOME_THREAD_ENDED_IN_WALK;
    case SMP_EPHASE:
        return SMP_OUTCOME_JVM_NOT_LIVE;
    case SMP_ENOMEM:
        return SMP_OUTCOME_JVM_OUT_OF_MEMORY;
    default:
        return SMP_OUTCOME_REFUSED_BY_JVM;
    }
}

static void clear_sample(struct smp_sample *sample)
{
    sample->count = 0;
    sample->leaf_count = 0;
    sample->omitted = 0;
}

/* Returns the last reading of a clock that does not move, or -1. */
static int64_t clock_of(const struct smp_reading *reading)
{
    return reading->activity == SMP_ACTIVITY_NONE || reading->activity == SMP_ACTIVITY_RAN
               ? reading->clock_ns
               : -1;
}

/* Returns SMP_EUNSUPPORTED if this JVM has no such walk. */
static enum smp_status walk_outside(struct smp_walks *walks, struct smp_thread *thread,
                                    const struct smp_reading *reading)
{
    const struct smp_walker *walker = &walks->jvm->walker;

    if (walker->walk_outside == NULL)
        return SMP_EUNSUPPORTED;
    clear_sample(&walks->sample);
    return walker->walk_outside(walker->self, thread, clock_of(reading), &walks->sample);
}

static enum smp_wait_word read_word(const struct smp_walks *walks,
                                    const struct smp_thread_record *record,
                                    const struct smp_reading *reading)
{
    const struct smp_walker *walker = &walks->jvm->walker;

    if (reading->activity == SMP_ACTIVITY_RUNNING)
        return SMP_WORD_RUNS;
    if (walker->wait_word == NULL)
        return SMP_WORD_UNKNOWN;
    const enum smp_wait_word word = walker->wait_word(walker->self, record->thread);
    return word == SMP_WORD_RUNNABLE && reading->activity == SMP_ACTIVITY_NONE ? SMP_WORD_UNKNOWN
                                                                               : word;
}

/* Returns the JVM's word for the thread's state. Must be read before the walk, which then also
 * proves the word. RUNNABLE means that the thread has run since the last poll, or waits in a way
 * that the JVM does not report. */
static enum smp_wait_word word_of(const struct smp_walks *walks,
                                  const struct smp_thread_record *record,
                                  const struct smp_reading *reading)
{
    return reading->has_word && reading->activity != SMP_ACTIVITY_RUNNING
               ? reading->word
               : read_word(walks, record, reading);
}

/* Asks the system whether the thread does I/O, if no rule says why it waits (in an unknown native
 * method, or as a carrier). */
static bool is_in_io(const struct smp_walks *walks, const struct smp_thread_record *record)
{
    const struct smp_os_thread_source *os_threads = &walks->jvm->os_threads;
    const struct smp_attribution *attribution = walks->threads->attribution;
    const struct smp_sample *sample = &walks->sample;

    if (os_threads->is_in_io == NULL || sample->count == 0)
        return false;
    const uint32_t location =
        smp_methods_locate(attribution->methods, attribution->names, &sample->frames[0]);
    const enum smp_wait_kind kind = smp_methods_wait_kind(attribution->methods, location);
    return (kind == SMP_WAIT_CARRIER || (kind == SMP_WAIT_OTHER && sample->frames[0].bci < 0)) &&
           os_threads->is_in_io(os_threads->self, smp_thread_record_tid(record));
}

static bool may_be_in_io(enum smp_wait_word word)
{
    return word == SMP_WORD_IN_NATIVE || word == SMP_WORD_RUNNABLE || word == SMP_WORD_UNKNOWN;
}

static bool says_waits(enum smp_wait_word word)
{
    return word == SMP_WORD_AT_MONITOR || word == SMP_WORD_WAITS || word == SMP_WORD_STOPPED;
}

/* Reads the clock a second time if the JVM said that the thread waits. Returns whether it moved. */
static bool runs_all_the_same(const struct smp_thread_record *record,
                              const struct smp_reading *reading)
{
    struct smp_reading again = *reading;
    int64_t read_ns = 0;

    if (!reading->has_word || !says_waits(reading->word) ||
        reading->activity == SMP_ACTIVITY_RUNNING)
        return false;
    smp_activity_read_again(smp_thread_record_tid(record), &again, &read_ns);
    return again.activity == SMP_ACTIVITY_RUNNING;
}

/* Walks without a signal; word was read before. Returns false if the thread runs: not walked. */
static bool walk_now(struct smp_walks *walks, struct smp_thread_record *record,
                     const struct smp_reading *reading, enum smp_wait_word word)
{
    const struct smp_walker *walker = &walks->jvm->walker;
    struct smp_sample *sample = &walks->sample;
    struct smp_found found = { .word = word, .sample = sample };
    enum smp_status status = walk_outside(walks, record->thread, reading);
    const bool fell_back = status == SMP_ESTATE;

    if (status != SMP_OK && walks->is_async && runs_all_the_same(record, reading))
        return false;
    if (status == SMP_ESTATE || status == SMP_EUNSUPPORTED) {
        clear_sample(sample);
        status = walker->walk(walker->self, record->thread, sample);
    }
    found.outcome = smp_walks_outcome(status, sample);
    /* Reads the word again, because the stack is from a later moment. It may also be readable now:
     * the walk has proven that the thread is alive. */
    if (fell_back && status == SMP_OK)
        found.word = read_word(walks, record, reading);
    if (may_be_in_io(found.word) && status == SMP_OK && is_in_io(walks, record))
        found.word = SMP_WORD_IN_IO;
    if (fell_back && found.outcome == SMP_OUTCOME_WALKED)
        found.outcome = SMP_OUTCOME_WALKED_BY_HANDSHAKE;
    walks->events.found(walks->events.context, record, &found);
    return true;
}

void smp_walks_walk(struct smp_walks *walks, struct smp_thread_record *record,
                    const struct smp_reading *reading)
{
    (void)walk_now(walks, record, reading, word_of(walks, record, reading));
}

enum smp_thread_state smp_walks_judge_again(const struct smp_walks *walks,
                                            struct smp_thread_record *record)
{
    static const struct smp_reading stands = { .activity = SMP_ACTIVITY_NONE };

    return smp_attribution_judge(&record->last, word_of(walks, record, &stands));
}

static void report_failure(struct smp_walks *walks, struct smp_thread_record *record,
                           enum smp_outcome outcome)
{
    const struct smp_found found = { .outcome = outcome, .word = SMP_WORD_RUNS };

    walks->events.found(walks->events.context, record, &found);
}

/* --- asynchronous --- */

static enum smp_outcome outcome_of_answer(enum smp_answer answer, const struct smp_sample *sample)
{
    static const enum smp_outcome outcomes[SMP_ANSWER_COUNT] = {
#define X(code, outcome) [SMP_ANSWER_##code] = SMP_OUTCOME_##outcome,
        SMP_ANSWER_MAP(X)
#undef X
    };
    const enum smp_outcome outcome =
        (unsigned)answer < SMP_ANSWER_COUNT ? outcomes[answer] : SMP_OUTCOME_REFUSED_BY_JVM;

    if (smp_outcome_frame(outcome) != NULL)
        return outcome;
    if (sample == NULL || smp_walks_outcome(SMP_OK, sample) == SMP_OUTCOME_REFUSED_BY_JVM)
        return SMP_OUTCOME_REFUSED_BY_JVM;
    if (sample->count == 0)
        return SMP_OUTCOME_NO_JAVA_FRAMES;
    return outcome == SMP_OUTCOME_WALKED && sample->omitted > 0 ? SMP_OUTCOME_DEEP_STACK_CUT
                                                                : outcome;
}

bool smp_walks_find(struct smp_walks *walks, enum smp_answer answer,
                    const struct smp_sample *sample, const struct smp_mounted_thread *mounted,
                    struct smp_found *out)
{
    static const struct smp_sample none = { 0 };
    const enum smp_outcome outcome = outcome_of_answer(answer, sample);

    *out = (struct smp_found){
        .outcome = outcome,
        .word = SMP_WORD_RUNS,
        .sample = sample != NULL && outcome != SMP_OUTCOME_NO_JAVA_FRAMES ? sample : &none,
    };
    if (mounted != NULL)
        out->mounted = smp_sampled_threads_key_of_mounted(walks->threads, mounted);
    return mounted == NULL || out->mounted.name != NULL;
}

static void deliver_answer(struct smp_walks *walks, struct smp_thread_record *record,
                           enum smp_answer answer, const struct smp_sample *sample,
                           const struct smp_mounted_thread *mounted)
{
    struct smp_found found;

    if (smp_walks_find(walks, answer, sample, mounted, &found))
        walks->events.found(walks->events.context, record, &found);
    else
        walks->events.skipped(walks->events.context, record);
}

static void deliver_holder(struct smp_walks *walks, struct smp_thread_record *record,
                           enum smp_answer answer, const struct smp_sample *sample)
{
    const enum smp_outcome outcome = outcome_of_answer(answer, sample);

    if (smp_outcome_frame(outcome) == NULL && sample != NULL)
        walks->events.holder_walked(walks->events.context, record, sample);
}

static void on_async_answer(void *context, uint64_t token, enum smp_answer answer,
                            const struct smp_sample *sample,
                            const struct smp_mounted_thread *mounted)
{
    static const struct smp_reading running = { .activity = SMP_ACTIVITY_RUNNING };
    struct smp_walks *walks = context;
    struct smp_thread_record *record = smp_walks_record_of(token);

    walks->in_flight--;
    if ((token & HOLDER) != 0) {
        deliver_holder(walks, record, answer, sample);
        return;
    }
    if (answer == SMP_ANSWER_UNANSWERED)
        walks->events.unanswered(walks->events.context, record, true);
    else if (answer == SMP_ANSWER_BLOCKED)
        smp_walks_walk(walks, record, &running);
    else
        deliver_answer(walks, record, answer, sample, mounted);
}

static int64_t answer_wait_ns(const struct smp_walks *walks, enum smp_answers answers)
{
    const int64_t share_ns = smp_options_interval_ns(walks->options) / SMP_ANSWER_WAIT_SHARE;
    const int64_t most_ns = SMP_ANSWER_WAIT_MS * NS_PER_MS;

    switch (answers) {
    case SMP_ANSWERS_SOON:
        return share_ns < most_ns ? share_ns : most_ns;
    case SMP_ANSWERS_LAST:
        return SMP_LAST_ANSWER_WAIT_MS * NS_PER_MS;
    case SMP_ANSWERS_THERE:
    default:
        return 0;
    }
}

void smp_walks_collect(struct smp_walks *walks, enum smp_answers answers)
{
    const struct smp_async_walker *async = &walks->jvm->async;

    if (walks->in_flight == 0)
        return;
    async->collect(async->self, smp_clock_ns() + answer_wait_ns(walks, answers), on_async_answer,
                   walks);
}

/* Returns whether waiting for answers has taken so long that the next tick is near. */
static bool is_tick_used_up(const struct smp_walks *walks)
{
    return smp_clock_ns() - walks->begun_ns >
           smp_options_interval_ns(walks->options) / SMP_MAX_WAITS_SHARE;
}

static void request_walk(struct smp_walks *walks, struct smp_thread_record *record,
                         const struct smp_reading *reading)
{
    const struct smp_async_walker *async = &walks->jvm->async;

    if (walks->in_flight == SMP_MAX_REQUESTS) {
        smp_walks_collect(walks, SMP_ANSWERS_SOON);
        if (is_tick_used_up(walks)) {
            walks->events.postponed(walks->events.context, record);
            return;
        }
    }
    switch (async->request(async->self, record->thread, reading->lacks_cpu ? reading->clock_ns : -1,
                           smp_walks_token_of(record))) {
    case SMP_OK:
        walks->in_flight++;
        return;
    case SMP_ESTATE:
        walks->events.unanswered(walks->events.context, record, false);
        return;
    case SMP_EGONE:
        report_failure(walks, record, SMP_OUTCOME_THREAD_ENDED_IN_WALK);
        return;
    case SMP_EQUOTA:
        report_failure(walks, record, SMP_OUTCOME_SIGNAL_QUEUE_FULL);
        return;
    case SMP_EUNSUPPORTED:
        smp_walks_walk(walks, record, reading);
        return;
    case SMP_EINVAL:
        report_failure(walks, record, SMP_OUTCOME_THREAD_UNIDENTIFIED);
        return;
    default:
        report_failure(walks, record, SMP_OUTCOME_REFUSED_BY_JVM);
    }
}

void smp_walks_walk_holder(struct smp_walks *walks, struct smp_thread_record *record, bool may_ask)
{
    static const struct smp_reading unread = { .activity = SMP_ACTIVITY_UNKNOWN };
    const struct smp_async_walker *async = &walks->jvm->async;

    if (walks->events.holder_walked == NULL)
        return;
    if (walk_outside(walks, record->thread, &unread) == SMP_OK) {
        walks->events.holder_walked(walks->events.context, record, &walks->sample);
        return;
    }
    if (may_ask && walks->is_async && walks->in_flight < SMP_MAX_REQUESTS &&
        async->request(async->self, record->thread, -1, smp_walks_token_of(record) | HOLDER) ==
            SMP_OK)
        walks->in_flight++;
}

/* --- choosing the walk --- */

bool smp_walks_waits(const struct smp_walks *walks, const struct smp_thread_record *record,
                     struct smp_reading *reading)
{
    reading->word = read_word(walks, record, reading);
    reading->has_word = true;
    return says_waits(reading->word);
}

/*
 * Returns whether a thread whose clock does not move wants a CPU. A handshake would wait for such
 * a thread, and in native code it would look as if it waited. The JVM's word usually decides: a
 * thread in Java code does not wait, and a waiting thread has the same stack even after it was
 * woken up. The system is asked last, because that costs more than the rest of a poll.
 */
static bool wants_cpu(const struct smp_walks *walks, const struct smp_thread_record *record,
                      enum smp_wait_word word)
{
    const struct smp_os_thread_source *os_threads = &walks->jvm->os_threads;

    if (word == SMP_WORD_RUNS)
        return true;
    return !says_waits(word) && os_threads->is_runnable != NULL &&
           os_threads->is_runnable(os_threads->self, smp_thread_record_tid(record));
}

/* Makes reading RUNNING if the thread wants a CPU. */
static bool runs_or_wants_cpu(const struct smp_walks *walks, const struct smp_thread_record *record,
                              struct smp_reading *reading, enum smp_wait_word word)
{
    if (reading->activity == SMP_ACTIVITY_RUNNING)
        return true;
    if (!walks->is_async || reading->activity == SMP_ACTIVITY_UNKNOWN ||
        !wants_cpu(walks, record, word))
        return false;
    reading->activity = SMP_ACTIVITY_RUNNING;
    reading->lacks_cpu = true;
    return true;
}

bool smp_walks_is_running(const struct smp_walks *walks, const struct smp_thread_record *record,
                          struct smp_reading *reading)
{
    return runs_or_wants_cpu(walks, record, reading, word_of(walks, record, reading));
}

void smp_walks_start(struct smp_walks *walks, struct smp_thread_record *record,
                     struct smp_reading *reading)
{
    const enum smp_wait_word word = word_of(walks, record, reading);

    const bool runs = runs_or_wants_cpu(walks, record, reading, word);

    /* If the tid is unknown, the asynchronous walker finds out whether the thread runs. */
    if (walks->is_async && (runs || smp_thread_record_tid(record) == 0)) {
        request_walk(walks, record, reading);
    } else if (!walk_now(walks, record, reading, word)) {
        reading->activity = SMP_ACTIVITY_RUNNING;
        request_walk(walks, record, reading);
    }
}
