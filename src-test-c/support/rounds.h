/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds.h - how many rounds a test of random cases makes.
 *
 * SMP_TEST_ROUNDS=N makes N of them, in every test. SMP_TEST_SHARE=N makes the Nth part: .ci/run
 * sets it where each round is slow, under a sanitizer and under valgrind.
 *
 * Threads  any.
 */
#ifndef SMP_TEST_ROUNDS_H
#define SMP_TEST_ROUNDS_H

/* One at least. The usual number is what the test makes where neither variable is set. */
long test_rounds(long usual);

#endif
