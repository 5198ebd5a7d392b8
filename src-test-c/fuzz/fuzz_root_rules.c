/* SPDX-License-Identifier: Apache-2.0 */
/* Compares root rules with a naive version. The first line of the input is the list of rules, the
 * second a class, the third a method, the fourth its descriptor. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../support/reference_stars.h"
#include "counting/root_rules.h"

enum { MAX_INPUT = 2048, MAX_COMPARED = 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static struct smp_slice take_line(char **rest)
{
    char *const line = *rest;
    const size_t length = strcspn(line, "\n");

    *rest = line[length] == '\n' ? line + length + 1 : line + length;
    line[length] = '\0';
    return (struct smp_slice){ line, length };
}

/* Checks the class pattern of a rule without parameters: it ends at the last dot of the rule, or
 * is the whole rule if that can be the name of a class. */
static void check_class(const struct smp_root_rule *rule, struct smp_slice class_name)
{
    char text[MAX_COMPARED + 1];
    char pattern[MAX_COMPARED + 1];

    if (rule->text.length > MAX_COMPARED || class_name.length > MAX_COMPARED)
        return;
    memcpy(text, rule->text.bytes, rule->text.length);
    text[rule->text.length] = '\0';
    memcpy(pattern, text, sizeof(text));
    char *const dot = strrchr(pattern, '.');
    if (strchr(text, '(') != NULL || dot == NULL || strcmp(dot, ".**") == 0)
        return;
    *dot = '\0';
    check(smp_root_rule_matches_class(rule, class_name) ==
          (reference_stars(pattern, class_name.bytes) ||
           (strpbrk(text, "*<") == NULL && reference_stars(text, class_name.bytes))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[MAX_INPUT + 1];
    struct smp_slice part = { 0 };
    char *rest = text;

    if (size > MAX_INPUT)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';

    const struct smp_slice list = take_line(&rest);
    const struct smp_slice class_name = take_line(&rest);
    const struct smp_slice name = take_line(&rest);
    const struct smp_slice descriptor = take_line(&rest);

    for (const char *cursor = list.bytes; smp_slice_next_part(&cursor, &part);) {
        const struct smp_root_rule rule = smp_root_rule_read(part);

        check(part.length > 0);
        (void)smp_root_rule_is_exact(&rule, class_name);
        (void)smp_root_rule_matches_method(&rule, class_name, name, descriptor);
        check_class(&rule, class_name);
    }
    return 0;
}
