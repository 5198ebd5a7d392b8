/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_method.h - whether two method ids mean the same method.
 *
 * A class that is redefined gets new versions of its methods. The id moves to the new version, and
 * the JVM makes another id for frames of the old one. So the JVM returns another id for such a
 * frame than a cache that was filled before:
 *
 *   before   frame ─► version 1 ◄── id A       the cache: this frame is of A
 *   after    frame ─► version 1 ◄── id B       JVMTI: this frame is of B
 *                     version 2 ◄── id A
 *
 * Threads  any attached one.
 * Errors   false: they differ, or the JVM does not name the method of one.
 * Cost     equal ids: none. Others: eight calls of JVMTI.
 */
#ifndef SMP_JVM_CODE_SAME_METHOD_H
#define SMP_JVM_CODE_SAME_METHOD_H

#include <stdbool.h>
#include <stdint.h>

/* Compares class, class loader, name and signature. */
bool smp_same_method(uint64_t one, uint64_t other);

#endif
