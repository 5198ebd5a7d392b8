/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_name.h - removes the numbers from the names of classes that were generated at run time.
 *
 *   T$$Lambda$14/0x00007f63c8004800        ──► T$$Lambda
 *   sun.reflect.GeneratedMethodAccessor17  ──► sun.reflect.GeneratedMethodAccessor
 *   jdk.proxy2.$Proxy12                    ──► jdk.proxy.$Proxy
 *   Order$$EnhancerBySpringCGLIB$$1a2b3c4d ──► Order$$EnhancerBySpringCGLIB
 *
 * These numbers differ from run to run and from hour to hour, and would split one row of a report
 * into many. A name from source code keeps its digits: Base64, Outer$1.
 *
 * Threads  any.
 * Cost     O(length) for each of a handful of patterns.
 */
#ifndef SMP_MODEL_CLASS_NAME_H
#define SMP_MODEL_CLASS_NAME_H

#include <stdbool.h>

/*
 * Returns whether an application thread can be in this class of the library: the API's entry points
 * with what they call, or the hooks of counted methods. A report shows the application's line that
 * called them instead. Outputers and manipulators are not included, because they run on the
 * library's own threads. name must be simplified.
 */
bool smp_class_name_is_own(const char *name);

/* Changes name in place; it never gets longer. */
void smp_class_name_simplify(char *name);

#endif
