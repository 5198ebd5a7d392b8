/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.h - a borrowed piece of a text, and the parts of a comma-separated list.
 *
 * An empty slice may have no bytes: NULL.
 *
 * Threads  any.
 */
#ifndef SMP_BASE_SLICE_H
#define SMP_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct smp_slice {
    const char *bytes; /* not terminated */
    size_t length;
};

static inline bool smp_slice_begins(struct smp_slice slice, const char *text, size_t length)
{
    return slice.length >= length && (length == 0 || memcmp(slice.bytes, text, length) == 0);
}

static inline bool smp_slice_ends(struct smp_slice slice, const char *text)
{
    const size_t length = strlen(text);

    return slice.length >= length && memcmp(slice.bytes + slice.length - length, text, length) == 0;
}

static inline bool smp_slice_is(struct smp_slice slice, const char *text)
{
    return slice.length == strlen(text) && smp_slice_begins(slice, text, slice.length);
}

static inline bool smp_slice_equals(struct smp_slice a, struct smp_slice b)
{
    return a.length == b.length && smp_slice_begins(a, b.bytes, b.length);
}

static inline bool smp_slice_has(struct smp_slice slice, char byte)
{
    return slice.length > 0 && memchr(slice.bytes, byte, slice.length) != NULL;
}

/* Removes blanks and control characters at both ends. */
static inline struct smp_slice smp_slice_trim(struct smp_slice slice)
{
    while (slice.length > 0 && (unsigned char)slice.bytes[0] <= ' ') {
        slice.bytes++;
        slice.length--;
    }
    while (slice.length > 0 && (unsigned char)slice.bytes[slice.length - 1] <= ' ')
        slice.length--;
    return slice;
}

/* Returns the next part, trimmed and not empty, and moves *cursor behind it. Returns false at the
 * end of the list. Commas between parentheses do not separate parts. */
static inline bool smp_slice_next_part(const char **cursor, struct smp_slice *part)
{
    while (**cursor != '\0') {
        const char *const start = *cursor;
        const char *end = start;
        bool in_parentheses = false;

        for (; *end != '\0' && (in_parentheses || *end != ','); end++) {
            if (*end == '(' || *end == ')')
                in_parentheses = *end == '(';
        }
        *cursor = *end == ',' ? end + 1 : end;
        *part = smp_slice_trim((struct smp_slice){ start, (size_t)(end - start) });
        if (part->length > 0)
            return true;
    }
    return false;
}

static inline size_t smp_slice_count_parts(const char *list)
{
    struct smp_slice part = { 0 };
    size_t count = 0;

    while (smp_slice_next_part(&list, &part))
        count++;
    return count;
}

#endif
