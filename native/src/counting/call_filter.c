/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_filter.h"

#include <string.h>

static const char *const JDK[] = { "java/", "javax/", "jdk/", "sun/", "com/sun/" };

/*
 * Classes that are never instrumented. The hook calls Unsafe and reads the current thread, and
 * calls of method handles are linked inside java.lang.invoke: a probe there would call itself. A
 * virtual thread has no single identity while it is being mounted. A name that ends with a slash
 * or a dollar sign is a prefix.
 */
static const char *const NEVER[] = { "java/lang/invoke/",
                                     "java/lang/Thread",
                                     "java/lang/Thread$",
                                     "java/lang/BaseVirtualThread",
                                     "java/lang/VirtualThread",
                                     "java/lang/VirtualThread$",
                                     "java/lang/ThreadsSamplerHook",
                                     "threadsampler/",
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

        if (smp_slice_begins(class_name, NEVER[i], length) &&
            (is_prefix || class_name.length == length))
            return true;
    }
    return false;
}

static bool is_excluding(struct smp_slice prefix)
{
    return prefix.bytes[0] == '-';
}

/* prefix: dotted, without its minus; it matches as in model/filter.h. */
static bool is_prefix_of(struct smp_slice prefix, struct smp_slice class_name)
{
    bool is_open = false; /* any text may follow */

    while (prefix.length > 0 && prefix.bytes[prefix.length - 1] == '*') {
        prefix.length--;
        is_open = true;
    }
    if (class_name.length < prefix.length)
        return false;
    for (size_t i = 0; i < prefix.length; i++) {
        if (class_name.bytes[i] != (prefix.bytes[i] == '.' ? '/' : prefix.bytes[i]))
            return false;
    }
    is_open |= prefix.length > 0 && prefix.bytes[prefix.length - 1] == '.';
    return is_open || class_name.length == prefix.length ||
           class_name.bytes[prefix.length] == '/' || class_name.bytes[prefix.length] == '$';
}

bool smp_call_filter_passes(const struct smp_call_filter *filter, struct smp_slice class_name)
{
    bool is_included = !filter->has_included && !smp_call_filter_is_jdk(class_name);

    for (size_t i = 0; i < filter->count; i++) {
        const struct smp_slice prefix = filter->prefixes[i];
        const size_t minus = is_excluding(prefix) ? 1 : 0;
        const bool matches = is_prefix_of(
            (struct smp_slice){ prefix.bytes + minus, prefix.length - minus }, class_name);

        if (matches && minus > 0)
            return false;
        is_included |= matches;
    }
    return is_included;
}

/* --- open, close --- */

bool smp_call_filter_open(struct smp_call_filter *filter, struct smp_quota *quota, const char *list)
{
    const size_t most = smp_slice_count_parts(list);
    struct smp_slice part = { 0 };

    *filter = (struct smp_call_filter){ 0 };
    if (most == 0)
        return true;
    filter->prefixes = smp_alloc(quota, most * sizeof(*filter->prefixes));
    if (filter->prefixes == NULL)
        return false;
    while (smp_slice_next_part(&list, &part)) {
        filter->prefixes[filter->count++] = part;
        filter->has_included |= !is_excluding(part);
    }
    return true;
}

void smp_call_filter_close(struct smp_call_filter *filter, struct smp_quota *quota)
{
    smp_free(quota, filter->prefixes);
    *filter = (struct smp_call_filter){ 0 };
}
