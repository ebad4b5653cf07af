package dev.weir.load;

import java.util.ArrayList;
import java.util.List;

/** The lanes of one polling loop. It is used on the loop only, once all lanes are added. */
final class LaneRing {
  private final Loop loop;
  private final Schedule schedule;
  private final LoopTally tally;
  private final List<Lane> lanes = new ArrayList<>();
  private int turn;

  LaneRing(Loop loop, Schedule schedule, LoopTally tally) {
    this.loop = loop;
    this.schedule = schedule;
    this.tally = tally;
  }

  Loop loop() {
    return loop;
  }

  void add(Lane lane) {
    lanes.add(lane);
  }

  /**
   * Sends the due requests: all of them on one lane, as far as it has free slots, the rest on the
   * lanes after it. The next call begins with another lane.
   */
  void send(long nowNanos) {
    schedule.reportLate(nowNanos, tally::noticed);
    boolean more = true;
    for (int tried = 0; tried < lanes.size() && more; tried++) {
      more = lanes.get(turn).fill(nowNanos);
      turn = turn + 1 < lanes.size() ? turn + 1 : 0;
    }
  }
}
