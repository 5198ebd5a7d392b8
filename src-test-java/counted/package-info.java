// SPDX-License-Identifier: Apache-2.0
/** Code that tests count. It is outside the library's packages, because these are never instrumented. */
package counted;
