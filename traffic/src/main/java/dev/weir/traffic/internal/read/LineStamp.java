package dev.weir.traffic.internal.read;

import dev.weir.traffic.internal.values.TimeReader;
import dev.weir.traffic.internal.values.UnreadableException;
import dev.weir.traffic.internal.values.WallClock;

/**
 * A reader of the time that syslog or a container's runtime has written at the beginning of a line,
 * before the record. Not safe for use by several threads.
 */
final class LineStamp {
  private static final long NANOS = 1_000_000_000L;

  private final WallClock clock;
  private final TimeReader time = new TimeReader(TimeReader.Unit.NONE);

  /**
   * @param clock the clock that is set by the times read
   */
  LineStamp(WallClock clock) {
    this.clock = clock;
  }

  /**
   * Reads a line's stamp and sets the clock by it. A stamp without an offset, or none at all,
   * leaves the clock as it is.
   */
  void read(byte[] data, int from, int to) {
    int start = LinePrefix.stamp(data, from, to);
    if (start + 20 > to || data[start + 4] != '-' || data[start + 10] != 'T') {
      return;
    }
    int end = start;
    while (end < to && data[end] != ' ') {
      end++;
    }
    try {
      long nanos = time.nanos(data, start, end);
      if (time.zoned()) {
        clock.stamp(Math.floorDiv(nanos, NANOS), time.offsetSeconds());
      }
    } catch (UnreadableException ignored) {
      // It is another text: the time has to be in the record itself.
    }
  }
}
