/* SPDX-License-Identifier: Apache-2.0 */
/* more_measures.h - included first in a build of the core with one additional measure. */
#ifndef SMP_TEST_MORE_MEASURES_H
#define SMP_TEST_MORE_MEASURES_H

#define SMP_MORE_MEASURES(X) X(WAITS, "waits", NUMBER, TOTAL, "lock waits", "waits")

#endif
