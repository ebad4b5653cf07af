package dev.weir.cluster.internal.operating;

import dev.weir.cluster.Cluster;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerTransport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The transfer of the groups that a member leads to others, before it closes. Used once, by one
 * thread.
 *
 * <p>It spares an election and nothing more, so it takes a short time only: members that are
 * closing themselves are skipped, and groups that are not handed over in time elect a new leader.
 */
public final class HandOver {
  /** The longest time, as long as the shortest election by the default settings. */
  public static final long MOST_MILLIS = 1_000;

  private static final int WILLING = PeerFrame.FIRST_REQUEST + 42;
  private static final long ANSWER_MILLIS = MOST_MILLIS / 4;

  private final String self;
  private final Function<String, CompletionStage<Boolean>> willing;
  private final Executor executor;
  private final Consumer<? super String> log;

  /**
   * Creates the transfer.
   *
   * @param willing returns whether a member can lead more groups; completes on any thread
   * @param executor runs hand-overs of several groups at the same time; may be blocked
   */
  public HandOver(
      String self,
      Function<String, CompletionStage<Boolean>> willing,
      Executor executor,
      Consumer<? super String> log) {
    this.self = self;
    this.willing = willing;
    this.executor = executor;
    this.log = log;
  }

  /** Registers the handler of requests from other members. */
  public static void answerAt(PeerDoor door, BooleanSupplier willing) {
    door.register(
        WILLING,
        Runnable::run,
        (from, payload) ->
            CompletableFuture.completedStage(
                new ByteWriter().writeByte(willing.getAsBoolean() ? 1 : 0).toBytes()));
  }

  /** Requests whether a member is willing; one that does not answer is not. */
  public static CompletionStage<Boolean> isWilling(PeerTransport transport, String member) {
    try {
      return transport
          .link(member, Cluster.ASKING)
          .call(WILLING, new byte[0], ANSWER_MILLIS)
          .handle((reply, problem) -> reply != null && new ByteReader(reply, 0).readByte() == 1);
    } catch (PeerException e) {
      return CompletableFuture.completedStage(false);
    }
  }

  /**
   * Hands over those of the groups that this member leads; returns after at most that time, even if
   * some are not handed over.
   */
  public void run(Map<Integer, ? extends Ledger> groups, long mostMillis) {
    Map<String, CompletableFuture<String>> asked = new HashMap<>();
    List<CompletableFuture<?>> handed = new ArrayList<>();
    groups.forEach(
        (number, ledger) -> {
          if (!ledger.leads()) {
            return;
          }
          CompletableFuture<List<String>> takers = CompletableFuture.completedFuture(List.of());
          for (Member each : ledger.seats().voters()) {
            if (!each.name().equals(self)) {
              takers =
                  takers.thenCombine(
                      asked.computeIfAbsent(each.name(), this::isWilling), HandOver::added);
            }
          }
          if (ledger.seats().voters().size() > 1) {
            handed.add(takers.thenAcceptAsync(names -> hand(number, ledger, names), executor));
          }
        });
    CompletableFuture<?> all =
        CompletableFuture.allOf(handed.toArray(CompletableFuture<?>[]::new))
            .completeOnTimeout(null, mostMillis, TimeUnit.MILLISECONDS)
            .exceptionally(
                problem -> {
                  log.accept("cluster: not handed over: " + problem);
                  return null;
                });
    Object unused = all.join();
    long late = handed.stream().filter(each -> !each.isDone()).count();
    if (late > 0) {
      log.accept("cluster: " + late + " groups were not handed over within " + mostMillis + " ms");
    }
  }

  /** Returns the name of a member that is willing, otherwise an empty one. */
  private CompletableFuture<String> isWilling(String member) {
    return willing.apply(member).thenApply(yes -> yes ? member : "").toCompletableFuture();
  }

  private static List<String> added(List<String> names, String name) {
    return Stream.concat(names.stream(), Stream.of(name)).filter(each -> !each.isEmpty()).toList();
  }

  private void hand(int number, Ledger ledger, List<String> takers) {
    String problem = "no other member can lead it now";
    for (String name : takers) {
      try {
        ledger.transfer(name);
        return;
      } catch (IOException | RuntimeException e) {
        problem = String.valueOf(e.getMessage());
      }
    }
    log.accept("cluster: group " + number + " was not handed over: " + problem);
  }
}
