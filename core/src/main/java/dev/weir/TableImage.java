package dev.weir;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The properties of a table that an image needs, as they were when it was begun, except the keys.
 */
record TableImage(
    ShapeTable of,
    List<Segment> directory,
    boolean sketching,
    long unknownBeforeNanos,
    long unknownForNanos,
    boolean unknown,
    long floorNanos,
    long latestNanos,
    List<Pause> pauses) {

  /** A task that runs between two segments, when no lock is held. */
  interface InterimTask {
    void segment() throws IOException;
  }

  /**
   * Passes to the visitor every key, a segment at a time.
   *
   * @return the bars of all segments
   */
  List<Bars> forEach(int number, SegmentCopy.KeyVisitor visitor, InterimTask between)
      throws IOException {
    List<Bars> bars = new ArrayList<>();
    for (int i = 0; i < directory.size(); i += directory.size() >> directory.get(i).depth) {
      between.segment();
      Segment segment = directory.get(i);
      SegmentCopy copy;
      long stamp = segment.writeLock();
      try {
        copy = segment.take(of.table(), number);
      } finally {
        segment.unlockWrite(stamp);
      }
      copy.forEach(visitor);
      if (copy.bars != null) {
        bars.add(copy.bars);
      }
    }
    return bars;
  }

  /** Ends copying in the table, and drops the copies that were not taken. */
  void end() {
    of.table().endImage();
    for (int i = 0; i < directory.size(); i += directory.size() >> directory.get(i).depth) {
      Segment segment = directory.get(i);
      long stamp = segment.writeLock();
      try {
        segment.dropCopy(of.table());
      } finally {
        segment.unlockWrite(stamp);
      }
    }
  }
}
