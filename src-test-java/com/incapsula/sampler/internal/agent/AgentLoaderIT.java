// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import org.junit.jupiter.api.Test;

/** The agent's class loader. Each case runs in a JVM of its own. */
class AgentLoaderIT {

    /** Prints which class loader has the agent's classes, in an application that has them, too. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws ClassNotFoundException {
            Class<?> loaded = AgentLoader.load(AgentCalls.class.getName());
            System.out.println(
                    loaded == AgentCalls.class
                            ? "the application's"
                            : loaded.getClassLoader().getName());
        }
    }

    /** A system class loader defined by the user. */
    public static final class UsersLoader extends ClassLoader {

        /** Called by the JVM. */
        public UsersLoader(ClassLoader parent) {
            super(parent);
        }
    }

    @Test
    void theApplicationsClassesAreNotUsed() throws Exception {
        assertThat(ChildJvm.of(Program.class).run().assertFine().output()).isEqualTo("threads-sampler-agent\n");
    }

    @Test
    void theSystemClassLoaderMayBeTheUsers() throws Exception {
        assertThat(ChildJvm.of(Program.class)
                        .option("-Djava.system.class.loader=" + UsersLoader.class.getName())
                        .run()
                        .assertFine()
                        .output())
                .endsWith("threads-sampler-agent\n"); // JDK 17 prints a warning about the option before that
    }
}
