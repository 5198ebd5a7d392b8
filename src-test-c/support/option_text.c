/* SPDX-License-Identifier: Apache-2.0 */
#include "support/option_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct generated_values {
    int64_t integers[SMP_OPTION_INTEGER_COUNT];
    char *texts[SMP_OPTION_TEXT_COUNT];
};

static void give_up(const char *what, const char *line)
{
    (void)fprintf(stderr, "option_text: %s: %s\n", what, line);
    abort();
}

static int64_t integer_of(const struct smp_option *option, const char *value, const char *line)
{
    char *end = NULL;

    if (option->type == SMP_OPTION_FLAG && strcmp(value, "true") == 0)
        return 1;
    if (option->type == SMP_OPTION_FLAG && strcmp(value, "false") == 0)
        return 0;
    for (int64_t i = 0; option->type == SMP_OPTION_CHOICE && i <= option->max; i++) {
        if (strcmp(value, option->choices[i]) == 0)
            return i;
    }
    const int64_t number = strtoll(value, &end, 10);
    if (end == value || *end != '\0')
        give_up("no number", line);
    return number;
}

static void set(struct generated_values *made, const char *line)
{
    const char *const equal_sign = strchr(line, '=');
    const size_t length = equal_sign == NULL ? 0 : (size_t)(equal_sign - line);

    for (size_t i = 0; length > 0 && i < SMP_OPTION_COUNT; i++) {
        const struct smp_option *const option = smp_option_at(i);

        if (strlen(option->name) != length || strncmp(option->name, line, length) != 0)
            continue;
        if (option->type == SMP_OPTION_TEXT) {
            free(made->texts[i - SMP_OPTION_INTEGER_COUNT]);
            made->texts[i - SMP_OPTION_INTEGER_COUNT] = strdup(equal_sign + 1);
        } else {
            made->integers[i] = integer_of(option, equal_sign + 1, line);
        }
        return;
    }
    give_up("no option", line);
}

enum smp_status option_text_try(struct smp_quota *quota, const char *text, struct smp_options *out,
                                char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    struct generated_values made = { 0 };
    char *const lines = strdup(text);
    char *rest = NULL;

    for (size_t i = 0; i < SMP_OPTION_INTEGER_COUNT; i++)
        made.integers[i] = smp_option_at(i)->standard;
    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++)
        made.texts[i] = strdup("");
    for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        set(&made, line);
    const struct smp_option_values values = {
        .integers = made.integers,
        .integer_count = SMP_OPTION_INTEGER_COUNT,
        .texts = (const char *const *)made.texts,
        .text_count = SMP_OPTION_TEXT_COUNT,
    };
    const enum smp_status status = smp_options_read(quota, &values, out, message);
    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++)
        free(made.texts[i]);
    free(lines);
    return status;
}

void option_text_read(struct smp_quota *quota, const char *text, struct smp_options *out)
{
    char message[SMP_OPTIONS_MESSAGE_BYTES] = "";

    if (option_text_try(quota, text, out, message) != SMP_OK)
        give_up(message, text);
}
