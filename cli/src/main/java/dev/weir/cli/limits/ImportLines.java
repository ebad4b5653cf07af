package dev.weir.cli.limits;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Records to import, each as one line of JSON. */
interface ImportLines {
  /** The most bytes of a line of JSON; a complete record has less. */
  int MAX_LINE_BYTES = 1 << 20;

  /**
   * A record.
   *
   * @param number the number of its first line in the input, counted from 1
   * @param json the record as JSON on one line, or empty if there is a problem
   * @param problem the reason for which it cannot be a record, or empty
   */
  record Line(long number, String json, String problem) {}

  /** Returns the next record, or null if there are no more. */
  @Nullable Line next() throws IOException;

  /** Returns the number of bytes of the input that have been read. */
  long bytes();
}
