package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.Format;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.TimeReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A search for the columns with the time and the key, by their usual names. */
public final class UsualColumns {
  /** Names of the column with the time, the surest first; in any letter case. */
  private static final List<String> TIME_NAMES =
      List.of(
          "@timestamp",
          "timestamp",
          "time",
          "ts",
          "datetime",
          "date_time",
          "date",
          "event_time",
          "eventtime",
          "time_iso8601",
          "time_local",
          "start_time",
          "starttime",
          "created_at",
          "epoch");

  /** Names of columns with a client's address, the surest first; in any letter case. */
  private static final List<String> ADDRESS_NAMES =
      List.of(
          "client.ip",
          "ip",
          "client_ip",
          "clientip",
          "remote_addr",
          "remote_ip",
          "remoteip",
          "c-ip",
          "client_addr",
          "remoteaddress",
          "remote_address",
          "remoteaddr",
          "client_address",
          "clientaddress",
          "downstream_remote_address",
          "source_ip",
          "src_ip");

  /** Names of columns with the list of a header, in any letter case. */
  private static final List<String> FORWARDED_NAMES =
      List.of(
          "forwarded",
          "x_forwarded_for",
          "x-forwarded-for",
          "http_x_forwarded_for",
          "forwarded_for",
          "xff");

  /** Names of columns that have addresses in some logs and names in others. */
  private static final List<String> MIXED_NAMES =
      List.of(
          "client", "host", "peer", "remote", "remote_host", "source", "src", "addr", "address");

  /** Names of other columns whose values are keys, the surest first; in any letter case. */
  private static final List<String> KEY_NAMES =
      List.of("client", "user", "user_id", "host", "key", "api_key", "tenant");

  /** The share of records below which a column is too rare to be the key of all. */
  private static final double RARE = 0.1;

  private UsualColumns() {}

  /** The column with the time, and the unit of its numbers as far as one is requested. */
  public record TimeColumn(String name, TimeReader.Unit unit) {}

  /**
   * Returns the column with the time.
   *
   * @param asked the column's name, with or without {@code :s}, {@code :ms}, {@code :us} or {@code
   *     :ns} behind it; null to search for a usual name
   */
  public static TimeColumn timeColumn(@Nullable String asked, Format format, RecordReader reader)
      throws TrafficException {
    if (asked == null) {
      String known = Readers.timeColumn(format);
      boolean there = !known.isEmpty() && reader.columns().contains(known);
      return new TimeColumn(there ? known : usualName(reader.columns()), TimeReader.Unit.BY_SIZE);
    }
    int colon = asked.lastIndexOf(':');
    TimeReader.Unit unit = colon < 0 ? null : TimeReader.Unit.named(asked.substring(colon + 1));
    if (unit == null || reader.columns().contains(asked)) {
      return new TimeColumn(asked, TimeReader.Unit.BY_SIZE);
    }
    return new TimeColumn(asked.substring(0, colon), unit);
  }

  private static String usualName(List<String> columns) throws TrafficException {
    for (String usual : TIME_NAMES) {
      for (String column : columns) {
        if (column.equalsIgnoreCase(usual)) {
          return column;
        }
      }
    }
    throw new TrafficException(
        "time: no column has a usual name for it (expected: --time with one of "
            + ShownText.listed(columns)
            + ")");
  }

  /**
   * Returns the column whose values are the keys: the client's address in a format that has one;
   * otherwise a column with a usual name, whole or behind a dot, that more than a few records have.
   *
   * @throws TrafficException if there is no such column, or if several have the same name behind a
   *     dot
   */
  public static String keyColumn(Format format, RecordReader reader) throws TrafficException {
    List<String> all = reader.columns();
    if (!Format.GENERAL.contains(format)) {
      if (all.contains("ip")) {
        return "ip";
      }
      throw new TrafficException(
          "descriptor: none, and "
              + format
              + " has no column with the client's address (expected: --descriptor 'k={column}' with"
              + " one of "
              + ShownText.listed(all)
              + ")");
    }
    List<String> columns = all.stream().filter(each -> reader.share(each) >= RARE).toList();
    List<String> names = new ArrayList<>(ADDRESS_NAMES);
    names.addAll(KEY_NAMES);
    for (String usual : names) {
      for (String column : columns) {
        if (column.equalsIgnoreCase(usual)) {
          return column;
        }
      }
      List<String> behindDots = behindDots(columns, usual);
      if (behindDots.size() == 1 && ADDRESS_NAMES.contains(usual)) {
        return behindDots.get(0);
      }
      if (behindDots.size() > 1) {
        throw new TrafficException(
            "descriptor: none, and the key may be any of "
                + ShownText.listed(behindDots)
                + " (expected: --descriptor 'k={column}' with one of them)");
      }
    }
    throw new TrafficException(
        "descriptor: none, and no column has a usual name for a key"
            + " (expected: --descriptor 'k={column}' with one of "
            + ShownText.listed(all)
            + ")");
  }

  private static List<String> behindDots(List<String> columns, String usual) {
    return columns.stream()
        .filter(column -> column.toLowerCase(Locale.ROOT).endsWith("." + usual))
        .toList();
  }

  /** Returns whether a column of that name has addresses, as far as its name shows. */
  public static boolean hasAddresses(String column) {
    return ADDRESS_NAMES.contains(behindDot(column));
  }

  /** Returns whether values of a column of that name are addresses in some logs. */
  static boolean mayHaveAddresses(String column) {
    return hasAddresses(column) || isForwarded(column) || MIXED_NAMES.contains(behindDot(column));
  }

  /** Returns whether a column of that name has the list of a header. */
  static boolean isForwarded(String column) {
    return FORWARDED_NAMES.contains(behindDot(column));
  }

  private static String behindDot(String column) {
    String lower = column.toLowerCase(Locale.ROOT);
    return lower.substring(lower.lastIndexOf('.') + 1);
  }
}
