/* SPDX-License-Identifier: Apache-2.0 */
/* The counters that the JVM writes for its tools, correct and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "hotspot/safepoint_count.h"

enum { BEGINNING = 32, ENTRY = 64, NAME_AT = 20, DATA_AT = 48, ENTRIES = 3, VALUE = 4711 };

static const char *const names[ENTRIES] = { "sun.rt.safepointTime", "sun.rt.safepoints",
                                            "sun.rt.safepointSyncTime" };

static union {
    uint64_t aligned;
    uint8_t bytes[BEGINNING + ENTRIES * ENTRY];
} memory;
static void *start; /* the JVM's variable */
static struct {
    const char *type;
    const char *name;
    const char *type_string;
    int32_t is_static;
    uint64_t offset;
    void *address;
} list[2];

static void put(size_t at, uint32_t value)
{
    memcpy(memory.bytes + at, &value, sizeof(value));
}

static int setup(void **state)
{
    static const uint8_t head[] = { 0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1 };

    (void)state;
    memset(&memory, 0, sizeof(memory));
    memcpy(memory.bytes, head, sizeof(head));
    put(8, sizeof(memory.bytes));
    put(24, BEGINNING);
    put(28, ENTRIES);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const uint32_t at = BEGINNING + i * ENTRY;
        const uint64_t value = VALUE + i;
        put(at, ENTRY);
        put(at + 4, NAME_AT);
        memory.bytes[at + 12] = 'J';
        put(at + 16, DATA_AT);
        memcpy(memory.bytes + at + NAME_AT, names[i], strlen(names[i]) + 1);
        memcpy(memory.bytes + at + DATA_AT, &value, sizeof(value));
    }
    start = memory.bytes;
    memset(list, 0, sizeof(list));
    list[0].type = "PerfMemory";
    list[0].name = "_start";
    list[0].is_static = 1;
    list[0].address = &start;
    return 0;
}

static const void *symbol_of(void *self, const char *name)
{
    static const void *structs;
    static const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        { "gHotSpotVMStructEntryTypeNameOffset", 0 },
        { "gHotSpotVMStructEntryFieldNameOffset", 8 },
        { "gHotSpotVMStructEntryTypeStringOffset", 16 },
        { "gHotSpotVMStructEntryIsStaticOffset", 24 },
        { "gHotSpotVMStructEntryOffsetOffset", 32 },
        { "gHotSpotVMStructEntryAddressOffset", 40 },
        { "gHotSpotVMStructEntryArrayStride", sizeof(list[0]) },
    };

    (void)self;
    structs = list;
    if (strcmp(name, "gHotSpotVMStructs") == 0)
        return &structs;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(name, numbers[i].name) == 0)
            return &numbers[i].value;
    }
    return NULL;
}

static const struct smp_exports exports = { .symbol = symbol_of };

static uint64_t count(void)
{
    return smp_safepoint_count(smp_safepoint_count_find(&exports));
}

static void the_count_is_found_and_followed(void **state)
{
    const uint64_t more = VALUE + 100;

    (void)state;
    const uint64_t *counter = smp_safepoint_count_find(&exports);
    assert_non_null(counter);
    assert_int_equal(smp_safepoint_count(counter), VALUE + 1);
    memcpy(memory.bytes + BEGINNING + ENTRY + DATA_AT, &more, sizeof(more));
    assert_int_equal(smp_safepoint_count(counter), more);
    assert_int_equal(smp_safepoint_count(NULL), 0);
}

static void without_the_counters_there_is_no_safepoint_count(void **state)
{
    (void)state;
    start = NULL; /* -XX:-UsePerfData */
    assert_int_equal(count(), 0);
    list[0].name = "_end";
    assert_int_equal(count(), 0);
    list[0].type = NULL;
    list[0].name = NULL;
    assert_int_equal(count(), 0);
}

static void another_format_is_not_read(void **state)
{
    static const size_t places[] = { 0, 3, 4, 5 };

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        memory.bytes[places[i]] ^= 1;
        assert_int_equal(count(), 0);
        memory.bytes[places[i]] ^= 1;
    }
    assert_int_not_equal(count(), 0);
}

/* Each number of the header and of a counter, with impossible values. */
static void nothing_is_read_outside_the_counters(void **state)
{
    static const uint32_t wrong[] = { 0, 1, 21, 47, 1000, UINT32_MAX, INT32_MAX };
    const size_t second = BEGINNING + ENTRY;
    const size_t places[] = { 8, 24, 28, BEGINNING, second, second + 4, second + 16 };

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
            uint32_t saved = 0;
            memcpy(&saved, memory.bytes + places[i], sizeof(saved));
            put(places[i], wrong[k]);
            const uint64_t found = count();
            /* There are fewer bytes or counters than announced: the count is found before that. */
            const bool is_before =
                (places[i] == 8 && wrong[k] == 1000) || (places[i] == 28 && wrong[k] >= 2);
            assert_int_equal(found, is_before ? VALUE + 1 : 0);
            put(places[i], saved);
        }
    }
    memory.bytes[second + 12] = 'I';
    assert_int_equal(count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_count_is_found_and_followed, setup),
        cmocka_unit_test_setup(without_the_counters_there_is_no_safepoint_count, setup),
        cmocka_unit_test_setup(another_format_is_not_read, setup),
        cmocka_unit_test_setup(nothing_is_read_outside_the_counters, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
