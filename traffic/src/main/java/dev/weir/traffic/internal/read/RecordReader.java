package dev.weir.traffic.internal.read;

import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/** A reader of records, one after the other, that finds the wanted columns in each. */
public interface RecordReader {
  /** Returns the columns that records have, as far as they are known beforehand. */
  List<String> columns();

  /**
   * Returns whether records may have the column. A reader that knows its columns only from the
   * records may return true for any column as long as it has seen no record.
   */
  default boolean has(String column) {
    return columns().contains(column);
  }

  /**
   * Chooses the columns to find: column {@code i} goes to slot {@code i}. To be called once, before
   * the first {@link #next}.
   *
   * @throws TrafficException if a column cannot be found for certain, because its name stands twice
   *     in a header or is too long a path
   */
  void select(List<String> columns) throws TrafficException;

  /**
   * Sets which of the wanted columns a record must have. A record without one of the other columns,
   * or with something else in its place, is read with an empty slot for that column. By default,
   * all wanted columns are required. To be called after {@link #select}.
   */
  default void require(Set<String> columns) {
    // If each record has all columns, there is nothing to set.
  }

  /** Returns the share of the records at the input's beginning that have the column, 0 to 1. */
  default double share(String column) {
    return 1;
  }

  /** Returns the peculiarities of the records so far, one line each. */
  default List<String> notes() {
    return List.of();
  }

  /**
   * Moves to the next record. Blank lines are no records.
   *
   * @return false at the end of the input
   * @throws UnreadableException if a wanted column cannot be found in the record; the next call
   *     goes on after it
   */
  boolean next(RecordValues values) throws IOException, UnreadableException;

  /** Returns the number of the record's first line, counted from 1. */
  long line();
}
