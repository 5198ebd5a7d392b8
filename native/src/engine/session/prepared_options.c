/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/prepared_options.h"

enum smp_status smp_prepared_options_create(struct smp_quota *quota,
                                            const struct smp_options *options,
                                            struct smp_prepared_options **out)
{
    struct smp_prepared_options *prepared = smp_alloc(quota, sizeof(*prepared));
    enum smp_status status = SMP_ENOMEM;

    if (prepared == NULL)
        return status;
    prepared->options.quota = quota;
    status = smp_options_copy(quota, options, &prepared->options);
    if (status == SMP_OK)
        status = smp_filter_create_monitored(quota, options->monitored_packages, &prepared->filter);
    if (status == SMP_OK)
        status = smp_wait_rules_create(quota, options->io_methods, options->idle_methods,
                                       options->main_packages, &prepared->rules);
    if (status == SMP_OK)
        *out = prepared;
    else
        smp_prepared_options_destroy(prepared);
    return status;
}

void smp_prepared_options_destroy(struct smp_prepared_options *prepared)
{
    struct smp_quota *quota;

    if (prepared == NULL)
        return;
    quota = prepared->options.quota;
    if (prepared->filter != NULL)
        smp_filter_destroy(prepared->filter);
    smp_wait_rules_destroy(prepared->rules);
    smp_options_fini(&prepared->options);
    smp_free(quota, prepared);
}
