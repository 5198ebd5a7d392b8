/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

static const char *const TEXTS[] = {
#define X(code, text) text,
    SMP_STATUS_MAP(X)
#undef X
};

const char *smp_status_text(enum smp_status status)
{
    return (unsigned)status < SMP_STATUS_COUNT ? TEXTS[status] : "unknown status";
}
