/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.h - escapes text from outside (names of threads, classes, files) for a line of output.
 *
 * These characters may end a line, act as a command of a terminal, or hide or reverse the text
 * around them, and are written as \n, \r, \t or \u001b: C0, DEL, C1, the line and paragraph
 * separators U+2028 and U+2029, and the format characters (category Cf). A backslash stays as it
 * is. PlainText.java has the same rule.
 *
 * Threads  any.
 * Errors   those of bytes.h.
 * Cost     O(length).
 */
#ifndef SMP_MODEL_ESCAPE_H
#define SMP_MODEL_ESCAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum { SMP_ESCAPE_BYTES = 13 /* two of \u0000, and a NUL */ };

/* Appends text, which is UTF-8. */
void smp_escape_put(struct smp_bytes *out, const char *text);

/* Returns whether the character is one of those above. */
bool smp_escape_is_needed(uint32_t character);

/* Writes \u001b, or the surrogate pair of a character beyond U+FFFF. */
void smp_escape_format(char out[SMP_ESCAPE_BYTES], uint32_t character);

#endif
