/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_text.h - a class for counting/, written as one line.
 *
 *   com/acme/A : com/acme/Base com/acme/I | a()V -> com/acme/B#b()V com/acme/I*c()V | static b()V
 *
 * Super class and interfaces follow the colon; without a colon the class extends Object. Methods
 * follow bars: modifiers (static, private, bridge, native, abstract, trivial), name and
 * descriptor, and after an arrow the methods they call: with # directly, with * virtually, with +
 * as a method handle or, if the name is <new>, as a new object. A name without a descriptor ends
 * with a dot.
 *
 * Owns     its texts.
 * Errors   text that cannot be parsed fails the test.
 */
#ifndef SMP_SUPPORT_CLASS_TEXT_H
#define SMP_SUPPORT_CLASS_TEXT_H

#include "counting/class_summary.h"

enum {
    CLASS_SUMMARY_BYTES = 4096,
    CLASS_SUMMARY_METHODS = 64,
    CLASS_SUMMARY_CALLS = 256,
    CLASS_SUMMARY_INTERFACES = 8
};

struct class_text {
    struct smp_class_summary summary;
    char text[CLASS_SUMMARY_BYTES];
    struct smp_method_summary methods[CLASS_SUMMARY_METHODS];
    struct smp_call_summary calls[CLASS_SUMMARY_CALLS];
    struct smp_slice interfaces[CLASS_SUMMARY_INTERFACES];
};

/* The result points into self, which must not be copied. */
const struct smp_class_summary *class_text_read(struct class_text *self, uint64_t loader,
                                                const char *line);
struct smp_slice slice_of(const char *text);

#endif
