package dev.weir.traffic.internal.read;

import static dev.weir.traffic.TimeMeaning.BEGIN;
import static dev.weir.traffic.TimeMeaning.END;

import dev.weir.rules.ShownText;
import dev.weir.traffic.Format;
import dev.weir.traffic.TimeMeaning;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.TimeReader.Unit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The columns from which the duration of a request is read, and the instant that the time of its
 * record is.
 *
 * @param columns the columns; several are added up
 * @param unit the unit of their numbers; {@code BY_SIZE} if the only column has the time of the end
 * @param timeIs the instant that the record's time is
 */
public record DurationColumns(List<String> columns, Unit unit, TimeMeaning timeIs) {
  /*
   * Where does each unit and each meaning come from? From the format's own documentation; the
   * decisions on traffic and replay name the page for each. A format is left out, or has no meaning
   * for a column of times, where its documentation does not settle it: Tomcat's %D is milliseconds
   * up to 10.0 and microseconds from 10.1, and Google's page does not say which instant the
   * timestamp is. There the user has to say it: a wrong guess moves each request by its duration.
   */

  /**
   * The durations of a format.
   *
   * @param times the meaning of each column of times
   */
  private record KnownDurations(List<String> columns, Unit unit, Map<String, TimeMeaning> times) {}

  private static final String TIME = "time";

  private static final List<String> TARGET_TIMES =
      List.of("request_processing_time", "target_processing_time", "response_processing_time");

  private static final List<String> BACKEND_TIMES =
      List.of("request_processing_time", "backend_processing_time", "response_processing_time");

  private static final Map<Format, KnownDurations> ALL =
      Map.ofEntries(
          known(Format.NGINX_INGRESS, "request_time", Unit.SECONDS, Map.of(TIME, END)),
          known(Format.TRAEFIK, "duration", Unit.MILLISECONDS, Map.of(TIME, BEGIN)),
          known(
              Format.TRAEFIK_JSON,
              "Duration",
              Unit.NANOSECONDS,
              Map.of("StartUTC", BEGIN, "StartLocal", BEGIN)),
          known(Format.CADDY, "duration", Unit.SECONDS, Map.of("ts", END, TIME, END)),
          known(
              Format.CLOUDFLARE,
              "EdgeEndTimestamp",
              Unit.BY_SIZE,
              Map.of("EdgeStartTimestamp", BEGIN, TIME, BEGIN)),
          known(Format.GCP, "httpRequest.latency", Unit.SECONDS, Map.of()),
          known(Format.AZURE, "properties.timeTaken", Unit.SECONDS, Map.of(TIME, END)),
          Map.entry(
              Format.ALB,
              new KnownDurations(
                  TARGET_TIMES, Unit.SECONDS, Map.of(TIME, END, "request_creation_time", BEGIN))),
          Map.entry(
              Format.ELB, new KnownDurations(BACKEND_TIMES, Unit.SECONDS, Map.of(TIME, BEGIN))),
          known(Format.S3, "total_time", Unit.MILLISECONDS, Map.of(TIME, BEGIN)),
          known(Format.ENVOY, "duration", Unit.MILLISECONDS, Map.of(TIME, BEGIN)),
          known(Format.ISTIO, "duration", Unit.MILLISECONDS, Map.of(TIME, BEGIN)),
          known(Format.HAPROXY, "duration", Unit.MILLISECONDS, Map.of(TIME, BEGIN)),
          known(Format.SQUID, "elapsed", Unit.MILLISECONDS, Map.of(TIME, END)),
          known(Format.LAYOUT, "request_time", Unit.SECONDS, Map.of(TIME, END)));

  /** The name of nginx's variable. */
  private static final String NGINX_DURATION = "request_time";

  /** The columns that Envoy's operators have in its and Istio's own logs in JSON. */
  private static final List<String> ENVOY_SIGNS =
      List.of("start_time", "duration", "response_flags");

  /** Parts of names that columns with durations have. */
  private static final List<String> LIKELY =
      List.of("duration", "latency", "elapsed", "taken", "request_time", "reqtime", "responsetime");

  public DurationColumns {
    columns = List.copyOf(columns);
  }

  private static Map.Entry<Format, KnownDurations> known(
      Format format, String column, Unit unit, Map<String, TimeMeaning> times) {
    return Map.entry(format, new KnownDurations(List.of(column), unit, times));
  }

  /** Returns the durations of a format, as far as they are known; without columns if none are. */
  private static KnownDurations known(Format format, RecordReader reader) {
    List<String> columns = reader.columns();
    if (format == Format.W3C) {
      boolean cloudFront = columns.contains("x-edge-location");
      boolean iis = columns.contains("s-ip") || columns.contains("sc-win32-status");
      Unit unit = iis && !cloudFront ? Unit.MILLISECONDS : Unit.SECONDS;
      return new KnownDurations(List.of("time-taken"), unit, Map.of(TIME, END));
    }
    if (format == Format.PINO) {
      TimeMeaning time = AnsweredRequests.areApart(reader) ? BEGIN : END;
      return new KnownDurations(List.of("responseTime"), Unit.MILLISECONDS, Map.of(TIME, time));
    }
    if (Format.GENERAL.contains(format) && columns.containsAll(ENVOY_SIGNS)) {
      return new KnownDurations(
          List.of("duration"), Unit.MILLISECONDS, Map.of("start_time", BEGIN));
    }
    if (Format.GENERAL.contains(format) && columns.contains(NGINX_DURATION)) {
      Map<String, TimeMeaning> times = Map.of("time_local", END, "time_iso8601", END, "msec", END);
      return new KnownDurations(List.of(NGINX_DURATION), Unit.SECONDS, times);
    }
    return ALL.getOrDefault(format, new KnownDurations(List.of(), Unit.NONE, Map.of()));
  }

  /**
   * Returns the columns of an input; null if it has none, or if it is not certain what its time
   * means.
   *
   * @param timeColumn the column with the time
   * @throws TrafficException if the user's options name a column without its unit, or the meaning
   *     of the time is neither known nor given
   */
  public static @Nullable DurationColumns of(
      Traffic traffic, Format format, RecordReader reader, String timeColumn)
      throws TrafficException {
    KnownDurations known = known(format, reader);
    TimeMeaning asked = traffic.timeIs();
    TimeMeaning timeIs = asked == null ? known.times.get(timeColumn) : asked;
    String flag = traffic.duration();
    if (flag == null) {
      boolean there = !known.columns.isEmpty() && reader.columns().containsAll(known.columns);
      return there && timeIs != null
          ? new DurationColumns(known.columns, known.unit, timeIs)
          : null;
    }
    int colon = flag.lastIndexOf(':');
    Unit unit = colon < 0 ? null : Unit.named(flag.substring(colon + 1));
    String column = unit == null ? flag : flag.substring(0, colon);
    if (unit == null && known.columns.equals(List.of(column))) {
      unit = known.unit;
    }
    if (unit == null) {
      throw new TrafficException(
          "duration: "
              + ShownText.quoted(flag)
              + " without a unit (expected: s, ms, us or ns behind it, such as "
              + ShownText.plain(
                  colon < 0 || reader.columns().contains(flag) ? flag : flag.substring(0, colon))
              + ":ms)");
    }
    if (timeIs == null) {
      throw new TrafficException(unknownMeaning(timeColumn));
    }
    return new DurationColumns(List.of(column), unit, timeIs);
  }

  private static String unknownMeaning(String timeColumn) {
    return "time-is: not known of column "
        + ShownText.quoted(timeColumn)
        + " (expected: --time-is begin or end, whether a record's time is that of the request's"
        + " begin or of its end)";
  }

  /**
   * Returns the reason why an input without {@link #of} has no durations, and what would help, as
   * one line.
   */
  public static String absence(Format format, RecordReader reader, String timeColumn) {
    KnownDurations known = known(format, reader);
    if (!known.columns.isEmpty() && reader.columns().containsAll(known.columns)) {
      return unknownMeaning(timeColumn)
          + "; column "
          + ShownText.plain(String.join("+", known.columns))
          + " has durations";
    }
    for (String column : reader.columns()) {
      String lower = column.toLowerCase(Locale.ROOT);
      if (!column.equals(timeColumn) && LIKELY.stream().anyMatch(lower::contains)) {
        return "duration: column "
            + ShownText.plain(column)
            + " may have it (expected: --duration "
            + ShownText.plain(column)
            + ":s, :ms, :us or :ns, and --time-is begin or end)";
      }
    }
    return "duration: the records do not have it (expected: a log with $request_time of nginx, %D of"
        + " Apache or the like, and --duration COLUMN:UNIT unless the format is known to have it)";
  }

  /** Returns the names of the columns in one text. */
  public String name() {
    return String.join("+", columns);
  }
}
