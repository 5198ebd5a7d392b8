/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/rewrite.h"

const char *smp_rewrite_text(enum smp_rewrite rewrite)
{
    static const char *const texts[] = {
#define X(code, text) text,
        SMP_REWRITE_MAP(X)
#undef X
    };

    return (unsigned)rewrite < SMP_REWRITE_COUNT ? texts[rewrite] : "unknown";
}
