package dev.weir.replay;

import dev.weir.Throttle;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.replay.internal.pages.SummaryJson;
import dev.weir.replay.internal.pages.SummaryText;
import dev.weir.traffic.Format;
import dev.weir.traffic.InputRead;
import dev.weir.traffic.RequestDurations;
import dev.weir.traffic.TrafficReader;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of a replay. The same input and options give the same summary, except for {@link
 * #timeTaken}, which is in neither {@link #text} nor {@link #json}.
 *
 * @param source a description of how the input was read
 * @param stopped true if an interrupt ended it before the end of the input
 * @param counts the totals
 * @param policies every policy of the domain, in the order of the rule files
 * @param queues every queue of the domain's rules, in the same order
 * @param seats every limit at the same time whose seats were followed, because the traffic shows
 *     how long requests took
 * @param refusedKeys the keys with the most refused requests, at most ten
 * @param refusedKeysExact true if the counts of the refused keys are exact; otherwise they can be
 *     too high
 * @param busiestWindows the windows with the most permits asked for by one key, at most ten
 * @param busiestWindowsComplete true if the windows of all keys were compared
 * @param unreadableLines the first lines that could not be read, at most ten
 * @param warnings the doubts about the rules, the input, or how they fit together, one line each
 * @param timeTaken the time that the replay took
 */
public record ReplaySummary(
    Source source,
    boolean stopped,
    Counts counts,
    List<PolicyCount> policies,
    List<QueueCount> queues,
    List<SeatCount> seats,
    List<RefusedKey> refusedKeys,
    boolean refusedKeysExact,
    List<BusyWindow> busiestWindows,
    boolean busiestWindowsComplete,
    List<UnreadableLine> unreadableLines,
    List<String> warnings,
    Duration timeTaken) {

  /** The most entries of each list. */
  public static final int LISTED = 10;

  public ReplaySummary {
    policies = List.copyOf(policies);
    queues = List.copyOf(queues);
    seats = List.copyOf(seats);
    refusedKeys = List.copyOf(refusedKeys);
    busiestWindows = List.copyOf(busiestWindows);
    unreadableLines = List.copyOf(unreadableLines);
    warnings = List.copyOf(warnings);
  }

  /**
   * A description of how the inputs were read.
   *
   * @param inputs the inputs that were read
   * @param format the format of the first input, detected if that was asked for
   * @param timeColumn the column with the time, detected if that was asked for
   * @param timeUnit the unit of numbers in that column, for example milliseconds; empty if there
   *     are none
   * @param durations the durations that the records have; null if none were read
   * @param notes inferences and omissions, one line each
   */
  public record Source(
      List<InputRead> inputs,
      Format format,
      String timeColumn,
      String timeUnit,
      @Nullable RequestDurations durations,
      List<String> notes) {
    public Source {
      inputs = List.copyOf(inputs);
      notes = List.copyOf(notes);
    }

    public static Source of(TrafficReader reader) {
      return new Source(
          reader.inputs(),
          reader.format(),
          reader.timeColumn(),
          reader.timeUnit(),
          reader.durations(),
          reader.notes());
    }

    /** Returns the format and the columns of the time and of durations, for people. */
    public String text() {
      return "format "
          + format
          + ", time in column "
          + Figures.plain(timeColumn)
          + (timeUnit.isEmpty() ? "" : " in " + timeUnit)
          + (durations == null ? "" : ", " + durations.text());
    }
  }

  /**
   * The totals.
   *
   * @param requests records that were decided
   * @param allowed the number of these that may pass
   * @param denied the number of these that may not
   * @param deniedForTrouble the number denied for another reason than their limit, such as too many
   *     keys
   * @param shadowDenied the number allowed only because a rule is in shadow mode
   * @param tolerated the number allowed only because of a rule's throttle
   * @param unlimited the number allowed because no limit applies to them
   * @param unreadable records that could not be read and therefore were not decided
   * @param outOfOrder records earlier than one before them, decided at the latest time so far
   * @param firstNanos the earliest time, in nanoseconds since the Unix epoch; null if there is none
   * @param lastNanos the latest time, likewise
   */
  public record Counts(
      long requests,
      long allowed,
      long denied,
      long deniedForTrouble,
      long shadowDenied,
      long tolerated,
      long unlimited,
      long unreadable,
      long outOfOrder,
      @Nullable Long firstNanos,
      @Nullable Long lastNanos) {

    /** Returns denied divided by requests, to six places; 0 if there are none. */
    public BigDecimal deniedShare() {
      return share(denied, requests, 6);
    }
  }

  /**
   * The counts of one policy. A request with several descriptors counts for each policy that
   * decided on one.
   *
   * @param policy its name
   * @param path the path of its rule, unique
   * @param algorithm the algorithm's name
   * @param permits the quota's permits
   * @param windowNanos the quota's window
   * @param requests the number of requests that it decided
   * @param denied the number of them that did not fit
   * @param shadowDenied the number of them that did not fit but passed, because the rule is in
   *     shadow mode
   * @param throttle the strictness with which the quota is enforced
   * @param bound the permits that a soft policy enforces strictly; otherwise the quota's
   * @param tolerated the number that passed beyond the quota because of the throttle
   */
  public record PolicyCount(
      String policy,
      String path,
      String algorithm,
      long permits,
      long windowNanos,
      long requests,
      long denied,
      long shadowDenied,
      Throttle throttle,
      long bound,
      long tolerated) {}

  /**
   * The counts of one rule's queues, one queue for each key. A request that waited for several
   * rules counts for the one for which it waited longest.
   *
   * @param policy the policy's name
   * @param path the path of the rule, unique
   * @param requests the most requests that may wait for one key at a time
   * @param waitNanos the longest time that a request may wait
   * @param servedLate the number of requests that waited and were admitted
   * @param medianWaitNanos the time that half of these did not exceed, at most a 64th too long; 0
   *     if there are none
   * @param wait99Nanos the time that 99 of a hundred of these did not exceed, likewise
   * @param longestWaitNanos the longest time that one of these waited
   * @param gaveUp the number of requests that waited and were refused
   * @param refusedAtOnce the number of requests that were to wait but found the queue full, or the
   *     wait too long
   */
  public record QueueCount(
      String policy,
      String path,
      int requests,
      long waitNanos,
      long servedLate,
      long medianWaitNanos,
      long wait99Nanos,
      long longestWaitNanos,
      long gaveUp,
      long refusedAtOnce) {}

  /**
   * The counts of a limit at the same time.
   *
   * @param policy the policy's name
   * @param path the path of the rule, unique
   * @param permits the most permits that may be out at once for one key
   * @param holdNanos the time after which a seat that was not renewed is free again
   * @param denied the number of requests that it refused, or would have refused in shadow mode
   * @param mostAtOnce the most permits of one key that were out at once
   * @param mostWanted the most that would have been out at once for one key without a limit
   * @param atLimitNanos the time during which at least one key had all of its permits out
   * @param cutShort the number of admitted requests that took longer than middleware keeps a seat
   *     ({@link dev.weir.engine.seats.RequestSeats#LONGEST})
   */
  public record SeatCount(
      String policy,
      String path,
      long permits,
      long holdNanos,
      long denied,
      long mostAtOnce,
      long mostWanted,
      long atLimitNanos,
      long cutShort) {}

  /** Returns the same summary with more warnings at the end. */
  ReplaySummary with(List<String> more) {
    List<String> all = new ArrayList<>(warnings);
    all.addAll(more);
    return new ReplaySummary(
        source,
        stopped,
        counts,
        policies,
        queues,
        seats,
        refusedKeys,
        refusedKeysExact,
        busiestWindows,
        busiestWindowsComplete,
        unreadableLines,
        all,
        timeTaken);
  }

  /** Returns the number of requests that waited and were admitted. */
  public long servedLate() {
    return queues.stream().mapToLong(QueueCount::servedLate).sum();
  }

  /** Returns the number of requests that waited and were refused. */
  public long gaveUp() {
    return queues.stream().mapToLong(QueueCount::gaveUp).sum();
  }

  /**
   * A key with refused requests.
   *
   * @param policy the name of the policy that refused
   * @param key the descriptor, {@code key=value,key2=value2}
   * @param denied the number of refusals that this key decided
   */
  public record RefusedKey(String policy, String key, long denied) {}

  /**
   * A window of a policy's length, aligned to multiples of it since the Unix epoch.
   *
   * @param permits the permits that the key requested in the window
   * @param requests the number of its requests
   * @param denied the number of them that did not fit
   */
  public record BusyWindow(
      String policy,
      String key,
      long startNanos,
      long windowNanos,
      long permits,
      long requests,
      long denied) {}

  /**
   * A line that could not be read: its input's name, its number, counted from 1, and the reason.
   */
  public record UnreadableLine(String input, long line, String reason) {}

  /** Returns the summary as text for people: several lines, each ended by a line feed. */
  public String text() {
    return new SummaryText(this).toString();
  }

  /** Returns the summary as one JSON object, ended by a line feed. */
  public String json() {
    return SummaryJson.of(this);
  }

  /**
   * Returns the records read per second of {@link #timeTaken}; 0 if that is too short to measure.
   */
  public long recordsPerSecond() {
    long nanos = timeTaken.toNanos();
    if (nanos <= 0) {
      return 0;
    }
    return BigDecimal.valueOf(counts.requests + counts.unreadable)
        .scaleByPowerOfTen(9)
        .divide(BigDecimal.valueOf(nanos), 0, RoundingMode.DOWN)
        .longValue();
  }

  public static BigDecimal share(long part, long whole, int places) {
    return whole == 0
        ? BigDecimal.ZERO
        : BigDecimal.valueOf(part).divide(BigDecimal.valueOf(whole), places, RoundingMode.HALF_UP);
  }
}
