/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   key = highest bit | number of the generation | index in it
 *
 *   by_text {hash of the texts and the line} ─► index ─► named {class, method, file, line} ─► texts
 */
#include "jvm/code/named_methods.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "base/utf8.h"
#include "hotspot/frames.h"

enum {
    INDEX_BITS = 10,
    SLOTS = 2 * SMP_NAMED_METHODS_GENERATION, /* a power of two */
    TEXTS = 3,
    /* utf8.h writes at most UTF8_GROWTH bytes for each byte, and needs UTF8_MIN_BYTES. */
    UTF8_GROWTH = 3,
    UTF8_MIN_BYTES = 4,
    TEXT_ROOM = UTF8_GROWTH * SMP_NAMED_METHODS_LONGEST + TEXTS * UTF8_MIN_BYTES,
    LINES = 2
};

_Static_assert(1 << INDEX_BITS == (int)SMP_NAMED_METHODS_GENERATION, "an index fits its bits");
_Static_assert((int)TEXT_ROOM < (int)SMP_NAMED_METHODS_TEXT_BYTES,
               "an empty generation takes any texts");

enum text { CLASS, METHOD, SOURCE_FILE };

/* Equal methods are equal byte by byte. */
struct named {
    uint32_t hash;
    uint32_t at; /* its texts, each with a NUL */
    uint32_t bytes;
    uint32_t starts[TEXTS]; /* of each text, from at on */
    uint32_t is_native;
    uint32_t has_file;
    struct smp_line lines[LINES]; /* the line of any byte code, and the smallest of the method */
};

struct generation {
    uint64_t number; /* from 1 */
    size_t count;
    size_t text_bytes;
    struct named named[SMP_NAMED_METHODS_GENERATION];
    uint16_t by_text[SLOTS]; /* index + 1; 0: free */
    char texts[SMP_NAMED_METHODS_TEXT_BYTES];
};

struct smp_named_methods {
    struct generation *newer; /* NULL before the first method */
    struct generation *older;
    char scratch[TEXT_ROOM];
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

static void put_copied_text(char *scratch, struct named *named, enum text which, const char *text,
                            size_t bytes)
{
    named->starts[which] = named->bytes;
    named->bytes +=
        1 + (uint32_t)smp_utf8_from_modified(scratch + named->bytes,
                                             UTF8_GROWTH * bytes + UTF8_MIN_BYTES, text, bytes);
}

/* The second line only holds the method's smallest line: no byte code starts there. */
static void put_lines(const struct smp_method_copy *copy, struct named *named)
{
    named->lines[0] = (struct smp_line){ .start_bci = 0, .line = copy->line };
    named->lines[1] = (struct smp_line){ .start_bci = INT32_MAX, .line = copy->first_line };
}

/* Writes the texts to scratch. */
static struct named read_copy(const struct smp_method_copy *copy, char *scratch)
{
    const char *method = copy->texts + copy->class_bytes;
    struct named named = { .is_native = copy->is_native, .has_file = copy->file_bytes > 0 };

    put_copied_text(scratch, &named, CLASS, copy->texts, copy->class_bytes);
    dot_internal_name(scratch);
    put_copied_text(scratch, &named, METHOD, method, copy->name_bytes);
    put_copied_text(scratch, &named, SOURCE_FILE, method + copy->name_bytes, copy->file_bytes);
    put_lines(copy, &named);
    named.hash = smp_hash_bytes(SMP_HASH_START, scratch, named.bytes);
    named.hash = smp_hash_u32(named.hash, (uint32_t)copy->line);
    return named;
}

/* --- a generation --- */

static bool equals(const struct generation *generation, const struct named *kept,
                   const struct named *named, const char *texts)
{
    return kept->hash == named->hash && kept->bytes == named->bytes &&
           memcmp(kept->starts, named->starts, sizeof(kept->starts)) == 0 &&
           kept->is_native == named->is_native && kept->has_file == named->has_file &&
           memcmp(kept->lines, named->lines, sizeof(kept->lines)) == 0 &&
           memcmp(generation->texts + kept->at, texts, named->bytes) == 0;
}

/* Returns the slot of this method, or the free slot for it. */
static uint16_t *find_slot(struct generation *generation, const struct named *named,
                           const char *texts)
{
    for (size_t step = 0;; step++) {
        uint16_t *slot = &generation->by_text[(named->hash + step) & (SLOTS - 1)];
        if (*slot == 0 || equals(generation, &generation->named[*slot - 1], named, texts))
            return slot;
    }
}

static bool has_room(const struct generation *generation, const struct named *named)
{
    return generation->count < SMP_NAMED_METHODS_GENERATION &&
           generation->text_bytes + named->bytes <= sizeof(generation->texts);
}

static uint16_t put_named(struct generation *generation, const struct named *named,
                          const char *texts)
{
    struct named *kept = &generation->named[generation->count++];

    *kept = *named;
    kept->at = (uint32_t)generation->text_bytes;
    memcpy(generation->texts + kept->at, texts, named->bytes);
    generation->text_bytes += named->bytes;
    return (uint16_t)generation->count;
}

/* --- the table --- */

/* Empties the older generation and swaps the two. Returns false without memory. */
static bool begin_generation(struct smp_named_methods *named)
{
    struct generation *next = named->older;
    const uint64_t number = named->newer != NULL ? named->newer->number : 0;

    if (next == NULL)
        next = smp_alloc(NULL, sizeof(*next));
    if (next == NULL)
        return false;
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

uint64_t smp_named_methods_add(struct smp_named_methods *named, const struct smp_method_copy *copy)
{
    const size_t bytes = (size_t)copy->class_bytes + copy->name_bytes + copy->file_bytes;

    if (bytes > SMP_NAMED_METHODS_LONGEST)
        return 0;
    const struct named read = read_copy(copy, named->scratch);
    uint16_t *slot = named->newer != NULL ? find_slot(named->newer, &read, named->scratch) : NULL;
    if (slot == NULL || (*slot == 0 && !has_room(named->newer, &read))) {
        if (!begin_generation(named))
            return 0;
        slot = find_slot(named->newer, &read, named->scratch);
    }
    if (*slot == 0)
        *slot = put_named(named->newer, &read, named->scratch);
    return SMP_NAMED_METHOD_BIT | named->newer->number << INDEX_BITS | (*slot - 1U);
}

void smp_named_methods_take(struct smp_named_methods *named, struct smp_sample *sample,
                            const void *room, size_t bytes)
{
    for (size_t i = 0; i < sample->count; i++) {
        struct smp_frame *frame = &sample->frames[i];
        if ((frame->method & SMP_FRAME_NAME_BIT) == 0 || frame->bci == SMP_BCI_PSEUDO)
            continue;
        const struct smp_method_copy *copy = smp_frame_name_of(frame->method, room, bytes);
        frame->method = named != NULL && copy != NULL ? smp_named_methods_add(named, copy) : 0;
    }
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

bool smp_named_methods_find(const struct smp_named_methods *named, uint64_t key,
                            struct smp_method_info *out)
{
    const struct generation *generation = generation_of(named, key);
    const size_t index = (size_t)(key & (SMP_NAMED_METHODS_GENERATION - 1));

    if (!smp_named_methods_is_key(key) || generation == NULL || index >= generation->count)
        return false;
    const struct named *found = &generation->named[index];
    const char *texts = generation->texts + found->at;
    *out = (struct smp_method_info){
        .class_name = texts + found->starts[CLASS],
        .method_name = texts + found->starts[METHOD],
        .file = found->has_file ? texts + found->starts[SOURCE_FILE] : NULL,
        .is_native = found->is_native != 0,
        .lines = found->lines,
        .line_count = LINES,
    };
    return true;
}

size_t smp_named_methods_count(const struct smp_named_methods *named)
{
    return (named->newer != NULL ? named->newer->count : 0) +
           (named->older != NULL ? named->older->count : 0);
}
