/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_profile.h - made-up profiles with all kinds of frames: with lines and without, native, of
 * an unknown file, in brackets, with separators in their names; and with groups of such names.
 *
 * Owns     nothing: the profile is the fixture's.
 * Threads  the test's own.
 * Errors   fail the test.
 */
#ifndef SMP_SUPPORT_RANDOM_PROFILE_H
#define SMP_SUPPORT_RANDOM_PROFILE_H

#include <stddef.h>

#include "support/report_fixture.h"

unsigned next_random(unsigned *seed);
/* Of so many stacks, some of them the same; *seed goes on. */
struct smp_profile *random_profile(struct report_fixture *fixture, size_t stacks, unsigned *seed);

#endif
