/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/root_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define ALLOWED                                                                           \
    "methods separated by commas, as com.acme.OrderHandler.handle, com.acme.jobs.*.run, " \
    "com.acme.batch.**, com.acme.Order.<init> or com.acme.Order.add(int, String)"

enum { SHOWN_VALUE_BYTES = 160 };

struct root_rule {
    const char *text; /* terminated */
    struct smp_slice class_pattern;
    struct smp_slice method_pattern;
    struct smp_slice parameters; /* what stands between the parentheses */
    bool has_parameters;
    struct smp_slice as_class; /* all of it, if it may as well be the name of a class; else empty */
};

struct smp_root_rules {
    struct smp_quota *quota;
    char *list; /* the rules point into it */
    struct root_rule *rules;
    size_t count;
};

static const struct {
    const char *name;
    char code;
} PRIMITIVES[] = { { "boolean", 'Z' }, { "byte", 'B' }, { "char", 'C' },  { "short", 'S' },
                   { "int", 'I' },     { "long", 'J' }, { "float", 'F' }, { "double", 'D' } };

enum { PRIMITIVE_COUNT = sizeof(PRIMITIVES) / sizeof(PRIMITIVES[0]) };

static bool is_slice(struct smp_slice slice, const char *text)
{
    return slice.length == strlen(text) && memcmp(slice.bytes, text, slice.length) == 0;
}

static struct smp_slice trim(struct smp_slice slice)
{
    while (slice.length > 0 && (unsigned char)slice.bytes[0] <= ' ') {
        slice.bytes++;
        slice.length--;
    }
    while (slice.length > 0 && (unsigned char)slice.bytes[slice.length - 1] <= ' ')
        slice.length--;
    return slice;
}

/* --- reading --- */

/* The next rule at or after *cursor, trimmed and not empty; false at the end of the list. Commas
 * between parentheses do not separate rules. */
static bool next_rule(const char **cursor, struct smp_slice *rule)
{
    while (**cursor != '\0') {
        const char *const start = *cursor;
        const char *end = start;
        bool in_parameters = false;

        for (; *end != '\0' && (in_parameters || *end != ','); end++) {
            if (*end == '(' || *end == ')')
                in_parameters = *end == '(';
        }
        *cursor = *end == ',' ? end + 1 : end;
        *rule = trim((struct smp_slice){ start, (size_t)(end - start) });
        if (rule->length > 0)
            return true;
    }
    return false;
}

/* The first part of a text; *rest is what follows its separator. False where there is none. */
static bool cut_part(struct smp_slice *rest, char separator, struct smp_slice *part)
{
    const char *end = NULL;

    if (rest->bytes == NULL)
        return false;
    end = memchr(rest->bytes, separator, rest->length);
    *part = *rest;
    if (end == NULL) {
        *rest = (struct smp_slice){ 0 };
        return true;
    }
    part->length = (size_t)(end - rest->bytes);
    rest->bytes = end + 1;
    rest->length -= part->length + 1;
    return true;
}

/* Of a dotted name. */
static bool next_level(struct smp_slice *rest, struct smp_slice *level)
{
    return cut_part(rest, '.', level);
}

/* Of a list of types. */
static bool next_type(struct smp_slice *rest, struct smp_slice *type)
{
    if (!cut_part(rest, ',', type))
        return false;
    *type = trim(*type);
    return true;
}

/* Why these bytes cannot be part of a Java name, or NULL. */
static const char *complain_of_name(struct smp_slice name)
{
    for (size_t i = 0; i < name.length; i++) {
        const char byte = name.bytes[i];

        if ((unsigned char)byte <= ' ' || byte == 0x7f)
            return "white space inside a name";
        if (strchr("{}", byte) != NULL)
            return "a placeholder that was not replaced";
        if (strchr("/;:#[]@\\\"'=&|!?%^~+", byte) != NULL)
            return "a character that no name in Java source has";
    }
    return NULL;
}

static bool is_initializer(struct smp_slice method)
{
    return is_slice(method, "<init>") || is_slice(method, "<clinit>");
}

static bool has_star(struct smp_slice pattern)
{
    return pattern.length > 0 && memchr(pattern.bytes, '*', pattern.length) != NULL;
}

static const char *complain_of_level(struct smp_slice level, bool is_last)
{
    if (level.length == 0)
        return "two dots in a row, or one at an end";
    if (is_slice(level, "**") || (is_last && is_initializer(level)))
        return NULL;
    for (size_t i = 0; i < level.length; i++) {
        if (level.bytes[i] == '*' && i + 1 < level.length && level.bytes[i + 1] == '*')
            return "** beside other text: it stands for whole levels";
        if (level.bytes[i] == '<' || level.bytes[i] == '>')
            return "of names with < only <init> and <clinit>, after the class";
    }
    return complain_of_name(level);
}

/* The length of "[]", or "[ ]"; 0: it ends otherwise. */
static size_t brackets_at_end(struct smp_slice type)
{
    struct smp_slice before = type;

    if (type.length == 0 || type.bytes[type.length - 1] != ']')
        return 0;
    before.length--;
    before = trim(before);
    if (before.length == 0 || before.bytes[before.length - 1] != '[')
        return 0;
    return (size_t)(type.bytes + type.length - (before.bytes + before.length - 1));
}

static struct smp_slice without_dimensions(struct smp_slice type, size_t *dimensions)
{
    *dimensions = 0;
    for (;;) {
        const char *end = NULL;
        size_t suffix = 0;

        type = trim(type);
        end = type.bytes + type.length;
        if (type.length >= 3 && memcmp(end - 3, "...", 3) == 0 && *dimensions == 0)
            suffix = 3;
        else
            suffix = brackets_at_end(type);
        if (suffix == 0)
            return type;
        type.length -= suffix;
        ++*dimensions;
    }
}

static const char *complain_of_type(struct smp_slice type)
{
    size_t dimensions = 0;
    struct smp_slice rest = without_dimensions(type, &dimensions);
    struct smp_slice level = { 0 };

    if (rest.length == 0)
        return "a parameter without a type";
    if (is_slice(rest, "void"))
        return "void as the type of a parameter";
    if (dimensions > 255)
        return "more than 255 dimensions";
    while (next_level(&rest, &level)) {
        const char *const complaint = complain_of_name(level);

        if (level.length == 0)
            return "two dots in a row, or one at an end";
        if (memchr(level.bytes, '<', level.length) != NULL ||
            memchr(level.bytes, '>', level.length) != NULL)
            return "type arguments: write the parameter's class alone";
        if (memchr(level.bytes, '*', level.length) != NULL)
            return "a star among the parameters";
        if (complaint != NULL)
            return complaint;
    }
    return NULL;
}

/* The types between the parentheses; none at all where there is nothing but blanks. */
static struct smp_slice types_of(struct smp_slice parameters)
{
    const struct smp_slice trimmed = trim(parameters);

    return trimmed.length > 0 ? trimmed : (struct smp_slice){ 0 };
}

/* Cuts "name(types)" in two. */
static const char *read_parameters(struct smp_slice *head, struct root_rule *rule)
{
    const char *const open = memchr(head->bytes, '(', head->length);
    const char *const close = memchr(head->bytes, ')', head->length);
    struct smp_slice rest = { 0 };
    struct smp_slice type = { 0 };

    if (open == NULL && close == NULL)
        return NULL;
    if (open == NULL || close != head->bytes + head->length - 1 ||
        memchr(open + 1, '(', (size_t)(close - open)) != NULL)
        return "parentheses that do not match, or text behind them";
    rule->has_parameters = true;
    rule->parameters = (struct smp_slice){ open + 1, (size_t)(close - open) - 1 };
    head->length = (size_t)(open - head->bytes);
    *head = trim(*head);
    rest = types_of(rule->parameters);
    while (next_type(&rest, &type)) {
        const char *const complaint = complain_of_type(type);

        if (complaint != NULL)
            return complaint;
    }
    return NULL;
}

/* NULL, or what is wrong with it. */
static const char *read_rule(struct smp_slice text, struct root_rule *rule)
{
    struct smp_slice head = text;
    const char *complaint = read_parameters(&head, rule);
    struct smp_slice rest = head;
    struct smp_slice level = { 0 };

    if (complaint != NULL)
        return complaint;
    while (next_level(&rest, &level)) {
        complaint = complain_of_level(level, rest.bytes == NULL);
        if (complaint != NULL)
            return complaint;
    }
    rule->class_pattern = head;
    rule->method_pattern = (struct smp_slice){ "*", 1 };
    if (is_slice(level, "**")) /* as the last level: any method */
        return NULL;
    if (level.length == head.length)
        return "no class before the method; for a class write CLASS.*";
    rule->method_pattern = level;
    rule->class_pattern.length -= level.length + 1;
    if (!rule->has_parameters && !has_star(head) && !is_initializer(level))
        rule->as_class = head;
    return NULL;
}

static enum smp_status refuse_rule(char *message, struct smp_slice value, const char *complaint)
{
    char shown[SHOWN_VALUE_BYTES];

    if (message != NULL) {
        (void)smp_utf8_from_modified(shown, sizeof(shown), value.bytes, value.length);
        (void)snprintf(message, SMP_ROOT_RULES_MESSAGE_BYTES,
                       "rootMethods must be " ALLOWED "; got \"%s\": %s", shown, complaint);
    }
    return SMP_EINVAL;
}

static enum smp_status check_rules(const char *list, size_t *count, char *message)
{
    struct smp_slice text = { 0 };

    *count = 0;
    while (next_rule(&list, &text)) {
        struct root_rule rule = { 0 };
        const char *complaint = NULL;

        if (*count == SMP_MAX_ROOT_RULES)
            complaint = "more than 1,000 parts";
        else if (text.length > SMP_MAX_ROOT_RULE_BYTES)
            complaint = "more than 1,000 bytes";
        else
            complaint = read_rule(text, &rule);
        if (complaint != NULL)
            return refuse_rule(message, text, complaint);
        ++*count;
    }
    return SMP_OK;
}

/* The rules have been checked. */
static void keep_rules(struct smp_root_rules *rules, size_t count)
{
    const char *cursor = rules->list;
    struct smp_slice text = { 0 };

    while (rules->count < count && next_rule(&cursor, &text)) {
        struct root_rule *const rule = &rules->rules[rules->count++];

        rule->text = text.bytes;
        (void)read_rule(text, rule);
        /* A comma, a blank, or the NUL that is there: the cursor is behind it, or at that NUL. */
        rules->list[text.bytes + text.length - rules->list] = '\0';
    }
}

enum smp_status smp_root_rules_create(struct smp_quota *quota, const char *list,
                                      struct smp_root_rules **out,
                                      char message[SMP_ROOT_RULES_MESSAGE_BYTES])
{
    size_t count = 0;
    struct smp_root_rules *rules = NULL;
    enum smp_status status = check_rules(list, &count, message);

    if (status != SMP_OK)
        return status;
    rules = smp_alloc(quota, sizeof(*rules));
    if (rules == NULL)
        return SMP_ENOMEM;
    rules->quota = quota;
    rules->list = smp_strndup(quota, list, strlen(list));
    rules->rules = count > 0 ? smp_alloc(quota, count * sizeof(*rules->rules)) : NULL;
    if (rules->list == NULL || (count > 0 && rules->rules == NULL)) {
        smp_root_rules_destroy(rules);
        return SMP_ENOMEM;
    }
    keep_rules(rules, count);
    *out = rules;
    return SMP_OK;
}

void smp_root_rules_destroy(struct smp_root_rules *rules)
{
    if (rules == NULL)
        return;
    smp_free(rules->quota, rules->rules);
    smp_free(rules->quota, rules->list);
    smp_free(rules->quota, rules);
}

size_t smp_root_rules_count(const struct smp_root_rules *rules)
{
    return rules->count;
}

const char *smp_root_rules_text(const struct smp_root_rules *rules, size_t rule)
{
    return rules->rules[rule].text;
}

/* --- matching --- */

/* Names have slashes between their levels. A dot inside of one matches nothing: levels must lie the
 * same in both. */
static bool is_same_byte(char pattern, char byte)
{
    return pattern == '.' ? byte == '/' : byte == pattern;
}

/* Where a match goes on after a star, one byte later. */
struct star {
    size_t after; /* the pattern behind it */
    size_t next;  /* in the name */
    bool is_set;
};

/*
 * Greedy, with the last star of each kind to come back to. That is enough: what an earlier star
 * took could only have been more, and whatever follows ** can begin anywhere behind it; * ends in
 * its level, so levels lie as they do.
 */
static bool matches_stars(struct smp_slice pattern, struct smp_slice name)
{
    struct star level = { 0 };
    struct star levels = { 0 };
    size_t p = 0;
    size_t n = 0;

    while (p < pattern.length || n < name.length) {
        if (p + 1 < pattern.length && pattern.bytes[p] == '*' && pattern.bytes[p + 1] == '*') {
            if (n == name.length)
                return false;
            p += 2;
            n++; /* one level at least, so one byte */
            levels = (struct star){ p, n, true };
            level.is_set = false;
        } else if (p < pattern.length && pattern.bytes[p] == '*') {
            p++;
            level = (struct star){ p, n, true };
        } else if (p < pattern.length && n < name.length &&
                   is_same_byte(pattern.bytes[p], name.bytes[n])) {
            p++;
            n++;
        } else if (level.is_set && level.next < name.length && name.bytes[level.next] != '/') {
            p = level.after;
            n = ++level.next;
        } else if (levels.is_set && levels.next < name.length) {
            p = levels.after;
            n = ++levels.next;
            level.is_set = false;
        } else {
            return false;
        }
    }
    return true;
}

/* Is it the class of this name, or does that name end with it, after a dot? */
static bool matches_class_type(struct smp_slice type, struct smp_slice class_name)
{
    size_t skipped = class_name.length - type.length;

    if (type.length > class_name.length)
        return false;
    if (skipped > 0 && class_name.bytes[skipped - 1] != '/' && class_name.bytes[skipped - 1] != '$')
        return false;
    for (size_t i = 0; i < type.length; i++) {
        const char byte = class_name.bytes[skipped + i];

        if (!is_same_byte(type.bytes[i], byte) && !(type.bytes[i] == '.' && byte == '$'))
            return false;
    }
    return true;
}

static char primitive_code(struct smp_slice type)
{
    for (size_t i = 0; i < PRIMITIVE_COUNT; i++) {
        if (is_slice(type, PRIMITIVES[i].name))
            return PRIMITIVES[i].code;
    }
    return 'L';
}

/* *descriptor begins with a type, which is taken off it. */
static bool takes_type(struct smp_slice type, struct smp_slice *descriptor)
{
    size_t dimensions = 0;
    const struct smp_slice base = without_dimensions(type, &dimensions);
    const char code = primitive_code(base);
    struct smp_slice rest = *descriptor;
    const char *end = NULL;

    for (; dimensions > 0 && rest.length > 0 && rest.bytes[0] == '['; dimensions--) {
        rest.bytes++;
        rest.length--;
    }
    if (dimensions > 0 || rest.length == 0 || rest.bytes[0] != code)
        return false;
    rest.bytes++;
    rest.length--;
    if (code == 'L') {
        end = memchr(rest.bytes, ';', rest.length);
        if (end == NULL)
            return false;
        if (!matches_class_type(base, (struct smp_slice){ rest.bytes, (size_t)(end - rest.bytes) }))
            return false;
        rest.length -= (size_t)(end - rest.bytes) + 1;
        rest.bytes = end + 1;
    }
    *descriptor = rest;
    return true;
}

static bool matches_parameters(struct smp_slice parameters, struct smp_slice descriptor)
{
    struct smp_slice rest = types_of(parameters);
    struct smp_slice type = { 0 };

    if (descriptor.length == 0 || descriptor.bytes[0] != '(')
        return false;
    descriptor.bytes++;
    descriptor.length--;
    while (next_type(&rest, &type)) {
        if (!takes_type(type, &descriptor))
            return false;
    }
    return descriptor.length > 0 && descriptor.bytes[0] == ')';
}

static bool names_class(const struct root_rule *rule, struct smp_slice class_name)
{
    return rule->as_class.length > 0 && matches_stars(rule->as_class, class_name);
}

bool smp_root_rules_is_exact(const struct smp_root_rules *rules, size_t rule,
                             struct smp_slice class_name)
{
    const struct root_rule *const wanted = &rules->rules[rule];

    return !has_star(wanted->class_pattern) && !has_star(wanted->method_pattern) &&
           !names_class(wanted, class_name);
}

bool smp_root_rules_match_class(const struct smp_root_rules *rules, size_t rule,
                                struct smp_slice class_name)
{
    return matches_stars(rules->rules[rule].class_pattern, class_name) ||
           names_class(&rules->rules[rule], class_name);
}

bool smp_root_rules_match_method(const struct smp_root_rules *rules, size_t rule,
                                 struct smp_slice class_name, struct smp_slice name,
                                 struct smp_slice descriptor)
{
    const struct root_rule *const wanted = &rules->rules[rule];

    if (names_class(wanted, class_name))
        return !is_initializer(name);
    const bool is_named = is_initializer(name) ? wanted->method_pattern.length == name.length &&
                                                     memcmp(wanted->method_pattern.bytes,
                                                            name.bytes, name.length) == 0
                                               : matches_stars(wanted->method_pattern, name);

    return is_named &&
           (!wanted->has_parameters || matches_parameters(wanted->parameters, descriptor));
}
