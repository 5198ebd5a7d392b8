/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_filter.h - the property instrumentationFilter: methods of these classes are counted when a
 * root calls them.
 *
 *   com.acme, -com.acme.util    below com.acme, but not below com.acme.util
 *   -com.acme.util              all but the JDK and com.acme.util
 *   "" (the default)            all but the JDK: java. javax. jdk. sun. com.sun.
 *
 * A prefix matches whole parts of a name, as in model/filter.h; what a prefix with a minus excludes
 * stays out. Some classes are never instrumented, whatever the lists and the roots say: the probes
 * run through them (Thread, Unsafe, java.lang.invoke, the library's own).
 *
 * The setter in Java (NameLists) refuses texts that are no prefixes.
 *
 * Threads  any.
 * Cost     passes: a pass over the list; called once or twice per class.
 */
#ifndef SMP_COUNTING_CALL_FILTER_H
#define SMP_COUNTING_CALL_FILTER_H

#include <stdbool.h>

#include "counting/slice.h"

/* list: comma-separated; blanks around a part are trimmed, empty parts ignored. class_name is
 * internal: `com/acme/Order`. */
bool smp_call_filter_passes(const char *list, struct smp_slice class_name);
/* Is it below java. javax. jdk. sun. com.sun.? */
bool smp_call_filter_is_jdk(struct smp_slice class_name);
/* Is its name that of a java.lang.reflect.Proxy? A class of the program may have such a name. */
bool smp_call_filter_is_proxy(struct smp_slice class_name);
/* Is it never instrumented? */
bool smp_call_filter_is_never(struct smp_slice class_name);

#endif
