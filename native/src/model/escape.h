/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.h - text from outside (names of threads, classes, files) on its way into a line of output.
 *
 * Characters that a terminal or another reader may take for the end of a line or for a command are
 * written as \n, \r, \t or \u001b: C0, DEL, C1, and the line and paragraph separators U+2028 and
 * U+2029. A backslash stays as it is.
 *
 * Threads  any.
 * Errors   those of bytes.h.
 * Cost     O(length).
 */
#ifndef SMP_MODEL_ESCAPE_H
#define SMP_MODEL_ESCAPE_H

#include "base/bytes.h"

/* Appends text, which is UTF-8. */
void smp_escape_put(struct smp_bytes *out, const char *text);

#endif
