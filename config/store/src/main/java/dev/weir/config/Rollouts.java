package dev.weir.config;

import dev.weir.config.ConfigException.Kind;
import dev.weir.config.Rollout.State;
import dev.weir.config.internal.bytes.Check;
import dev.weir.config.internal.bytes.HexHash;
import dev.weir.config.internal.follow.RowFormat;
import dev.weir.config.rows.Counts;
import dev.weir.config.rows.Tree;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The operations on rollouts: begin, judge and end. The methods block like those of the store. */
public final class Rollouts {
  /*
   * How does a rollout survive the death of the server that began it? Its whole state is in its
   * entry, and any server can end it: the live server with the smallest id judges it after each of
   * its beats. If two servers take themselves for that one, no harm is done, since both the entry
   * and the rules are written by compare-and-set.
   *
   * The entry is written before the revision, so no server sees the revision without it. A crash
   * between the two writes leaves an entry for a revision whose number another commit may take
   * later; the entry would hold back that revision. So a commit without a rollout is refused while
   * one runs, and an entry whose revision is not the store's newest is ended by the next call of
   * judge.
   */

  /** The time without a report after which a server counts as gone. */
  public static final Duration LIVE = Duration.ofSeconds(10);

  /** The fewest requests of which a share is meaningful. */
  private static final long EVIDENCE = 100;

  private static final Cause CAUSE =
      new Cause("weir", "", "rollout", "", "", "the end of a rollout");

  private Rollouts() {}

  /**
   * The parameters of a new rollout.
   *
   * @param share of the live servers that are first, in percent, 1 to 99; at least one server is
   * @param time as {@link Rollout#time}
   * @param maxRise as {@link Rollout#maxRise}
   */
  public record Plan(int share, Duration time, int maxRise) {
    /**
     * Checks the share.
     *
     * @throws IllegalArgumentException if it is out of its range
     */
    public Plan {
      Check.range("nodes", share, 1, 99);
    }
  }

  /** Returns the running rollout, if there is one. */
  public static Optional<Rollout> running(ConfigStore store) {
    return last(store).filter(rollout -> rollout.state() == State.RUNNING);
  }

  /** Returns the rollout that runs or was the last to end. */
  public static Optional<Rollout> last(ConfigStore store) {
    return entry(store).map(Rollout::read);
  }

  private static Optional<Entry> entry(ConfigStore store) {
    return store.entries(Rollout.KIND).stream()
        .filter(entry -> entry.name().equals(Rollout.NAME))
        .findFirst();
  }

  /**
   * Makes a new revision of the rules that some of the live servers put in force first.
   *
   * @param expectedRevision of the head, at least 1
   * @throws ConfigException of kind CONFLICT if the head has another revision, if another rollout
   *     runs, or if no server is live
   */
  public static Rollout begin(
      ConfigStore store,
      long expectedRevision,
      Tree tree,
      Collection<String> texts,
      Plan plan,
      Cause cause) {
    Optional<Entry> before = entry(store);
    if (before.filter(Rollouts::runs).isPresent()) {
      throw new ConfigException(Kind.CONFLICT, "rollout: one runs (expected: none)");
    }
    // Servers with rules of their own, from files, take no part.
    List<Node> live = live(store.nodes()).stream().filter(node -> node.revision() > 0).toList();
    if (live.isEmpty()) {
      throw new ConfigException(
          Kind.CONFLICT, "rollout: no server is live (expected: at least one)");
    }
    Map<String, Counts> counts = new HashMap<>();
    live.forEach(node -> counts.put(node.id(), node.counts()));
    Rollout rollout =
        new Rollout(
            expectedRevision + 1,
            expectedRevision,
            first(live, plan.share(), expectedRevision + 1),
            newest(live),
            plan.time(),
            plan.maxRise(),
            counts,
            State.RUNNING,
            "");
    long version = before.map(Entry::version).orElse(RecordWrite.ABSENT);
    long written = write(store, rollout, version, cause);
    try {
      Revision unused = store.commit(expectedRevision, tree, texts, cause);
      return rollout;
    } catch (ConfigException e) {
      if (e.kind() == Kind.CONFLICT) {
        end(store, rollout, written, State.UNDONE, "the rules were changed meanwhile", cause);
      }
      throw e;
    } catch (IllegalArgumentException e) {
      end(store, rollout, written, State.UNDONE, "the rules were refused", cause);
      throw e;
    }
  }

  /**
   * Returns whether an entry is that of a running rollout; an unreadable entry holds nothing up.
   */
  private static boolean runs(Entry entry) {
    try {
      return Rollout.read(entry).state() == State.RUNNING;
    } catch (ConfigException e) {
      return false;
    }
  }

  /** Returns the servers whose last report is not much older than the newest of all. */
  static List<Node> live(List<Node> nodes) {
    Instant since = newest(nodes).minus(LIVE);
    return nodes.stream().filter(node -> node.at().isAfter(since)).toList();
  }

  private static Instant newest(List<Node> nodes) {
    return nodes.stream().map(Node::at).max(Comparator.naturalOrder()).orElse(Instant.EPOCH);
  }

  /**
   * Returns the servers that are first: others for each revision, so that no server bears all
   * risks.
   */
  private static List<String> first(List<Node> live, int share, long revision) {
    List<String> ids = new ArrayList<>(live.stream().map(Node::id).toList());
    ids.sort(Comparator.comparing(id -> HexHash.of(revision + " " + id)));
    int count = Math.max(1, Math.min(ids.size() - 1, (ids.size() * share + 99) / 100));
    return ids.subList(0, count).stream().sorted().toList();
  }

  private static long write(ConfigStore store, Rollout rollout, long version, Cause cause) {
    return store
        .write(EntryWrite.put(Rollout.KIND, Rollout.NAME, rollout.json(), version), cause)
        .map(Change::number)
        .orElse(version);
  }

  private static void end(
      ConfigStore store, Rollout rollout, long version, State state, String why, Cause cause) {
    long unused = write(store, rollout.ended(state, why), version, cause);
  }

  /**
   * Ends the rollout if it is time: as done, or as undone, with a new revision that is the one
   * before.
   *
   * @param self the id of the calling server, which has just reported to the store; only one of the
   *     live servers acts
   * @return the rollout as it is then, if there ever was one
   */
  public static Optional<Rollout> judge(ConfigStore store, String self) {
    Entry entry = entry(store).orElse(null);
    if (entry == null) {
      return Optional.empty();
    }
    Rollout rollout = Rollout.read(entry);
    List<Node> nodes = store.nodes();
    boolean ours =
        live(nodes).stream().map(Node::id).min(Comparator.naturalOrder()).equals(Optional.of(self));
    if (rollout.state() != State.RUNNING || !ours) {
      return Optional.of(rollout);
    }
    long made = store.revision(rollout.revision()).map(Revision::position).orElse(Long.MAX_VALUE);
    Rollout ended = verdict(rollout, nodes, store.head().revision(), made);
    if (ended == null) {
      return Optional.of(rollout);
    }
    try {
      if (ended.state() == State.UNDONE && store.head().revision() == rollout.revision()) {
        undo(store, rollout, ended.outcome());
      }
      long unused = write(store, ended, entry.version(), CAUSE);
      return Optional.of(ended);
    } catch (ConfigException e) {
      if (e.kind() == Kind.CONFLICT) {
        return Optional.of(rollout); // Another server was faster; the next call shows how.
      }
      throw e;
    }
  }

  private static void undo(ConfigStore store, Rollout rollout, String why) {
    Tree tree =
        store
            .revision(rollout.before())
            .orElseThrow(() -> RowFormat.damaged("revision " + rollout.before(), "missing", null))
            .tree();
    String reason = "rollout of revision " + rollout.revision() + " undone: " + why;
    Cause cause = new Cause("weir", "", "rollout", "", "", Check.shortened(reason, 500));
    Revision unused = store.commit(rollout.revision(), tree, List.of(), cause);
  }

  /**
   * Returns the rollout as it ends now, or null if it goes on.
   *
   * @param made the position of the revision; a server's report before that position is about other
   *     rules
   */
  static @Nullable Rollout verdict(Rollout rollout, List<Node> nodes, long head, long made) {
    if (head > rollout.revision()) {
      return rollout.ended(State.UNDONE, "the rules were changed to revision " + head);
    }
    List<Node> live = live(nodes);
    boolean over = !newest(nodes).isBefore(rollout.since().plus(rollout.time()));
    if (head < rollout.revision()) {
      // The commit is still in progress, or the server that began the rollout has died before it.
      return over ? rollout.ended(State.UNDONE, "the revision was never made") : null;
    }
    Counts first = Counts.NONE;
    Counts firstBefore = Counts.NONE;
    Counts others = Counts.NONE;
    int applied = 0;
    for (Node node : live) {
      if (node.revision() == 0) {
        continue; // The server has rules of its own.
      }
      Counts earlier = rollout.counts().getOrDefault(node.id(), Counts.NONE);
      Counts since = node.counts().since(earlier);
      if (!rollout.nodes().contains(node.id())) {
        others = others.plus(since);
        continue;
      }
      if (!node.problems().isEmpty() && node.position() >= made) {
        return rollout.ended(
            State.UNDONE,
            Check.shortened(node.id() + " refused it: " + node.problems().get(0), 450));
      }
      applied += node.revision() == rollout.revision() ? 1 : 0;
      first = first.plus(since);
      firstBefore = firstBefore.plus(earlier);
    }
    Counts reference = others.asked() >= EVIDENCE ? others : firstBefore;
    double rise = first.share() - reference.share();
    if (first.asked() >= EVIDENCE && rise > rollout.maxRise()) {
      String servers = String.join(", ", rollout.nodes());
      return rollout.ended(
          State.UNDONE,
          String.format(
              Locale.ROOT,
              "refused %.2f %% on %s, %.2f %% %s (expected: at most %.2f %% more)",
              first.share() / 100,
              Check.shortened(servers, 200),
              reference.share() / 100,
              others.asked() >= EVIDENCE ? "elsewhere" : "before",
              rollout.maxRise() / 100.0));
    }
    if (!over) {
      return null;
    }
    return applied > 0
        ? rollout.ended(State.DONE, "")
        : rollout.ended(State.UNDONE, "none of the first servers has put it in force");
  }
}
