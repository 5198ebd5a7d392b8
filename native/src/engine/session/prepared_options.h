/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepared_options.h - options with everything that a sampler needs for them. The thread that sets
 * them does all that can fail, so that the sampler thread only swaps a pointer.
 *
 * Owns     a copy of the options, the filter and the rules.
 * Threads  one at a time.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA; SMP_EINVAL as in filter.h.
 */
#ifndef SMP_ENGINE_SESSION_PREPARED_OPTIONS_H
#define SMP_ENGINE_SESSION_PREPARED_OPTIONS_H

#include "base/alloc.h"
#include "base/status.h"
#include "model/filter.h"
#include "model/options.h"
#include "model/wait_rules.h"

struct smp_prepared_options {
    struct smp_options options;
    struct smp_filter *filter; /* of options.monitored_packages */
    struct smp_wait_rules *rules;
};

SMP_CHECKED enum smp_status smp_prepared_options_create(struct smp_quota *quota,
                                                        const struct smp_options *options,
                                                        struct smp_prepared_options **out);
/* NULL is fine. */
void smp_prepared_options_destroy(struct smp_prepared_options *prepared);

#endif
