/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_method.h - do two method ids mean the same method?
 *
 * A class that is redefined gets new versions of its methods. The id goes over to the new version,
 * and the JVM makes another id for frames of the old one. So a cache that was filled before has
 * another id for such a frame than the JVM returns now:
 *
 *   before   frame ─► version 1 ◄── id A       the cache has: this frame is of A
 *   after    frame ─► version 1 ◄── id B       JVMTI says: this frame is of B
 *                     version 2 ◄── id A
 *
 * Threads  any attached one.
 * Errors   false: they differ, or the JVM does not say what one of them is.
 * Cost     equal ids: none. Others: eight calls of JVMTI.
 */
#ifndef SMP_JVM_CODE_SAME_METHOD_H
#define SMP_JVM_CODE_SAME_METHOD_H

#include <stdbool.h>
#include <stdint.h>

/* By class, class loader, name and signature. */
bool smp_same_method(uint64_t one, uint64_t other);

#endif
