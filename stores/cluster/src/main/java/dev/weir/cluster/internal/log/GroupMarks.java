package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.peer.Checked;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which groups a member has begun, in a file beside theirs. So it knows when one of them is lost.
 * Safe for use by many threads.
 */
public final class GroupMarks {
  /*
   * What a member has promised in a group (its vote, the entries that it has acknowledged) is in the
   * group's folder alone. Without that it might vote twice, if it did not know that there was one.
   * So a group is marked when it has its folder, and before it can promise anything; and the mark is
   * taken away when the group has agreed that this member has no part in it any more, before the
   * folder is deleted. A group that a member has left is not begun by it a second time: it waits to
   * be sent what the others have.
   */
  public static final String FILE = "groups.properties";

  private static final String BEGUN = "begun";
  private static final String LEFT = "left";

  private final Path file;
  private final Set<Integer> begun;
  private final Set<Integer> left;

  /**
   * @throws IOException if the file is there and cannot be used
   */
  public GroupMarks(Path file) throws IOException {
    this.file = file;
    Properties p = Checked.load(file);
    try {
      begun = numbers(p == null ? "" : p.getProperty(BEGUN));
      left = numbers(p == null ? "" : p.getProperty(LEFT));
    } catch (RuntimeException e) {
      throw Checked.damaged(file, e);
    }
  }

  private static Set<Integer> numbers(String text) {
    Set<Integer> numbers = new TreeSet<>();
    if (!text.isEmpty()) {
      for (String each : text.split(",", -1)) {
        numbers.add(Integer.valueOf(each));
      }
    }
    return numbers;
  }

  private static String text(Set<Integer> numbers) {
    return String.join(",", numbers.stream().map(String::valueOf).toList());
  }

  /** Returns the groups that this member has begun, and not left. */
  synchronized Set<Integer> begun() {
    return new TreeSet<>(begun);
  }

  /** Returns whether this member has left a group, and must not begin it again. */
  synchronized boolean left(int group) {
    return left.contains(group);
  }

  /** Marks a group whose folder is there; when this returns the mark is on disk. */
  public synchronized void begin(int group) throws IOException {
    if (!begun.contains(group)) {
      Set<Integer> next = new TreeSet<>(begun);
      next.add(group);
      save(next, left);
      begun.add(group); // Not before: what failed is to be tried again.
    }
  }

  /** Marks a group that this member has no part in; when this returns the mark is on disk. */
  synchronized void leave(int group) throws IOException {
    Set<Integer> next = new TreeSet<>(begun);
    next.remove(group);
    Set<Integer> gone = new TreeSet<>(left);
    gone.add(group);
    save(next, gone);
    begun.remove(group);
    left.add(group);
  }

  private void save(Set<Integer> begun, Set<Integer> left) throws IOException {
    Properties p = new Properties();
    p.setProperty(BEGUN, text(begun));
    p.setProperty(LEFT, text(left));
    Checked.save(p, file, "Which groups this member has. Do not change it.");
  }
}
