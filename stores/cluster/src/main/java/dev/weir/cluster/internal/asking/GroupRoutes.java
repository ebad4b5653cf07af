package dev.weir.cluster.internal.asking;

import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.map.PeerSlots;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerTransport;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The routes to groups: to those of this member, to others over their members, and from other
 * members and clients to those here. Safe for use by many threads.
 */
public final class GroupRoutes {
  private final String self;
  private final OwnGroups groups;
  private final CurrentMap map;
  private final Executor asking;
  private final PeerRoute others;
  private final PeerRoute otherSlots;

  /**
   * Creates the routes.
   *
   * @param self the name of this member
   * @param asking runs decisions, and the receivers of replies
   */
  public GroupRoutes(
      String self, OwnGroups groups, CurrentMap map, PeerTransport transport, Executor asking) {
    this.self = self;
    this.groups = groups;
    this.map = map;
    this.asking = asking;
    others = new PeerRoute(transport, map, asking);
    otherSlots = new PeerRoute(PeerSlots.KIND, transport, map, asking);
  }

  /** Registers the handlers of requests from other members and clients. */
  public void answerAt(PeerDoor door) {
    door.registerForAll(PeerRoute.ASK, asking, this::answer);
    door.register(PeerSlots.KIND, asking, this::answerOfSlot);
  }

  /** Sends a request about a slot that moves; otherwise like {@link Route#send}. */
  public CompletionStage<byte[]> sendForSlot(String member, int group, byte[] question) {
    return call(member, group, question)
        .toCompletableFuture()
        .orTimeout(PeerSlots.ANSWER_MILLIS, TimeUnit.MILLISECONDS);
  }

  private CompletionStage<byte[]> call(String member, int group, byte[] question) {
    if (!member.equals(self)) {
      return otherSlots.send(member, group, question);
    }
    OwnGroup here = groups.get(group);
    return here == null ? notHere() : PeerSlots.answer(here.ledger(), here.replica(), question);
  }

  private CompletionStage<byte[]> answerOfSlot(String from, byte[] payload) {
    return answer(
        from,
        payload,
        (here, question) -> PeerSlots.answer(here.ledger(), here.replica(), question));
  }

  private static CompletionStage<byte[]> notHere() {
    return CompletableFuture.failedStage(
        new LedgerException(Outcome.NOT_LEADER, null, "this member does not have the group"));
  }

  /** Implements {@link Route#send}. */
  public CompletionStage<byte[]> send(String member, int group, byte[] entry) {
    if (member.equals(self)) {
      OwnGroup here = groups.get(group);
      if (here == null) {
        return notHere();
      }
      try {
        return here.leader().decide(entry).thenApplyAsync(reply -> reply, asking);
      } catch (RuntimeException e) {
        return CompletableFuture.failedStage(e);
      }
    }
    return others.send(member, group, entry);
  }

  /** Answers the request of another member, or of a client. */
  private CompletionStage<byte[]> answer(String from, byte[] payload) {
    return answer(from, payload, (here, entry) -> here.leader().decide(entry));
  }

  private CompletionStage<byte[]> answer(
      String from, byte[] payload, BiFunction<OwnGroup, byte[], CompletionStage<byte[]>> deciding) {
    ByteReader in = new ByteReader(payload, 0);
    int group = in.readByte();
    map.epochSeen(from, in.readNumber());
    OwnGroup here = groups.get(group);
    if (here == null) {
      return CompletableFuture.completedStage(
          refusal(PeerRoute.NOT_LEADER, null, self + " does not have the group"));
    }
    byte[] entry = Arrays.copyOfRange(payload, in.position(), payload.length);
    return deciding
        .apply(here, entry)
        .handle(
            (reply, error) -> {
              if (reply != null) {
                return new ByteWriter()
                    .writeNumber(map.epoch())
                    .writeByte(PeerRoute.DECIDED)
                    .writeBytes(reply)
                    .toBytes();
              }
              Throwable cause =
                  error != null && error.getCause() != null ? error.getCause() : error;
              if (cause instanceof LedgerException why) {
                return refusal(
                    switch (why.outcome()) {
                      case NOT_LEADER -> PeerRoute.NOT_LEADER;
                      case OVERLOADED -> PeerRoute.OVERLOADED;
                      case UNKNOWN -> PeerRoute.UNKNOWN;
                    },
                    why.leader(),
                    String.valueOf(why.getMessage()));
              }
              return refusal(PeerRoute.UNKNOWN, null, String.valueOf(cause));
            });
  }

  private byte[] refusal(int kind, @Nullable String leader, String words) {
    return new ByteWriter()
        .writeNumber(map.epoch())
        .writeByte(kind)
        .writeText(leader == null ? "" : leader)
        .writeText(words)
        .toBytes();
  }
}
