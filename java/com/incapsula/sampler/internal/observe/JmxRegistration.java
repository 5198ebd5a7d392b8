// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.observe;

import com.incapsula.sampler.ThreadsSamplerMXBean;
import java.lang.management.ManagementFactory;
import java.util.Hashtable;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * A bean in the platform's MBean server. Only this class and {@link DescribedBean} need the module
 * {@code java.management}. If it is absent, they fail to load.
 *
 * <p>Threads: any.
 */
final class JmxRegistration {

    private static final String DOMAIN = "com.incapsula.sampler";
    private static final String TYPE = "ThreadsSampler";
    private static final int MAX_NAMESAKES = 1000;

    private final MBeanServer server;
    private final ObjectName name;

    private JmxRegistration(MBeanServer server, ObjectName name) {
        this.server = server;
        this.name = name;
    }

    /**
     * Registers a bean as {@code com.incapsula.sampler:type=ThreadsSampler,name=NAME}. If that name is taken, -2 is
     * appended to it, or -3 and so on.
     */
    static JmxRegistration of(ThreadsSamplerMXBean bean, String name) throws JMException {
        DescribedBean described = new DescribedBean(bean);
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        for (int i = 1; ; i++) {
            ObjectName tried = objectName(i == 1 ? name : name + "-" + i);
            try {
                server.registerMBean(described, tried);
                return new JmxRegistration(server, tried);
            } catch (InstanceAlreadyExistsException taken) {
                if (i == MAX_NAMESAKES) {
                    throw taken;
                }
            }
        }
    }

    @SuppressWarnings("JdkObsolete") // the constructor of ObjectName takes a Hashtable
    private static ObjectName objectName(String name) throws JMException {
        Hashtable<String, String> keys = new Hashtable<>();
        keys.put("type", TYPE);
        keys.put("name", isPlain(name) ? name : ObjectName.quote(name));
        return new ObjectName(DOMAIN, keys);
    }

    private static boolean isPlain(String name) {
        return name.chars().noneMatch(c -> ",=:\"*?\n".indexOf(c) >= 0);
    }

    void unregister() throws JMException {
        try {
            server.unregisterMBean(name);
        } catch (InstanceNotFoundException gone) {
            // another caller has unregistered it
        }
    }
}
