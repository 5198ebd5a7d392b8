/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_filter.h - the property instrumentationFilter: which classes' methods are counted when a
 * root calls them.
 *
 *   com.acme, -com.acme.util    below com.acme, but not below com.acme.util
 *   -com.acme.util              all but the JDK and com.acme.util
 *   "" (the default)            all but the JDK: java. javax. jdk. sun. com.sun.
 *
 * A prefix matches whole parts of a name, as in model/filter.h. A prefix with a minus always wins.
 * Some classes are never instrumented, whatever the filter and the roots say, because the probes
 * themselves run through them: Thread, Unsafe, java.lang.invoke, the library's own.
 *
 * The setter in Java (NameLists) refuses texts that are no prefixes.
 *
 * Owns     its prefixes; their texts are the caller's.
 * Threads  any, once it is open.
 * Errors   open: false without memory.
 * Cost     passes: a comparison for each prefix; called once or twice per class.
 */
#ifndef SMP_COUNTING_CALL_FILTER_H
#define SMP_COUNTING_CALL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/slice.h"

struct smp_call_filter {
    struct smp_slice *prefixes; /* with their minus */
    size_t count;
    bool has_included; /* there is a prefix without a minus */
};

/* list: comma-separated, outlives the filter; blanks around a part are trimmed, empty parts
 * ignored. */
bool smp_call_filter_open(struct smp_call_filter *filter, struct smp_quota *quota,
                          const char *list);
void smp_call_filter_close(struct smp_call_filter *filter, struct smp_quota *quota);
/* class_name is internal: `com/acme/Order`. */
bool smp_call_filter_passes(const struct smp_call_filter *filter, struct smp_slice class_name);

/* Returns whether the class is below java. javax. jdk. sun. com.sun. */
bool smp_call_filter_is_jdk(struct smp_slice class_name);
/* Returns whether it looks like the name of a java.lang.reflect.Proxy, which others may have,
 * too. */
bool smp_call_filter_is_proxy(struct smp_slice class_name);
/* Returns whether the class is never instrumented. */
bool smp_call_filter_is_never(struct smp_slice class_name);

#endif
