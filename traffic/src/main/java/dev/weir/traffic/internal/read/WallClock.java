package dev.weir.traffic.internal.read;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The clock by which an input's times without a zone were written: gives each of them its instant.
 * Not safe for use by several threads.
 */
final class WallClock {
  /*
   * How is WallClock designed, and why? What knows most decides: the zone that the user names, else
   * the stamp before the record, which syslog writes with an offset, else UTC, which is counted so
   * that it can be said.
   *
   * Where summer time ends, an hour comes twice. Records come nearly in the order of time, so of
   * two instants the one nearer to the latest so far is meant, or nearer to the record's stamp.
   * With stamps alone the rules of the zone are not known, only when the offset changed: a request
   * that was accepted before and logged after has the offset before.
   */

  /** A stamp may be a little earlier than its record: two clocks are read. */
  private static final long SLACK_SECONDS = 60;

  /** A record that is further from its stamp is a very long request, or of another zone. */
  private static final long FAR_SECONDS = 15 * 60;

  private static final long HOUR_SECONDS = 3600;

  private final @Nullable ZoneRules rules;

  /** How many times were taken for UTC since nothing says what they are. */
  private long assumed;

  /** True if the first time was one of an hour that came twice. */
  private boolean beganTwice;

  private long latest = Long.MIN_VALUE;

  /** Between these local times the offset is this one. */
  private long sureFrom = Long.MAX_VALUE;

  private long sureTo = Long.MIN_VALUE;
  private int sureOffset;

  /** The record's stamp. */
  private boolean stamped;

  private long stamp;
  private int offset;

  /** The offset of the stamps before the last change, and the stamps around the change. */
  private boolean changed;

  private int offsetBefore;
  private long lastBefore;
  private long firstBehind;
  private long near;
  private long far;

  /**
   * @param zone the writer's, or null if it is not known
   */
  WallClock(@Nullable ZoneId zone) {
    rules = zone == null ? null : zone.getRules();
  }

  /** Sets when the next record was logged, and the offset by which that was written in seconds. */
  void stamp(long epochSecond, int offsetSeconds) {
    if (stamped && offsetSeconds != offset) {
      changed = true;
      offsetBefore = offset;
      lastBefore = stamp;
      firstBehind = epochSecond;
    }
    stamped = true;
    stamp = epochSecond;
    offset = offsetSeconds;
  }

  /** Returns whether the instant of a time may depend on more than its text and those before it. */
  boolean hasStamps() {
    return stamped;
  }

  /** Returns the second since the epoch at which the clock showed a time. */
  long epochSecond(long local) {
    if (rules != null) {
      long second = byRules(rules, local);
      latest = Math.max(latest, second);
      return second;
    }
    if (stamped) {
      return byStamp(local);
    }
    assumed++;
    return local;
  }

  private long byRules(ZoneRules rules, long local) {
    if (local >= sureFrom && local < sureTo) {
      return local - sureOffset;
    }
    LocalDateTime time = LocalDateTime.ofEpochSecond(local, 0, ZoneOffset.UTC);
    List<ZoneOffset> valid = rules.getValidOffsets(time);
    if (valid.size() == 2) {
      return nearer(local - valid.get(0).getTotalSeconds(), local - valid.get(1).getTotalSeconds());
    }
    if (valid.isEmpty()) {
      // An hour that was left out: a clock that was not set forward in time.
      return local - rules.getTransition(time).getOffsetBefore().getTotalSeconds();
    }
    sure(rules, time.toInstant(valid.get(0)), valid.get(0));
    return local - sureOffset;
  }

  private void sure(ZoneRules rules, Instant instant, ZoneOffset offset) {
    ZoneOffsetTransition before = rules.previousTransition(instant.plusNanos(1));
    ZoneOffsetTransition next = rules.nextTransition(instant);
    sureFrom = before == null ? Long.MIN_VALUE : Math.max(from(before), to(before));
    sureTo = next == null ? Long.MAX_VALUE : Math.min(from(next), to(next));
    sureOffset = offset.getTotalSeconds();
  }

  private static long from(ZoneOffsetTransition transition) {
    return transition.getDateTimeBefore().toEpochSecond(ZoneOffset.UTC);
  }

  private static long to(ZoneOffsetTransition transition) {
    return transition.getDateTimeAfter().toEpochSecond(ZoneOffset.UTC);
  }

  /** Of the two instants of a time in the hour that comes twice, the one that is meant. */
  private long nearer(long first, long second) {
    if (!stamped && latest == Long.MIN_VALUE) {
      beganTwice = true;
      return first;
    }
    long reference = stamped ? stamp : latest;
    return Math.abs(first - reference) <= Math.abs(second - reference) ? first : second;
  }

  private long byStamp(long local) {
    long own = local - offset;
    if (own <= stamp + SLACK_SECONDS && own >= stamp - FAR_SECONDS) {
      near++;
    } else {
      far++;
    }
    if (!changed) {
      // The log may begin with a record from before the change.
      return own > stamp + FAR_SECONDS ? own - HOUR_SECONDS : own;
    }
    long other = local - offsetBefore;
    boolean before = other <= firstBehind;
    boolean behind = own >= lastBefore;
    if (before && behind) {
      return distance(other) <= distance(own) ? other : own;
    }
    return before ? other : own;
  }

  /** How far a time is from its stamp; nothing is accepted after it was logged. */
  private long distance(long second) {
    return second > stamp + SLACK_SECONDS ? Long.MAX_VALUE : Math.abs(stamp - second);
  }

  /** Returns how many times were taken for UTC since nothing says what they are. */
  long assumed() {
    return assumed;
  }

  /** Returns whether the first time was one of an hour that came twice. */
  boolean beganTwice() {
    return beganTwice;
  }

  /** Returns whether the stamps are of another zone than the times: most are far apart. */
  boolean disagrees() {
    return far > near;
  }
}
