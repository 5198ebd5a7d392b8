/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - the list of numbers that are summed along the trees. Columns, exports and tables are
 * made from it.
 *
 * A measure is a number per stack that adds up: over time, over the children of a node, over merged
 * profiles. A new one needs a line in SMP_MEASURE_MAP and a source that credits it to nodes of an
 * interval's tree. A profile holds a set of measures; one that it does not hold is 0, is in no
 * export, and takes no memory.
 *
 * Threads  any: constant data.
 */
#ifndef SMP_MODEL_MEASURE_H
#define SMP_MODEL_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* A test build appends measures of its own to the list. */
#ifndef SMP_MORE_MEASURES
#define SMP_MORE_MEASURES(X)
#endif

/*
 * How a measure adds up. A tree has self amounts, and totals once it is finished. This says which
 * of the two a row shows, and which groups (model/group_key.h) a sum includes.
 *
 * TOTAL  A row shows a node with all below it. Sums over groups include sampled trees only, because
 *        counted trees repeat their time.
 * OWN    A row shows the node's own amount: a sum of the calls of a method and of its callees means
 *        nothing. Only counted trees have such measures, so sums over groups include only these.
 */
enum smp_adding { SMP_ADDING_TOTAL, SMP_ADDING_OWN };

/*
 * X(code, name, unit, adding, title, column)
 * name: the key in JSON, the sample type in pprof, the measure's name in Java.
 * title: the name in exports weighed by it, and, with a capital, the label of its number in a row
 * of the text report. column: the head of its column in the table of hot methods.
 *
 * The sampled measures come first: an interval holds only these if its sampler counts no calls.
 */
#define SMP_SAMPLED_MEASURE_MAP(X)                              \
    X(WALL, "wall", NANOSECONDS, TOTAL, "wall time", "wall ms") \
    X(CPU, "cpu", NANOSECONDS, TOTAL, "CPU time", "CPU ms")     \
    X(SAMPLES, "samples", NUMBER, TOTAL, "samples", "samples")

/*
 * The states of a thread: wall time is their sum, to the nanosecond, in each node that has them. A
 * tree keeps them sparsely (state_times.h), so they come last, after the columns of its table.
 *
 * RUNNING   on a CPU
 * RUNNABLE  wants a CPU and has none
 * BLOCKED   waits for a lock
 * IO        waits for a file, a pipe, a socket or the look-up of a name
 * WAITING   waits for anything else
 * IDLE      waits for work
 */
#define SMP_STATE_MAP(X)                                                        \
    X(RUNNING, "running", NANOSECONDS, TOTAL, "running time", "running ms")     \
    X(RUNNABLE, "runnable", NANOSECONDS, TOTAL, "runnable time", "runnable ms") \
    X(BLOCKED, "blocked", NANOSECONDS, TOTAL, "blocked time", "blocked ms")     \
    X(IO, "io", NANOSECONDS, TOTAL, "I/O time", "I/O ms")                       \
    X(WAITING, "waiting", NANOSECONDS, TOTAL, "waiting time", "waiting ms")     \
    X(IDLE, "idle", NANOSECONDS, TOTAL, "idle time", "idle ms")

#define SMP_TABLE_MEASURE_MAP(X)                     \
    SMP_SAMPLED_MEASURE_MAP(X)                       \
    X(CALLS, "calls", NUMBER, OWN, "calls", "calls") \
    SMP_MORE_MEASURES(X)

#define SMP_MEASURE_MAP(X)   \
    SMP_TABLE_MEASURE_MAP(X) \
    SMP_STATE_MAP(X)

enum smp_measure {
#define X(code, name, unit, adding, title, column) SMP_MEASURE_##code,
    SMP_MEASURE_MAP(X)
#undef X
        SMP_MEASURE_COUNT
};

enum smp_thread_state {
#define X(code, name, unit, adding, title, column) SMP_STATE_##code,
    SMP_STATE_MAP(X)
#undef X
        SMP_THREAD_STATE_COUNT
};

/*
 * X(code, name, speedscope, printed_as, suffix)
 * name: in pprof. speedscope: in that format. printed_as: how many make one unit in texts for
 * people. suffix: follows the title there.
 */
#define SMP_UNIT_MAP(X)                                           \
    X(NANOSECONDS, "nanoseconds", "nanoseconds", 1000000, "(ms)") \
    X(NUMBER, "count", "none", 1, "")

enum smp_unit {
#define X(code, name, speedscope, printed_as, suffix) SMP_UNIT_##code,
    SMP_UNIT_MAP(X)
#undef X
        SMP_UNIT_COUNT
};

struct smp_unit_info {
    const char *name;
    const char *speedscope;
    const char *suffix;
};

struct smp_measure_info {
    const char *name;
    enum smp_unit unit;
    enum smp_adding adding;
    const char *title;
    const char *column;
};

const struct smp_measure_info *smp_measure_info(enum smp_measure measure);
const struct smp_unit_info *smp_unit_info(enum smp_unit unit);

/* Returns the amount in texts for people, rounded down so that a parent never shows less than the
 * sum of its children. Inline: division by a constant costs a tenth of that by a variable. */
static inline int64_t smp_measure_printed(enum smp_measure measure, int64_t amount)
{
    static const enum smp_unit units[] = {
#define X(code, name, unit, adding, title, column) SMP_UNIT_##unit,
        SMP_MEASURE_MAP(X)
#undef X
    };

    switch (units[measure]) {
#define X(code, name, speedscope, printed_as, suffix) \
    case SMP_UNIT_##code:                             \
        return amount / (printed_as);
        SMP_UNIT_MAP(X)
#undef X
    case SMP_UNIT_COUNT:
        break;
    }
    return amount;
}

/* Sets of measures. */
#define SMP_MEASURE_BIT(measure) (1u << (measure))
#define SMP_ALL_MEASURES (SMP_MEASURE_BIT(SMP_MEASURE_COUNT) - 1)
#define SMP_SAMPLED_MEASURES (SMP_MEASURE_BIT(SMP_SAMPLED_MEASURE_COUNT) - 1)
#define SMP_TABLE_MEASURES (SMP_MEASURE_BIT(SMP_TABLE_MEASURE_COUNT) - 1)
#define SMP_STATE_MEASURES (SMP_ALL_MEASURES & ~SMP_TABLE_MEASURES)
#define SMP_ACTIVE_STATES (SMP_STATE_MEASURES & ~SMP_MEASURE_BIT(SMP_MEASURE_IDLE))

/* Added to the set of measures of a tree that holds error sums (error_sums.h). */
#define SMP_WITH_ERRORS (1u << 31)

enum {
#define X(code, name, unit, adding, title, column) +1
    SMP_SAMPLED_MEASURE_COUNT = 0 SMP_SAMPLED_MEASURE_MAP(X),
    SMP_TABLE_MEASURE_COUNT = 0 SMP_TABLE_MEASURE_MAP(X),
#undef X
#define X(code, name, unit, adding, title, column) \
    +(SMP_ADDING_##adding == SMP_ADDING_OWN ? 1 << SMP_MEASURE_##code : 0)
    SMP_OWN_MEASURES = 0 SMP_MEASURE_MAP(X) /* the measures that add up as OWN */
#undef X
};

static inline enum smp_measure smp_measure_of_state(enum smp_thread_state state)
{
    return (enum smp_measure)(SMP_TABLE_MEASURE_COUNT + (int)state);
}

/* One number per measure. */
struct smp_amounts {
    int64_t of[SMP_MEASURE_COUNT];
};

/* Amounts are never negative and stop at their maximum: a thousand threads take 2^63 ns in four
 * months, and an interval may be that long. */
static inline int64_t smp_add_clamped(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Below zero only if a total has reached its maximum. */
static inline int64_t smp_subtract_clamped(int64_t a, int64_t b)
{
    return a > b ? a - b : 0;
}

/* The list expands to one statement per measure, because the compiler does not unroll a loop over
 * the measures, and these functions run for every node. */
static inline bool smp_amounts_has_any(const struct smp_amounts *amounts)
{
    int64_t any = 0;

#define X(code, name, unit, adding, title, column) any |= amounts->of[SMP_MEASURE_##code];
    SMP_MEASURE_MAP(X)
#undef X
    return any != 0;
}

static inline void smp_amounts_add(struct smp_amounts *to, const struct smp_amounts *more)
{
#define X(code, name, unit, adding, title, column) \
    to->of[SMP_MEASURE_##code] =                   \
        smp_add_clamped(to->of[SMP_MEASURE_##code], more->of[SMP_MEASURE_##code]);
    SMP_MEASURE_MAP(X)
#undef X
}

/* Returns the sum over the measures in the set. */
static inline int64_t smp_amounts_sum(const struct smp_amounts *amounts, uint32_t measures)
{
    int64_t sum = 0;

    for (; measures != 0; measures &= measures - 1)
        sum = smp_add_clamped(sum, amounts->of[__builtin_ctz(measures)]);
    return sum;
}

/* Sets all measures that are not in the set to 0. */
static inline void smp_amounts_keep(struct smp_amounts *amounts, uint32_t measures)
{
#define X(code, name, unit, adding, title, column)             \
    if ((measures & SMP_MEASURE_BIT(SMP_MEASURE_##code)) == 0) \
        amounts->of[SMP_MEASURE_##code] = 0;
    SMP_MEASURE_MAP(X)
#undef X
}

/*
 * Rows are the first width amounts of the list. With a constant width no comparison remains in the
 * code, and a row may stay in registers.
 */
static inline void smp_row_copy(int64_t *to, const int64_t *from, uint32_t width)
{
#define X(code, name, unit, adding, title, column) \
    if (SMP_MEASURE_##code < width)                \
        to[SMP_MEASURE_##code] = from[SMP_MEASURE_##code];
    SMP_MEASURE_MAP(X)
#undef X
}

static inline void smp_row_add(int64_t *to, const int64_t *more, uint32_t width)
{
#define X(code, name, unit, adding, title, column) \
    if (SMP_MEASURE_##code < width)                \
        to[SMP_MEASURE_##code] = smp_add_clamped(to[SMP_MEASURE_##code], more[SMP_MEASURE_##code]);
    SMP_MEASURE_MAP(X)
#undef X
}

static inline void smp_row_subtract(int64_t *from, const int64_t *less, uint32_t width)
{
#define X(code, name, unit, adding, title, column) \
    if (SMP_MEASURE_##code < width)                \
        from[SMP_MEASURE_##code] =                 \
            smp_subtract_clamped(from[SMP_MEASURE_##code], less[SMP_MEASURE_##code]);
    SMP_MEASURE_MAP(X)
#undef X
}

/* Returns the measures of a sum or difference of several trees. any, all: the measures that at
 * least one tree has, and those that all have. States are included only if all trees have them: a
 * sum would count time without a state as running, and a difference as nothing. */
static inline uint32_t smp_common_measures(uint32_t any, uint32_t all)
{
    return any & (all | ~(uint32_t)SMP_STATE_MEASURES);
}

#endif
