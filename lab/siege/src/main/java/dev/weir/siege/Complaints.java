package dev.weir.siege;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The promises that did not hold. Safe for use by many threads. */
public final class Complaints {
  /** The most complaints that are kept; more are only counted. */
  private static final int MOST = 50;

  private static final long END_NANOS = TimeUnit.SECONDS.toNanos(1);

  private record Complaint(long atNanos, String text) {}

  private final List<Complaint> first = new ArrayList<>();
  private long more;
  private boolean closed;

  public synchronized void add(String complaint) {
    if (closed) {
      return;
    }
    if (first.size() < MOST) {
      first.add(new Complaint(System.nanoTime(), complaint));
    } else {
      more++;
    }
  }

  /**
   * Ignores complaints from now on, because the soak was ended from outside, perhaps after the
   * servers.
   */
  public synchronized void close() {
    long now = System.nanoTime();
    first.removeIf(each -> now - each.atNanos < END_NANOS);
    closed = true;
  }

  /** Returns the first complaints. */
  public synchronized List<String> list() {
    List<String> lines = new ArrayList<>(first.stream().map(Complaint::text).toList());
    if (more > 0) {
      lines.add("and " + more + " more");
    }
    return lines;
  }
}
