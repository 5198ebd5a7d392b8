/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/agent/jvmti_status.h"

enum smp_status smp_jvmti_status(jvmtiError error)
{
    switch (error) {
    case JVMTI_ERROR_NONE:
        return SMP_OK;
    case JVMTI_ERROR_THREAD_NOT_ALIVE:
    case JVMTI_ERROR_INVALID_METHODID: /* its class was unloaded */
        return SMP_EGONE;
    case JVMTI_ERROR_WRONG_PHASE:
        return SMP_EPHASE;
    case JVMTI_ERROR_OUT_OF_MEMORY:
        return SMP_ENOMEM;
    case JVMTI_ERROR_NOT_AVAILABLE:
    case JVMTI_ERROR_MUST_POSSESS_CAPABILITY:
    case JVMTI_ERROR_UNSUPPORTED_VERSION:
        return SMP_EUNSUPPORTED;
    default:
        return SMP_EVM;
    }
}
