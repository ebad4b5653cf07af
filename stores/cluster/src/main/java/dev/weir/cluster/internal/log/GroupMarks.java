package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.peer.CheckedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/**
 * The marks of the groups that a member has begun, in a file beside their folders, by which a lost
 * folder is noticed. Safe for use by many threads.
 */
public final class GroupMarks {
  /*
   * The promises of a member in a group (its vote, the entries that it has acknowledged) are in the
   * group's folder alone. If that were lost without notice, the member might vote twice. So a group
   * is marked when it has its folder, and before it can promise anything; and the mark is removed
   * when the group has agreed that this member has no part in it any more, before the folder is
   * deleted. A member never begins a group again that it has left: it waits until the others send
   * the state.
   */
  public static final String FILE = "groups.properties";

  private static final String BEGUN = "begun";
  private static final String LEFT = "left";

  private final Path file;
  private final Set<Integer> begun;
  private final Set<Integer> left;

  /**
   * Reads the marks.
   *
   * @throws IOException if the file is there and cannot be used
   */
  public GroupMarks(Path file) throws IOException {
    this.file = file;
    Properties p = CheckedFile.load(file);
    try {
      begun = numbers(p == null ? "" : p.getProperty(BEGUN));
      left = numbers(p == null ? "" : p.getProperty(LEFT));
    } catch (RuntimeException e) {
      throw CheckedFile.damaged(file, e);
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
  synchronized Set<Integer> startedGroups() {
    return new TreeSet<>(begun);
  }

  /** Returns whether this member has left a group, and must not begin it again. */
  synchronized boolean left(int group) {
    return left.contains(group);
  }

  /** Marks a group whose folder is there; the mark is on disk when this returns. */
  public synchronized void begin(int group) throws IOException {
    if (!begun.contains(group)) {
      Set<Integer> next = new TreeSet<>(begun);
      next.add(group);
      save(next, left);
      begun.add(group); // Not before: a failed write must be repeated.
    }
  }

  /** Marks a group as left by this member; the mark is on disk when this returns. */
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
    CheckedFile.save(p, file, "Which groups this member has. Do not change it.");
  }
}
