/* SPDX-License-Identifier: Apache-2.0 */
#include "export/numbers.h"

#include <inttypes.h>
#include <stdio.h>

#define NS_PER_10_MS INT64_C(10000000)

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
