// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Base of test classes that use one browser for all their tests. */
abstract class WithBrowser {

    /** Started before the first test of a class, closed after the last one. */
    static Browser browser;

    @BeforeAll
    static void startBrowser() {
        browser = Browser.start();
    }

    /* The browser is null if the machine has none and the tests were skipped. */
    @AfterAll
    static void stopBrowser() {
        if (browser != null) {
            browser.close();
            browser = null;
        }
    }
}
