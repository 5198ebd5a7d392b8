/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - prints the tables that documents and the page take from lists in C; see tables.sh.
 *
 *   tables glossary   a markdown table: lines of the sampler's account
 *   tables counting   a markdown table: the account's lines about call counting
 *   tables measures   a markdown table: the measures that are summed along the trees
 *   tables page       outcomes.js
 *   tables options    rows of a markdown table: properties that the core knows
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "export/account_record.h"
#include "model/counting_account.h"
#include "model/measure.h"
#include "model/options.h"
#include "model/outcome.h"

struct line {
    const char *code; /* NULL: the line is in no map */
    const char *kind; /* of an outcome */
    const char *text;
    const char *shown; /* when a short account shows it */
    const char *words;
    const char *frame; /* the frame with the time of an outcome; NULL: a stack has it */
};

/* Indexed by level. */
#define X(level, per_mille, level_words) static const char SHOWN_##level[] = level_words;
SMP_SHOWN_MAP(X)
#undef X

static const struct line ACCOUNT[] = {
#define X(name, level, line_text, line_words) \
    { .text = (line_text), .shown = SHOWN_##level, .words = (line_words) },
    SMP_ACCOUNT_LINE_MAP(X)
#undef X
};

static const struct line OUTCOMES[] = {
#define X(name, outcome_kind, level, line_text, line_frame, line_words) \
    { .code = #name,                                                    \
      .kind = #outcome_kind,                                            \
      .text = (line_text),                                              \
      .shown = SHOWN_##level,                                           \
      .words = (line_words),                                            \
      .frame = (line_frame) },
    SMP_OUTCOME_MAP(X)
#undef X
};

static const struct line COUNTERS[] = {
#define X(name, level, line_text, line_words) \
    { .code = #name, .text = (line_text), .shown = SHOWN_##level, .words = (line_words) },
    SMP_COUNTER_MAP(X)
#undef X
};

static const struct line COUNTING[] = {
#define X(name, merges, level, line_text, line_words) \
    { .code = #name, .text = (line_text), .shown = SHOWN_##level, .words = (line_words) },
    SMP_COUNTING_MAP(X)
#undef X
};

enum {
    ACCOUNT_COUNT = sizeof(ACCOUNT) / sizeof(ACCOUNT[0]),
    FIRST_ACCOUNT_LINES = 3, /* as in account_record.h */
    OUTCOME_COUNT = sizeof(OUTCOMES) / sizeof(OUTCOMES[0]),
    COUNTER_COUNT = sizeof(COUNTERS) / sizeof(COUNTERS[0]),
    COUNTING_COUNT = sizeof(COUNTING) / sizeof(COUNTING[0])
};

/* Valid until the next call. */
static const char *means(const struct line *line)
{
    static char text[1024];

    if (line->frame == NULL)
        return line->words;
    (void)snprintf(text, sizeof(text), "%s Frame: `%s`.", line->words, line->frame);
    return text;
}

static void print_rows(const struct line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (lines[i].code != NULL)
            printf("| `%s` | `%s` |", lines[i].text, lines[i].code);
        else
            printf("| `%s` | |", lines[i].text);
        printf(" %s%s| %s |\n", lines[i].shown, lines[i].shown[0] == '\0' ? "" : " ",
               means(&lines[i]));
    }
}

static void print_glossary(void)
{
    printf("| line | code | SHORT | means |\n|---|---|---|---|\n");
    print_rows(ACCOUNT, FIRST_ACCOUNT_LINES);
    print_rows(OUTCOMES, OUTCOME_COUNT);
    print_rows(COUNTERS, COUNTER_COUNT);
    print_rows(ACCOUNT + FIRST_ACCOUNT_LINES, ACCOUNT_COUNT - FIRST_ACCOUNT_LINES);
}

static void print_counting(void)
{
    printf("| line | code | SHORT | means |\n|---|---|---|---|\n");
    print_rows(COUNTING, COUNTING_COUNT);
}

static void print_measures(void)
{
    static const char *const units[] = {
#define X(code, name, speedscope, printed_as, suffix) name,
        SMP_UNIT_MAP(X)
#undef X
    };

    printf("| name | `ReportMeasure` | unit |\n|---|---|---|\n");
#define X(code, name, unit, adding, title, column) \
    printf("| `%s` | `%s` | %s |\n", name, #code, units[SMP_UNIT_##unit]);
    SMP_MEASURE_MAP(X)
#undef X
}

/* Prints a JavaScript string, without the backticks of markdown. */
static void print_string(const char *text)
{
    putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        if (*text != '`')
            putchar(*text);
    }
    putchar('\'');
}

static void print_object(const char *name, const struct line *lines, size_t count)
{
    printf("\nconst %s = {\n", name);
    for (size_t i = 0; i < count; i++) {
        printf("    %s: {\n", lines[i].code);
        if (lines[i].kind != NULL) {
            printf("        kind: '");
            for (const char *c = lines[i].kind; *c != '\0'; c++)
                putchar(*c - 'A' + 'a');
            printf("',\n");
        }
        printf("        text: ");
        print_string(lines[i].text);
        printf(",\n        words: ");
        print_string(means(&lines[i]));
        printf(",\n    },\n");
    }
    printf("};\n");
}

static void print_page(void)
{
    printf("// SPDX-License-Identifier: Apache-2.0\n"
           "// Made by \"native/build.sh tables\" from lists in native/src/model: do not edit.\n");
    print_object("OUTCOMES", OUTCOMES, OUTCOME_COUNT);
    print_object("COUNTERS", COUNTERS, COUNTER_COUNT);
    print_object("COUNTING", COUNTING, COUNTING_COUNT);
}

struct option {
    const char *name;
    const char *unit;
    int64_t standard;
    int64_t min;
    int64_t max;
    bool fixed;
    const char *words;
};

static const struct option NUMBERS[] = {
#define X(field, name, unit, standard, min, max, fixed, words) \
    { (name), (unit), (standard), (min), (max), (fixed), (words) },
    SMP_OPTION_NUMBERS(X)
#undef X
};

static const char *end_of(bool fixed)
{
    return fixed ? " Fixed." : "";
}

static void print_percent_row(const struct option *option, size_t name_length)
{
    printf("| `%.*sPercent` | %% %s, %.1f..%" PRId64 " | %.1f | %s%s |\n", (int)name_length,
           option->name, option->unit, (double)option->min / 10, option->max / 10,
           (double)option->standard / 10, option->words, end_of(option->fixed));
}

static void print_number_rows(void)
{
    static const char per_mille[] = "PerMille";

    for (size_t i = 0; i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++) {
        const struct option *const option = &NUMBERS[i];
        const char *const scale = strstr(option->name, per_mille);

        if (scale != NULL)
            print_percent_row(option, (size_t)(scale - option->name));
        else
            printf("| `%s` | %s%s%" PRId64 "..%" PRId64 " | %" PRId64 " | %s%s |\n", option->name,
                   option->unit, option->unit[0] == '\0' ? "" : ", ", option->min, option->max,
                   option->standard, option->words, end_of(option->fixed));
    }
}

static void print_other_row(const char *name, const char *range, const char *standard, bool fixed,
                            const char *words)
{
    if (words != NULL)
        printf("| `%s` | %s%s| %s | %s%s |\n", name, range, range[0] == '\0' ? "" : " ", standard,
               words, end_of(fixed));
}

static void print_choice_row(const char *name, const char *const *choices, bool fixed,
                             const char *words)
{
    char range[64];

    (void)snprintf(range, sizeof(range), "%s", choices[0]);
    for (size_t i = 1; i < SMP_OPTION_MAX_CHOICES && choices[i] != NULL; i++) {
        const size_t length = strlen(range);
        (void)snprintf(range + length, sizeof(range) - length, ", %s", choices[i]);
    }
    print_other_row(name, range, choices[0], fixed, words);
}

static void print_options(void)
{
    print_number_rows();
#define X(field, name, standard, fixed, words) \
    print_other_row(name, "", (standard) ? "true" : "false", fixed, words);
    SMP_OPTION_FLAGS(X)
#undef X
#define X(field, name, type, first, second, third, fourth, fixed, words) \
    print_choice_row(name, (const char *const[]){ first, second, third, fourth }, fixed, words);
    SMP_OPTION_CHOICES(X)
#undef X
#define X(field, name, unit, empty, fixed, words) \
    print_other_row(name, unit, "`\"\"` = " empty, fixed, words);
    SMP_OPTION_TEXTS(X)
#undef X
}

int main(int count, char **arguments)
{
    const char *what = count == 2 ? arguments[1] : "";

    if (strcmp(what, "glossary") == 0)
        print_glossary();
    else if (strcmp(what, "counting") == 0)
        print_counting();
    else if (strcmp(what, "measures") == 0)
        print_measures();
    else if (strcmp(what, "page") == 0)
        print_page();
    else if (strcmp(what, "options") == 0)
        print_options();
    else
        return 2;
    return 0;
}
