// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** An order as a client sends it. */
record Order(int number, String customer, List<Line> lines) {

    record Line(String article, int quantity) {}

    private static final ObjectMapper JSON = new ObjectMapper();

    static Order example(int number) {
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            lines.add(new Line("article-" + (number * 7 + i) % 50, 1 + i % 5));
        }
        return new Order(number, "customer-" + number % 200, lines);
    }

    static Order parse(String json) {
        try {
            return JSON.readValue(json, Order.class);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    String toJson() {
        try {
            return JSON.writeValueAsString(this);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
