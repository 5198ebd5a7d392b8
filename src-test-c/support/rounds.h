/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - the number of rounds of a test with random cases.
 *
 * SMP_TEST_ROUNDS=N: every test makes N rounds. SMP_TEST_SHARE=N: each test makes 1/N of its usual
 * rounds, by default 1/4. .ci/run sets SMP_TEST_SHARE=1 by night.
 *
 * Threads  any.
 */
#ifndef SMP_TEST_ROUNDS_H
#define SMP_TEST_ROUNDS_H

/* Returns at least one round. */
long test_rounds(long usual);

#endif
