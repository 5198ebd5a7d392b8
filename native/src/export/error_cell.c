/* SPDX-License-Identifier: Apache-2.0 */
#include "export/error_cell.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "export/numbers.h"

enum { NS_PER_MS = 1000000, TEXT_BYTES = SMP_ERROR_CELL_BYTES - SMP_ERROR_CELL_WIDTH };

/* Milliseconds to two digits, which is as well as an error is known; 1 at least. */
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

void smp_error_cell_print(int64_t amount, struct smp_error error, char cell[SMP_ERROR_CELL_BYTES])
{
    char text[TEXT_BYTES];
    int missing;

    print_amount(amount, error, text);
    missing = SMP_ERROR_CELL_WIDTH - (int)smp_utf8_columns(text, strlen(text));
    (void)snprintf(cell, SMP_ERROR_CELL_BYTES, "%*s%s", missing > 0 ? missing : 0, "", text);
}
