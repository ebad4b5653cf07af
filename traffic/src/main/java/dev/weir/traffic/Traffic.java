package dev.weir.traffic;

import dev.weir.rules.ShownText;
import dev.weir.traffic.internal.read.Input;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The place and format of recorded traffic. Immutable. Nothing is checked before the traffic is
 * read; then all problems are reported at once.
 *
 * <p>Several inputs are read side by side, and the earliest record comes next: rotated logs in any
 * order and the logs of several servers make one stream.
 *
 * @param inputs the names of one to 256 files, or {@code -} for standard input; they may be
 *     compressed with gzip or Zstandard
 * @param descriptors the descriptors, each {@code key={column}[,key2={column2}]}; a record is a
 *     request with all of them
 * @param format the format of the inputs
 * @param layout the order of the values in a line, for a user's own format; null for none
 * @param time the column with the time, with {@code :s}, {@code :ms}, {@code :us} or {@code :ns}
 *     behind it if the size of its numbers does not show the unit; null to search for a usual name
 * @param timeUnit the unit of numbers in that column, counted since 1970: seconds, milliseconds,
 *     microseconds or nanoseconds; null to infer it, which is an error if no unit gives plausible
 *     years
 * @param zone the zone of times that are written without one; null if it is not known, which is an
 *     error if they would be merged with others
 * @param trustedProxies the addresses or ranges of proxies that are passed over in lists of
 *     addresses, from the right, to find the client; empty for none: of a list the first counts
 * @param permits the permits of a record: a number, or a column in braces
 * @param sort true to sort the records by time first; records that do not fit into memory are
 *     sorted in temporary files
 * @param anyOrder true if records may be in any order without being sorted: each is decided at the
 *     latest time so far. If false, more than one in a hundred out of order is an error
 * @param duration the column with the time that a request took, with its unit behind it: {@code
 *     taken:us}; null for the one that the format is known to have
 * @param timeIs the instant of a request that the time of its record is; null for the one that the
 *     format is known to log. It matters only where durations are read: a request then counts at
 *     its begin
 */
public record Traffic(
    List<String> inputs,
    List<String> descriptors,
    Format format,
    @Nullable String layout,
    @Nullable String time,
    @Nullable TimeUnit timeUnit,
    @Nullable ZoneId zone,
    List<String> trustedProxies,
    String permits,
    boolean sort,
    boolean anyOrder,
    @Nullable String duration,
    @Nullable TimeMeaning timeIs) {

  /** The name that stands for standard input. */
  public static final String STANDARD_INPUT = "-";

  /** The most inputs: so many files can be open at once with a buffer each. */
  static final int MAX_INPUTS = 256;

  private static final Map<TimeUnit, String> UNITS =
      Map.of(
          TimeUnit.SECONDS, "s",
          TimeUnit.MILLISECONDS, "ms",
          TimeUnit.MICROSECONDS, "us",
          TimeUnit.NANOSECONDS, "ns");

  public Traffic {
    inputs = List.copyOf(inputs);
    descriptors = List.copyOf(descriptors);
    trustedProxies = List.copyOf(trustedProxies);
  }

  /**
   * Returns the files among the inputs.
   *
   * @throws TrafficException if one is not a path
   */
  public List<Path> files() throws TrafficException {
    List<Path> files = new ArrayList<>();
    for (String input : inputs) {
      if (!input.equals(STANDARD_INPUT)) {
        files.add(Input.path("input", input));
      }
    }
    return files;
  }

  /**
   * Returns the unit of times in the form that {@link #unit} reads, or null if none is requested.
   */
  public @Nullable String unitFlag() {
    TimeUnit asked = timeUnit;
    return asked == null ? null : UNITS.getOrDefault(asked, asked.toString());
  }

  /**
   * Returns the unit of that name.
   *
   * @throws IllegalArgumentException if it is not s, ms, us or ns
   */
  public static TimeUnit unit(String text) {
    for (Map.Entry<TimeUnit, String> each : UNITS.entrySet()) {
      if (each.getValue().equals(text)) {
        return each.getKey();
      }
    }
    throw new IllegalArgumentException(
        "time-unit: " + ShownText.quoted(text) + " (expected: s, ms, us or ns)");
  }

  /**
   * Returns the zone of that name.
   *
   * @throws IllegalArgumentException if there is no such zone
   */
  public static ZoneId zone(String text) {
    try {
      return ZoneId.of(text);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "zone: "
              + ShownText.quoted(text)
              + " (expected: the name of a zone such as Europe/Berlin, or an offset such as"
              + " +02:00)",
          e);
    }
  }

  /** Returns a builder of traffic from an input. */
  public static Builder builder(String input) {
    return new Builder().input(input);
  }

  /** Returns the same traffic with this descriptor only. */
  public Traffic withDescriptor(String descriptor) {
    return new Traffic(
        inputs,
        List.of(descriptor),
        format,
        layout,
        time,
        timeUnit,
        zone,
        trustedProxies,
        permits,
        sort,
        anyOrder,
        duration,
        timeIs);
  }

  /** Returns a builder of traffic without inputs. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder of traffic. Not safe for use by several threads. */
  public static final class Builder {
    private final List<String> inputs = new ArrayList<>();
    private final List<String> descriptors = new ArrayList<>();
    private Format format = Format.AUTO;
    private @Nullable String layout;
    private @Nullable String time;
    private @Nullable TimeUnit timeUnit;
    private @Nullable ZoneId zone;
    private List<String> trustedProxies = List.of();
    private String permits = "1";
    private boolean sort;
    private boolean anyOrder;
    private @Nullable String duration;
    private @Nullable TimeMeaning timeIs;

    private Builder() {}

    /** Adds a file's name, or {@code -} for standard input. At least one is needed. */
    public Builder input(String name) {
      inputs.add(name);
      return this;
    }

    /** Adds a descriptor, {@code key={column}[,key2={column2}]}. */
    public Builder descriptor(String template) {
      descriptors.add(template);
      return this;
    }

    /** Sets the format of the inputs. Default: {@link Format#AUTO}. */
    public Builder format(Format format) {
      this.format = format;
      return this;
    }

    /**
     * Sets the order of the values in a line, for the user's own format, such as {@code ip - user
     * [time] "request" status}. Default: none.
     */
    public Builder layout(@Nullable String layout) {
      this.layout = layout;
      return this;
    }

    /** Sets the column with the time. Default: one with a usual name. */
    public Builder time(@Nullable String column) {
      this.time = column;
      return this;
    }

    /**
     * Sets the unit of numbers in that column, counted since 1970. Default: the one that gives
     * plausible years.
     */
    public Builder timeUnit(@Nullable TimeUnit unit) {
      this.timeUnit = unit;
      return this;
    }

    /**
     * Sets the zone of times that are written without one. Default: not known; they are then taken
     * for UTC, with a line in {@link TrafficReader#notes}.
     */
    public Builder zone(@Nullable ZoneId zone) {
      this.zone = zone;
      return this;
    }

    /**
     * Sets the addresses or ranges of proxies, such as {@code 10.0.0.0/8}, behind which the client
     * is to be found: the log's address is passed over if it is one of them, and then the list of
     * addresses beside it, from the right, as {@link dev.weir.identity.ClientAddress} does with a
     * request. Default: none.
     */
    public Builder trustedProxies(List<String> ranges) {
      this.trustedProxies = List.copyOf(ranges);
      return this;
    }

    /** Sets the permits of a record: a number, or a column in braces. Default: 1. */
    public Builder permits(String template) {
      this.permits = template;
      return this;
    }

    /** Sets whether to sort the records by time first. Default: no. */
    public Builder sort(boolean sort) {
      this.sort = sort;
      return this;
    }

    /** Sets whether records may be in any order without being sorted. Default: no. */
    public Builder anyOrder(boolean anyOrder) {
      this.anyOrder = anyOrder;
      return this;
    }

    /**
     * Sets the column with the time that a request took, with {@code :s}, {@code :ms}, {@code :us}
     * or {@code :ns} behind it. Default: the one that the format is known to have, if durations are
     * wanted at all.
     */
    public Builder duration(@Nullable String column) {
      this.duration = column;
      return this;
    }

    /**
     * Sets the instant of a request that the time of its record is. Default: the one that the
     * format is known to log.
     */
    public Builder timeIs(@Nullable TimeMeaning meaning) {
      this.timeIs = meaning;
      return this;
    }

    public Traffic build() {
      return new Traffic(
          inputs,
          descriptors,
          format,
          layout,
          time,
          timeUnit,
          zone,
          trustedProxies,
          permits,
          sort,
          anyOrder,
          duration,
          timeIs);
    }
  }
}
