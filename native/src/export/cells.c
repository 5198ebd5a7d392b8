/* SPDX-License-Identifier: Apache-2.0 */
#include "export/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define NS_PER_10_MS INT64_C(10000000)

enum { NS_PER_MS = 1000000, TEXT_BYTES = SMP_ERROR_CELL_BYTES - SMP_ERROR_CELL_WIDTH };

/* --- numbers --- */

void smp_number_count(uint64_t count, char text[SMP_NUMBER_BYTES])
{
    char digits[SMP_NUMBER_BYTES];
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    int out = 0;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = '\0';
}

static void print_tenths(int64_t tenths, char text[SMP_NUMBER_BYTES])
{
    (void)snprintf(text, SMP_NUMBER_BYTES, "%d.%d", (int)(tenths / 10), (int)(tenths % 10));
}

static void print_hundredths(int64_t hundredths, char text[SMP_NUMBER_BYTES])
{
    const int64_t tenths = (hundredths + 5) / 10;

    if (hundredths < 100)
        (void)snprintf(text, SMP_NUMBER_BYTES, "0.%02d", (int)hundredths);
    else if (tenths < 1000)
        print_tenths(tenths, text);
    else
        smp_number_count((uint64_t)(hundredths / 100 + (hundredths % 100 >= 50)), text);
}

void smp_number_seconds(int64_t ns, char text[SMP_NUMBER_BYTES])
{
    const int64_t hundredths = ns / NS_PER_10_MS + (ns % NS_PER_10_MS >= NS_PER_10_MS / 2);

    if (ns == 0)
        (void)snprintf(text, SMP_NUMBER_BYTES, "0");
    else if (hundredths == 0)
        (void)snprintf(text, SMP_NUMBER_BYTES, "<0.01");
    else
        print_hundredths(hundredths, text);
}

void smp_number_ratio(double ratio, char text[SMP_NUMBER_BYTES])
{
    print_hundredths((int64_t)(ratio * 100 + 0.5), text);
}

void smp_number_seconds_like(int64_t ns, int64_t of_ns, char text[SMP_NUMBER_BYTES])
{
    const int64_t tenths = (ns / NS_PER_10_MS + 5) / 10;

    if (of_ns < 100 * NS_PER_10_MS)
        smp_number_seconds(ns, text);
    else if (of_ns < 10000 * NS_PER_10_MS)
        print_tenths(tenths, text);
    else
        smp_number_count((uint64_t)(tenths + 5) / 10, text);
}

/* --- amounts with error bars --- */

/* Rounds to two digits in milliseconds, which is as precise as an error is known; at least 1. */
static int64_t two_digits(int64_t ns, bool rounds_up)
{
    const int64_t ms = ns / NS_PER_MS + (rounds_up || ns % NS_PER_MS >= NS_PER_MS / 2 ? 1 : 0);
    int64_t unit = 1;

    while (ms / unit >= 100)
        unit *= 10;
    const int64_t rounded = (ms + (rounds_up ? unit - 1 : unit / 2)) / unit * unit;
    return rounded > 1 ? rounded : 1;
}

static void print_amount(int64_t amount, struct smp_error error, char text[TEXT_BYTES])
{
    const struct smp_error_range range = smp_error_range_of(amount, -1, error);
    const int64_t half = range.upper / 2 - range.lower / 2;
    char value[SMP_NUMBER_BYTES];
    char bar[SMP_NUMBER_BYTES];

    smp_number_count((uint64_t)(amount / NS_PER_MS), value);
    if (error.variance < 0) {
        (void)snprintf(text, TEXT_BYTES, "%s ms ± ?", value);
    } else if (range.lower == range.upper) {
        (void)snprintf(text, TEXT_BYTES, "%s ms exact", value);
    } else if (half >= amount || amount / NS_PER_MS <= two_digits(half, false)) {
        smp_number_count((uint64_t)two_digits(range.upper, true), bar);
        (void)snprintf(text, TEXT_BYTES, "< %s ms", bar);
    } else {
        smp_number_count((uint64_t)two_digits(half, false), bar);
        (void)snprintf(text, TEXT_BYTES, "%s ± %s ms", value, bar);
    }
}

void smp_error_cell_print(int64_t ns, struct smp_error error, char cell[SMP_ERROR_CELL_BYTES])
{
    char text[TEXT_BYTES];
    int missing;

    print_amount(ns, error, text);
    missing = SMP_ERROR_CELL_WIDTH - (int)smp_utf8_columns(text, strlen(text));
    (void)snprintf(cell, SMP_ERROR_CELL_BYTES, "%*s%s", missing > 0 ? missing : 0, "", text);
}

/* --- cut texts --- */

size_t smp_fitted_columns(const char *text)
{
    return smp_utf8_columns(text, strlen(text));
}

const char *smp_fitted_last(const char *text, size_t columns)
{
    for (size_t skipped = smp_fitted_columns(text) - columns; skipped > 0; skipped--) {
        size_t bytes;
        (void)smp_utf8_next(text, &bytes);
        text += bytes;
    }
    return text;
}

void smp_fitted_put_end(struct smp_bytes *out, const char *text, size_t columns)
{
    if (smp_fitted_columns(text) <= columns) {
        smp_bytes_puts(out, text);
        return;
    }
    smp_bytes_puts(out, "…");
    smp_bytes_puts(out, smp_fitted_last(text, columns - 1));
}

void smp_fitted_put_begin(struct smp_bytes *out, const char *text, size_t columns)
{
    const size_t width = smp_fitted_columns(text);

    if (width <= columns) {
        smp_bytes_puts(out, text);
        return;
    }
    if (columns == 0)
        return;
    smp_bytes_put(out, text, (size_t)(smp_fitted_last(text, width - columns + 1) - text));
    smp_bytes_puts(out, "…");
}

/* --- cells --- */

void smp_cell_put(struct smp_writer *out, int width, const char *text)
{
    smp_writer_put_byte(out, ' ');
    for (int left = width - (int)strlen(text); left > 0; left--)
        smp_writer_put_byte(out, ' ');
    smp_writer_puts(out, text);
}

void smp_cell_put_figure(struct smp_writer *out, int width, int64_t figure)
{
    char text[SMP_NUMBER_BYTES];

    (void)snprintf(text, sizeof(text), "%" PRId64, figure);
    smp_cell_put(out, width, text);
}
