/* SPDX-License-Identifier: Apache-2.0 */
#include "base/task_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

/* The id of the only thread of this process. */
static int32_t own_tid(void)
{
    return (int32_t)getpid();
}

static void reads_the_content_of_the_file(void **state)
{
    char text[32] = "";

    (void)state;
    assert_int_equal(prctl(PR_SET_NAME, "order-service"), 0);
    assert_true(smp_task_file_read(own_tid(), "comm", text, sizeof(text)));
    assert_string_equal(text, "order-service\n");
}

static void a_long_file_is_cut_to_its_room(void **state)
{
    char text[8] = "#######";

    (void)state;
    assert_int_equal(prctl(PR_SET_NAME, "order-service"), 0);
    assert_true(smp_task_file_read(own_tid(), "comm", text, 6));
    assert_string_equal(text, "order");
    assert_int_equal(text[6], '#');
}

/* Pages whose protection differs from that of their neighbours have their own lines, before the
 * line of the stack. */
static void text_after_a_mark_is_found_in_a_long_file(void **state)
{
    enum { PAGES = 400, PAGE_BYTES = 4096 };
    static const char mark[] = "[stack]";
    char *pages = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char text[3] = "##";

    (void)state;
    assert_ptr_not_equal(pages, MAP_FAILED);
    for (int i = 0; i < PAGES; i += 2)
        assert_int_equal(mprotect(pages + (size_t)i * PAGE_BYTES, PAGE_BYTES, PROT_NONE), 0);
    assert_true(smp_task_file_find(own_tid(), "maps", mark, text, sizeof(text)));
    assert_int_equal(text[0], '\n');
    assert_false(smp_task_file_find(own_tid(), "maps", "[no such]", text, sizeof(text)));
    assert_false(smp_task_file_find(-1, "maps", mark, text, sizeof(text)));
    (void)munmap(pages, PAGES * PAGE_BYTES);
}

static void text_after_a_mark_may_be_short(void **state)
{
    char text[32];

    (void)state;
    assert_int_equal(prctl(PR_SET_NAME, "order-service"), 0);
    assert_true(smp_task_file_find(own_tid(), "comm", "order", text, 4));
    assert_string_equal(text, "-se");
    assert_true(smp_task_file_find(own_tid(), "comm", "order", text, sizeof(text)));
    assert_string_equal(text, "-service\n");
    assert_true(smp_task_file_find(own_tid(), "comm", "service\n", text, sizeof(text)));
    assert_string_equal(text, "");
}

static void an_absent_thread_has_no_file(void **state)
{
    char text[32] = "as it was";

    (void)state;
    assert_false(smp_task_file_read(-1, "comm", text, sizeof(text)));
    assert_false(smp_task_file_read(own_tid(), "no such file", text, sizeof(text)));
    assert_string_equal(text, "as it was");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_content_of_the_file),
        cmocka_unit_test(a_long_file_is_cut_to_its_room),
        cmocka_unit_test(text_after_a_mark_is_found_in_a_long_file),
        cmocka_unit_test(text_after_a_mark_may_be_short),
        cmocka_unit_test(an_absent_thread_has_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
