/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outline_text.h - a class for counting/, written as one line.
 *
 *   com/acme/A : com/acme/Base com/acme/I | a()V -> com/acme/B#b()V com/acme/I*c()V | static b()V
 *
 * Super class and interfaces follow the colon; without a colon the class extends Object. Methods
 * follow bars: modifiers (static, private, bridge, native, abstract, trivial), name and descriptor,
 * and behind an arrow what they call: with # as it stands, with * dispatched, with + as a method
 * handle or, where the name is <new>, as a new object. A name without a descriptor ends with a dot.
 *
 * Owns     its texts.
 * Errors   what cannot be read fails the test.
 */
#ifndef SMP_SUPPORT_OUTLINE_TEXT_H
#define SMP_SUPPORT_OUTLINE_TEXT_H

#include "counting/class_outline.h"

enum { OUTLINE_BYTES = 4096, OUTLINE_METHODS = 64, OUTLINE_CALLS = 256, OUTLINE_INTERFACES = 8 };

struct outline_text {
    struct smp_class_outline outline;
    char text[OUTLINE_BYTES];
    struct smp_method_outline methods[OUTLINE_METHODS];
    struct smp_call_outline calls[OUTLINE_CALLS];
    struct smp_slice interfaces[OUTLINE_INTERFACES];
};

/* Points into self: it must not be copied. */
const struct smp_class_outline *outline_text_read(struct outline_text *self, uint64_t loader,
                                                  const char *line);
struct smp_slice slice_of(const char *text);

#endif
