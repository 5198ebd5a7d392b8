/* SPDX-License-Identifier: Apache-2.0 */
#include "support/golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_PATH_BYTES = 1024 };

static bool is_updating(void)
{
    const char *wish = getenv("SMP_GOLDEN_UPDATE");

    return wish != NULL && strcmp(wish, "1") == 0;
}

static void write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL)
        fail_msg("cannot write %s", path);
    const bool written = fwrite(text, 1, length, file) == length;
    if (fclose(file) != 0 || !written)
        fail_msg("cannot write all of %s", path);
}

/* Returns the whole file with a NUL at its end. The caller frees it. */
static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;

    if (file == NULL)
        fail_msg("cannot read %s; SMP_GOLDEN_UPDATE=1 writes it", path);
    (void)fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    text = calloc(1, *length + 1);
    if (text == NULL || fread(text, 1, *length, file) != *length)
        fail_msg("cannot read all of %s", path);
    (void)fclose(file);
    return text;
}

static int line_bytes(const char *text)
{
    return (int)strcspn(text, "\n");
}

static void show_difference(const char *path, const char *expected, const char *actual)
{
    size_t at = 0;
    size_t line_start = 0;
    int line = 1;

    while (expected[at] == actual[at] && expected[at] != '\0') {
        if (expected[at++] == '\n') {
            line++;
            line_start = at;
        }
    }
    print_error("%s differs in line %d, column %zu\nexpected: %.*s|\nactual:   %.*s|\n", path, line,
                at - line_start, line_bytes(expected + line_start), expected + line_start,
                line_bytes(actual + line_start), actual + line_start);
}

void golden_check(const char *name, const char *actual, size_t length)
{
    char path[MAX_PATH_BYTES];
    size_t expected_length = 0;

    (void)snprintf(path, sizeof(path), "%s/golden/%s", SMP_TEST_DIR, name);
    if (is_updating()) {
        write_file(path, actual, length);
        return;
    }
    char *expected = read_file(path, &expected_length);
    const bool equal = expected_length == length && memcmp(expected, actual, length) == 0;
    if (!equal)
        show_difference(path, expected, actual);
    free(expected);
    if (!equal)
        fail();
}
