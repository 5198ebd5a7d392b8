/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_serial.h - the numbers of threads: equal ones are one thread, for as long as the process
 * runs. Those of Java threads rise from start to start and are never used again.
 */
#ifndef SMP_MODEL_THREAD_SERIAL_H
#define SMP_MODEL_THREAD_SERIAL_H

#include <stdint.h>

/* Set in numbers of what is no Java thread: whether it lives is not known. */
#define SMP_SERIAL_OTHER (UINT64_C(1) << 63)

#endif
