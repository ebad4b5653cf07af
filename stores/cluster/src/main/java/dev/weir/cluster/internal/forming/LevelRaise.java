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

/** Raises the level in force when all understand a higher one. Used by one thread; it may block. */
public final class LevelRaise {
  /*
   * In which order? First an entry in the log of group 0: from there on the cluster is at that
   * level, and it cannot be undone. Then the map, which tells all others. Then the leaders of the
   * other groups, each in its own log. A leader looks at what is, so nothing is remembered, and a step
   * that one leader did not finish the next one does.
   */

  /** So many times, a second apart, all have to say that they understand it. */
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
  public interface Led {
    Ledger ledger();

    /** Returns the group's level, as far as its entries are applied here. */
    int level();
  }

  /**
   * @param able what this member understands
   * @param status asks a member how it is
   * @param rounds so many times, one after the other, all have to say that they understand it
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
   * Does what can be done now; to be called each second.
   *
   * @param zero group 0; null if this member does not lead it
   * @param others the other groups that this member leads
   */
  public void round(@Nullable Led zero, Iterable<? extends Led> others) {
    try {
      for (Led each : others) {
        follow(each);
      }
      if (zero == null) {
        agreed = 0;
      } else if (map.get().level() < zero.level()) {
        tell(zero);
      } else {
        look(zero);
      }
    } catch (RuntimeException e) {
      failed(null, e);
    }
  }

  private void follow(Led group) {
    int wanted = map.get().level();
    if (group.level() < wanted) {
      append(group.ledger(), wanted);
    }
  }

  private void tell(Led zero) {
    int inForce = zero.level();
    Object unused =
        map.change(zero.ledger(), now -> now.level() < inForce ? now.at(inForce) : now)
            .whenComplete(this::failed);
  }

  private void look(Led zero) {
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

  /** Says that a step has failed, if it has; the next round takes it again. */
  private void failed(@Nullable Object unused, @Nullable Throwable problem) {
    String words = problem == null ? "" : String.valueOf(problem.getMessage());
    if (!words.equals(lastProblem)) {
      lastProblem = words;
      if (problem != null) {
        log.accept("cluster: the level in force is not raised yet: " + words);
      }
    }
  }

  /** Returns the highest level that all understand; 0 if one of them does not say. */
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

  /** Returns what a member understands, and the servers that ask it; 0 if it takes no part. */
  private static int most(Member member, MemberStatus known) {
    boolean takesPart = known.up() && known.incarnation().equals(member.incarnation().toString());
    return !takesPart
        ? 0
        : known.servers().values().stream()
            .mapToInt(Integer::intValue)
            .reduce(known.levelMost(), Math::min);
  }
}
