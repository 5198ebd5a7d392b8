// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.agent.AgentLoader;
import com.incapsula.sampler.remote.RemoteSamplingOutputer;
import java.lang.reflect.Method;

/** For programs whose last report matters, and not that it holds up the exit for two seconds at most. */
public final class PatientExit {

    private static final int MILLIS = 120_000;

    private PatientExit() {}

    /** Lets the exit of this JVM wait for last reports as long as they take. To be called before a sampler starts. */
    public static void set() {
        ExitReport.setLongestMillis(MILLIS);
    }

    /** Likewise for the sampler of an agent, whose classes are loaded apart, and for the reports that it pushes. */
    public static void setForAgent() throws ReflectiveOperationException {
        call(AgentLoader.load(ExitReport.class.getName()), "setLongestMillis", long.class);
        call(AgentLoader.load(RemoteSamplingOutputer.class.getName()), "setStandardCloseMillis", int.class);
    }

    private static void call(Class<?> type, String setter, Class<?> parameter) throws ReflectiveOperationException {
        Method method = type.getDeclaredMethod(setter, parameter);
        method.setAccessible(true);
        method.invoke(null, MILLIS);
    }
}
