package dev.weir.cli.limits;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Records to import, each as one line of JSON. */
interface ImportLines {
  /** The longest line of JSON; a record with everything has less. */
  int MAX_LINE_BYTES = 1 << 20;

  /**
   * A record.
   *
   * @param number of the line of the input that it begins with, counted from 1
   * @param json on one line, or empty if there is a problem
   * @param problem why it cannot be a record, or empty
   */
  record Line(long number, String json, String problem) {}

  /** Returns the next record, or null if there is no more. */
  @Nullable Line next() throws IOException;

  /** Returns how many bytes of the input have been read. */
  long bytes();
}
