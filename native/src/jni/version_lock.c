/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/version_lock.h"

#include <stdio.h>

#include "base/core_anchor.h"
#include "com_incapsula_sampler_internal_engine_NativeBridge.h"

enum { ABI = com_incapsula_sampler_internal_engine_NativeBridge_ABI };

/* Two builds may have the same version: their files' names tell them apart. */
static void name_rival(const struct smp_core_rival *rival, char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    static const char cure[] = "close its samplers first, or keep one version";

    if (rival->abi == ABI)
        (void)snprintf(message, SMP_OPTIONS_MESSAGE_BYTES,
                       "another build of threads-sampler samples this JVM, from %s: %s",
                       rival->path, cure);
    else
        (void)snprintf(message, SMP_OPTIONS_MESSAGE_BYTES,
                       "another version of threads-sampler samples this JVM, from %s, with version"
                       " %u of the seam between Java and C, where this one has version %d: %s",
                       rival->path, (unsigned)rival->abi, ABI, cure);
}

enum smp_status smp_version_lock_begin(char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    struct smp_core_rival rival;

    if (smp_core_anchor_begin_sampling(&rival))
        return SMP_OK;
    name_rival(&rival, message);
    return SMP_EUNSUPPORTED;
}

void smp_version_lock_end(void)
{
    smp_core_anchor_end_sampling();
}
