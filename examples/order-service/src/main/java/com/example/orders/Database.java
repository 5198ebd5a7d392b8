// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** H2 behind a connection pool. */
final class Database implements AutoCloseable {

    private final HikariDataSource pool;

    Database(String url) throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setPoolName("orders-pool");
        config.setMaximumPoolSize(2);
        pool = new HikariDataSource(config);
        try (Connection connection = connection();
                Statement statement = connection.createStatement()) {
            statement.execute("drop table if exists orders");
            statement.execute("create table orders(number int, customer varchar(40), cents bigint)");
        }
    }

    Connection connection() throws SQLException {
        return pool.getConnection();
    }

    @Override
    public void close() {
        pool.close();
    }
}
