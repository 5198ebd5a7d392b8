/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_options.h - reads one value of an agent's options, [VERB][,KEY(=|:)VALUE]..., before there
 * are Java classes that read them all. AgentCommand.java has the grammar.
 *
 * Owns     no value: it is the caller's, to be given to smp_free(NULL, ...).
 * Threads  any.
 * Errors   SMP_ENOMEM.
 * Cost     O(length).
 */
#ifndef SMP_JVM_AGENT_OPTIONS_H
#define SMP_JVM_AGENT_OPTIONS_H

#include "base/status.h"

/* The value of the first part with this key, without its escapes. *out is NULL if there is none. */
SMP_CHECKED enum smp_status smp_agent_option(const char *options, const char *key, char **out);

#endif
