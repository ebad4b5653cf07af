package dev.weir.cluster.internal.forming;

import dev.weir.cluster.ClusterStatus.MemberStatus;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.state.Entry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The raise of the level in force, once all members understand a higher one. Used by one thread; it
 * may block.
 */
public final class LevelRaise {
  /*
   * In which order? First an entry in the log of group 0: from there on the cluster is at that
   * level, and it cannot be undone. Then the map, by which all others learn of it. Then the leaders
   * of the other groups, each in its own log. A leader goes by the present state, so nothing needs
   * to be remembered, and the next leader finishes a step that one has left.
   */

  /** The number of rounds, a second apart, in which all must report that they understand it. */
  public static final int ROUNDS = 10;

  private static final long STATUS_MILLIS = 2_000;

  private final Levels able;
  private final CurrentMap map;
  private final Function<String, CompletionStage<MemberStatus>> status;
  private final Consumer<? super String> log;
  private final int rounds;
  private int agreed;
  private int agreedOn;
  private volatile String lastProblem = "";

  /** A group that this member leads. */
  public interface LedGroup {
    Ledger ledger();

    /** Returns the group's level, as far as its entries are applied here. */
    int level();
  }

  /**
   * Creates the raise.
   *
   * @param able the levels that this process understands
   * @param status returns the status of a member
   * @param rounds the number of consecutive rounds in which all must report that they understand
   *     the level
   */
  public LevelRaise(
      Levels able,
      CurrentMap map,
      Function<String, CompletionStage<MemberStatus>> status,
      int rounds,
      Consumer<? super String> log) {
    this.able = able;
    this.map = map;
    this.status = status;
    this.rounds = rounds;
    this.log = log;
  }

  /**
   * Does the steps that are possible now; to be called each second.
   *
   * @param zero group 0; null if this member does not lead it
   * @param others the other groups that this member leads
   */
  public void round(@Nullable LedGroup zero, Iterable<? extends LedGroup> others) {
    try {
      for (LedGroup each : others) {
        follow(each);
      }
      if (zero == null) {
        agreed = 0;
      } else if (map.get().level() < zero.level()) {
        announce(zero);
      } else {
        check(zero);
      }
    } catch (RuntimeException e) {
      failed(null, e);
    }
  }

  private void follow(LedGroup group) {
    int wanted = map.get().level();
    if (group.level() < wanted) {
      append(group.ledger(), wanted);
    }
  }

  private void announce(LedGroup zero) {
    int inForce = zero.level();
    Object unused =
        map.change(zero.ledger(), now -> now.level() < inForce ? now.at(inForce) : now)
            .whenComplete(this::failed);
  }

  private void check(LedGroup zero) {
    int inForce = zero.level();
    int common = inForce < able.most() ? common() : inForce;
    boolean again = common == agreedOn;
    agreedOn = common;
    agreed = common <= inForce ? 0 : again ? agreed + 1 : 1;
    if (agreed >= rounds) {
      log.accept(
          "cluster: level "
              + common
              + " is put in force, which all understand; it was "
              + inForce
              + " so far");
      append(zero.ledger(), common);
    }
  }

  private void append(Ledger ledger, int wanted) {
    Object unused = ledger.append(Entry.level(wanted)).whenComplete(this::failed);
  }

  /** Logs a failed step; the next round repeats it. */
  private void failed(@Nullable Object unused, @Nullable Throwable problem) {
    String words = problem == null ? "" : String.valueOf(problem.getMessage());
    if (!words.equals(lastProblem)) {
      lastProblem = words;
      if (problem != null) {
        log.accept("cluster: the level in force is not raised yet: " + words);
      }
    }
  }

  /** Returns the highest level that all understand; 0 if one of them does not report it. */
  private int common() {
    List<Member> members = map.get().members();
    List<CompletableFuture<Integer>> said =
        members.stream()
            .map(
                each ->
                    status
                        .apply(each.name())
                        .toCompletableFuture()
                        .thenApply(known -> most(each, known))
                        .completeOnTimeout(0, STATUS_MILLIS, TimeUnit.MILLISECONDS)
                        .exceptionally(error -> 0))
            .toList();
    return said.stream().mapToInt(CompletableFuture::join).reduce(able.most(), Math::min);
  }

  /**
   * Returns the highest level that a member and the servers that call it understand; 0 if it takes
   * no part.
   */
  private static int most(Member member, MemberStatus known) {
    boolean takesPart = known.up() && known.incarnation().equals(member.incarnation().toString());
    return !takesPart
        ? 0
        : known.servers().values().stream()
            .mapToInt(Integer::intValue)
            .reduce(known.levelMost(), Math::min);
  }
}
