// SPDX-License-Identifier: Apache-2.0

/** Breaks one rule of JNI to show that the build notices it. Run by selftest.sh. */
public final class BadJni {

    private BadJni() {}

    static native void good();

    static native void unchecked();

    static native void pending();

    static native void fatal();

    public static void main(String[] args) {
        System.load(args[0]);
        switch (args[1]) {
            case "good" -> good();
            case "unchecked" -> unchecked();
            case "pending" -> pending();
            case "fatal" -> fatal();
            default -> throw new IllegalArgumentException(args[1]);
        }
    }
}
