/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include "jvm/hotspot/frame_cache.h"
#include "jvm/hotspot/frames.h"

/* A stack that changes while it is read may have any word for a return address, 0 among them, which
 * is also what stands in an entry that was never written: its blob is nowhere. */
static void an_empty_cache_knows_no_word(void **state)
{
    static const uintptr_t words[] = { 0, 1, UINTPTR_MAX, (uintptr_t)1 << 57, (uintptr_t)1 << 63 };
    const struct smp_layout layout = { .version = 17 };
    struct smp_frames_cache *cache = NULL;
    struct smp_known_code found;

    (void)state;
    assert_int_equal(smp_frames_cache_create(&cache), SMP_OK);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        assert_false(smp_frame_cache_find(cache, &layout, words[i], &found));
    smp_frames_cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_cache_knows_no_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
