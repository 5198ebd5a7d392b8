/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - text between the JVM's modified UTF-8, real UTF-8 and UTF-16.
 *
 * Inside the core all text is valid UTF-8. Invalid input becomes U+FFFD on the way in: one for a
 * lone surrogate, one for a lead byte with the continuation bytes that follow it, one for any other
 * byte.
 *
 * Threads  any.
 * Cost     O(length).
 */
#ifndef SMP_BASE_UTF8_H
#define SMP_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Modified UTF-8 (C0 80 for NUL, surrogate pairs as two three-byte forms) to UTF-8. Writes at most
 * size bytes with the final NUL and never splits a character; a text that does not fit ends in
 * U+2026 (...). An embedded NUL becomes U+FFFD. Four-byte forms, which the JVM does not write, are
 * accepted as UTF-8. size >= 4; if it is smaller only a NUL is written. Returns the length written,
 * without the NUL.
 */
size_t smp_utf8_from_modified(char *out, size_t size, const char *in, size_t length);

/* UTF-16 to UTF-8, otherwise as above. */
size_t smp_utf8_from_utf16(char *out, size_t size, const uint16_t *in, size_t length);

/* UTF-8 to UTF-16; out has room for length units. A NUL stays a NUL. Returns the units written. */
size_t smp_utf8_to_utf16(uint16_t *out, const char *in, size_t length);

/* Returns the first character of valid UTF-8 that ends in a NUL, and its bytes. */
uint32_t smp_utf8_next(const char *text, size_t *bytes);

/* Returns the columns of valid UTF-8 if each character takes one. */
size_t smp_utf8_columns(const char *text, size_t length);

/* Returns the length of the longest prefix of valid UTF-8 with at most max bytes that ends between
 * two characters. */
size_t smp_utf8_prefix(const char *text, size_t length, size_t max);

#endif
