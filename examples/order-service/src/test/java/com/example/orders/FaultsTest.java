// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import com.example.faults.EveryWayIn;
import com.example.faults.Service;
import java.io.IOException;
import java.nio.file.Path;

class FaultsTest extends EveryWayIn {

    FaultsTest() throws IOException {
        super(Path.of("src", "main", "java", "com", "example", "orders"), Orders.class, "");
    }

    /** Runs the service without a sampler. */
    public static final class Orders implements Service {
        @Override
        public long run(long seconds) throws Exception {
            return OrderService.run(OrderService.IN_MEMORY, seconds);
        }
    }
}
