// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.nio.charset.StandardCharsets;
import org.springframework.context.support.GenericXmlApplicationContext;
import org.springframework.core.io.ByteArrayResource;

/** Spring, configured by XML as users write it. */
public final class SpringXml {

    private static final String HEAD = """
            <beans xmlns="http://www.springframework.org/schema/beans"
                   xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                   xsi:schemaLocation="http://www.springframework.org/schema/beans
                                       http://www.springframework.org/schema/beans/spring-beans.xsd">
            """;

    private SpringXml() {}

    /** @return a started context with these {@code <bean>} elements */
    public static GenericXmlApplicationContext start(String beans) {
        String xml = HEAD + beans + "</beans>\n";
        return new GenericXmlApplicationContext(new ByteArrayResource(xml.getBytes(StandardCharsets.UTF_8)));
    }
}
