/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_filter.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "model/filter.h"

enum { SHOWN_PART_BYTES = 160 };

struct smp_call_filter {
    struct smp_quota *quota;
    struct smp_filter *included; /* NULL: all but the JDK */
    struct smp_filter *excluded; /* NULL: none */
};

/* Both kinds of parts, as the two lists that model/filter reads. */
struct part_lists {
    char *text[2]; /* included, excluded: each has room for all parts */
    size_t length[2];
    size_t count[2];
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
                                     "threadsampler/",
                                     "jdk/internal/misc/Unsafe",
                                     "jdk/internal/misc/ScopedMemoryAccess",
                                     "jdk/internal/vm/",
                                     "com/incapsula/sampler/" };

static bool begins_with(struct smp_slice name, const char *prefix, size_t length)
{
    return name.length >= length && memcmp(name.bytes, prefix, length) == 0;
}

bool smp_call_filter_is_jdk(struct smp_slice class_name)
{
    for (size_t i = 0; i < sizeof(JDK) / sizeof(JDK[0]); i++) {
        if (begins_with(class_name, JDK[i], strlen(JDK[i])))
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

        if (begins_with(class_name, NEVER[i], length) && (is_prefix || class_name.length == length))
            return true;
    }
    return false;
}

static enum smp_status refuse_part(char *message, struct smp_slice part, const char *complaint)
{
    char shown[SHOWN_PART_BYTES];

    if (message != NULL) {
        (void)smp_utf8_from_modified(shown, sizeof(shown), part.bytes, part.length);
        (void)snprintf(message, SMP_CALL_FILTER_MESSAGE_BYTES,
                       "instrumentationFilter must be package prefixes separated by commas, with a "
                       "minus before those to leave out, as in com.acme, -com.acme.util; got "
                       "\"%s\": %s",
                       shown, complaint);
    }
    return SMP_EINVAL;
}

/* Why no class can have a name that begins so, or NULL. */
static const char *complain_of_part(struct smp_slice prefix)
{
    size_t end = prefix.length;

    while (end > 0 && prefix.bytes[end - 1] == '*')
        end--;
    if (prefix.length == 0)
        return "a minus without a prefix";
    if (prefix.length > SMP_MAX_PREFIX_BYTES)
        return "more than 1,000 bytes";
    for (size_t i = 0; i < end; i++) {
        const char byte = prefix.bytes[i];

        if ((unsigned char)byte <= ' ' || byte == 0x7f)
            return "white space inside a prefix";
        if (strchr("{}", byte) != NULL)
            return "a placeholder that was not replaced";
        if (byte == '*')
            return "a star that is not at its end";
        if (strchr("/;:#()<>[]-@\\\"'=&|!?%^~+", byte) != NULL)
            return "a character that no package in Java source has";
    }
    if (prefix.bytes[0] == '.' || strstr(prefix.bytes, "..") != NULL)
        return "two dots in a row, or one at its begin";
    return NULL;
}

static void append_part(struct part_lists *lists, size_t list, struct smp_slice prefix)
{
    char *const at = lists->text[list] + lists->length[list];

    memcpy(at, prefix.bytes, prefix.length);
    at[prefix.length] = ',';
    lists->length[list] += prefix.length + 1;
    lists->count[list]++;
}

/* Sorts the parts of copy, in which each comma becomes a NUL. */
static enum smp_status sort_parts(char *copy, struct part_lists *lists, char *message)
{
    char *cursor = copy;
    bool is_last = false;

    while (!is_last) {
        char *start = cursor;
        char *end = start + strcspn(start, ",");
        struct smp_slice part = { 0 };
        struct smp_slice prefix = { 0 };
        const char *complaint = NULL;

        is_last = *end == '\0';
        cursor = end + 1;
        while (end > start && (unsigned char)end[-1] <= ' ')
            end--;
        *end = '\0';
        while ((unsigned char)*start <= ' ' && start < end)
            start++;
        part = (struct smp_slice){ start, (size_t)(end - start) };
        if (part.length == 0)
            continue;
        prefix = part;
        if (start[0] == '-') {
            prefix.bytes++;
            prefix.length--;
        }
        complaint = complain_of_part(prefix);
        if (complaint == NULL && lists->count[0] + lists->count[1] == SMP_MAX_PREFIXES)
            complaint = "more than 1,000 parts";
        if (complaint != NULL)
            return refuse_part(message, part, complaint);
        append_part(lists, start[0] == '-', prefix);
    }
    return SMP_OK;
}

static enum smp_status read_lists(struct smp_call_filter *filter, char *const buffers[3],
                                  char *message)
{
    struct part_lists lists = { .text = { buffers[1], buffers[2] } };
    enum smp_status status = sort_parts(buffers[0], &lists, message);

    if (status == SMP_OK && lists.count[0] > 0)
        status = smp_filter_create(filter->quota, lists.text[0], &filter->included);
    if (status == SMP_OK && lists.count[1] > 0)
        status = smp_filter_create(filter->quota, lists.text[1], &filter->excluded);
    return status;
}

enum smp_status smp_call_filter_create(struct smp_quota *quota, const char *list,
                                       struct smp_call_filter **out,
                                       char message[SMP_CALL_FILTER_MESSAGE_BYTES])
{
    const size_t room = strlen(list) + 2; /* a comma behind the last part, a NUL */
    struct smp_call_filter *filter = smp_alloc(quota, sizeof(*filter));
    char *const text = smp_alloc(quota, 3 * room);
    enum smp_status status = SMP_ENOMEM;

    if (filter != NULL)
        filter->quota = quota;
    if (filter != NULL && text != NULL) {
        char *const buffers[3] = { text, text + room, text + 2 * room };

        memcpy(text, list, room - 2);
        status = read_lists(filter, buffers, message);
    }
    smp_free(quota, text);
    if (status == SMP_OK)
        *out = filter;
    else
        smp_call_filter_destroy(filter);
    return status;
}

void smp_call_filter_destroy(struct smp_call_filter *filter)
{
    if (filter == NULL)
        return;
    smp_filter_destroy(filter->included);
    smp_filter_destroy(filter->excluded);
    smp_free(filter->quota, filter);
}

bool smp_call_filter_passes(const struct smp_call_filter *filter, struct smp_slice class_name)
{
    /* Prefixes are no longer, and the byte behind one decides as well. */
    char dotted[SMP_MAX_PREFIX_BYTES + 2];
    const size_t length =
        class_name.length < sizeof(dotted) - 1 ? class_name.length : sizeof(dotted) - 1;

    for (size_t i = 0; i < length; i++)
        dotted[i] = class_name.bytes[i] == '/' ? '.' : class_name.bytes[i];
    dotted[length] = '\0';
    if (filter->excluded != NULL && smp_filter_monitors(filter->excluded, dotted))
        return false;
    if (filter->included != NULL)
        return smp_filter_monitors(filter->included, dotted);
    return !smp_call_filter_is_jdk(class_name);
}
