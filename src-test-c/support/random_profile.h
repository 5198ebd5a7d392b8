/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_profile.h - made-up profiles with all kinds of frames: with lines and without, native, of
 * an unknown file, in brackets, and with separators in their names. Group names are of the same
 * kinds.
 *
 * Owns     nothing: the profile is the fixture's.
 * Threads  the test's own.
 * Errors   fail the test.
 */
#ifndef SMP_SUPPORT_RANDOM_PROFILE_H
#define SMP_SUPPORT_RANDOM_PROFILE_H

#include <stddef.h>

#include "support/next_random.h"
#include "support/report_fixture.h"

/* Generates this many stacks, some of them equal; *seed advances. */
struct smp_profile *random_profile(struct report_fixture *fixture, size_t stacks, unsigned *seed);

#endif
