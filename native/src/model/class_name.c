/* SPDX-License-Identifier: Apache-2.0 */
#include "model/class_name.h"

#include <stddef.h>
#include <string.h>

enum { RANDOM_STRING_LENGTH = 8 };

#define DIGITS "0123456789"
#define HEX_DIGITS DIGITS "abcdef"
#define LOWER_CASE "abcdefghijklmnopqrstuvwxyz"
#define ALPHANUMERIC DIGITS LOWER_CASE "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Simple names to which the JDK appends a number. package NULL: any. */
static const struct {
    const char *package;
    const char *stem;
} NUMBERED[] = {
    { "jdk.internal.reflect.", "GeneratedMethodAccessor" },
    { "jdk.internal.reflect.", "GeneratedConstructorAccessor" },
    { "jdk.internal.reflect.", "GeneratedSerializationConstructorAccessor" },
    { "sun.reflect.", "GeneratedMethodAccessor" },
    { "sun.reflect.", "GeneratedConstructorAccessor" },
    { "sun.reflect.", "GeneratedSerializationConstructorAccessor" },
    { "java.lang.invoke.", "LambdaForm$MH" },
    { "java.lang.invoke.", "LambdaForm$DMH" },
    { "java.lang.invoke.", "LambdaForm$BMH" },
    { NULL, "$Proxy" },
};

/* Returns how many bytes at text were generated; 0 if the name comes from source code. */
typedef size_t random_length(const char *text);

/* Accepts a hash, with a counter if the hash was in use already: 1a2b3c4d, 1a2b3c4d_2. */
static size_t hash_length(const char *text)
{
    const size_t hash = strspn(text, HEX_DIGITS);
    const size_t counter = text[hash] == '_' ? strspn(text + hash + 1, HEX_DIGITS) : 0;

    return hash > 0 && counter > 0 ? hash + 1 + counter : hash;
}

static size_t number_length(const char *text)
{
    return strspn(text, DIGITS);
}

/* Eight random letters and digits that do not form a word. */
static size_t random_string_length(const char *text)
{
    const size_t length = strspn(text, ALPHANUMERIC);
    const bool is_word = length == 0 || 1 + strspn(text + 1, LOWER_CASE) >= length;

    return length == RANDOM_STRING_LENGTH && !is_word ? length : 0;
}

/* Parts that libraries append to the name of the class they extend: stem, separator, random. */
static const struct {
    const char *stem;
    const char *separator;
    random_length *length;
} RANDOM_PARTS[] = {
    { "CGLIB", "$$", hash_length },
    { "CGLIB$$FastClass", "$$", hash_length },
    { "$MockitoMock", "$", number_length },
    { "$ByteBuddy", "$", random_string_length },
    { "$auxiliary", "$", random_string_length },
    { "$HibernateProxy", "$", random_string_length },
    { "_$$_jvst", "", hash_length },
    { "_$$_javassist_", "", hash_length },
};

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends_with(const char *text, size_t length, const char *suffix)
{
    const size_t suffix_length = strlen(suffix);

    return length >= suffix_length &&
           memcmp(text + length - suffix_length, suffix, suffix_length) == 0;
}

static void remove_bytes(char *at, size_t count)
{
    memmove(at, at + count, strlen(at + count) + 1);
}

/* The name of a hidden class ends in an address, after a slash or the character that replaced it.
 * No part of a name from source code starts with a digit. */
static void drop_address(char *name)
{
    for (char *at = strstr(name, "0x"); at != NULL; at = strstr(at + 1, "0x")) {
        const size_t digits = strspn(at + 2, HEX_DIGITS);

        if (at > name && strchr("/.+", at[-1]) != NULL && digits > 0 && at[2 + digits] == '\0') {
            at[-1] = '\0';
            return;
        }
    }
}

static bool is_numbered_by_jdk(const char *name, size_t stem_end)
{
    const char *dot = memrchr(name, '.', stem_end);
    const size_t package = dot == NULL ? 0 : (size_t)(dot + 1 - name);

    for (size_t i = 0; i < sizeof(NUMBERED) / sizeof(NUMBERED[0]); i++) {
        const size_t stem = strlen(NUMBERED[i].stem);

        if (stem_end - package != stem || memcmp(name + package, NUMBERED[i].stem, stem) != 0)
            continue;
        if (NUMBERED[i].package == NULL || (strlen(NUMBERED[i].package) == package &&
                                            memcmp(name, NUMBERED[i].package, package) == 0))
            return true;
    }
    return false;
}

static void drop_number(char *name)
{
    static const char lambda[] = "$$Lambda$";
    const size_t length = strlen(name);
    size_t end = length;

    while (end > 0 && strchr(DIGITS, name[end - 1]) != NULL)
        end--;
    if (end == length)
        return;
    if (ends_with(name, end, lambda))
        name[end - 1] = '\0';
    else if (is_numbered_by_jdk(name, end))
        name[end] = '\0';
}

/* jdk.proxy2.$Proxy: one such package for each class loader. */
static void drop_package_number(char *name)
{
    static const char package[] = "jdk.proxy";
    char *number = name + sizeof(package) - 1;

    if (!starts_with(name, package))
        return;

    const size_t digits = strspn(number, DIGITS);

    if (starts_with(number + digits, ".$Proxy"))
        remove_bytes(number, digits);
}

static void drop_random_parts(char *name)
{
    for (size_t i = 0; i < sizeof(RANDOM_PARTS) / sizeof(RANDOM_PARTS[0]); i++) {
        const char *stem = RANDOM_PARTS[i].stem;
        const char *separator = RANDOM_PARTS[i].separator;

        for (char *at = strstr(name, stem); at != NULL; at = strstr(at + 1, stem)) {
            char *part = at + strlen(stem);

            if (!starts_with(part, separator))
                continue;

            const size_t length = RANDOM_PARTS[i].length(part + strlen(separator));
            const char next = part[strlen(separator) + length];

            if (length > 0 && (next == '\0' || next == '$'))
                remove_bytes(part, strlen(separator) + length);
        }
    }
}

void smp_class_name_simplify(char *name)
{
    drop_address(name);
    if (strchr(name, '$') != NULL)
        drop_random_parts(name);
    drop_number(name);
    drop_package_number(name);
}

bool smp_class_name_is_own(const char *name)
{
    static const char package[] = "com.incapsula.sampler.";
    static const char internal[] = "internal.";
    static const char *const classes[] = {
        "SamplerBean",    "SamplingCursor", "SamplingDiff",
        "SamplingReport", "ThreadsSampler", "ThreadsSamplerServer",
    };

    if (strcmp(name, "java.lang.ThreadsSamplerHook") == 0 ||
        strcmp(name, "threadsampler.HookNatives") == 0)
        return true;
    if (strncmp(name, package, sizeof(package) - 1) != 0)
        return false;
    name += sizeof(package) - 1;
    if (strncmp(name, internal, sizeof(internal) - 1) == 0)
        return true;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        const size_t length = strlen(classes[i]);
        if (strncmp(name, classes[i], length) == 0 && (name[length] == '\0' || name[length] == '$'))
            return true;
    }
    return false;
}
