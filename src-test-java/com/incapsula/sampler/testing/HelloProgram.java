// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

/** The program that does least. */
public final class HelloProgram {

    private HelloProgram() {}

    /** Says hello. */
    public static void main(String[] arguments) {
        System.out.println("hello");
    }
}
