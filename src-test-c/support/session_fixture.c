/* SPDX-License-Identifier: Apache-2.0 */
#include "support/session_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "support/option_text.h"

int session_fixture_setup(void **state)
{
    struct session_fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->live_before = smp_alloc_live_bytes();
    fake_clock_install(&f->clock);
    f->vm = fake_jvm_create();
    f->outputer = fake_outputer_create();
    f->main = fake_jvm_start(f->vm, "main");
    fake_jvm_run(f->vm, f->main, SESSION_MAIN_LOOP);
    *state = f;
    return 0;
}

int session_fixture_teardown(void **state)
{
    struct session_fixture *f = *state;

    smp_session_destroy(f->session);
    fake_outputer_destroy(f->outputer);
    fake_jvm_destroy(f->vm);
    fake_clock_remove();
    assert_int_equal(smp_alloc_live_bytes(), f->live_before);
    free(f);
    return 0;
}

enum smp_status session_fixture_create(struct session_fixture *fixture, const char *options)
{
    struct smp_session_config config = {
        .vm = fake_jvm_interface(fixture->vm),
        .attach = fake_jvm_attach(fixture->vm),
        .outputer = fake_outputer_interface(fixture->outputer),
    };
    struct smp_options read = { 0 };
    enum smp_status status = option_text_try(NULL, options, &read, NULL);

    if (status != SMP_OK)
        return status;
    config.vm.calls = fixture->calls;
    config.vm.os_threads.quota_milli = fixture->quota_milli;
    status = smp_session_create(&config, &read, &fixture->session);
    smp_options_fini(&read);
    return status;
}

void session_fixture_start(struct session_fixture *fixture, const char *options)
{
    assert_int_equal(session_fixture_create(fixture, options), SMP_OK);
    assert_int_equal(smp_session_start(fixture->session), SMP_OK);
}
