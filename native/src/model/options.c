/* SPDX-License-Identifier: Apache-2.0 */
#include "model/options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/filter.h"

static const struct {
    struct smp_option option;
    size_t offset;
} TABLE[SMP_OPTION_COUNT] = {
#define X(field, option_name, unit, usual, least, most, is_fixed, words) \
    { .option = { .name = (option_name),                                 \
                  .type = SMP_OPTION_NUMBER,                             \
                  .standard = (usual),                                   \
                  .min = (least),                                        \
                  .max = (most),                                         \
                  .fixed = (is_fixed) },                                 \
      .offset = offsetof(struct smp_options, field) },
    SMP_OPTION_NUMBERS(X)
#undef X
#define X(field, option_name, usual, is_fixed, words) \
    { .option = { .name = (option_name),              \
                  .type = SMP_OPTION_FLAG,            \
                  .standard = (usual),                \
                  .max = 1,                           \
                  .fixed = (is_fixed),                \
                  .is_derived = (words) == NULL },    \
      .offset = offsetof(struct smp_options, field) },
        SMP_OPTION_FLAGS(X)
#undef X
#define X(field, option_name, enum_type, first, second, third, fourth, is_fixed, words) \
    { .option = { .name = (option_name),                                                \
                  .type = SMP_OPTION_CHOICE,                                            \
                  .max = 1 + ((third) != NULL) + ((fourth) != NULL),                    \
                  .choices = { (first), (second), (third), (fourth) },                  \
                  .fixed = (is_fixed) },                                                \
      .offset = offsetof(struct smp_options, field) },
            SMP_OPTION_CHOICES(X)
#undef X
#define X(field, option_name, unit, empty, is_fixed, words) \
    { .option = { .name = (option_name),                    \
                  .type = SMP_OPTION_TEXT,                  \
                  .fixed = (is_fixed),                      \
                  .is_derived = (words) == NULL },          \
      .offset = offsetof(struct smp_options, field) },
                SMP_OPTION_TEXTS(X)
#undef X
};

/* A choice is stored as its enum, which is written and read as an int. */
#define X(field, name, type, first, second, third, fourth, fixed, words) \
    _Static_assert(sizeof(enum type) == sizeof(int), name);
SMP_OPTION_CHOICES(X)
#undef X

const struct smp_option *smp_option_at(size_t index)
{
    return &TABLE[index].option;
}

__attribute__((format(printf, 2, 3))) static enum smp_status refuse_options(char *message,
                                                                            const char *format, ...)
{
    va_list arguments;

    if (message != NULL) {
        va_start(arguments, format);
        (void)vsnprintf(message, SMP_OPTIONS_MESSAGE_BYTES, format, arguments);
        va_end(arguments);
    }
    return SMP_EINVAL;
}

static enum smp_status check_integer(const struct smp_option *option, int64_t value, char *message)
{
    if (value >= option->min && value <= option->max)
        return SMP_OK;
    switch (option->type) {
    case SMP_OPTION_FLAG:
        return refuse_options(message, "%s must be true or false, got %" PRId64, option->name,
                              value);
    case SMP_OPTION_CHOICE:
        if (option->choices[3] != NULL)
            return refuse_options(message, "%s must be %s, %s, %s or %s, got %" PRId64,
                                  option->name, option->choices[0], option->choices[1],
                                  option->choices[2], option->choices[3], value);
        if (option->choices[2] != NULL)
            return refuse_options(message, "%s must be %s, %s or %s, got %" PRId64, option->name,
                                  option->choices[0], option->choices[1], option->choices[2],
                                  value);
        return refuse_options(message, "%s must be %s or %s, got %" PRId64, option->name,
                              option->choices[0], option->choices[1], value);
    default:
        return refuse_options(message,
                              "%s must be between %" PRId64 " and %" PRId64 ", got %" PRId64,
                              option->name, option->min, option->max, value);
    }
}

static void set_integer(struct smp_options *options, size_t index, int64_t value)
{
    char *const field = (char *)options + TABLE[index].offset;
    const bool flag = value != 0;
    const int choice = (int)value;

    switch (TABLE[index].option.type) {
    case SMP_OPTION_FLAG:
        memcpy(field, &flag, sizeof(flag));
        break;
    case SMP_OPTION_CHOICE:
        memcpy(field, &choice, sizeof(choice));
        break;
    default:
        memcpy(field, &value, sizeof(value));
        break;
    }
}

int64_t smp_options_integer(const struct smp_options *options, size_t index)
{
    const char *const field = (const char *)options + TABLE[index].offset;
    int64_t value = 0;
    bool flag = false;
    int choice = 0;

    switch (TABLE[index].option.type) {
    case SMP_OPTION_FLAG:
        memcpy(&flag, field, sizeof(flag));
        return flag;
    case SMP_OPTION_CHOICE:
        memcpy(&choice, field, sizeof(choice));
        return choice;
    default:
        memcpy(&value, field, sizeof(value));
        return value;
    }
}

static enum smp_status read_integers(const struct smp_option_values *values,
                                     struct smp_options *out, char *message)
{
    for (size_t i = 0; i < SMP_OPTION_INTEGER_COUNT; i++) {
        const enum smp_status status =
            check_integer(&TABLE[i].option, values->integers[i], message);

        if (status != SMP_OK)
            return status;
        set_integer(out, i, values->integers[i]);
    }
    if (out->clock == SMP_CLOCK_CPU && out->engine == SMP_ENGINE_JVMTI)
        return refuse_options(message, "clock CPU needs engine AUTO, got JVMTI");
    return SMP_OK;
}

/* Checks a list: it is valid if a filter can be made of it. */
static enum smp_status check_list(struct smp_quota *quota, const char *name, const char *list,
                                  const char *items, char *message)
{
    struct smp_filter *filter = NULL;
    enum smp_status status = smp_filter_create(quota, list, &filter);

    if (status == SMP_EINVAL)
        status = refuse_options(message, "%s must be at most %d %s of at most %d bytes each", name,
                                SMP_MAX_PREFIXES, items, SMP_MAX_PREFIX_BYTES);
    smp_filter_destroy(filter);
    return status;
}

static enum smp_status check_lists(const struct smp_options *read, char *message)
{
    enum smp_status status =
        check_list(read->quota, "monitoredPackages", read->monitored_packages, "prefixes", message);

    if (status == SMP_OK)
        status = check_list(read->quota, "ioMethods", read->io_methods, "methods", message);
    if (status == SMP_OK)
        status = check_list(read->quota, "idleMethods", read->idle_methods, "methods", message);
    if (status == SMP_OK)
        status = check_list(read->quota, "mainPackages", read->main_packages, "prefixes", message);
    return status;
}

static enum smp_status check_lengths(const struct smp_option_values *values, char *message)
{
    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++) {
        const size_t length = strlen(values->texts[i]);
        if (length > SMP_OPTION_TEXT_MAX_BYTES)
            return refuse_options(message, "%s must be at most %d bytes, got %zu",
                                  TABLE[SMP_OPTION_INTEGER_COUNT + i].option.name,
                                  SMP_OPTION_TEXT_MAX_BYTES, length);
    }
    return SMP_OK;
}

static char **option_text_at(struct smp_options *options, size_t index)
{
    return (char **)(void *)((char *)options + TABLE[SMP_OPTION_INTEGER_COUNT + index].offset);
}

/* Copies all texts or none. */
static enum smp_status copy_option_texts(struct smp_options *options, const char *const *texts)
{
    enum smp_status status = SMP_OK;

    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++) {
        *option_text_at(options, i) = smp_strndup(options->quota, texts[i], strlen(texts[i]));
        if (*option_text_at(options, i) == NULL)
            status = SMP_ENOMEM;
    }
    if (status != SMP_OK)
        smp_options_fini(options);
    return status;
}

/* Checks choices that depend on each other and on the texts. */
static enum smp_status check_timing(const struct smp_options *read, char *message)
{
    if (read->clock == SMP_CLOCK_CPU && read->method_timing == SMP_METHOD_TIMING_EXACT &&
        smp_options_count_calls(read))
        return refuse_options(message, "clock CPU needs methodTiming SAMPLED or NONE, got EXACT: "
                                       "to read a thread's CPU clock at each call takes longer "
                                       "than most calls");
    return SMP_OK;
}

enum smp_status smp_options_read(struct smp_quota *quota, const struct smp_option_values *values,
                                 struct smp_options *out, char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    struct smp_options read = { .quota = quota };
    enum smp_status status = SMP_OK;

    if (message != NULL)
        message[0] = '\0';
    if (values->integer_count != SMP_OPTION_INTEGER_COUNT ||
        values->text_count != SMP_OPTION_TEXT_COUNT)
        return refuse_options(message, "options must be %d integers and %d texts, got %zu and %zu",
                              SMP_OPTION_INTEGER_COUNT, SMP_OPTION_TEXT_COUNT,
                              values->integer_count, values->text_count);
    status = read_integers(values, &read, message);
    if (status == SMP_OK)
        status = check_lengths(values, message);
    if (status == SMP_OK)
        status = copy_option_texts(&read, values->texts);
    if (status == SMP_OK) {
        status = check_lists(&read, message);
        if (status != SMP_OK)
            smp_options_fini(&read);
    }
    if (status == SMP_OK) {
        status = check_timing(&read, message);
        if (status == SMP_OK)
            *out = read;
        else
            smp_options_fini(&read);
    }
    return status;
}

enum smp_status smp_options_copy(struct smp_quota *quota, const struct smp_options *options,
                                 struct smp_options *out)
{
    const char *texts[SMP_OPTION_TEXT_COUNT];
    struct smp_options copy = *options;
    enum smp_status status;

    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++)
        texts[i] = smp_options_text(options, i);
    copy.quota = quota;
    status = copy_option_texts(&copy, texts);
    if (status == SMP_OK)
        *out = copy;
    return status;
}

void smp_options_fini(struct smp_options *options)
{
    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++)
        smp_free(options->quota, *option_text_at(options, i));
    smp_options_forget_texts(options);
}

void smp_options_forget_texts(struct smp_options *options)
{
    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++)
        *option_text_at(options, i) = NULL;
}

const char *smp_options_text(const struct smp_options *options, size_t index)
{
    return *(char *const *)(const void *)((const char *)options +
                                          TABLE[SMP_OPTION_INTEGER_COUNT + index].offset);
}

const char *smp_options_fixed_difference(const struct smp_options *running,
                                         const struct smp_options *wanted)
{
    for (size_t i = 0; i < SMP_OPTION_INTEGER_COUNT; i++) {
        if (TABLE[i].option.fixed &&
            smp_options_integer(running, i) != smp_options_integer(wanted, i))
            return TABLE[i].option.name;
    }
    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++) {
        const struct smp_option *const option = &TABLE[SMP_OPTION_INTEGER_COUNT + i].option;
        if (option->fixed && strcmp(smp_options_text(running, i), smp_options_text(wanted, i)) != 0)
            return option->name;
    }
    return NULL;
}
