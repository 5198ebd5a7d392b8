// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.catalina.Context;
import org.apache.catalina.Lifecycle;
import org.apache.catalina.startup.Tomcat;

/**
 * Tomcat with two web applications, {@code one} and {@code two}, each with the library's jar in {@code WEB-INF/lib}.
 * Arguments: the jar, and an empty folder. Each line of standard input names an application to redeploy.
 */
public final class TomcatProgram {

    private TomcatProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        Path jar = Path.of(arguments[0]);
        Path folder = Path.of(arguments[1]);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        Map<String, Context> applications = new HashMap<>();
        for (String name : new String[] {"one", "two"}) {
            applications.put(name, application(tomcat, name, jar, folder.resolve(name)));
        }
        tomcat.start();
        System.out.println("port " + tomcat.getConnector().getLocalPort() + "\nready");
        int deployments = 0;
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String name = lines.readLine(); name != null; name = lines.readLine()) {
                applications.get(name).stop();
                applications.get(name).start();
                deployments++;
                System.out.println("deployment " + deployments);
            }
        }
        tomcat.stop();
        tomcat.destroy();
        System.out.println("end of main");
    }

    private static Context application(Tomcat tomcat, String name, Path jar, Path folder) throws Exception {
        String servlet = SampledServlet.class.getName();
        Path file = Path.of(servlet.replace('.', '/') + ".class");
        Path to = folder.resolve("WEB-INF/classes").resolve(file);
        Files.createDirectories(to.getParent());
        Files.copy(ChildJvm.placeOf(SampledServlet.class).resolve(file), to);
        Files.createDirectories(folder.resolve("WEB-INF/lib"));
        Files.copy(jar, folder.resolve("WEB-INF/lib/threads-sampler.jar"));
        Context context = tomcat.addContext("/" + name, folder.toString());
        context.addLifecycleListener(event -> {
            // for each start, because stopping removes the servlet
            if (event.getType().equals(Lifecycle.CONFIGURE_START_EVENT)) {
                Tomcat.addServlet(context, "sampled", servlet).setLoadOnStartup(1);
                context.addServletMappingDecoded("/", "sampled");
            }
        });
        return context;
    }
}
