package dev.weir.cluster.internal.forming;

import dev.weir.cluster.Cluster;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.map.Roster;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerSelf;
import dev.weir.cluster.internal.peer.PeerTransport;
import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The admission of members, decided by the leader of group 0. Safe for use by many threads. */
public final class Admissions {
  /*
   * Of two members with one name, one has to go. If the one in the map does not answer, the other
   * takes its place; if it does, the other is refused, and both log it. That is a matter for the
   * operator, who has started two: limits hold either way, since they are two voters of different
   * ids.
   */

  static final int JOIN = PeerFrame.FIRST_REQUEST + 20;
  static final int CHANGE = PeerFrame.FIRST_REQUEST + 21;

  static final int ADMITTED = 0;
  static final int ELSEWHERE = 1;
  static final int REFUSED = 2;

  static final long JOIN_MILLIS = 5_000;

  private static final int REMOVE = 0;
  private static final int REBALANCE = 1;
  private static final int RAISE = 2;

  private final Supplier<@Nullable Ledger> zero;
  private final Supplier<@Nullable Charter> charter;
  private final CurrentMap map;
  private final PeerTransport transport;
  private final Consumer<? super String> log;

  /**
   * Creates the admissions.
   *
   * @param zero this member's log of group 0, if it has one
   */
  public Admissions(
      Supplier<@Nullable Ledger> zero,
      Supplier<@Nullable Charter> charter,
      CurrentMap map,
      PeerTransport transport,
      Consumer<? super String> log) {
    this.zero = zero;
    this.charter = charter;
    this.map = map;
    this.transport = transport;
    this.log = log;
  }

  /** Registers the handlers of requests from other members. */
  public void answerAt(PeerDoor door, Executor executor) {
    door.register(JOIN, executor, this::join);
    door.register(CHANGE, executor, (from, payload) -> changed(payload));
  }

  private CompletionStage<byte[]> join(String from, byte[] payload) throws IOException {
    ByteReader in = new ByteReader(payload, 0);
    boolean fresh = in.readByte() == 1;
    Member member = Member.read(in);
    if (!member.name().equals(from)) {
      throw new IOException(from + " asks for " + member.name() + " (expected: for itself)");
    }
    Ledger ledger = zero.get();
    Charter formed = charter.get();
    if (ledger == null || formed == null || !ledger.leads()) {
      return CompletableFuture.completedStage(otherMember(ledger));
    }
    Member known = map.get().member(from);
    if (fresh && formed.founded(from, member.incarnation())) {
      return CompletableFuture.completedStage(
          refused("the folder of " + from + " has lost a part (expected: a whole one, or none)"));
    }
    if (known == null || known.incarnation().equals(member.incarnation())) {
      return admit(ledger, formed, member);
    }
    return answering(from)
        .thenCompose(
            answering -> {
              if (known.incarnation().equals(answering)) {
                String words =
                    "another member of the name "
                        + from
                        + " runs at "
                        + known.host()
                        + ":"
                        + known.port()
                        + " (expected: one of each name)";
                log.accept("cluster: one at " + member.host() + " was refused: " + words);
                return CompletableFuture.completedStage(refused(words));
              }
              return admit(ledger, formed, member);
            });
  }

  /** Returns the incarnation of a member that answers; null if none does. */
  private CompletionStage<@Nullable UUID> answering(String name) {
    PeerSelf self = transport.self();
    return self.name().equals(name)
        ? CompletableFuture.completedStage(self.incarnation())
        : Formation.incarnation(transport, name);
  }

  private CompletionStage<byte[]> admit(Ledger ledger, Charter formed, Member member) {
    Member before = map.get().member(member.name());
    return map.change(ledger, now -> Roster.joined(now, member))
        .handle(
            (inForce, error) -> {
              if (inForce == null) {
                return otherMember(ledger);
              }
              if (!member.equals(before)) {
                log.accept(
                    "cluster: "
                        + member.name()
                        + (before == null
                            ? " joins"
                            : before.incarnation().equals(member.incarnation())
                                ? " has another address"
                                : " has a new folder: it takes the place of the one before"));
              }
              ByteWriter out = new ByteWriter().writeByte(ADMITTED);
              formed.write(out);
              inForce.write(out);
              return out.toBytes();
            });
  }

  private byte[] otherMember(@Nullable Ledger ledger) {
    String leader = ledger == null ? null : ledger.leader();
    ClusterMap known = map.epoch() == 0 ? null : map.get();
    Member there = leader == null || known == null ? null : known.member(leader);
    if (there == null && known != null && ledger == null) {
      there = known.member(known.replicas(0).get(0));
    }
    ByteWriter out = new ByteWriter().writeByte(ELSEWHERE).writeByte(there == null ? 0 : 1);
    if (there != null) {
      there.write(out);
    }
    return out.toBytes();
  }

  private static byte[] refused(String words) {
    return new ByteWriter().writeByte(REFUSED).writeText(words).toBytes();
  }

  /** Reports this member's address and zone, if the map has others. */
  public void announce(Member self) {
    Member known = map.get().member(self.name());
    if (known == null || known.equals(self) || !known.incarnation().equals(self.incarnation())) {
      return;
    }
    ByteWriter out = new ByteWriter().writeByte(0);
    self.write(out);
    for (String each : map.get().replicas(0)) {
      if (each.equals(self.name())) {
        Ledger ledger = zero.get();
        if (ledger != null && ledger.leads()) {
          Object unused = map.change(ledger, now -> Roster.joined(now, self));
        }
      } else {
        Object unused = call(each, JOIN, out.toBytes());
      }
    }
  }

  /** Removes a member for good. Fails with an {@link IOException} that gives the reason. */
  public CompletionStage<ClusterMap> remove(String name) {
    return change(new ByteWriter().writeByte(REMOVE).writeText(name).toBytes());
  }

  /** Moves replicas to their places. */
  public CompletionStage<ClusterMap> rebalance() {
    return change(new ByteWriter().writeByte(REBALANCE).toBytes());
  }

  /** Raises the number of groups. Fails with an exception that gives the reason. */
  public CompletionStage<ClusterMap> raiseGroups(int number) {
    return change(new ByteWriter().writeByte(RAISE).writeNumber(number).toBytes());
  }

  private CompletionStage<ClusterMap> change(byte[] what) {
    Ledger ledger = zero.get();
    if (ledger != null && ledger.leads()) {
      return map.change(ledger, step(what));
    }
    String leader = ledger == null ? null : ledger.leader();
    String asked = leader == null ? map.get().replicas(0).get(0) : leader;
    return call(asked, CHANGE, what).thenApply(bytes -> ClusterMap.read(new ByteReader(bytes, 0)));
  }

  private CompletionStage<byte[]> changed(byte[] what) throws IOException {
    Ledger ledger = zero.get();
    if (ledger == null || !ledger.leads()) {
      throw new IOException("group 0 has no leader here; ask again");
    }
    return map.change(ledger, step(what)).thenApply(ClusterMap::toBytes);
  }

  private static UnaryOperator<ClusterMap> step(byte[] what) {
    ByteReader in = new ByteReader(what, 0);
    int verb = in.readByte();
    if (verb == REBALANCE) {
      return Roster::rebalanced;
    }
    if (verb == RAISE) {
      int groups = (int) in.readNumber();
      return now -> Roster.raised(now, groups);
    }
    String name = in.readText();
    return now -> Roster.removed(now, name);
  }

  private CompletionStage<byte[]> call(String member, int kind, byte[] payload) {
    try {
      return transport.link(member, Cluster.ASKING).call(kind, payload, JOIN_MILLIS);
    } catch (PeerException e) {
      return CompletableFuture.failedStage(e);
    }
  }
}
