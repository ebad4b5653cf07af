package dev.weir.traffic.internal.values;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The clock by which an input's times without a zone were written; it gives each of them its
 * instant. Not safe for use by several threads.
 */
public final class WallClock {
  /*
   * How is WallClock designed, and why? The surest source decides: the zone that the user names;
   * else the stamp before the record, which syslog writes with an offset; else UTC, and such times
   * are counted for a note.
   *
   * When summer time ends, an hour comes twice. Records come nearly in the order of time, so of two
   * instants the one is meant that is nearer to the latest so far, or to the record's stamp. Stamps
   * alone do not show the rules of the zone, only the time at which the offset changed: a request
   * that was accepted before and logged after has the offset before.
   */

  /** The time by which a stamp may be earlier than its record: the writer reads its clock twice. */
  private static final long SLACK_SECONDS = 60;

  /**
   * The distance from its stamp beyond which a record is a very long request, or of another zone.
   */
  private static final long FAR_SECONDS = 15 * 60;

  private static final long HOUR_SECONDS = 3600;

  private final @Nullable ZoneRules rules;

  /** The number of times that were taken for UTC because there is no sign of their zone. */
  private long assumed;

  /** True if the first time was one of an hour that came twice. */
  private boolean beganTwice;

  private long latest = Long.MIN_VALUE;

  /** The first local time for which {@code sureOffset} is the offset; {@code sureTo} is the end. */
  private long sureFrom = Long.MAX_VALUE;

  private long sureTo = Long.MIN_VALUE;
  private int sureOffset;

  /** True if the record has a stamp. */
  private boolean stamped;

  private long stamp;
  private int offset;

  /**
   * True if the stamps' offset has changed; the offset before and the stamps around the change
   * follow.
   */
  private boolean changed;

  private int offsetBefore;
  private long lastBefore;
  private long firstBehind;
  private long near;
  private long far;

  /**
   * @param zone the writer's zone, or null if it is not known
   */
  public WallClock(@Nullable ZoneId zone) {
    rules = zone == null ? null : zone.getRules();
  }

  /**
   * Sets the time at which the next record was logged, and the offset in seconds by which that time
   * was written.
   */
  public void stamp(long epochSecond, int offsetSeconds) {
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

  /**
   * Returns whether the instant of a time may depend on more than its text and the times before it.
   */
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
      // The clock was not set forward in time: it shows an hour that was left out.
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

  /** Returns the meant one of the two instants of a time in the hour that comes twice. */
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

  /** Returns the distance of a time from its stamp; no request is accepted after it was logged. */
  private long distance(long second) {
    return second > stamp + SLACK_SECONDS ? Long.MAX_VALUE : Math.abs(stamp - second);
  }

  /** Returns the number of times that were taken for UTC because there is no sign of their zone. */
  public long assumed() {
    return assumed;
  }

  /** Returns whether the first time was one of an hour that came twice. */
  public boolean beganTwice() {
    return beganTwice;
  }

  /** Returns whether the stamps are of another zone than the times: most of them are far apart. */
  public boolean disagrees() {
    return far > near;
  }
}
