// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

/** Marks an outputer that is not public and whose {@code printError} goes to the log: it needs no warning that is logged. */
public interface ErrorsToLog {}
