/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - how many rounds a test of random cases makes.
 *
 * SMP_TEST_ROUNDS=N makes N of them, in every test. SMP_TEST_SHARE=N makes the Nth part of the
 * usual number; without it a quarter is made. .ci/run sets SMP_TEST_SHARE=1 by night.
 *
 * Threads  any.
 */
#ifndef SMP_TEST_ROUNDS_H
#define SMP_TEST_ROUNDS_H

/* Returns at least one round. */
long test_rounds(long usual);

#endif
