// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

/** A program that only prints a line. */
public final class HelloProgram {

    private HelloProgram() {}

    /** Prints the line. */
    public static void main(String[] arguments) {
        System.out.println("hello");
    }
}
