/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - a growing byte buffer with a named maximum.
 *
 * Owns     its bytes.
 * Threads  one at a time.
 * Errors   SMP_EQUOTA at the maximum, SMP_ENOMEM when refused. The buffer keeps what it had and
 *          remembers the first failure: later appends do nothing, so a writer may check once, at
 *          the end.
 * Cost     append: amortised O(length).
 */
#ifndef SMP_BASE_BYTES_H
#define SMP_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

/* Visible so that it can be a local variable; use the functions. */
struct smp_bytes {
    struct smp_quota *quota;
    char *data; /* NUL-terminated whenever not NULL */
    size_t length;
    size_t capacity;
    size_t max_bytes;
    enum smp_status status; /* the first failure */
};

/* max_bytes counts the text without its NUL. Allocates nothing yet. */
void smp_bytes_init(struct smp_bytes *bytes, struct smp_quota *quota, size_t max_bytes);
/* Frees the memory; the buffer is as after init. */
void smp_bytes_fini(struct smp_bytes *bytes);
/* Empties the buffer and forgets a failure; keeps the memory. */
void smp_bytes_clear(struct smp_bytes *bytes);
/* Empties the buffer but keeps a failure: for several texts that are checked once, at the end. */
void smp_bytes_restart(struct smp_bytes *bytes);
/* Goes back to an earlier length and forgets a failure, to remove a row that did not fit. */
void smp_bytes_truncate(struct smp_bytes *bytes, size_t length);

/* Makes room for count more bytes. Returns false if there is none; nothing has changed then. */
bool smp_bytes_reserve(struct smp_bytes *bytes, size_t count);

/* Each appends all or nothing. The argument must not point into the buffer itself. */
void smp_bytes_put(struct smp_bytes *bytes, const char *data, size_t length);
void smp_bytes_puts(struct smp_bytes *bytes, const char *text);
void smp_bytes_fill(struct smp_bytes *bytes, char byte, size_t count);
void smp_bytes_put_i64(struct smp_bytes *bytes, int64_t value);
void smp_bytes_printf(struct smp_bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the text so far; "" if nothing was ever appended. Borrowed until the next append. */
const char *smp_bytes_text(const struct smp_bytes *bytes);

#endif
