/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jvm/walk/wait_word.h"

/* Facts of each JDK: Thread.threadStatus, the thread's state, the OSThread's state. */
static void wait_words_follow_from_the_jvms_states(void **state)
{
    enum { NATIVE = 4, VM = 6, JAVA = 8, BLOCKED = 10, ODD = 9 };
    static const struct smp_jvm_states states = {
        .in_native = NATIVE, .in_vm = VM, .in_java = JAVA, .blocked = BLOCKED
    };
    static const struct {
        int32_t status;
        struct smp_thread_words words;
        enum smp_wait_word word;
    } cases[] = {
        { 0x401, { BLOCKED, 3 }, SMP_WORD_AT_MONITOR },
        { 0x401, { BLOCKED, 5 }, SMP_WORD_AT_MONITOR }, /* notified, waits for the monitor again */
        { 0x191, { BLOCKED, 5 }, SMP_WORD_WAITS },
        { 0x1a1, { BLOCKED, 5 }, SMP_WORD_WAITS },
        { 0x291, { BLOCKED, 4 }, SMP_WORD_WAITS },
        { 0xe1, { BLOCKED, 4 }, SMP_WORD_WAITS },
        { 5, { BLOCKED, 5 }, SMP_WORD_AT_MONITOR }, /* a class initialiser */
        { 5, { BLOCKED, 4 }, SMP_WORD_WAITS },      /* a service thread of the JVM */
        { 5, { BLOCKED, 2 }, SMP_WORD_STOPPED },
        { 5, { BLOCKED, -1 }, SMP_WORD_UNKNOWN },
        { 5, { NATIVE, 2 }, SMP_WORD_IN_NATIVE },
        { 5, { JAVA, 2 }, SMP_WORD_RUNS },
        { 5, { VM, 2 }, SMP_WORD_RUNS },
        { 5, { ODD, 2 }, SMP_WORD_RUNNABLE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(smp_wait_word_of(cases[i].status, &states, &cases[i].words),
                         cases[i].word);
    assert_int_equal(smp_wait_word_of(5, &states, NULL), SMP_WORD_RUNNABLE);
    assert_int_equal(smp_wait_word_of(0, NULL, NULL), SMP_WORD_UNKNOWN);
    assert_int_equal(smp_wait_word_of(0x401, NULL, NULL), SMP_WORD_AT_MONITOR);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(wait_words_follow_from_the_jvms_states) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
