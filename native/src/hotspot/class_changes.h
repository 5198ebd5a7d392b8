/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_changes.h - does another agent of this JVM change loaded classes, or may it?
 *
 * Before JDK 23 the JVM throws away all compiled code at the first change of a class, unless an
 * agent with capabilities was there from the JVM's start. An agent that came later, and has changed
 * none yet, is taken for such a one.
 *
 * Threads  any.
 * Errors   false: the JVM does not say.
 * Cost     a pass over libjvm's list of fields.
 */
#ifndef SMP_HOTSPOT_CLASS_CHANGES_H
#define SMP_HOTSPOT_CLASS_CHANGES_H

#include <stdbool.h>

#include "hotspot/exports.h"

/* exports NULL: of libjvm. True for good once any agent has requested any capability of JVMTI. */
bool smp_class_changes_are_expected(const struct smp_exports *exports);

#endif
