// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page of a real server of a real sampler, in a real browser. */
@Timeout(Samplers.HANG_SECONDS)
class LivePageIT {

    private final ThreadsSampler sampler = new ThreadsSampler();
    private final ThreadsSamplerServer server = new ThreadsSamplerServer();
    private final CountDownLatch done = new CountDownLatch(1);

    @BeforeEach
    void start() {
        sampler.setSamplingFrequencyMillis(10);
        sampler.setReportFrequencySeconds(0);
        startSampler();
        server.setSampler(sampler);
    }

    private void startSampler() {
        sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(new PrintStream(OutputStream.nullOutputStream())));
        sampler.init();
    }

    @AfterEach
    void stop() throws IOException {
        done.countDown();
        server.close();
        sampler.close();
    }

    private void startThread(String name) {
        Thread thread = new Thread(
                () -> {
                    try {
                        done.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    private static String hasGroup(String name) {
        return "return [...document.querySelectorAll('#groups .group-name')].some(e => e.textContent === '" + name
                + "')";
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "s3cret"})
    void pageFollowsTheSampler(String token) {
        server.setToken(token);
        server.init();
        startThread("early <b>bird</b>");
        try (Browser browser = Browser.start()) {
            String url = server.getUrl().toString();
            browser.open(token.isEmpty() ? url : url.replace("http://", "http://me:" + token + "@"));
            browser.until(hasGroup("early <b>bird</b>"));
            startThread("newcomer");
            browser.until(hasGroup("newcomer"));
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    void pageSaysWhenTheSamplerIsGoneAndComesBack() throws IOException {
        server.init();
        try (Browser browser = Browser.start()) {
            browser.open(server.getUrl().toString());
            sampler.close();
            browser.until("return document.querySelector('#live-text').textContent.includes('503')");
            startSampler();
            browser.until("return document.querySelector('#live-text').textContent.startsWith('Live, ')");
        }
    }
}
