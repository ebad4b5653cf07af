package dev.weir.traffic.internal.read;

import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.visit.Unreadable;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/** Reads one record after the other and finds the wanted columns in it. */
public interface RecordReader {
  /** Returns the columns that records have, as far as that is known beforehand. */
  List<String> columns();

  /**
   * Returns whether records may have the column. A reader that has seen no record does not know,
   * and says yes.
   */
  default boolean has(String column) {
    return columns().contains(column);
  }

  /**
   * Chooses the columns to find: column {@code i} goes to slot {@code i}. To be called once, before
   * the first {@link #next}.
   *
   * @throws TrafficException if two columns have the same name
   */
  void want(List<String> columns) throws TrafficException;

  /**
   * Says which of the wanted columns a record must have; one without another of them, or with
   * something else in its place, is read, with nothing in that column's slot. All, unless it says
   * otherwise. To be called after {@link #want}.
   */
  default void require(Set<String> columns) {
    // Where each record has all columns, nothing is to be said.
  }

  /** Returns the share of the records at the input's beginning that have the column, 0 to 1. */
  default double share(String column) {
    return 1;
  }

  /** Returns what is peculiar in the records so far, one line each. */
  default List<String> notes() {
    return List.of();
  }

  /**
   * Moves to the next record. Blank lines are none.
   *
   * @return false at the end of the input
   * @throws Unreadable if a wanted column cannot be found in the record; the next call goes on
   *     after it
   */
  boolean next(RecordFields fields) throws IOException, Unreadable;

  /** Returns the number of the record's first line, counted from 1. */
  long line();
}
