package dev.weir.cluster.internal.map;

import dev.weir.cluster.Cluster;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerTransport;
import dev.weir.cluster.internal.state.Entry;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The newest map that a member has, and the exchange by which it gets newer ones. Safe for use by
 * many threads.
 */
public final class CurrentMap implements Supplier<ClusterMap> {
  /*
   * Members of group 0 see each map when it is applied. All members poll another one each second,
   * and at once one that reports a higher epoch: so a member without group 0, or one that lags, is
   * behind for at most that long. Of two maps, the one of the higher epoch is newer, since each of
   * them was in force in the one log of group 0.
   */

  static final int KIND = PeerFrame.FIRST_REQUEST + 19;

  private static final long ANSWER_MILLIS = 1_000;

  /**
   * The most attempts of a change: others may change the map between reading it and writing the
   * next.
   */
  private static final int MOST_TRIES = 5;

  private final String self;
  private final BiFunction<String, byte[], CompletionStage<byte[]>> others;
  private final Consumer<? super ClusterMap> changed;
  private final Levels able;
  private final AtomicInteger turn = new AtomicInteger();
  private final AtomicBoolean refreshing = new AtomicBoolean();
  private volatile @Nullable ClusterMap map;

  /**
   * Creates a map over a transport.
   *
   * @param changed receives each newer map, on any thread, which must not be blocked
   */
  public CurrentMap(String self, PeerTransport transport, Consumer<? super ClusterMap> changed) {
    this(
        self,
        (member, known) -> call(transport, member, known),
        changed,
        transport.self().level().able());
  }

  /**
   * Creates a map.
   *
   * @param others sends a request to a member, which calls {@link #answer}
   * @param changed receives each newer map, on any thread, which must not be blocked
   */
  public CurrentMap(
      String self,
      BiFunction<String, byte[], CompletionStage<byte[]>> others,
      Consumer<? super ClusterMap> changed) {
    this(self, others, changed, Levels.HERE);
  }

  private CurrentMap(
      String self,
      BiFunction<String, byte[], CompletionStage<byte[]>> others,
      Consumer<? super ClusterMap> changed,
      Levels able) {
    this.self = self;
    this.others = others;
    this.changed = changed;
    this.able = able;
  }

  private static CompletionStage<byte[]> call(
      PeerTransport transport, String member, byte[] known) {
    try {
      return transport.link(member, Cluster.ASKING).call(KIND, known, ANSWER_MILLIS);
    } catch (PeerException e) {
      // It is closed: the next one is polled in a second.
      transport.log("cluster: " + e.getMessage());
      return CompletableFuture.failedStage(e);
    }
  }

  /** Returns the newest known map; there is one once the cluster is formed. */
  @Override
  public ClusterMap get() {
    return Objects.requireNonNull(map);
  }

  /** Returns the epoch of the newest map; 0 before the cluster is formed. */
  public long epoch() {
    ClusterMap known = map;
    return known == null ? 0 : known.epoch();
  }

  /** Takes a map that is, or was, in force; ignores one that is not understood here. */
  public void offer(ClusterMap other) {
    if (able.conflict(other.level()) != null) {
      return; // The other members refuse this one, and give the reason.
    }
    synchronized (this) {
      if (map != null && map.epoch() >= other.epoch()) {
        return;
      }
      map = other;
    }
    changed.accept(other);
  }

  /** Registers the handler of requests for the map in force. */
  public void answerAt(PeerDoor door, Executor executor) {
    door.registerForAll(
        KIND, executor, (from, payload) -> CompletableFuture.completedStage(answer(payload)));
  }

  /** Answers another process's request for the map in force. */
  public byte[] answer(byte[] payload) {
    long theirs = new ByteReader(payload, 0).readNumber();
    ClusterMap known = map;
    return known == null || known.epoch() <= theirs ? new byte[0] : known.toBytes();
  }

  /**
   * Takes the epoch of another process's map; requests that map if it is newer and the process is a
   * member.
   */
  public void epochSeen(String from, long theirs) {
    ClusterMap known = map;
    if (known != null && theirs > known.epoch() && known.member(from) != null) {
      Object unused = requestFrom(from);
    }
  }

  /** Requests the map of some other member; to be called each second. */
  public void poll() {
    List<Member> all = get().members();
    String next = all.get(Math.floorMod(turn.getAndIncrement(), all.size())).name();
    if (!next.equals(self)) {
      Object unused = requestFrom(next);
    }
  }

  /**
   * Requests the map of a member that has its log, unless such a request is in flight: a slot is
   * not where the newest known map has it.
   */
  public void refresh() {
    List<String> those = get().replicas(0);
    String next = those.get(Math.floorMod(turn.getAndIncrement(), those.size()));
    if (!next.equals(self) && !refreshing.getAndSet(true)) {
      Object unused = requestFrom(next).whenComplete((answer, error) -> refreshing.set(false));
    }
  }

  private CompletionStage<?> requestFrom(String member) {
    byte[] known = new ByteWriter().writeNumber(epoch()).toBytes();
    return others
        .apply(member, known)
        .thenAccept(
            answer -> {
              if (answer.length > 0) {
                offer(ClusterMap.read(new ByteReader(answer, 0)));
              }
            });
  }

  /**
   * Changes the cluster's map, if this member leads group 0.
   *
   * @param ledger of group 0
   * @param step makes the next map from the one in force, or returns that one if it is right
   *     already; called again if the map has changed meanwhile
   * @return the map that is in force then; fails with a {@link LedgerException}, and with what
   *     {@code step} throws
   */
  public CompletionStage<ClusterMap> change(Ledger ledger, UnaryOperator<ClusterMap> step) {
    return change(ledger, step, get(), MOST_TRIES);
  }

  private CompletionStage<ClusterMap> change(
      Ledger ledger, UnaryOperator<ClusterMap> step, ClusterMap from, int triesLeft) {
    ClusterMap next;
    try {
      next = step.apply(from);
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    }
    if (next.epoch() == from.epoch()) {
      return CompletableFuture.completedStage(from);
    }
    return ledger
        .append(Entry.map(from.epoch(), next))
        .thenCompose(
            reply -> {
              ClusterMap inForce = inForce(reply);
              offer(inForce);
              if (inForce.equals(next)) {
                return CompletableFuture.completedStage(inForce);
              }
              if (triesLeft > 1) {
                return change(ledger, step, inForce, triesLeft - 1);
              }
              return CompletableFuture.failedStage(
                  new LedgerException(
                      LedgerException.Outcome.OVERLOADED, null, "the map changes all the time"));
            });
  }

  /** Reads the reply to an {@link Entry#map}. */
  public static ClusterMap inForce(byte[] reply) {
    ByteReader in = new ByteReader(reply, 0);
    long unused = in.readLong();
    return ClusterMap.read(in);
  }
}
