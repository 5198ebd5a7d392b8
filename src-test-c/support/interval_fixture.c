/* SPDX-License-Identifier: Apache-2.0 */
#include "support/interval_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

int interval_fixture_setup(void **state)
{
    static struct interval_fixture f;

    f = (struct interval_fixture){ .profile = NULL };
    smp_quota_init(&f.quota, INTERVAL_FIXTURE_LIMIT);
    assert_int_equal(smp_methods_create(&f.quota, INTERVAL_FIXTURE_LIMIT / 4, NULL, &f.methods),
                     SMP_OK);
    assert_int_equal(smp_interval_create(&f.quota, f.methods, SMP_SAMPLED_MEASURES, &f.interval),
                     SMP_OK);
    *state = &f;
    return 0;
}

int interval_fixture_teardown(void **state)
{
    struct interval_fixture *f = *state;

    smp_profile_release(f->profile);
    smp_interval_destroy(f->interval);
    smp_methods_release(f->methods);
    assert_int_equal(smp_quota_used(&f->quota), 0);
    return 0;
}
