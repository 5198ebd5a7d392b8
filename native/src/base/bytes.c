/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SMP_BYTES_FIRST_CAPACITY = 256, MAX_I64_TEXT = 20 /* -9223372036854775808 */ };

void smp_bytes_init(struct smp_bytes *bytes, struct smp_quota *quota, size_t max_bytes)
{
    if (max_bytes == SIZE_MAX)
        max_bytes = SIZE_MAX - 1; /* so that max_bytes + 1, with the NUL, does not overflow */
    *bytes = (struct smp_bytes){ .quota = quota, .max_bytes = max_bytes, .status = SMP_OK };
}

void smp_bytes_fini(struct smp_bytes *bytes)
{
    smp_free(bytes->quota, bytes->data);
    smp_bytes_init(bytes, bytes->quota, bytes->max_bytes);
}

void smp_bytes_truncate(struct smp_bytes *bytes, size_t length)
{
    assert(length <= bytes->length);
    bytes->length = length;
    bytes->status = SMP_OK;
    if (bytes->data != NULL)
        bytes->data[length] = '\0';
}

void smp_bytes_clear(struct smp_bytes *bytes)
{
    smp_bytes_truncate(bytes, 0);
}

void smp_bytes_restart(struct smp_bytes *bytes)
{
    const enum smp_status status = bytes->status;

    smp_bytes_clear(bytes);
    bytes->status = status;
}

/* Doubles the capacity: to at least need, and at most the maximum and its NUL. */
static size_t next_capacity(const struct smp_bytes *bytes, size_t need)
{
    size_t capacity = SMP_BYTES_FIRST_CAPACITY;

    if (bytes->capacity > capacity / 2)
        capacity = bytes->capacity * 2;
    if (capacity > bytes->max_bytes)
        capacity = bytes->max_bytes + 1;
    return capacity > need ? capacity : need;
}

__attribute__((noinline)) static bool grow(struct smp_bytes *bytes, size_t more)
{
    if (more > bytes->max_bytes - bytes->length) {
        bytes->status = SMP_EQUOTA;
        return false;
    }

    const size_t capacity = next_capacity(bytes, bytes->length + more + 1);
    char *data = smp_realloc(bytes->quota, bytes->data, capacity);
    if (data == NULL) {
        bytes->status = SMP_ENOMEM;
        return false;
    }
    bytes->data = data;
    bytes->capacity = capacity;
    data[bytes->length] = '\0';
    return true;
}

/* Returns where count more bytes and a NUL go, or NULL if the buffer fails now or failed before. */
static char *reserve_bytes(struct smp_bytes *bytes, size_t count)
{
    if (bytes->status != SMP_OK)
        return NULL;
    if (count >= bytes->capacity - bytes->length && !grow(bytes, count))
        return NULL;
    return bytes->data + bytes->length;
}

bool smp_bytes_reserve(struct smp_bytes *bytes, size_t count)
{
    const enum smp_status status = bytes->status;
    const bool has_room = reserve_bytes(bytes, count) != NULL;

    bytes->status = status;
    return has_room;
}

static void commit(struct smp_bytes *bytes, size_t count)
{
    bytes->length += count;
    bytes->data[bytes->length] = '\0';
}

void smp_bytes_put(struct smp_bytes *bytes, const char *data, size_t length)
{
    if (length == 0)
        return;
    char *room = reserve_bytes(bytes, length);
    if (room == NULL)
        return;
    memcpy(room, data, length);
    commit(bytes, length);
}

void smp_bytes_puts(struct smp_bytes *bytes, const char *text)
{
    smp_bytes_put(bytes, text, strlen(text));
}

void smp_bytes_fill(struct smp_bytes *bytes, char byte, size_t count)
{
    if (count == 0)
        return;
    char *room = reserve_bytes(bytes, count);
    if (room == NULL)
        return;
    memset(room, byte, count);
    commit(bytes, count);
}

void smp_bytes_put_i64(struct smp_bytes *bytes, int64_t value)
{
    char text[MAX_I64_TEXT];
    size_t at = sizeof(text);
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        text[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        text[--at] = '-';
    smp_bytes_put(bytes, text + at, sizeof(text) - at);
}

/* Prints into the free part of the buffer. Returns the length of the whole text, or a negative
 * number. */
__attribute__((format(printf, 2, 0))) static int try_print(struct smp_bytes *bytes,
                                                           const char *format, va_list arguments)
{
    va_list copy;

    va_copy(copy, arguments);
    const int length =
        bytes->data == NULL
            ? vsnprintf(NULL, 0, format, copy)
            : vsnprintf(bytes->data + bytes->length, bytes->capacity - bytes->length, format, copy);
    va_end(copy);
    return length;
}

__attribute__((format(printf, 2, 0))) static void print(struct smp_bytes *bytes, const char *format,
                                                        va_list arguments)
{
    const int length = try_print(bytes, format, arguments);

    if (length < 0) {
        bytes->status = SMP_EINVAL;
        return;
    }
    if ((size_t)length >= bytes->capacity - bytes->length) {
        if (reserve_bytes(bytes, (size_t)length) == NULL)
            return;
        (void)try_print(bytes, format, arguments);
    }
    commit(bytes, (size_t)length);
}

void smp_bytes_printf(struct smp_bytes *bytes, const char *format, ...)
{
    va_list arguments;

    if (bytes->status != SMP_OK)
        return;
    va_start(arguments, format);
    print(bytes, format, arguments);
    va_end(arguments);
    if (bytes->status != SMP_OK && bytes->data != NULL)
        bytes->data[bytes->length] = '\0'; /* removes the part that was printed */
}

const char *smp_bytes_text(const struct smp_bytes *bytes)
{
    return bytes->data == NULL ? "" : bytes->data;
}
