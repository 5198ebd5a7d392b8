// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * A web application that computes, samples itself with its own copy of the library, and answers requests with the
 * samples since the last answer. Its worker thread has the name of its context.
 */
public final class SampledServlet extends HttpServlet {

    private static final long serialVersionUID = 1L;

    private static volatile double result;

    private final transient ThreadsSampler sampler = new ThreadsSampler();
    private transient Thread worker;
    private transient SamplingCursor reports;
    private volatile boolean ends;

    @Override
    public void init() throws ServletException {
        worker = new Thread(this::work, getServletContext().getContextPath().substring(1) + "-worker");
        worker.start();
        sampler.setRequired(true);
        sampler.setSamplingFrequencyMillis(5);
        sampler.setReportFrequencySeconds(0);
        sampler.init();
        reports = sampler.openCursor();
    }

    private void work() {
        for (double x = 1; !ends; x++) {
            result += Math.sqrt(x);
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/plain");
        synchronized (this) {
            try (SamplingReport report = reports.next()) {
                report.writeTo(ReportFormat.COLLAPSED, response.getOutputStream());
            }
        }
    }

    @Override
    public void destroy() {
        try {
            reports.close();
            sampler.close();
            ends = true;
            worker.join();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
