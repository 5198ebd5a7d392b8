/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/agent/jvmti_text.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

enum { SHORT_UNITS = 256 }; /* longer Strings are copied through the heap */

enum smp_status smp_jvmti_text_copy(JNIEnv *env, jstring string, char *out, size_t size)
{
    jchar few[SHORT_UNITS];
    jchar *units = few;
    const jsize length = (*env)->GetStringLength(env, string);
    /* Each UTF-16 unit takes at least one byte, so no more than `size` units can fit. */
    const size_t wanted = (size_t)length < size ? (size_t)length : size;

    if (wanted > SHORT_UNITS) {
        units = smp_alloc(NULL, wanted * sizeof(jchar));
        if (units == NULL)
            return SMP_ENOMEM;
    }
    (*env)->GetStringRegion(env, string, 0, (jsize)wanted, units);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        memset(units, 0, wanted * sizeof(jchar));
    }
    (void)smp_utf8_from_utf16(out, size, units, wanted);
    if (units != few)
        smp_free(NULL, units);
    return SMP_OK;
}
