/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/retransform.h"

/* A range is halved at most so often; each half that waits takes a place. */
enum { MOST_RANGES = 64 };

struct class_range {
    size_t first;
    size_t count;
};

#define ADDS_MEMBERS "another agent adds members"
#define CHANGES "another agent changes its class"

/* No change of ours is among those that the JVM does not support: it adds code and constants. */
const char *smp_retransform_text(jvmtiError error)
{
    static const struct {
        jvmtiError error;
        const char *text;
    } refusals[] = {
#define REFUSED(name, why) { JVMTI_ERROR_##name, why ", JVMTI error " #name }
        REFUSED(UNMODIFIABLE_CLASS, "the JVM does not let its class be changed"),
        REFUSED(FAILS_VERIFICATION, "its class did not pass the verifier"),
        REFUSED(OUT_OF_MEMORY, "the JVM has no memory for its class"),
        REFUSED(UNSUPPORTED_REDEFINITION_METHOD_ADDED, ADDS_MEMBERS),
        REFUSED(UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED, ADDS_MEMBERS),
        REFUSED(UNSUPPORTED_REDEFINITION_METHOD_DELETED, "another agent removes members"),
        REFUSED(UNSUPPORTED_REDEFINITION_HIERARCHY_CHANGED, CHANGES),
        REFUSED(UNSUPPORTED_REDEFINITION_CLASS_MODIFIERS_CHANGED, CHANGES),
        REFUSED(UNSUPPORTED_REDEFINITION_METHOD_MODIFIERS_CHANGED, CHANGES),
        REFUSED(UNSUPPORTED_REDEFINITION_CLASS_ATTRIBUTE_CHANGED, CHANGES),
        REFUSED(UNSUPPORTED_VERSION, CHANGES),
        REFUSED(INVALID_CLASS_FORMAT, CHANGES),
        REFUSED(CIRCULAR_CLASS_DEFINITION, CHANGES),
        REFUSED(NAMES_DONT_MATCH, CHANGES),
        REFUSED(INTERNAL, "the JVM refuses to change its class"),
#undef REFUSED
    };

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (refusals[i].error == error)
            return refusals[i].text;
    }
    return "the JVM refuses to change its class";
}

void smp_retransform(jvmtiEnv *jvmti, const jclass *classes, size_t count,
                     smp_on_class_refused *refused, void *self)
{
    struct class_range ranges[MOST_RANGES];
    size_t waiting = 0;

    if (count > 0)
        ranges[waiting++] = (struct class_range){ 0, count };
    while (waiting > 0) {
        const struct class_range range = ranges[--waiting];
        const jvmtiError error =
            (*jvmti)->RetransformClasses(jvmti, (jint)range.count, classes + range.first);
        if (error == JVMTI_ERROR_NONE)
            continue;
        if (range.count == 1 || error == JVMTI_ERROR_WRONG_PHASE) {
            for (size_t i = 0; i < range.count; i++)
                refused(self, range.first + i, error);
        } else {
            const size_t half = range.count / 2;
            ranges[waiting++] = (struct class_range){ range.first + half, range.count - half };
            ranges[waiting++] = (struct class_range){ range.first, half };
        }
    }
}
