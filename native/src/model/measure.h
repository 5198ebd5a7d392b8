/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - what is summed along the trees: one list, from which columns, exports and tables are
 * made.
 *
 * A measure is a number per stack that adds up: over time, over the children of a node, over merged
 * profiles. To add one: a line in SMP_MEASURE_MAP, and a source that credits it to nodes of an
 * interval's tree. A profile holds a set of them; what it does not hold is 0 and in no export.
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
 * X(code, name, unit, title, column)
 * name: the key in JSON, the sample type in pprof, the measure's name in Java.
 * title: what an export weighed by it is called, and what stands before the number in a row of the
 * text report. column: the head of its column in the table of hot methods.
 */
#define SMP_MEASURE_MAP(X)                               \
    X(WALL, "wall", NANOSECONDS, "wall time", "wall ms") \
    X(CPU, "cpu", NANOSECONDS, "CPU time", "CPU ms")     \
    X(SAMPLES, "samples", NUMBER, "samples", "samples")  \
    SMP_MORE_MEASURES(X)

enum smp_measure {
#define X(code, name, unit, title, column) SMP_MEASURE_##code,
    SMP_MEASURE_MAP(X)
#undef X
        SMP_MEASURE_COUNT
};

/*
 * X(code, name, speedscope, printed_as, suffix)
 * name: in pprof. speedscope: in that format. printed_as: how many make one in texts for people.
 * suffix: what follows the title there.
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
    const char *title;
    const char *column;
};

const struct smp_measure_info *smp_measure_info(enum smp_measure measure);
const struct smp_unit_info *smp_unit_info(enum smp_unit unit);

/* As texts for people show it. Rounded down, so that a parent never shows less than the sum of its
 * children. Inline, because a division by a constant costs a tenth of one by a variable. */
static inline int64_t smp_measure_printed(enum smp_measure measure, int64_t amount)
{
    static const enum smp_unit units[] = {
#define X(code, name, unit, title, column) SMP_UNIT_##unit,
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

/* One number per measure. */
struct smp_amounts {
    int64_t of[SMP_MEASURE_COUNT];
};

/* Amounts are never negative, and stick at their maximum: the time of a thousand threads reaches
 * 2^63 ns in four months, and an interval may be that long. */
static inline int64_t smp_add_clamped(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Below zero only where a total has stuck. */
static inline int64_t smp_subtract_clamped(int64_t a, int64_t b)
{
    return a > b ? a - b : 0;
}

/* What follows is a statement per measure, written by the list: the compiler does not unroll a loop
 * over the measures, and these are called for every node. */
static inline bool smp_amounts_has_any(const struct smp_amounts *amounts)
{
    int64_t any = 0;

#define X(code, name, unit, title, column) any |= amounts->of[SMP_MEASURE_##code];
    SMP_MEASURE_MAP(X)
#undef X
    return any != 0;
}

static inline void smp_amounts_add(struct smp_amounts *to, const struct smp_amounts *more)
{
#define X(code, name, unit, title, column) \
    to->of[SMP_MEASURE_##code] =           \
        smp_add_clamped(to->of[SMP_MEASURE_##code], more->of[SMP_MEASURE_##code]);
    SMP_MEASURE_MAP(X)
#undef X
}

static inline void smp_amounts_subtract(struct smp_amounts *from, const struct smp_amounts *less)
{
#define X(code, name, unit, title, column) \
    from->of[SMP_MEASURE_##code] =         \
        smp_subtract_clamped(from->of[SMP_MEASURE_##code], less->of[SMP_MEASURE_##code]);
    SMP_MEASURE_MAP(X)
#undef X
}

/* Without a maximum: sums that begin and end in range may leave it in between. */
static inline void smp_amounts_add_wrapping(struct smp_amounts *to, const struct smp_amounts *more)
{
#define X(code, name, unit, title, column) \
    to->of[SMP_MEASURE_##code] =           \
        (int64_t)((uint64_t)to->of[SMP_MEASURE_##code] + (uint64_t)more->of[SMP_MEASURE_##code]);
    SMP_MEASURE_MAP(X)
#undef X
}

static inline void smp_amounts_subtract_wrapping(struct smp_amounts *from,
                                                 const struct smp_amounts *less)
{
#define X(code, name, unit, title, column)                                            \
    from->of[SMP_MEASURE_##code] = (int64_t)((uint64_t)from->of[SMP_MEASURE_##code] - \
                                             (uint64_t)less->of[SMP_MEASURE_##code]);
    SMP_MEASURE_MAP(X)
#undef X
}

#endif
