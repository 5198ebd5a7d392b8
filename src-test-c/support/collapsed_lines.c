/* SPDX-License-Identifier: Apache-2.0 */
#include "support/collapsed_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_output.h"

struct collapsed_lines collapsed_lines_of(const struct smp_profile *profile,
                                          enum smp_measure measure)
{
    const struct smp_export_style style = { .measure = measure };
    struct collapsed_lines lines = { 0 };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    if (profile == NULL)
        return lines;
    assert_int_equal(smp_export(profile, SMP_FORMAT_COLLAPSED, &style, NULL, &to), SMP_OK);
    lines.list = calloc(output.length + 1, sizeof(*lines.list));
    assert_non_null(lines.list);
    char *rest = output.bytes;
    for (char *line = strsep(&rest, "\n"); rest != NULL; line = strsep(&rest, "\n")) {
        char *const blank = strrchr(line, ' ');
        assert_non_null(blank);
        lines.list[lines.count++] =
            (struct collapsed_line){ .stack = strndup(line, (size_t)(blank - line)),
                                     .amount = strtoll(blank, NULL, 10) };
    }
    memory_output_fini(&output);
    return lines;
}

void collapsed_lines_fini(struct collapsed_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->list[i].stack);
    free(lines->list);
    *lines = (struct collapsed_lines){ 0 };
}

struct collapsed_line *collapsed_lines_find(const struct collapsed_lines *lines, const char *stack)
{
    for (size_t i = 0; i < lines->count; i++) {
        if (strcmp(lines->list[i].stack, stack) == 0)
            return &lines->list[i];
    }
    return NULL;
}
