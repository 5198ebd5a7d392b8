/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_name.h - takes the numbers out of names of classes that were generated at run time.
 *
 *   T$$Lambda$14/0x00007f63c8004800        ──► T$$Lambda
 *   sun.reflect.GeneratedMethodAccessor17  ──► sun.reflect.GeneratedMethodAccessor
 *   jdk.proxy2.$Proxy12                    ──► jdk.proxy.$Proxy
 *   Order$$EnhancerBySpringCGLIB$$1a2b3c4d ──► Order$$EnhancerBySpringCGLIB
 *
 * Each new run of a program, and each hour of it, makes other ones: kept, they would split one row
 * of a report into many. A name from source code keeps its digits: Base64, Outer$1.
 *
 * Owns     nothing.
 * Threads  any.
 * Errors   none.
 * Cost     O(length) for each of a handful of patterns.
 */
#ifndef SMP_MODEL_CLASS_NAME_H
#define SMP_MODEL_CLASS_NAME_H

#include <stdbool.h>

/*
 * Is it a class of this library that a user's thread may be in: the API's entry points, and what
 * is behind them? A report shows the user's line that called them instead. An outputer or a
 * manipulator is none: those run on the library's threads. name is simplified.
 */
bool smp_class_name_is_own(const char *name);

/* Changes name in place; it never gets longer. */
void smp_class_name_simplify(char *name);

#endif
