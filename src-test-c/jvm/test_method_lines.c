/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed line tables, compared with a search in the lines themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "base/random.h"
#include "base/safe_read.h"
#include "hotspot/method.h"
#include "model/names.h"
#include "support/fake_code.h"

enum { BYTES = 8192, MOST = 500, ROUNDS = 200, PAGE = 4096 };

static uint8_t bytes[BYTES];
static struct smp_line lines[MOST];
static struct smp_method_lines found;

static uint64_t seed = 11;

static int32_t below(int32_t limit)
{
    return (int32_t)(smp_random_next(&seed) % (uint64_t)limit);
}

static int allow_reads(void **state)
{
    (void)state;
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

static bool read_lines(uint32_t base, size_t used, int32_t bci)
{
    return smp_method_lines_read(base, (uintptr_t)bytes, (uintptr_t)bytes + used, bci, &found);
}

static int32_t smallest(size_t count)
{
    int32_t least = 0;

    for (size_t i = 0; i < count; i++) {
        if (lines[i].line > 0 && (least == 0 || lines[i].line < least))
            least = lines[i].line;
    }
    return least;
}

static void expect_equal(uint32_t base, size_t count, int32_t last)
{
    const size_t used = fake_code_encode_lines(base, lines, count, bytes, BYTES);

    for (int32_t bci = -1; bci <= last; bci++) {
        const int32_t expected = smp_line_find(lines, count, bci);
        assert_true(read_lines(base, used, bci));
        assert_int_equal(found.line, expected > 0 ? expected : 0);
        assert_int_equal(found.first, smallest(count));
    }
}

/* Small and large steps in both directions; byte codes mostly increase, as compilers write
 * them. */
static void each_line_is_found(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t count = (size_t)(1 + below(round % 10 == 0 ? MOST : 12));
        int32_t bci = 0;
        for (size_t i = 0; i < count; i++) {
            lines[i] =
                (struct smp_line){ .start_bci = bci, .line = below(round % 3 == 0 ? 65536 : 40) };
            bci += below(round % 5 == 0 ? 300 : 9);
            if (below(20) == 0)
                bci /= 2;
        }
        expect_equal((uint32_t)round % 2, count, 300);
    }
}

static void a_table_without_entries_has_no_line(void **state)
{
    (void)state;
    bytes[0] = 0;
    assert_true(read_lines(1, 1, 5));
    assert_int_equal(found.line, 0);
    assert_int_equal(found.first, 0);
}

/* Byte codes before the first entry, which compilers generate, have no line. */
static void a_byte_code_before_the_first_line_has_none(void **state)
{
    (void)state;
    lines[0] = (struct smp_line){ .start_bci = 4, .line = 30 };
    const size_t used = fake_code_encode_lines(1, lines, 1, bytes, BYTES);
    assert_true(read_lines(1, used, 3));
    assert_int_equal(found.line, 0);
    assert_int_equal(found.first, 30);
}

static void a_table_that_does_not_end_has_no_line(void **state)
{
    (void)state;
    memset(bytes, 9, BYTES); /* one byte code, one line each */
    assert_false(read_lines(1, BYTES, 5));
    assert_int_equal(found.line, 0);
    assert_false(read_lines(1, 0, 5));
    bytes[0] = 255; /* two numbers, of which the first is truncated */
    bytes[1] = bytes[2] = 200;
    assert_false(read_lines(1, 3, 5));
    bytes[1] = bytes[2] = bytes[3] = 0; /* two numbers, the end */
    assert_true(read_lines(0, 4, 5));
    assert_false(read_lines(1, 4, 5)); /* from JDK 20 on no byte of a number is 0 */
}

static void a_table_with_more_entries_than_byte_codes_is_rejected(void **state)
{
    char *many = mmap(NULL, 32 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(many, MAP_FAILED);
    memset(many, 1, 32 * PAGE - 1);
    assert_false(smp_method_lines_read(1, (uintptr_t)many, (uintptr_t)many + 32 * PAGE, 5, &found));
    (void)munmap(many, 32 * PAGE);
}

static void unmapped_memory_has_no_line(void **state)
{
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uintptr_t at = (uintptr_t)page;

    (void)state;
    assert_ptr_not_equal(page, MAP_FAILED);
    memset(page, 9, PAGE);
    (void)munmap(page, PAGE);
    assert_false(smp_method_lines_read(1, at, at + PAGE, 5, &found));
    assert_false(smp_method_lines_read(1, at + PAGE, at, 5, &found)); /* the end before the start */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_found),
        cmocka_unit_test(a_table_without_entries_has_no_line),
        cmocka_unit_test(a_byte_code_before_the_first_line_has_none),
        cmocka_unit_test(a_table_that_does_not_end_has_no_line),
        cmocka_unit_test(a_table_with_more_entries_than_byte_codes_is_rejected),
        cmocka_unit_test(unmapped_memory_has_no_line),
    };

    return cmocka_run_group_tests(tests, allow_reads, NULL);
}
