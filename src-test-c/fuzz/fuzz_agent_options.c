/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the agent's options with a naive parser, which scans from the start for each part. The
 * input is the options; the key is always "jar". */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "jvm/agent/agent_options.h"

enum { MAX_INPUT = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && strchr(" \t\n\r", end[-1]) != NULL)
        *--end = '\0';
    return text + strspn(text, " \t\n\r");
}

/* Returns the part with this number, without its escapes, or false if there are fewer parts. */
static bool read_nth(const char *options, size_t number, char *out)
{
    size_t parts = 0;

    for (; *options != '\0'; options++) {
        bool is_escaped = *options == '\\' && (options[1] == ',' || options[1] == '\\');

        if (is_escaped)
            options++;
        if (*options == ',' && !is_escaped)
            parts++;
        else if (parts == number)
            *out++ = *options;
    }
    *out = '\0';
    return number <= parts;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char options[MAX_INPUT + 1];
    char part[MAX_INPUT + 1];
    const char *expected = NULL;
    char *value = NULL;

    if (size > MAX_INPUT)
        return 0;
    if (size > 0)
        memcpy(options, data, size);
    options[size] = '\0';
    for (size_t i = 0; expected == NULL && read_nth(options, i, part); i++) {
        char *at = strpbrk(part, "=:");
        if (at == NULL)
            continue;
        *at = '\0';
        if (strcmp(trim(part), "jar") == 0)
            expected = trim(at + 1);
    }
    check(smp_agent_option(options, "jar", &value) == SMP_OK);
    check((value == NULL) == (expected == NULL));
    check(value == NULL || strcmp(value, expected) == 0);
    smp_free(NULL, value);
    check(smp_alloc_live_bytes() == 0);
    return 0;
}
