/* SPDX-License-Identifier: Apache-2.0 */
#include "model/filter.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

struct prefix {
    const char *text; /* not terminated */
    size_t length;
    bool is_open; /* taken as written: any text may follow */
};

struct smp_filter {
    struct smp_quota *quota;
    char *list; /* the prefixes point into it */
    struct prefix *prefixes;
    size_t count;
    bool is_guessed;
};

static bool is_blank(char byte)
{
    return (unsigned char)byte <= ' ';
}

static struct prefix read_prefix(const char *text, size_t length)
{
    struct prefix prefix = { .text = text, .length = length };

    while (prefix.length > 0 && prefix.text[prefix.length - 1] == '*') {
        prefix.length--;
        prefix.is_open = true;
    }
    if (prefix.length > 0 && prefix.text[prefix.length - 1] == '.')
        prefix.is_open = true;
    return prefix;
}

/* Finds and trims the next non-empty part at or after *cursor; false at the end of the list. */
static bool next_part(const char **cursor, const char **part, size_t *length)
{
    while (**cursor != '\0') {
        const char *start = *cursor;
        const char *end = start + strcspn(start, ",");

        *cursor = *end == ',' ? end + 1 : end;
        while (start < end && is_blank(*start))
            start++;
        while (end > start && is_blank(end[-1]))
            end--;
        if (start < end) {
            *part = start;
            *length = (size_t)(end - start);
            return true;
        }
    }
    return false;
}

static enum smp_status count_parts(const char *list, size_t *count)
{
    const char *part = NULL;
    size_t length = 0;

    *count = 0;
    while (next_part(&list, &part, &length)) {
        if (*count == SMP_MAX_PREFIXES || length > SMP_MAX_PREFIX_BYTES)
            return SMP_EINVAL;
        ++*count;
    }
    return SMP_OK;
}

static enum smp_status copy_parts(struct smp_filter *filter, const char *list, size_t count)
{
    const char *cursor = NULL;
    const char *part = NULL;
    size_t length = 0;

    if (count == 0)
        return SMP_OK;
    filter->list = smp_strndup(filter->quota, list, strlen(list));
    if (filter->list == NULL)
        return SMP_ENOMEM;
    filter->prefixes = smp_alloc(filter->quota, count * sizeof(*filter->prefixes));
    if (filter->prefixes == NULL)
        return SMP_ENOMEM;
    cursor = filter->list;
    while (next_part(&cursor, &part, &length))
        filter->prefixes[filter->count++] = read_prefix(part, length);
    return SMP_OK;
}

enum smp_status smp_filter_create(struct smp_quota *quota, const char *list,
                                  struct smp_filter **out)
{
    size_t count = 0;
    struct smp_filter *filter = NULL;
    enum smp_status status = count_parts(list, &count);

    if (status != SMP_OK)
        return status;
    filter = smp_alloc(quota, sizeof(*filter));
    if (filter == NULL)
        return SMP_ENOMEM;
    filter->quota = quota;
    status = copy_parts(filter, list, count);
    if (status == SMP_OK)
        *out = filter;
    else
        smp_filter_destroy(filter);
    return status;
}

static bool is_auto(const char *list)
{
    const char *part = NULL;
    size_t length = 0;

    return next_part(&list, &part, &length) && length == strlen(SMP_FILTER_AUTO) &&
           memcmp(part, SMP_FILTER_AUTO, length) == 0 && !next_part(&list, &part, &length);
}

enum smp_status smp_filter_create_monitored(struct smp_quota *quota, const char *list,
                                            struct smp_filter **out)
{
    const bool is_guessed = is_auto(list);
    const enum smp_status status = smp_filter_create(quota, is_guessed ? "" : list, out);

    if (status == SMP_OK)
        (*out)->is_guessed = is_guessed;
    return status;
}

void smp_filter_destroy(struct smp_filter *filter)
{
    if (filter == NULL)
        return;
    smp_free(filter->quota, filter->prefixes);
    smp_free(filter->quota, filter->list);
    smp_free(filter->quota, filter);
}

bool smp_filter_is_guessed(const struct smp_filter *filter)
{
    return filter->is_guessed;
}

bool smp_filter_is_open(const struct smp_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->prefixes[i].length == 0)
            return true;
    }
    return filter->count == 0;
}

void smp_filter_describe(const struct smp_filter *filter, char *out, size_t size)
{
    const size_t room = size - SMP_FILTER_MORE_BYTES;
    size_t length = 0;
    size_t shown = 0;

    (void)snprintf(out, size, "%s", filter->is_guessed ? SMP_FILTER_AUTO : "");
    if (smp_filter_is_open(filter))
        return;
    for (; shown < filter->count; shown++) {
        const struct prefix *const prefix = &filter->prefixes[shown];
        const size_t separator = shown > 0 ? 2 : 0;
        if (shown > 0 && length + separator + prefix->length >= room)
            break;
        memcpy(out + length, ", ", separator);
        length += separator;
        length += smp_utf8_from_modified(out + length, room - length, prefix->text, prefix->length);
    }
    if (shown < filter->count)
        (void)snprintf(out + length, size - length, ", \xe2\x80\xa6 %zu more",
                       filter->count - shown);
}

static bool matches(const struct prefix *prefix, const char *class_name)
{
    if (strncmp(class_name, prefix->text, prefix->length) != 0)
        return false;

    const char next = class_name[prefix->length];

    return prefix->is_open || next == '\0' || next == '.' || next == '$';
}

bool smp_filter_monitors(const struct smp_filter *filter, const char *class_name)
{
    if (filter->count == 0)
        return true;
    for (size_t i = 0; i < filter->count; i++) {
        if (matches(&filter->prefixes[i], class_name))
            return true;
    }
    return false;
}
