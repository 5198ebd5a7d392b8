// SPDX-License-Identifier: Apache-2.0
/** What tests count. The library's own packages are never instrumented, so it is in none of them. */
package counted;
