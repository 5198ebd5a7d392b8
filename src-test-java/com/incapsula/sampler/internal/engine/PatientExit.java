// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.agent.AgentLoader;
import com.incapsula.sampler.remote.RemoteSamplingOutputer;
import java.lang.reflect.Method;

/**
 * For programs that need their last report, even if it takes longer than the two seconds that an exit normally waits.
 */
public final class PatientExit {

    private static final int MILLIS = 120_000;

    private PatientExit() {}

    /**
     * Lets the exit of this JVM wait for last reports for up to two minutes. Must be called before a sampler starts.
     */
    public static void set() {
        ExitReport.setLongestMillis(MILLIS);
    }

    /**
     * Does the same for the sampler of an agent, whose classes are loaded separately, and for the reports that it
     * pushes.
     */
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
