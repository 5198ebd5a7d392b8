// SPDX-License-Identifier: Apache-2.0
package threadsampler;

/**
 * The native part of the hooks, a class of the boot loader in the unnamed module. If a library that the boot loader has
 * not loaded registered native methods of a class in java.base, the JVM would print a warning for each.
 */
public final class HookNatives extends ThreadsSamplerHook {

    /** Created once, by the library. */
    public HookNatives() {}

    @Override
    protected native void enterRoot0(long tid, boolean isVirtual, String name, int id);

    @Override
    protected native void exitRoot0(long state, int id);

    @Override
    protected native void enter0(long state, int id);

    @Override
    protected native void exit0(long state, int id);

    @Override
    protected native long child0(long state, long at, int id);

    @Override
    protected native void caught0(long state, int id, int doubt);

    @Override
    protected native boolean reflected0(Object called, Object receiver);
}
