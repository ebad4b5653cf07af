package dev.weir.cluster.internal.asking;

import dev.weir.cluster.Cluster;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.map.PeerSlots;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerTransport;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The route to members in other processes, with the formats of both sides. Safe for use by many
 * threads.
 */
public final class PeerRoute implements Route {
  static final int ASK = PeerFrame.FIRST_REQUEST + 17;

  static final int DECIDED = 0;
  static final int NOT_LEADER = 1;
  static final int OVERLOADED = 2;
  static final int UNKNOWN = 3;

  /** Far longer than a decision may take: its caller has given up long before. */
  private static final long ASK_MILLIS = 10_000;

  private final int kind;
  private final PeerTransport transport;
  private final CurrentMap map;
  private final Executor asking;

  /**
   * Creates a route for entries.
   *
   * @param asking hands replies on
   */
  public PeerRoute(PeerTransport transport, CurrentMap map, Executor asking) {
    this(ASK, transport, map, asking);
  }

  /**
   * Creates a route.
   *
   * @param kind of the requests: {@link #ASK}, or {@link PeerSlots#KIND}
   */
  PeerRoute(int kind, PeerTransport transport, CurrentMap map, Executor asking) {
    this.kind = kind;
    this.transport = transport;
    this.map = map;
    this.asking = asking;
  }

  @Override
  public CompletionStage<byte[]> send(String member, int group, byte[] entry) {
    byte[] payload =
        new ByteWriter()
            .writeByte(group)
            .writeNumber(map.epoch())
            .copy(entry, 0, entry.length)
            .toBytes();
    CompletionStage<byte[]> answer;
    try {
      answer = transport.link(member, Cluster.ASKING).call(kind, payload, ASK_MILLIS);
    } catch (PeerException e) {
      answer = CompletableFuture.failedStage(e);
    }
    return answer.handleAsync((reply, error) -> read(member, reply, error), asking);
  }

  private byte[] read(String from, byte @Nullable [] answer, @Nullable Throwable error) {
    if (answer == null) {
      Throwable cause = error != null && error.getCause() != null ? error.getCause() : error;
      boolean certain =
          cause instanceof PeerException known && known.outcome() == PeerException.Outcome.NOT_SENT;
      throw new LedgerException(
          certain ? Outcome.NOT_LEADER : Outcome.UNKNOWN,
          null,
          cause == null ? "no answer" : String.valueOf(cause.getMessage()));
    }
    ByteReader in = new ByteReader(answer, 0);
    map.epochSeen(from, in.readNumber());
    int said = in.readByte();
    if (said == DECIDED) {
      return in.readBytes();
    }
    String leader = in.readText();
    throw new LedgerException(
        switch (said) {
          case NOT_LEADER -> Outcome.NOT_LEADER;
          case OVERLOADED -> Outcome.OVERLOADED;
          default -> Outcome.UNKNOWN;
        },
        leader.isEmpty() ? null : leader,
        in.readText());
  }
}
