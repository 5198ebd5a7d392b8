// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

/**
 * A calendar time in UTC, in seconds. Formatters of {@code java.time} load a hundred classes at their first use, which
 * would be while the application starts or exits.
 *
 * <p>Threads: immutable.
 */
public final class UtcTime {

    private static final int DAY_SECONDS = 86_400;
    private static final int HOUR_SECONDS = 3600;
    private static final int MINUTE_SECONDS = 60;

    /* The Gregorian calendar repeats every 400 years. Here a year begins in March, so a leap day is its last day. */
    private static final int ERA_YEARS = 400;
    private static final int ERA_DAYS = 146_097;
    private static final int CENTURY_DAYS = 36_524;
    private static final int LEAP_CYCLE_DAYS = 1460; // four years, without the leap day
    private static final int YEAR_DAYS = 365;
    private static final int DAYS_TO_1970 = 719_468; // from March 1 of the year 0

    private final long year;
    private final int month;
    private final int day;
    private final int secondOfDay;

    private UtcTime(long epochSecond) {
        long days = Math.floorDiv(epochSecond, DAY_SECONDS) + DAYS_TO_1970;
        long era = Math.floorDiv(days, ERA_DAYS);
        int dayOfEra = Math.floorMod(days, ERA_DAYS);
        int yearOfEra = (dayOfEra - dayOfEra / LEAP_CYCLE_DAYS + dayOfEra / CENTURY_DAYS - dayOfEra / (ERA_DAYS - 1))
                / YEAR_DAYS;
        int dayOfYear = dayOfEra - (YEAR_DAYS * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        int fromMarch = (5 * dayOfYear + 2) / 153; // from March on, each five months have 153 days
        month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
        day = dayOfYear - (153 * fromMarch + 2) / 5 + 1;
        year = era * ERA_YEARS + yearOfEra + (month <= 2 ? 1 : 0);
        secondOfDay = Math.floorMod(epochSecond, DAY_SECONDS);
    }

    /** Converts seconds since 1970. */
    public static UtcTime of(long epochSecond) {
        return new UtcTime(epochSecond);
    }

    /** {@return the current time} */
    public static UtcTime now() {
        return of(Math.floorDiv(System.currentTimeMillis(), 1000L));
    }

    /** {@return the time for names of files, such as {@code 20261120-090807Z}} */
    public String compact() {
        return text("", "-", "");
    }

    /** As in {@code 2026-11-20T09:08:07Z}. */
    @Override
    public String toString() {
        return text("-", "T", ":");
    }

    private String text(String inDate, String between, String inTime) {
        StringBuilder text = new StringBuilder();
        append(text, year, 4).append(inDate);
        append(text, month, 2).append(inDate);
        append(text, day, 2).append(between);
        append(text, secondOfDay / HOUR_SECONDS, 2).append(inTime);
        append(text, secondOfDay / MINUTE_SECONDS % MINUTE_SECONDS, 2).append(inTime);
        return append(text, secondOfDay % MINUTE_SECONDS, 2).append('Z').toString();
    }

    private static StringBuilder append(StringBuilder text, long number, int digits) {
        String shown = Long.toString(number);
        for (int i = shown.length(); i < digits; i++) {
            text.append('0');
        }
        return text.append(shown);
    }
}
