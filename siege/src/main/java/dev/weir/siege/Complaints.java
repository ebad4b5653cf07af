package dev.weir.siege;

import java.util.ArrayList;
import java.util.List;

/** What was promised and did not hold. Safe for use by many threads. */
final class Complaints {
  /** More are only counted. */
  private static final int MOST = 50;

  private final List<String> first = new ArrayList<>();
  private long count;
  private boolean closed;

  synchronized void add(String complaint) {
    if (closed) {
      return;
    }
    count++;
    if (first.size() < MOST) {
      first.add(complaint);
    }
  }

  /** From now on nobody listens: the end has begun. */
  synchronized void close() {
    closed = true;
  }

  synchronized long count() {
    return count;
  }

  /** Returns the first of them. */
  synchronized List<String> list() {
    List<String> lines = new ArrayList<>(first);
    if (count > lines.size()) {
      lines.add("and " + (count - lines.size()) + " more");
    }
    return lines;
  }
}
