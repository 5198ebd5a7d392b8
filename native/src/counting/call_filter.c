/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_filter.h"

#include <string.h>

/* As in model/filter.h. */
struct call_prefix {
    struct smp_slice text; /* of a dotted name */
    bool is_open;          /* taken as written: what follows it does not matter */
    bool is_excluded;
};

struct smp_call_filter {
    struct smp_quota *quota;
    char *list; /* the prefixes point into it */
    struct call_prefix *prefixes;
    size_t count;
    bool is_default; /* all but the JDK, and what is excluded */
};

static const char *const JDK[] = { "java/", "javax/", "jdk/", "sun/", "com/sun/" };

/*
 * Probes call the hook, the hook calls Unsafe and looks at the current thread, and the calls of
 * method handles are linked inside java.lang.invoke: a probe there would call itself. A virtual
 * thread is between two identities while it is mounted. One that ends with a slash or a dollar sign
 * is a prefix.
 */
static const char *const NEVER[] = { "java/lang/invoke/",
                                     "java/lang/Thread",
                                     "java/lang/Thread$",
                                     "java/lang/BaseVirtualThread",
                                     "java/lang/VirtualThread",
                                     "java/lang/VirtualThread$",
                                     "java/lang/ThreadsSamplerHook",
                                     "threadssampler/",
                                     "jdk/internal/misc/Unsafe",
                                     "jdk/internal/misc/ScopedMemoryAccess",
                                     "jdk/internal/vm/",
                                     "com/incapsula/sampler/" };

bool smp_call_filter_is_jdk(struct smp_slice class_name)
{
    for (size_t i = 0; i < sizeof(JDK) / sizeof(JDK[0]); i++) {
        if (smp_slice_begins(class_name, JDK[i], strlen(JDK[i])))
            return true;
    }
    return false;
}

/* com/acme/$Proxy7, jdk/proxy2/$Proxy9 */
bool smp_call_filter_is_proxy(struct smp_slice class_name)
{
    static const char PROXY[] = "$Proxy";
    size_t start = class_name.length;

    while (start > 0 && class_name.bytes[start - 1] != '/')
        start--;
    return class_name.length - start > sizeof(PROXY) - 1 &&
           memcmp(class_name.bytes + start, PROXY, sizeof(PROXY) - 1) == 0;
}

bool smp_call_filter_is_never(struct smp_slice class_name)
{
    for (size_t i = 0; i < sizeof(NEVER) / sizeof(NEVER[0]); i++) {
        const size_t length = strlen(NEVER[i]);
        const bool is_prefix = NEVER[i][length - 1] == '/' || NEVER[i][length - 1] == '$';

        if (smp_slice_begins(class_name, NEVER[i], length) && (is_prefix || class_name.length == length))
            return true;
    }
    return false;
}

static struct call_prefix read_call_prefix(struct smp_slice part)
{
    struct call_prefix prefix = { .text = part, .is_excluded = part.bytes[0] == '-' };

    if (prefix.is_excluded) {
        prefix.text.bytes++;
        prefix.text.length--;
    }
    while (prefix.text.length > 0 && prefix.text.bytes[prefix.text.length - 1] == '*') {
        prefix.text.length--;
        prefix.is_open = true;
    }
    prefix.is_open |= prefix.text.length > 0 && prefix.text.bytes[prefix.text.length - 1] == '.';
    return prefix;
}

enum smp_status smp_call_filter_create(struct smp_quota *quota, const char *list,
                                       struct smp_call_filter **out)
{
    struct smp_call_filter *const filter = smp_alloc(quota, sizeof(*filter));
    const char *cursor = NULL;
    struct smp_slice part = { 0 };

    if (filter == NULL)
        return SMP_ENOMEM;
    *filter = (struct smp_call_filter){ .quota = quota,
                                        .list = smp_strndup(quota, list, strlen(list)),
                                        .is_default = true };
    /* Each prefix has a byte of its own, and each but the last one a comma. */
    filter->prefixes = smp_alloc(quota, (strlen(list) / 2 + 1) * sizeof(*filter->prefixes));
    if (filter->list == NULL || filter->prefixes == NULL) {
        smp_call_filter_destroy(filter);
        return SMP_ENOMEM;
    }
    cursor = filter->list;
    while (smp_slice_next_part(&cursor, &part)) {
        filter->prefixes[filter->count] = read_call_prefix(part);
        filter->is_default &= filter->prefixes[filter->count++].is_excluded;
    }
    *out = filter;
    return SMP_OK;
}

void smp_call_filter_destroy(struct smp_call_filter *filter)
{
    if (filter == NULL)
        return;
    smp_free(filter->quota, filter->prefixes);
    smp_free(filter->quota, filter->list);
    smp_free(filter->quota, filter);
}

static bool is_prefix_of(const struct call_prefix *prefix, struct smp_slice class_name)
{
    const struct smp_slice text = prefix->text;

    if (class_name.length < text.length)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (class_name.bytes[i] != (text.bytes[i] == '.' ? '/' : text.bytes[i]))
            return false;
    }
    return prefix->is_open || class_name.length == text.length ||
           class_name.bytes[text.length] == '/' || class_name.bytes[text.length] == '$';
}

bool smp_call_filter_passes(const struct smp_call_filter *filter, struct smp_slice class_name)
{
    bool is_included = filter->is_default && !smp_call_filter_is_jdk(class_name);

    for (size_t i = 0; i < filter->count; i++) {
        if (!is_prefix_of(&filter->prefixes[i], class_name))
            continue;
        if (filter->prefixes[i].is_excluded)
            return false;
        is_included = true;
    }
    return is_included;
}
