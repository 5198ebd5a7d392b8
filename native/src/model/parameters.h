/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameters.h - the parameters of a method as a report shows them.
 *
 *   (ILjava/lang/String;[[J)V  ──►  (int, String, long[][])
 *
 * Classes have no package, so types that differ only in it have one text.
 *
 * Threads  any.
 * Cost     O(length).
 */
#ifndef SMP_MODEL_PARAMETERS_H
#define SMP_MODEL_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

/* Both are UTF-8 or modified UTF-8. False: it is no descriptor, or does not fit; out is unspecified
 * then. */
bool smp_parameters_text(char *out, size_t size, const char *descriptor);

#endif
