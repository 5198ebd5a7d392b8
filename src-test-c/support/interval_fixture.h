/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_fixture.h - an open interval, its name tables, and its profile once it is finished.
 *
 * Owns     all of it. The teardown releases the finished profile and asserts that no byte is left.
 * Threads  the test's own.
 * Errors   a failed assertion.
 * Cost     none that matters.
 */
#ifndef SMP_TEST_INTERVAL_FIXTURE_H
#define SMP_TEST_INTERVAL_FIXTURE_H

#include "engine/attribution/interval.h"

enum { INTERVAL_FIXTURE_LIMIT = 4 << 20 /* bytes */ };

struct interval_fixture {
    struct smp_quota quota;
    struct smp_methods *methods;
    struct smp_interval *interval;
    struct smp_profile *profile; /* NULL: not finished yet */
};

/* Set-up of one test: *state becomes the fixture. */
int interval_fixture_setup(void **state);
int interval_fixture_teardown(void **state);

#endif
