// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Not a test: takes the pictures of the documents, for {@code examples/screenshots/take.sh}. {@code page.reports} is
 * the folder with {@code report.html} and {@code diff.html}, {@code page.pictures} the folder for the pictures.
 */
@EnabledIfSystemProperty(named = "page.pictures", matches = ".+", disabledReason = "only take.sh wants pictures")
class PicturesIT extends WithBrowser {
    private static final Path REPORTS = Path.of(System.getProperty("page.reports", ""));
    private static final Path PICTURES = Path.of(System.getProperty("page.pictures", ""));

    private static void open(String report, int width, int height, String colours) {
        browser.size(width, height, 1);
        browser.systemColours(colours);
        browser.open(REPORTS.resolve(report).toUri().toString());
    }

    private static void take(String name) throws IOException {
        browser.run("return new Promise(done => requestAnimationFrame(() => setTimeout(done)))");
        browser.picture(PICTURES.resolve(name + ".png"));
    }

    @Test
    void picturesOfTheOrderService() throws IOException {
        open("report.html", 1280, 720, "light");
        take("order-service");
        browser.tab("tree");
        take("tree");
        browser.tab("account");
        take("account");
        open("report.html", 1280, 720, "dark");
        browser.run(
                "[...document.querySelectorAll('#summary button')].find(e => e.textContent.includes('lock of')).click()");
        take("dark");
        open("report.html", 390, 844, "light");
        take("phone");
    }

    @Test
    void pictureOfADifference() throws IOException {
        open("diff.html", 1280, 720, "light");
        take("diff");
    }
}
