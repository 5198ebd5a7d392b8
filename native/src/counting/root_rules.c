/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/root_rules.h"

#include <string.h>

static const struct {
    const char *name;
    char code;
} PRIMITIVES[] = { { "boolean", 'Z' }, { "byte", 'B' }, { "char", 'C' },  { "short", 'S' },
                   { "int", 'I' },     { "long", 'J' }, { "float", 'F' }, { "double", 'D' } };

enum { PRIMITIVE_COUNT = sizeof(PRIMITIVES) / sizeof(PRIMITIVES[0]) };

/* --- reading --- */

/* Cuts "name(types)" in two. */
static struct smp_slice read_parameters(struct smp_slice text, struct smp_root_rule *rule)
{
    const char *const open = memchr(text.bytes, '(', text.length);
    const char *const end = text.bytes + text.length;

    if (open == NULL)
        return text;
    const char *const close = memchr(open, ')', (size_t)(end - open));
    rule->has_parameters = true;
    rule->parameters = smp_slice_trim(
        (struct smp_slice){ open + 1, (size_t)((close != NULL ? close : end) - open) - 1 });
    return smp_slice_trim((struct smp_slice){ text.bytes, (size_t)(open - text.bytes) });
}

struct smp_root_rule smp_root_rule_read(struct smp_slice text)
{
    struct smp_root_rule rule = { .text = text, .method_pattern = { "*", 1 } };
    const struct smp_slice head = read_parameters(text, &rule);
    const char *const dot = head.length > 0 ? memrchr(head.bytes, '.', head.length) : NULL;
    struct smp_slice method = head;

    if (dot != NULL)
        method = (struct smp_slice){ dot + 1, (size_t)(head.bytes + head.length - dot) - 1 };
    rule.class_pattern = head;
    if (smp_slice_is(method, "**")) /* any method of any class below */
        return rule;
    rule.method_pattern = method;
    rule.class_pattern.length = dot != NULL ? (size_t)(dot - head.bytes) : 0;
    if (dot != NULL && !rule.has_parameters && !smp_slice_has(head, '*') &&
        !smp_slice_has(head, '<'))
        rule.as_class = head;
    return rule;
}

/* --- matching --- */

/* Internal names have slashes between their levels. A dot in such a name matches nothing, so the
 * levels of pattern and name agree. */
static bool is_same_byte(char pattern, char byte)
{
    return pattern == '.' ? byte == '/' : byte == pattern;
}

/* A star that a match can come back to, to let it match one byte more. */
struct star {
    size_t after; /* the offset behind it in the pattern */
    size_t next;  /* the first byte in the name that it does not match yet */
    bool is_set;
};

/*
 * Matches greedily, with backtracking to the last star of each kind. Earlier stars need not be
 * tried again: a longer match would only leave less of the name, and the text after ** can begin
 * anywhere behind it. A single star never leaves its level, so it does not change how levels
 * agree.
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

/* Returns whether the type is the class name, or the part of it after a package or an outer
 * class. */
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
        if (smp_slice_is(type, PRIMITIVES[i].name))
            return PRIMITIVES[i].code;
    }
    return 'L';
}

static bool cut_end(struct smp_slice *text, const char *end)
{
    if (!smp_slice_ends(*text, end))
        return false;
    text->length -= strlen(end);
    *text = smp_slice_trim(*text);
    return true;
}

/* Removes "...", "[]" or "[ ]" from the end of the type. */
static bool cut_dimension(struct smp_slice *type)
{
    struct smp_slice rest = *type;

    if (!cut_end(&rest, "...") && !(cut_end(&rest, "]") && cut_end(&rest, "[")))
        return false;
    *type = rest;
    return true;
}

static void drop_bytes(struct smp_slice *text, size_t count)
{
    text->bytes += count;
    text->length -= count;
}

/* Compares the type with the descriptor's first type, which it removes from the descriptor. */
static bool takes_type(struct smp_slice type, struct smp_slice *descriptor)
{
    const char *end = NULL;

    for (; cut_dimension(&type); drop_bytes(descriptor, 1)) {
        if (!smp_slice_begins(*descriptor, "[", 1))
            return false;
    }
    const char code = primitive_code(type);
    if (!smp_slice_begins(*descriptor, &code, 1))
        return false;
    drop_bytes(descriptor, 1);
    if (code != 'L')
        return true;
    end = descriptor->length > 0 ? memchr(descriptor->bytes, ';', descriptor->length) : NULL;
    if (end == NULL)
        return false;
    const struct smp_slice name = { descriptor->bytes, (size_t)(end - descriptor->bytes) };
    drop_bytes(descriptor, name.length + 1);
    return matches_class_type(type, name);
}

static bool matches_parameters(struct smp_slice types, struct smp_slice descriptor)
{
    if (!smp_slice_begins(descriptor, "(", 1))
        return false;
    drop_bytes(&descriptor, 1);
    while (types.length > 0) {
        const char *const comma = memchr(types.bytes, ',', types.length);
        const size_t length = comma != NULL ? (size_t)(comma - types.bytes) : types.length;

        if (!takes_type(smp_slice_trim((struct smp_slice){ types.bytes, length }), &descriptor))
            return false;
        drop_bytes(&types, comma != NULL ? length + 1 : length);
    }
    return smp_slice_begins(descriptor, ")", 1);
}

static bool is_initializer(struct smp_slice method)
{
    return smp_slice_is(method, "<init>") || smp_slice_is(method, "<clinit>");
}

static bool names_class(const struct smp_root_rule *rule, struct smp_slice class_name)
{
    return rule->as_class.length > 0 && matches_stars(rule->as_class, class_name);
}

bool smp_root_rule_is_exact(const struct smp_root_rule *rule, struct smp_slice class_name)
{
    return !smp_slice_has(rule->class_pattern, '*') && !smp_slice_has(rule->method_pattern, '*') &&
           !names_class(rule, class_name);
}

bool smp_root_rule_matches_class(const struct smp_root_rule *rule, struct smp_slice class_name)
{
    return matches_stars(rule->class_pattern, class_name) || names_class(rule, class_name);
}

bool smp_root_rule_matches_method(const struct smp_root_rule *rule, struct smp_slice class_name,
                                  struct smp_slice name, struct smp_slice descriptor)
{
    if (names_class(rule, class_name))
        return !is_initializer(name);
    if (is_initializer(name) ? !smp_slice_equals(rule->method_pattern, name)
                             : !matches_stars(rule->method_pattern, name))
        return false;
    return !rule->has_parameters || matches_parameters(rule->parameters, descriptor);
}
