/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   key = highest bit | number of the generation | index of the method in it
 *
 *   by_address {method, const_method, epoch} ─┐
 *   by_text    {hash of the names} ───────────┴─► index ─► named {class, method} ─► texts
 */
#include "jvm/code/named_methods.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "base/utf8.h"

enum {
    INDEX_BITS = 10,
    SLOTS = 2 * SMP_NAMED_METHODS_GENERATION, /* of each table; a power of two */
    /* utf8.h makes three bytes of one at most. */
    TEXT_ROOM = 3 * SMP_METHOD_NAME_BYTES + 4
};

_Static_assert(1 << INDEX_BITS == (int)SMP_NAMED_METHODS_GENERATION, "an index fits its bits");
_Static_assert((int)SMP_NAMED_METHODS_ADDRESSES < (int)SLOTS, "a probe ends at a free slot");
_Static_assert(2 * (int)TEXT_ROOM < (int)SMP_NAMED_METHODS_TEXT_BYTES,
               "an empty generation takes any names");

struct named {
    uint32_t hash;
    uint32_t class_at; /* in texts */
    uint32_t method_at;
    bool is_native;
};

struct by_address {
    uintptr_t method; /* 0: free */
    uintptr_t const_method;
    uint64_t epoch;
    uint64_t index;
};

struct generation {
    uint64_t number; /* from 1 */
    size_t count;
    size_t address_count;
    size_t text_bytes;
    struct named named[SMP_NAMED_METHODS_GENERATION];
    struct by_address by_address[SLOTS];
    uint16_t by_text[SLOTS]; /* index + 1; 0: free */
    char texts[SMP_NAMED_METHODS_TEXT_BYTES];
};

struct smp_named_methods {
    struct generation *newer; /* NULL before the first method */
    struct generation *older;
    uint64_t forgotten;
    uint64_t refused;
};

/* Names as the table keeps them. */
struct texts {
    char class_name[TEXT_ROOM];
    char method_name[TEXT_ROOM];
    size_t class_bytes; /* with the NUL */
    size_t method_bytes;
    uint32_t hash;
    bool is_native;
};

/* --- texts --- */

/*
 * "com/acme/Outer$Inner" is com.acme.Outer$Inner. A hidden class has a '+' before its address:
 * "com/acme/Foo$$Lambda+0x0004" is com.acme.Foo$$Lambda/0x0004.
 */
static void dot_internal_name(char *name)
{
    char *hidden = strrchr(name, '+');

    for (char *at = name; *at != '\0'; at++) {
        if (*at == '/')
            *at = '.';
    }
    if (hidden != NULL && strncmp(hidden, "+0x", 3) == 0)
        *hidden = '/';
}

static size_t names_length(const char name[SMP_METHOD_NAME_BYTES])
{
    return strnlen(name, SMP_METHOD_NAME_BYTES);
}

static void make_texts(const struct smp_method_names *names, bool is_native, struct texts *texts)
{
    texts->class_bytes =
        smp_utf8_from_modified(texts->class_name, sizeof(texts->class_name), names->class_name,
                               names_length(names->class_name)) +
        1;
    texts->method_bytes = smp_utf8_from_modified(texts->method_name, sizeof(texts->method_name),
                                                 names->name, names_length(names->name)) +
                          1;
    dot_internal_name(texts->class_name);
    texts->is_native = is_native;
    texts->hash = smp_hash_bytes(SMP_HASH_START, texts->class_name, texts->class_bytes);
    texts->hash = smp_hash_bytes(texts->hash, texts->method_name, texts->method_bytes);
}

/* --- a generation --- */

static size_t text_slot(uint32_t hash, size_t step)
{
    return (hash + step) & (SLOTS - 1);
}

static bool equals(const struct generation *generation, const struct named *named,
                   const struct texts *texts)
{
    return named->hash == texts->hash && named->is_native == texts->is_native &&
           strcmp(generation->texts + named->class_at, texts->class_name) == 0 &&
           strcmp(generation->texts + named->method_at, texts->method_name) == 0;
}

/* The slot of these texts, or the free one where they belong. */
static uint16_t *find_text_slot(struct generation *generation, const struct texts *texts)
{
    uint16_t *slot = NULL;

    for (size_t step = 0;; step++) {
        slot = &generation->by_text[text_slot(texts->hash, step)];
        if (*slot == 0 || equals(generation, &generation->named[*slot - 1], texts))
            return slot;
    }
}

static uint32_t put_text(struct generation *generation, const char *text, size_t bytes)
{
    const size_t at = generation->text_bytes;

    memcpy(generation->texts + at, text, bytes);
    generation->text_bytes += bytes;
    return (uint32_t)at;
}

static bool has_room(const struct generation *generation, const struct texts *texts)
{
    return generation->count < SMP_NAMED_METHODS_GENERATION &&
           generation->address_count < SMP_NAMED_METHODS_ADDRESSES &&
           generation->text_bytes + texts->class_bytes + texts->method_bytes <=
               sizeof(generation->texts);
}

static size_t put_named(struct generation *generation, uint16_t *slot, const struct texts *texts)
{
    const size_t index = generation->count++;

    generation->named[index] = (struct named){
        .hash = texts->hash,
        .class_at = put_text(generation, texts->class_name, texts->class_bytes),
        .method_at = put_text(generation, texts->method_name, texts->method_bytes),
        .is_native = texts->is_native,
    };
    *slot = (uint16_t)(index + 1);
    return index;
}

/* The slot of these addresses, or the free one where they belong. An epoch is no part of the
 * key: an address that is used again takes its old slot. */
static struct by_address *find_address_slot(struct generation *generation, uintptr_t method,
                                            uintptr_t const_method)
{
    uint32_t hash = smp_hash_u32(SMP_HASH_START, (uint32_t)(method >> 3));

    hash = smp_hash_u32(hash, (uint32_t)(method >> 32) ^ (uint32_t)(const_method >> 3));
    for (size_t step = 0;; step++) {
        struct by_address *slot = &generation->by_address[text_slot(hash, step)];
        if (slot->method == 0 || (slot->method == method && slot->const_method == const_method))
            return slot;
    }
}

static void put_address(struct generation *generation, const struct by_address *known)
{
    struct by_address *slot = find_address_slot(generation, known->method, known->const_method);

    if (slot->method == 0)
        generation->address_count++;
    *slot = *known;
}

static uint64_t key_of(const struct generation *generation, uint64_t index)
{
    return SMP_NAMED_METHOD_BIT | generation->number << INDEX_BITS | index;
}

/* --- the table --- */

/* The newer generation becomes the older one, whose names are forgotten. False: no memory. */
static bool begin_generation(struct smp_named_methods *named)
{
    struct generation *next = named->older;
    const uint64_t number = named->newer != NULL ? named->newer->number : 0;

    if (next == NULL)
        next = smp_alloc(NULL, sizeof(*next));
    if (next == NULL)
        return false;
    named->forgotten += next->count;
    memset(next, 0, sizeof(*next));
    next->number = number + 1;
    named->older = named->newer;
    named->newer = next;
    return true;
}

enum smp_status smp_named_methods_create(struct smp_named_methods **out)
{
    struct smp_named_methods *named = smp_alloc(NULL, sizeof(*named));

    if (named == NULL)
        return SMP_ENOMEM;
    *out = named;
    return SMP_OK;
}

void smp_named_methods_destroy(struct smp_named_methods *named)
{
    if (named == NULL)
        return;
    smp_free(NULL, named->newer);
    smp_free(NULL, named->older);
    smp_free(NULL, named);
}

uint64_t smp_named_methods_find(const struct smp_named_methods *named, uintptr_t method,
                                uintptr_t const_method, uint64_t epoch)
{
    if (named->newer == NULL)
        return 0;
    const struct by_address *slot = find_address_slot(named->newer, method, const_method);
    return slot->method != 0 && slot->epoch == epoch ? key_of(named->newer, slot->index) : 0;
}

uint64_t smp_named_methods_add(struct smp_named_methods *named, uintptr_t method, uint64_t epoch,
                               const struct smp_method_names *names, bool is_native)
{
    struct texts texts;
    uint16_t *slot = NULL;

    make_texts(names, is_native, &texts);
    if ((named->newer == NULL || !has_room(named->newer, &texts)) && !begin_generation(named)) {
        named->refused++;
        return 0;
    }
    slot = find_text_slot(named->newer, &texts);
    const struct by_address known = {
        .method = method,
        .const_method = names->const_method,
        .epoch = epoch,
        .index = *slot != 0 ? *slot - 1U : put_named(named->newer, slot, &texts),
    };
    if (method != 0)
        put_address(named->newer, &known);
    return key_of(named->newer, known.index);
}

bool smp_named_methods_is_key(uint64_t key)
{
    return (key & SMP_NAMED_METHOD_BIT) != 0 && key != UINT64_MAX; /* SMP_METHODS_NO_ID */
}

static const struct generation *generation_of(const struct smp_named_methods *named, uint64_t key)
{
    const uint64_t number = (key & ~SMP_NAMED_METHOD_BIT) >> INDEX_BITS;

    if (named->newer != NULL && named->newer->number == number)
        return named->newer;
    return named->older != NULL && named->older->number == number ? named->older : NULL;
}

bool smp_named_methods_texts(const struct smp_named_methods *named, uint64_t key,
                             struct smp_named_method_texts *out)
{
    const struct generation *generation = generation_of(named, key);
    const size_t index = (size_t)(key & (SMP_NAMED_METHODS_GENERATION - 1));

    if (!smp_named_methods_is_key(key) || generation == NULL || index >= generation->count)
        return false;
    *out = (struct smp_named_method_texts){
        .class_name = generation->texts + generation->named[index].class_at,
        .method_name = generation->texts + generation->named[index].method_at,
        .is_native = generation->named[index].is_native,
    };
    return true;
}

void smp_named_methods_get_stats(const struct smp_named_methods *named,
                                 struct smp_named_methods_stats *out)
{
    *out = (struct smp_named_methods_stats){ .forgotten = named->forgotten,
                                             .refused = named->refused };
    if (named->newer != NULL)
        out->methods += named->newer->count;
    if (named->older != NULL)
        out->methods += named->older->count;
}
