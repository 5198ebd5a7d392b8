/* SPDX-License-Identifier: Apache-2.0 */
#include "model/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "model/filter.h"

enum {
    QUOTED_BYTES = 64 /* of a value in a message, which must hold a name and a range too */
};

struct number_option {
    const char *name;
    size_t offset;
    int64_t standard;
    int64_t min;
    int64_t max;
};

struct flag_option {
    const char *name;
    size_t offset;
    bool standard;
};

static const struct number_option NUMBERS[] = {
#define X(field, text, usual, least, most, fixed)    \
    { .name = (text),                                \
      .offset = offsetof(struct smp_options, field), \
      .standard = (usual),                           \
      .min = (least),                                \
      .max = (most) },
    SMP_OPTION_NUMBERS(X)
#undef X
};

static const struct flag_option FLAGS[] = {
#define X(field, text, usual, fixed) \
    { .name = (text), .offset = offsetof(struct smp_options, field), .standard = (usual) },
    SMP_OPTION_FLAGS(X)
#undef X
};

enum {
    NUMBER_COUNT = sizeof(NUMBERS) / sizeof(NUMBERS[0]),
    FLAG_COUNT = sizeof(FLAGS) / sizeof(FLAGS[0]),
    REPORT_ORDER = NUMBER_COUNT + FLAG_COUNT,
    ENGINE,
    CLOCK,
    MONITORED_PACKAGES,
    OPTION_COUNT
};

#define REPORT_ORDER_NAME "reportOrder"
#define ENGINE_NAME "engine"
#define CLOCK_NAME "clock"
#define MONITORED_PACKAGES_NAME "monitoredPackages"

struct text {
    const char *bytes;
    size_t length;
};

struct parse {
    struct smp_options options;
    struct text packages; /* copied when all the rest is known to be right */
    bool given[OPTION_COUNT];
    char *message; /* may be NULL */
};

static bool equals(struct text text, const char *other)
{
    return text.length == strlen(other) && memcmp(text.bytes, other, text.length) == 0;
}

/* What the user wrote, on one line and not too long to be read. */
static const char *quote(struct text text, char out[QUOTED_BYTES])
{
    static const char ellipsis[] = "...";
    const bool is_cut = text.length >= QUOTED_BYTES;
    const size_t length =
        is_cut ? smp_utf8_prefix(text.bytes, text.length, QUOTED_BYTES - sizeof(ellipsis))
               : text.length;

    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text.bytes[i];

        out[i] = byte < ' ' || byte == 0x7f ? '?' : (char)byte;
    }
    memcpy(out + length, is_cut ? ellipsis : "", is_cut ? sizeof(ellipsis) : 1);
    return out;
}

__attribute__((format(printf, 2, 3))) static enum smp_status refuse(struct parse *parse,
                                                                    const char *format, ...)
{
    va_list arguments;

    if (parse->message != NULL) {
        va_start(arguments, format);
        (void)vsnprintf(parse->message, SMP_OPTIONS_MESSAGE_BYTES, format, arguments);
        va_end(arguments);
    }
    return SMP_EINVAL;
}

/* A decimal number in the range of int64_t and nothing else. */
static bool read_number(struct text text, int64_t *out)
{
    const bool is_negative = text.length > 0 && text.bytes[0] == '-';
    size_t i = is_negative ? 1 : 0;
    int64_t value = 0;

    if (i == text.length)
        return false;
    for (; i < text.length; i++) {
        const char digit = text.bytes[i];

        if (digit < '0' || digit > '9')
            return false;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit - '0', &value))
            return false;
    }
    /* Gathered below zero, where there is room for one more than above. */
    if (!is_negative && value == INT64_MIN)
        return false;
    *out = is_negative ? value : -value;
    return true;
}

static enum smp_status set_number(struct parse *parse, const struct number_option *option,
                                  struct text value)
{
    char quoted[QUOTED_BYTES];
    int64_t number = 0;

    if (!read_number(value, &number) || number < option->min || number > option->max)
        return refuse(parse, "%s must be between %lld and %lld, got %s", option->name,
                      (long long)option->min, (long long)option->max, quote(value, quoted));
    memcpy((char *)&parse->options + option->offset, &number, sizeof(number));
    return SMP_OK;
}

static enum smp_status set_flag(struct parse *parse, const struct flag_option *option,
                                struct text value)
{
    char quoted[QUOTED_BYTES];
    const bool is_true = equals(value, "true");

    if (!is_true && !equals(value, "false"))
        return refuse(parse, "%s must be true or false, got %s", option->name,
                      quote(value, quoted));
    memcpy((char *)&parse->options + option->offset, &is_true, sizeof(is_true));
    return SMP_OK;
}

static enum smp_status set_report_order(struct parse *parse, struct text value)
{
    char quoted[QUOTED_BYTES];

    if (equals(value, "BY_NAME"))
        parse->options.report_order = SMP_ORDER_BY_NAME;
    else if (equals(value, "BY_TIME"))
        parse->options.report_order = SMP_ORDER_BY_TIME;
    else
        return refuse(parse, REPORT_ORDER_NAME " must be BY_NAME or BY_TIME, got %s",
                      quote(value, quoted));
    return SMP_OK;
}

static enum smp_status set_engine(struct parse *parse, struct text value)
{
    char quoted[QUOTED_BYTES];

    if (equals(value, "AUTO"))
        parse->options.engine = SMP_ENGINE_AUTO;
    else if (equals(value, "JVMTI"))
        parse->options.engine = SMP_ENGINE_JVMTI;
    else
        return refuse(parse, ENGINE_NAME " must be AUTO or JVMTI, got %s", quote(value, quoted));
    return SMP_OK;
}

static enum smp_status set_clock(struct parse *parse, struct text value)
{
    char quoted[QUOTED_BYTES];

    if (equals(value, "WALL"))
        parse->options.clock = SMP_CLOCK_WALL;
    else if (equals(value, "CPU"))
        parse->options.clock = SMP_CLOCK_CPU;
    else
        return refuse(parse, CLOCK_NAME " must be WALL or CPU, got %s", quote(value, quoted));
    return SMP_OK;
}

/* The place of a name in parse->given; OPTION_COUNT when there is no such option. */
static size_t find_option(struct text name)
{
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        if (equals(name, NUMBERS[i].name))
            return i;
    }
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if (equals(name, FLAGS[i].name))
            return NUMBER_COUNT + i;
    }
    if (equals(name, REPORT_ORDER_NAME))
        return REPORT_ORDER;
    if (equals(name, ENGINE_NAME))
        return ENGINE;
    if (equals(name, CLOCK_NAME))
        return CLOCK;
    return equals(name, MONITORED_PACKAGES_NAME) ? MONITORED_PACKAGES : OPTION_COUNT;
}

static enum smp_status set_option(struct parse *parse, struct text name, struct text value)
{
    char quoted[QUOTED_BYTES];
    const size_t option = find_option(name);

    if (option == OPTION_COUNT)
        return refuse(parse, "unknown option '%s'", quote(name, quoted));
    if (parse->given[option])
        return refuse(parse, "option '%s' is given twice", quote(name, quoted));
    parse->given[option] = true;
    if (option < NUMBER_COUNT)
        return set_number(parse, &NUMBERS[option], value);
    if (option < REPORT_ORDER)
        return set_flag(parse, &FLAGS[option - NUMBER_COUNT], value);
    if (option == REPORT_ORDER)
        return set_report_order(parse, value);
    if (option == ENGINE)
        return set_engine(parse, value);
    if (option == CLOCK)
        return set_clock(parse, value);
    parse->packages = value;
    return SMP_OK;
}

static enum smp_status parse_line(struct parse *parse, struct text line)
{
    char quoted[QUOTED_BYTES];
    const char *equal_sign = memchr(line.bytes, '=', line.length);

    if (equal_sign == NULL)
        return refuse(parse, "option without '=': '%s'", quote(line, quoted));

    const size_t name_length = (size_t)(equal_sign - line.bytes);

    return set_option(parse, (struct text){ line.bytes, name_length },
                      (struct text){ equal_sign + 1, line.length - name_length - 1 });
}

static enum smp_status parse_lines(struct parse *parse, const char *text, size_t length)
{
    enum smp_status status = SMP_OK;
    size_t start = 0;

    if (length > SMP_OPTIONS_MAX_BYTES)
        return refuse(parse, "options must be at most %d bytes, got %zu", SMP_OPTIONS_MAX_BYTES,
                      length);
    if (length > 0 && memchr(text, '\0', length) != NULL)
        return refuse(parse, "options must not contain a NUL character");
    while (status == SMP_OK && start < length) {
        const char *newline = memchr(text + start, '\n', length - start);
        const size_t end = newline == NULL ? length : (size_t)(newline - text);

        if (end > start)
            status = parse_line(parse, (struct text){ text + start, end - start });
        start = end + 1;
    }
    return status;
}

/* Copies the list of prefixes once the filter has said that it can be read. */
static enum smp_status take_packages(struct parse *parse, struct smp_quota *quota)
{
    struct smp_filter *filter = NULL;
    enum smp_status status = SMP_ENOMEM;
    char *list = smp_strndup(quota, parse->packages.bytes, parse->packages.length);

    if (list == NULL)
        goto done;
    status = smp_filter_create(quota, list, &filter);
    if (status == SMP_EINVAL)
        status = refuse(
            parse, MONITORED_PACKAGES_NAME " must be at most %d prefixes of at most %d bytes each",
            SMP_MAX_PREFIXES, SMP_MAX_PREFIX_BYTES);
    if (status != SMP_OK)
        goto done;
    parse->options.monitored_packages = list;
    list = NULL;
done:
    smp_filter_destroy(filter);
    smp_free(quota, list);
    return status;
}

enum smp_status smp_options_parse(struct smp_quota *quota, const char *text, size_t length,
                                  struct smp_options *out, char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    enum smp_status status = SMP_OK;
    struct parse parse = { .packages = { "", 0 }, .message = message };

    if (message != NULL)
        message[0] = '\0';
    parse.options.quota = quota;
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        memcpy((char *)&parse.options + NUMBERS[i].offset, &NUMBERS[i].standard, sizeof(int64_t));
    for (size_t i = 0; i < FLAG_COUNT; i++)
        memcpy((char *)&parse.options + FLAGS[i].offset, &FLAGS[i].standard, sizeof(bool));
    status = parse_lines(&parse, text, length);
    if (status == SMP_OK && parse.options.clock == SMP_CLOCK_CPU &&
        parse.options.engine == SMP_ENGINE_JVMTI)
        status = refuse(&parse, CLOCK_NAME " CPU needs " ENGINE_NAME " AUTO, got JVMTI");
    if (status == SMP_OK)
        status = take_packages(&parse, quota);
    if (status == SMP_OK)
        *out = parse.options;
    return status;
}

void smp_options_fini(struct smp_options *options)
{
    smp_free(options->quota, options->monitored_packages);
    options->monitored_packages = NULL;
}

const char *smp_options_fixed_difference(const struct smp_options *running,
                                         const struct smp_options *wanted)
{
#define X(field, name, standard, min, max, fixed)   \
    if ((fixed) && running->field != wanted->field) \
        return name;
    SMP_OPTION_NUMBERS(X)
#undef X
#define X(field, name, standard, fixed)             \
    if ((fixed) && running->field != wanted->field) \
        return name;
    SMP_OPTION_FLAGS(X)
#undef X
    if (running->engine != wanted->engine)
        return ENGINE_NAME;
    return running->clock != wanted->clock ? CLOCK_NAME : NULL;
}
