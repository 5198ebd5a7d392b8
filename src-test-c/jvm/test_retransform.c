/* SPDX-License-Identifier: Apache-2.0 */
/* A batch with classes that the JVM refuses: the others are changed, and each refused one is
 * named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "base/random.h"
#include "jvm/calls/class_batches.h"
#include "model/counting_account.h"

enum { MOST = 300, ROUNDS = 2000 };

static struct {
    bool is_bad[MOST];
    unsigned changes[MOST];
    unsigned refusals[MOST];
    jvmtiError error;
    unsigned calls;
    bool is_dying;
} batch;

static jvmtiError JNICALL retransform_fake(jvmtiEnv *env, jint count, const jclass *classes)
{
    (void)env;
    batch.calls++;
    if (batch.is_dying)
        return JVMTI_ERROR_WRONG_PHASE;
    for (jint i = 0; i < count; i++) {
        if (batch.is_bad[(uintptr_t)classes[i] - 1])
            return batch.error;
    }
    for (jint i = 0; i < count; i++)
        batch.changes[(uintptr_t)classes[i] - 1]++;
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = { .RetransformClasses = retransform_fake };
static const struct jvmtiInterface_1_ *env_functions = &functions;

static void note_refusal(void *self, size_t which, jvmtiError error)
{
    assert_ptr_equal(self, &batch);
    assert_int_equal(error, batch.is_dying ? JVMTI_ERROR_WRONG_PHASE : batch.error);
    batch.refusals[which]++;
}

static void run_batch(size_t count)
{
    jclass classes[MOST];

    for (size_t i = 0; i < count; i++)
        classes[i] = (jclass)(uintptr_t)(i + 1);
    smp_retransform((jvmtiEnv *)(void *)&env_functions, classes, count, note_refusal, &batch);
}

static void each_class_is_changed_or_refused_once(void **state)
{
    uint64_t random = 7;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t count = smp_random_next(&random) % (MOST + 1);
        const uint64_t one_in = 1 + smp_random_next(&random) % 60;
        memset(&batch, 0, sizeof(batch));
        batch.error = JVMTI_ERROR_FAILS_VERIFICATION;
        for (size_t i = 0; i < count; i++) {
            batch.is_bad[i] = smp_random_next(&random) % one_in == 0;
        }
        run_batch(count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(batch.changes[i], !batch.is_bad[i]);
            assert_int_equal(batch.refusals[i], batch.is_bad[i]);
        }
    }
}

static void without_a_refusal_there_is_one_call(void **state)
{
    (void)state;
    memset(&batch, 0, sizeof(batch));
    run_batch(MOST);
    assert_int_equal(batch.calls, 1);
    memset(&batch, 0, sizeof(batch));
    run_batch(0);
    assert_int_equal(batch.calls, 0);
}

static void one_refused_class_needs_few_additional_calls(void **state)
{
    (void)state;
    for (size_t bad = 0; bad < MOST; bad++) {
        memset(&batch, 0, sizeof(batch));
        batch.error = JVMTI_ERROR_UNMODIFIABLE_CLASS;
        batch.is_bad[bad] = true;
        run_batch(MOST);
        assert_in_range(batch.calls, 3, 2 * 9 + 1); /* 300 < 2^9 */
    }
}

static void a_jvm_that_dies_is_called_once(void **state)
{
    (void)state;
    memset(&batch, 0, sizeof(batch));
    batch.is_dying = true;
    run_batch(MOST);
    assert_int_equal(batch.calls, 1);
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(batch.refusals[i], 1);
}

static void each_error_has_a_text(void **state)
{
    (void)state;
    for (int error = JVMTI_ERROR_NONE; error <= JVMTI_ERROR_MAX; error++) {
        const size_t length = strlen(smp_retransform_text((jvmtiError)error));
        assert_true(length > 10 && length + strlen(": ") < SMP_MAX_COUNTING_NAME_BYTES / 2);
    }
    assert_string_equal(smp_retransform_text(JVMTI_ERROR_FAILS_VERIFICATION),
                        "its class did not pass the verifier, JVMTI error FAILS_VERIFICATION");
    assert_string_equal(
        smp_retransform_text(JVMTI_ERROR_UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED),
        "another agent adds members, JVMTI error UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_is_changed_or_refused_once),
        cmocka_unit_test(without_a_refusal_there_is_one_call),
        cmocka_unit_test(one_refused_class_needs_few_additional_calls),
        cmocka_unit_test(a_jvm_that_dies_is_called_once),
        cmocka_unit_test(each_error_has_a_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
