/* SPDX-License-Identifier: Apache-2.0 */
#include "support/exported.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_output.h"

void assert_exported(const struct smp_profile *profile, enum smp_format format,
                     struct smp_export_style style, const char *text, bool has)
{
    struct memory_output out = { 0 };
    const struct smp_output output = memory_output_functions(&out);

    assert_int_equal(smp_export(profile, format, &style, NULL, &output), SMP_OK);
    /* memmem, because PPROF and OTLP output contains zero bytes. */
    if ((memmem(memory_output_text(&out), out.length, text, strlen(text)) != NULL) != has)
        fail_msg("%s\"%s\" in:\n%s", has ? "no " : "", text, memory_output_text(&out));
    memory_output_fini(&out);
}
