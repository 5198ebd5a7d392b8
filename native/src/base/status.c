/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

struct entry {
    const char *name;
    const char *text;
};

static const struct entry entries[] = {
#define X(code, text) { #code, text },
    SMP_STATUS_MAP(X)
#undef X
};

static const struct entry unknown = { "UNKNOWN", "unknown status" };

static const struct entry *find_status(enum smp_status status)
{
    return (unsigned)status < SMP_STATUS_COUNT ? &entries[status] : &unknown;
}

const char *smp_status_text(enum smp_status status)
{
    return find_status(status)->text;
}

const char *smp_status_name(enum smp_status status)
{
    return find_status(status)->name;
}
