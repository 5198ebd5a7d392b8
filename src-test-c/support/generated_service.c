/* SPDX-License-Identifier: Apache-2.0 */
#include "support/generated_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_STACKS = 40, /* stacks that begin with an entry point of their own */
    LEAST_DEPTH = 35,
    DEPTHS = 31,
    STACKS_STEP = 1024,
    FIRST_LINE = 20,
    LINE_STEP = 7,
    BCI_STEP = 12
};

/* Looks like a jmethodID: far apart and aligned. */
#define FIRST_KEY 0x7f3a40001000u
#define KEY_STEP 0x48u

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed >> 32;
}

static size_t below(uint64_t *seed, size_t bound)
{
    return (size_t)next_random(seed) % bound;
}

static void *must_resize(void *piece, size_t size)
{
    void *bigger = realloc(piece, size);

    if (bigger == NULL) {
        fputs("generated_service: out of memory\n", stderr);
        exit(2);
    }
    return bigger;
}

static struct smp_frame random_frame(struct generated_service *service, uint64_t *seed)
{
    const size_t method = service->own_methods ? service->methods++ : below(seed, MADE_METHODS);

    return (struct smp_frame){ .method = FIRST_KEY + KEY_STEP * method,
                               .bci = BCI_STEP * (int64_t)below(seed, MADE_LINES) };
}

/* Generates the next stack. Returns the number of frames that it shares with no other stack. */
static size_t make_stack(struct generated_service *service, uint64_t *seed)
{
    struct generated_stack *stack = &service->stacks[service->stack_count];
    size_t shared = 0;
    size_t depth = LEAST_DEPTH + below(seed, DEPTHS);

    stack->group = (uint32_t)below(seed, MADE_GROUPS);
    if (service->stack_count >= FIRST_STACKS) {
        const struct generated_stack *other = &service->stacks[below(seed, service->stack_count)];
        shared = other->count / 3 + below(seed, other->count - other->count / 3);
        if (depth <= shared)
            depth = shared + 1 + below(seed, 5);
        if (depth > MADE_MAX_DEPTH)
            depth = MADE_MAX_DEPTH;
        stack->group = other->group;
        memcpy(&stack->frames[depth - shared], &other->frames[other->count - shared],
               shared * sizeof(stack->frames[0]));
    }
    stack->count = depth;
    for (size_t i = 0; i < depth - shared; i++)
        stack->frames[i] = random_frame(service, seed);
    service->stack_count++;
    service->frame_count += depth;
    return depth - shared;
}

static void shuffle(struct generated_service *service, uint64_t *seed)
{
    for (size_t i = service->stack_count - 1; i > 0; i--) {
        const size_t j = below(seed, i + 1);
        const struct generated_stack stack = service->stacks[i];
        service->stacks[i] = service->stacks[j];
        service->stacks[j] = stack;
    }
}

struct generated_service *generated_service_create(size_t nodes, bool own_methods)
{
    struct generated_service *service = must_resize(NULL, sizeof(*service));
    uint64_t seed = 88172645463325252u;
    size_t made = 0;

    *service = (struct generated_service){ .own_methods = own_methods };
    while (made < nodes) {
        if (service->stack_count % STACKS_STEP == 0)
            service->stacks = must_resize(service->stacks, (service->stack_count + STACKS_STEP) *
                                                               sizeof(service->stacks[0]));
        made += make_stack(service, &seed);
    }
    shuffle(service, &seed);
    return service;
}

void generated_service_destroy(struct generated_service *service)
{
    if (service == NULL)
        return;
    free(service->stacks);
    free(service);
}

/* --- names --- */

static struct {
    char class_name[96];
    char method_name[32];
    char file[48];
    struct smp_line lines[MADE_LINES];
} answer;

static enum smp_status resolve(void *self, uint64_t key, struct smp_method_info *info)
{
    static const char *const parts[] = { "orders",  "billing", "catalog", "shipping",
                                         "pricing", "search",  "account", "stock" };
    static const char *const roles[] = { "Service", "Repository", "Controller", "Mapper",
                                         "Handler" };
    static const char *const verbs[] = { "find", "load", "create", "update", "send" };
    const unsigned method = (unsigned)((key - FIRST_KEY) / KEY_STEP);
    const char *part = parts[method % 8];
    const char *role = roles[method / 8 % 5];
    const unsigned number = method / 40 % (26 * 26);
    char round[12] = "";

    (void)self;
    if (method / 40 >= 26 * 26)
        snprintf(round, sizeof(round), "%u", method / (40 * 26 * 26));
    snprintf(answer.class_name, sizeof(answer.class_name),
             "com.acme.shop.%s.internal.Order%c%c%s%s", part, 'A' + (int)(number % 26),
             'a' + (int)(number / 26), round, role);
    snprintf(answer.file, sizeof(answer.file), "Order%c%c%s%s.java", 'A' + (int)(number % 26),
             'a' + (int)(number / 26), round, role);
    snprintf(answer.method_name, sizeof(answer.method_name), "%sAll", verbs[number % 5]);
    for (int i = 0; i < MADE_LINES; i++)
        answer.lines[i] =
            (struct smp_line){ .start_bci = BCI_STEP * i, .line = FIRST_LINE + LINE_STEP * i };
    *info = (struct smp_method_info){ .class_name = answer.class_name,
                                      .method_name = answer.method_name,
                                      .file = answer.file,
                                      .lines = answer.lines,
                                      .line_count = MADE_LINES };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

struct smp_name_source generated_service_names(void)
{
    return (struct smp_name_source){ .resolve = resolve, .release = release };
}
