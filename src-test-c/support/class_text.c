/* SPDX-License-Identifier: Apache-2.0 */
#include "support/class_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <string.h>

struct smp_slice slice_of(const char *text)
{
    return (struct smp_slice){ text, strlen(text) };
}

static bool take_modifier(struct smp_method_summary *method, const char *word)
{
    static const struct {
        const char *word;
        uint16_t access;
    } FLAGS[] = { { "static", SMP_ACCESS_STATIC },
                  { "private", SMP_ACCESS_PRIVATE },
                  { "bridge", SMP_ACCESS_BRIDGE },
                  { "native", SMP_ACCESS_NATIVE },
                  { "abstract", SMP_ACCESS_ABSTRACT } };

    for (size_t i = 0; i < sizeof(FLAGS) / sizeof(FLAGS[0]); i++) {
        if (strcmp(word, FLAGS[i].word) == 0) {
            method->access |= FLAGS[i].access;
            return true;
        }
    }
    if (strcmp(word, "trivial") != 0)
        return false;
    method->is_trivial = true;
    return true;
}

static void cut_method(const char *word, struct smp_slice *name, struct smp_slice *descriptor)
{
    const char *const open = strchr(word, '(');

    assert_non_null(open);
    *name = (struct smp_slice){ word, (size_t)(open - word) };
    *descriptor = slice_of(open);
}

static void read_call(struct smp_call_summary *call, char *word)
{
    char *const mark = strpbrk(word, "#*+");
    char *const dot = strrchr(word, '.');

    assert_non_null(mark);
    call->is_dispatched = *mark == '*';
    call->is_made = *mark == '+';
    call->owner = (struct smp_slice){ word, (size_t)(mark - word) };
    if (dot != NULL) {
        call->name = (struct smp_slice){ mark + 1, (size_t)(dot - mark - 1) };
        call->descriptor = (struct smp_slice){ 0 };
        return;
    }
    cut_method(mark + 1, &call->name, &call->descriptor);
}

static void read_summary_method(struct class_text *self, char *text, size_t *calls)
{
    struct smp_method_summary *method = &self->methods[self->summary.method_count++];
    char *rest = NULL;
    char *word = strtok_r(text, " ", &rest);

    assert_true(self->summary.method_count <= CLASS_SUMMARY_METHODS);
    *method = (struct smp_method_summary){ .calls = &self->calls[*calls] };
    while (word != NULL && take_modifier(method, word))
        word = strtok_r(NULL, " ", &rest);
    assert_non_null(word);
    cut_method(word, &method->name, &method->descriptor);
    word = strtok_r(NULL, " ", &rest);
    if (word == NULL)
        return;
    assert_string_equal(word, "->");
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        assert_true(*calls < CLASS_SUMMARY_CALLS);
        read_call(&self->calls[(*calls)++], word);
        method->call_count++;
    }
}

static void read_types(struct class_text *self, char *text)
{
    char *rest = NULL;
    char *word = strtok_r(text, " ", &rest);

    self->summary.name = slice_of(word);
    word = strtok_r(NULL, " ", &rest);
    if (word == NULL)
        return;
    assert_string_equal(word, ":");
    word = strtok_r(NULL, " ", &rest);
    self->summary.super_name = slice_of(word);
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        assert_true(self->summary.interface_count < CLASS_SUMMARY_INTERFACES);
        self->interfaces[self->summary.interface_count++] = slice_of(word);
    }
}

const struct smp_class_summary *class_text_read(struct class_text *self, uint64_t loader,
                                                const char *line)
{
    size_t calls = 0;
    char *rest = NULL;
    char *part = NULL;

    assert_true(strlen(line) < CLASS_SUMMARY_BYTES);
    memcpy(self->text, line, strlen(line) + 1);
    self->summary = (struct smp_class_summary){ .loader = loader,
                                                .interfaces = self->interfaces,
                                                .methods = self->methods };
    part = strtok_r(self->text, "|", &rest);
    assert_non_null(part);
    read_types(self, part);
    while ((part = strtok_r(NULL, "|", &rest)) != NULL)
        read_summary_method(self, part, &calls);
    return &self->summary;
}
