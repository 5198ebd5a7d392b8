/* SPDX-License-Identifier: Apache-2.0 */
#include "model/measure.h"

_Static_assert(SMP_MEASURE_COUNT < 32, "a set of measures is 32 bits");

static const struct smp_measure_info measures[] = {
#define X(code, name, unit, adding, title, column) \
    { name, SMP_UNIT_##unit, SMP_ADDING_##adding, title, column },
    SMP_MEASURE_MAP(X)
#undef X
};

static const struct smp_unit_info units[] = {
#define X(code, name, speedscope, printed_as, suffix) { name, speedscope, suffix },
    SMP_UNIT_MAP(X)
#undef X
};

const struct smp_measure_info *smp_measure_info(enum smp_measure measure)
{
    return &measures[measure];
}

const struct smp_unit_info *smp_unit_info(enum smp_unit unit)
{
    return &units[unit];
}
