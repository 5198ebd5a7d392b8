/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_changes.h - does this JVM expect agents to change loaded classes?
 *
 * Before JDK 23 the JVM throws away all compiled code at the first change of a class, unless an
 * agent with capabilities was there from the JVM's start. An agent that came later and has changed
 * no class yet cannot be told from such an agent.
 *
 * Threads  any.
 * Errors   false: the JVM does not say.
 * Cost     a pass over libjvm's list of fields.
 */
#ifndef SMP_HOTSPOT_CLASS_CHANGES_H
#define SMP_HOTSPOT_CLASS_CHANGES_H

#include <stdbool.h>

#include "hotspot/exports.h"

/* exports NULL: libjvm's. True for good once any agent has requested any JVMTI capability. */
bool smp_class_changes_are_expected(const struct smp_exports *exports);

#endif
