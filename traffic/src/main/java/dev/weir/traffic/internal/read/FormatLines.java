package dev.weir.traffic.internal.read;

import dev.weir.traffic.Format;
import java.util.BitSet;

/**
 * The lines of a sample that are records of one format. Lines are counted from 0.
 *
 * @param lines the lines that are certainly of the format by themselves
 * @param addresses those of them in which the client is an address, or which have no client
 */
record FormatLines(Format format, BitSet lines, BitSet addresses) {
  /** Returns the lines of a format that may have any client. */
  static FormatLines of(Format format, BitSet lines) {
    return new FormatLines(format, lines, lines);
  }

  /** Returns the number of lines. */
  int count() {
    return lines.cardinality();
  }
}
