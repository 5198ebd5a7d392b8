/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instances.h - which classes of ours have instances, and which of their methods others may call:
 * rapid type analysis for callbacks.
 *
 *   code that is followed makes a class ───────┐
 *   one of its methods runs for an instance ───┼► add ─► search: its methods that override one of a
 *   a method is called that it inherits         │         class outside of the filter are wanted
 *   from a library outside of the filter ─► leave
 *
 * The JDK and the libraries call compare, equals, run or accept, and their code is not followed. So
 * each override of a method that is declared outside of the filter may be called once there is an
 * instance. It may be inherited, too. What such a class overrides is known once the outlines of its
 * super types have methods (counted_classes.h: meet).
 *
 * Threads  one at a time.
 * Errors   none.
 * Cost     add: constant. search: O(methods that its super types outside of the filter declare x
 *          its super classes).
 */
#ifndef SMP_COUNTING_INSTANCES_H
#define SMP_COUNTING_INSTANCES_H

#include <stdint.h>

#include "counting/wanted.h"

/* ahead: how many calls are looked ahead from its overrides. To be drained. */
void smp_instances_add(struct smp_reach *reach, uint32_t made, uint8_t ahead);
/* Of all loaded classes of a name. */
void smp_instances_add_named(struct smp_reach *reach, uint32_t name, uint8_t ahead);
/* This method is called. If its class is a library's, outside of the filter, each subtype that is
 * inside may be the one it is called for, and be called back by it. Classes of the JDK have too many
 * subtypes for that: a Spring Boot start had 2.6 times as many methods with probes. To be drained. */
void smp_instances_leave(struct smp_reach *reach, uint32_t in_class, uint32_t method);
/* Its super types, which the search has just found, are others now. */
void smp_instances_visit(struct smp_reach *reach, uint32_t visited);
/* What waits longest is searched for. Only if reach->first_changed is not 0. */
void smp_instances_search(struct smp_reach *reach);

#endif
