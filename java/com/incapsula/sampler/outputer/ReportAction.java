// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import com.incapsula.sampler.SamplingReport;

/**
 * An action for each report, for {@link SamplingOutputer#of}.
 *
 * <pre>{@code
 * ReportAction toFile = report -> report.writeTo(ReportFormat.PPROF, Path.of("latest.pb.gz"));
 * sampler.setSamplingOutputer(SamplingOutputer.of(toFile));
 * }</pre>
 *
 * @since 1.0
 */
@FunctionalInterface
public interface ReportAction {

    /**
     * Receives a report.
     *
     * @param report the report; the sampler closes it when this method returns, so read or write it before
     * @throws Exception if the report is to count as failed
     */
    void accept(SamplingReport report) throws Exception;
}
