package dev.weir.config;

import dev.weir.config.ConfigException.Kind;
import dev.weir.config.internal.bytes.HexHash;
import java.util.List;

/**
 * A proof that a store's log of changes is as it was written, and that what is in force is what it
 * says last.
 */
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
   * missing and an inserted change are found. Then compares the rules, records and entries that are
   * in force with the last change of each: one that was edited, put in, taken out or put back in
   * the database itself is found. Servers may write meanwhile. Only {@link #verify(ConfigStore,
   * Head)} detects a log that was rewritten or cut off as a whole, with its head.
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
    Reader reader = new Reader(store, known);
    StateProof state = new StateProof(store);
    try {
      String problem = reader.readTo(store.head(), state);
      while (problem.isEmpty() && reader.position >= known.position()) {
        String difference = state.difference(reader.position);
        Head now = store.head();
        if (difference.isEmpty() || now.position() <= reader.position) {
          return reader.verification(difference);
        }
        problem = reader.readTo(now, state); // What was written meanwhile may be the reason.
      }
      return reader.verification(
          problem.isEmpty()
              ? "change " + (reader.position + 1) + ": missing, it was known"
              : problem);
    } catch (ConfigException e) {
      if (e.kind() != Kind.DAMAGED) {
        throw e;
      }
      return reader.verification(String.valueOf(e.getMessage()));
    }
  }

  /** A reader of a log, which stops at the first change that is not sound. */
  private static final class Reader {
    private final ConfigStore store;
    private final Head known;
    private int size = ConfigStore.MAX_BATCH;
    private long position;
    private String hash = HexHash.NONE;

    Reader(ConfigStore store, Head known) {
      this.store = store;
      this.known = known;
    }

    Verification verification(String problem) {
      return new Verification(position, hash, problem);
    }

    /** Reads up to a head, and returns the first error found, or empty. */
    String readTo(Head head, StateProof state) {
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
          return "change " + (position + 1) + ": missing";
        }
        for (Change change : page) {
          String problem = follow(change, head);
          if (!problem.isEmpty()) {
            return problem;
          }
        }
        state.read(page);
      }
      return "";
    }

    private String follow(Change change, Head head) {
      if (change.number() != position + 1) {
        return "change " + (position + 1) + ": missing";
      }
      if (!HexHash.chained(hash, change.json()).equals(change.hash())) {
        return "change " + change.number() + ": edited";
      }
      position = change.number();
      hash = change.hash();
      if (position == known.position() && !hash.equals(known.hash())) {
        position = 0;
        hash = HexHash.NONE;
        return "change " + change.number() + ": not the one that was known";
      }
      return position == head.position() && !hash.equals(head.hash())
          ? "change " + position + ": not the one of the head"
          : "";
    }
  }
}
