package dev.weir.config;

import dev.weir.config.ConfigException.Kind;
import dev.weir.config.internal.bytes.HexHash;
import java.util.List;

/** A proof that a store's log of changes is as it was written. */
public final class ChangeLog {
  private ChangeLog() {}

  /**
   * The result of a proof.
   *
   * @param position the number of the last sound change; 0 if the log is not the known one
   * @param hash of that change
   * @param problem the first error found, or empty if there is none
   */
  public record Verification(long position, String hash, String problem) {
    public boolean ok() {
      return problem.isEmpty();
    }
  }

  /**
   * Reads all changes and compares each hash with its text and the hash before it: an edited, a
   * missing and an inserted change are found. Only {@link #verify(ConfigStore, Head)} detects a log
   * that was rewritten or cut off as a whole, with its head.
   */
  public static Verification verify(ConfigStore store) {
    return verify(store, new Head("", 0, 0, HexHash.NONE));
  }

  /**
   * Verifies the log like {@link #verify(ConfigStore)}, and that it still has the change that an
   * earlier head named.
   *
   * @param known a head that was read earlier, and kept elsewhere
   * @throws ConfigException if the store cannot be read, for another reason than its content
   */
  public static Verification verify(ConfigStore store, Head known) {
    long position = 0;
    String hash = HexHash.NONE;
    try {
      Head head = store.head();
      int size = ConfigStore.MAX_BATCH;
      while (position < head.position()) {
        List<Change> page;
        try {
          page = store.changes(position, size);
        } catch (ConfigException e) {
          if (size == 1 || e.kind() != Kind.DAMAGED) {
            throw e;
          }
          size = 1; // To the change itself: those before it are sound.
          continue;
        }
        if (page.isEmpty()) {
          return wrong(position, hash, "change " + (position + 1) + ": missing");
        }
        for (Change change : page) {
          if (change.number() != position + 1) {
            return wrong(position, hash, "change " + (position + 1) + ": missing");
          }
          if (!HexHash.chained(hash, change.json()).equals(change.hash())) {
            return wrong(position, hash, "change " + change.number() + ": edited");
          }
          position = change.number();
          hash = change.hash();
          if (position == known.position() && !hash.equals(known.hash())) {
            return wrong(0, HexHash.NONE, "change " + position + ": not the one that was known");
          }
          if (position == head.position() && !hash.equals(head.hash())) {
            return wrong(position, hash, "change " + position + ": not the one of the head");
          }
        }
      }
    } catch (ConfigException e) {
      if (e.kind() != Kind.DAMAGED) {
        throw e;
      }
      return wrong(position, hash, String.valueOf(e.getMessage()));
    }
    return position < known.position()
        ? wrong(position, hash, "change " + (position + 1) + ": missing, it was known")
        : new Verification(position, hash, "");
  }

  private static Verification wrong(long position, String hash, String problem) {
    return new Verification(position, hash, problem);
  }
}
