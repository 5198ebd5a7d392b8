/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/foreign_record.h"

#include "hotspot/machine_code.h"

int32_t smp_foreign_record_poll(const struct smp_blob *blob, int32_t offset)
{
    uint32_t distance = 0;

    if (offset >= 0 && (uintptr_t)offset < blob->end - blob->code)
        distance = smp_machine_code_poll_load(blob->code + (uintptr_t)offset, blob->end);
    return distance > 0 ? offset + (int32_t)distance : 0;
}
