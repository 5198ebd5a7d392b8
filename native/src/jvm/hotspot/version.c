/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/hotspot/version.h"

#include <stdlib.h>
#include <string.h>

enum { DECIMAL = 10, MOST = 10000 };

int smp_jvm_version_parse(const char *text)
{
    char *end = NULL;
    long version = 0;

    if (strncmp(text, "1.", 2) == 0) /* up to 1.8 */
        text += 2;
    if (*text < '0' || *text > '9')
        return 0;
    version = strtol(text, &end, DECIMAL);
    return version > 0 && version < MOST ? (int)version : 0;
}

int smp_jvm_version(jvmtiEnv *jvmti)
{
    char *text = NULL;
    int version = 0;

    if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.specification.version", &text) !=
            JVMTI_ERROR_NONE ||
        text == NULL)
        return 0;
    version = smp_jvm_version_parse(text);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)text);
    return version;
}
