/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/agent/agent_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

struct part {
    char *text; /* without escapes; NUL-terminated */
    size_t length;
};

/* AgentCommand.java uses String.strip(); these are the blanks that options can contain. */
static bool is_option_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char *strip(char *text)
{
    size_t length = strlen(text);

    while (length > 0 && is_option_blank(text[length - 1]))
        text[--length] = '\0';
    while (is_option_blank(text[0]))
        text++;
    return text;
}

/* Copies the first part of options. Returns the start of the next part, or NULL. */
static const char *copy_option(const char *options, struct part *part)
{
    const char *c = options;

    for (part->length = 0; *c != '\0' && *c != ','; c++) {
        if (*c == '\\' && (c[1] == ',' || c[1] == '\\'))
            c++;
        part->text[part->length++] = *c;
    }
    part->text[part->length] = '\0';
    return *c == ',' ? c + 1 : NULL;
}

/* Returns NULL if the part has another key or no key. */
static char *value_of(struct part *part, const char *key)
{
    const size_t at = strcspn(part->text, "=:");

    if (at == part->length)
        return NULL;
    part->text[at] = '\0';
    return strcmp(strip(part->text), key) == 0 ? strip(part->text + at + 1) : NULL;
}

enum smp_status smp_agent_option(const char *options, const char *key, char **out)
{
    struct part part = { .text = smp_alloc(NULL, strlen(options) + 1) };
    char *value = NULL;
    enum smp_status status = SMP_OK;

    *out = NULL;
    if (part.text == NULL)
        return SMP_ENOMEM;
    for (const char *rest = options; rest != NULL && value == NULL;) {
        rest = copy_option(rest, &part);
        value = value_of(&part, key);
    }
    if (value != NULL) {
        *out = smp_strndup(NULL, value, strlen(value));
        status = *out != NULL ? SMP_OK : SMP_ENOMEM;
    }
    smp_free(NULL, part.text);
    return status;
}
