/* SPDX-License-Identifier: Apache-2.0 */
#include "support/core_copy.h"

extern const struct core_copy_functions core_copy_functions;

__attribute__((visibility("default"))) const struct core_copy_functions core_copy_functions = {
    .find = smp_core_anchor_find,
    .publish = smp_core_anchor_publish,
    .begin_sampling = smp_core_anchor_begin_sampling,
    .end_sampling = smp_core_anchor_end_sampling,
};
