// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Orders in the database. */
final class OrderRepository {

    private final Database database;

    OrderRepository(Database database) {
        this.database = database;
    }

    void store(Order order, long cents) {
        try (Connection connection = database.connection();
                PreparedStatement insert =
                        connection.prepareStatement("insert into orders(number, customer, cents) values (?, ?, ?)")) {
            insert.setInt(1, order.number());
            insert.setString(2, order.customer());
            insert.setLong(3, cents);
            insert.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The slow query: joins each customer's orders with each other, without an index. */
    String bestCustomer() {
        try (Connection connection = database.connection();
                PreparedStatement select = connection.prepareStatement(
                        "select a.customer, count(*) from (select * from orders order by number desc limit 400) a"
                                + " join (select * from orders order by number desc limit 400) b"
                                + " on a.cents + 0 = b.cents + 0 group by a.customer order by 2 desc limit 1");
                ResultSet rows = select.executeQuery()) {
            return rows.next() ? rows.getString(1) : "none";
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
