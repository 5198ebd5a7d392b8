// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Tests of a class in one browser. */
abstract class WithBrowser {

    /** From before the first test of a class until after its last one. */
    static Browser browser;

    @BeforeAll
    static void startBrowser() {
        browser = Browser.start();
    }

    /* It does not start where there is none, and the tests are skipped. */
    @AfterAll
    static void stopBrowser() {
        if (browser != null) {
            browser.close();
            browser = null;
        }
    }
}
