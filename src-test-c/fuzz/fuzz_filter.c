/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the filter with a naive version written from its documentation, which parses the list
 * anew for each query. The input is a list, a line feed, and a class name. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/filter.h"

enum { MAX_INPUT = 8192 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static char *trim(char *part)
{
    size_t length = 0;

    while (*part != '\0' && (unsigned char)*part <= ' ')
        part++;
    length = strlen(part);
    while (length > 0 && (unsigned char)part[length - 1] <= ' ')
        part[--length] = '\0';
    return part;
}

static bool part_matches(char *part, const char *class_name)
{
    const char last = part[strlen(part) - 1];

    while (part[0] != '\0' && part[strlen(part) - 1] == '*')
        part[strlen(part) - 1] = '\0';
    if (!starts_with(class_name, part))
        return false;
    if (last == '*' || last == '.')
        return true;
    return strchr(".$", class_name[strlen(part)]) != NULL; /* strchr finds the NUL, too */
}

struct reference {
    size_t parts;
    bool has_long_part;
    bool monitors;
};

static struct reference read_reference(const char *list, const char *class_name)
{
    char copy[MAX_INPUT + 1];
    char *rest = copy;
    struct reference reference = { 0 };

    memcpy(copy, list, strlen(list) + 1);
    while (rest != NULL) {
        char *part = trim(strsep(&rest, ","));

        if (part[0] == '\0')
            continue;
        reference.parts++;
        reference.has_long_part = reference.has_long_part || strlen(part) > SMP_MAX_PREFIX_BYTES;
        reference.monitors = part_matches(part, class_name) || reference.monitors;
    }
    reference.monitors = reference.monitors || reference.parts == 0;
    return reference;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char list[MAX_INPUT + 1];
    char *class_name = NULL;
    struct smp_filter *filter = NULL;

    if (size > MAX_INPUT)
        return 0;
    if (size > 0)
        memcpy(list, data, size);
    list[size] = '\0';
    class_name = strrchr(list, '\n');
    if (class_name == NULL)
        class_name = list + strlen(list);
    else
        *class_name++ = '\0';

    const struct reference reference = read_reference(list, class_name);
    const enum smp_status status = smp_filter_create(NULL, list, &filter);

    if (reference.parts > SMP_MAX_PREFIXES || reference.has_long_part) {
        check(status == SMP_EINVAL && filter == NULL);
        return 0;
    }
    check(status == SMP_OK);
    check(smp_filter_monitors(filter, class_name) == reference.monitors);
    smp_filter_destroy(filter);
    check(smp_alloc_live_bytes() == 0);
    return 0;
}
