/* SPDX-License-Identifier: Apache-2.0 */
/* option_text.h - options as lines "name=value", for tests. An absent option has its default. */
#ifndef SMP_SUPPORT_OPTION_TEXT_H
#define SMP_SUPPORT_OPTION_TEXT_H

#include "model/options.h"

/* Ends the program if a line is no option or smp_options_read rejects the values. */
void option_text_read(struct smp_quota *quota, const char *text, struct smp_options *out);

/* As option_text_read, but returns the status of smp_options_read. */
SMP_CHECKED enum smp_status option_text_try(struct smp_quota *quota, const char *text,
                                            struct smp_options *out,
                                            char message[SMP_OPTIONS_MESSAGE_BYTES]);

#endif
