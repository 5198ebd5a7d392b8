/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root rules: the first line of the input is the list, the second a class, the third a method, the
 * fourth its descriptor. Each rule matches as the naive version says.
 */
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

/* The class pattern of a rule without parameters, cut off at its last dot; or all of it, if it can
 * be the name of a class. */
static void check_class(const struct smp_root_rules *rules, size_t rule,
                        struct smp_slice class_name)
{
    char pattern[MAX_COMPARED + 1];
    const char *const text = smp_root_rules_text(rules, rule);
    const char *const dot = strrchr(text, '.');

    if (strchr(text, '(') != NULL || dot == NULL || dot - text > MAX_COMPARED ||
        strcmp(dot, ".**") == 0 || class_name.length > MAX_COMPARED)
        return;
    memcpy(pattern, text, (size_t)(dot - text));
    pattern[dot - text] = '\0';
    check(smp_root_rules_match_class(rules, rule, class_name) ==
          (reference_stars(pattern, class_name.bytes) ||
           (strpbrk(text, "*<") == NULL && reference_stars(text, class_name.bytes))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[MAX_INPUT + 1];
    struct smp_root_rules *rules = NULL;
    char *rest = text;

    if (size > MAX_INPUT)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';

    const struct smp_slice list = take_line(&rest);
    const struct smp_slice class_name = take_line(&rest);
    const struct smp_slice name = take_line(&rest);
    const struct smp_slice descriptor = take_line(&rest);

    check(smp_root_rules_create(NULL, list.bytes, &rules) == SMP_OK);
    for (size_t rule = 0; rule < smp_root_rules_count(rules); rule++) {
        check(strlen(smp_root_rules_text(rules, rule)) > 0);
        (void)smp_root_rules_match_method(rules, rule, class_name, name, descriptor);
        check_class(rules, rule, class_name);
    }
    smp_root_rules_destroy(rules);
    return 0;
}
