/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/retransform.h"

/* A range is halved at most so often; each half that waits takes a place. */
enum { MOST_RANGES = 64 };

struct class_range {
    size_t first;
    size_t count;
};

const char *smp_retransform_text(jvmtiError error)
{
    switch (error) {
    case JVMTI_ERROR_UNMODIFIABLE_CLASS:
        return "the JVM does not let its class be changed";
    case JVMTI_ERROR_FAILS_VERIFICATION:
        return "its class did not pass the verifier";
    case JVMTI_ERROR_OUT_OF_MEMORY:
        return "the JVM has no memory for its class";
    case JVMTI_ERROR_INVALID_CLASS_FORMAT:
    case JVMTI_ERROR_CIRCULAR_CLASS_DEFINITION:
    case JVMTI_ERROR_NAMES_DONT_MATCH:
    case JVMTI_ERROR_UNSUPPORTED_VERSION:
        return "another agent changes its class in a way that the JVM refuses";
    default:
        return "the JVM refuses to change its class";
    }
}

size_t smp_retransform(jvmtiEnv *jvmti, const jclass *classes, size_t count,
                       smp_on_class_refused *refused, void *self)
{
    struct class_range ranges[MOST_RANGES];
    size_t waiting = 0;
    size_t done = 0;

    if (count > 0)
        ranges[waiting++] = (struct class_range){ 0, count };
    while (waiting > 0) {
        const struct class_range range = ranges[--waiting];
        const jvmtiError error =
            (*jvmti)->RetransformClasses(jvmti, (jint)range.count, classes + range.first);
        if (error == JVMTI_ERROR_NONE) {
            done += range.count;
        } else if (range.count == 1 || error == JVMTI_ERROR_WRONG_PHASE) {
            for (size_t i = 0; i < range.count; i++)
                refused(self, range.first + i, error);
        } else {
            const size_t half = range.count / 2;
            ranges[waiting++] = (struct class_range){ range.first + half, range.count - half };
            ranges[waiting++] = (struct class_range){ range.first, half };
        }
    }
    return done;
}
