package dev.weir.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A shard that answers when and what a test says. Safe for use by many threads. */
final class FakeShard implements Shard {
  private static final int POLICY_NUMBERS = 8;
  private static final long SOME = 2;
  private static final long RECORD = 3;
  private static final long REFUND = 4;

  /** One request of a call: of one key, or of several charges, whose numbers are left out. */
  record Request(String kind, long key, long permits, long count, long atMicros) {}

  /** A call and the reply it waits for. */
  record Sent(List<Request> requests, CompletableFuture<byte[]> reply) {
    /** Answers with these numbers, after the time. */
    void answer(long... numbers) {
      answerAt(0, numbers);
    }

    /** Answers with these numbers, after that time. */
    void answerAt(long nowMicros, long... numbers) {
      MessageWriter writer = new MessageWriter().add(nowMicros);
      for (long number : numbers) {
        writer.add(number);
      }
      reply.complete(writer.toBytes());
    }

    void fail(Failure failure) {
      reply.completeExceptionally(new ShardException(failure, failure.text()));
    }
  }

  final List<Sent> calls = new CopyOnWriteArrayList<>();
  final List<CompletableFuture<byte[]>> probes = new CopyOnWriteArrayList<>();
  volatile @Nullable RuntimeException thrown;

  /** Turns that were asked for while nothing was read. */
  final List<CompletableFuture<Void>> turns = new CopyOnWriteArrayList<>();

  /** Whether nothing is read. */
  volatile boolean stuck;

  /** Answers at once, if there is one. */
  volatile @Nullable Function<List<Request>, long[]> answers;

  @Override
  public CompletionStage<byte[]> call(byte[][] keys, byte[] message) {
    RuntimeException failing = thrown;
    if (failing != null) {
      throw failing;
    }
    Sent sent = new Sent(requests(new MessageReader(message)), new CompletableFuture<>());
    calls.add(sent);
    Function<List<Request>, long[]> known = answers;
    if (known != null) {
      sent.answer(known.apply(sent.requests()));
    }
    return sent.reply();
  }

  /** Returns what a message asks for. */
  static List<Request> requests(MessageReader message) {
    message.number();
    for (long left = message.number() * POLICY_NUMBERS; left > 0; left--) {
      message.number();
    }
    List<Request> requests = new ArrayList<>();
    while (message.left() > 0) {
      long kind = message.number();
      long key = message.number();
      message.number();
      long permits = message.number();
      if (kind == SOME) {
        requests.add(new Request("some", key, permits, message.number(), 0));
      } else if (kind == RECORD) {
        requests.add(new Request("record", key, permits, 0, 0));
      } else if (kind == REFUND) {
        long at = message.number();
        message.number();
        message.number();
        requests.add(new Request("refund", key, permits, 0, at));
      } else {
        throw new IllegalArgumentException("kind: " + kind + " (expected: 2..4)");
      }
    }
    return requests;
  }

  @Override
  public CompletionStage<byte[]> probe() {
    RuntimeException failing = thrown;
    if (failing != null) {
      throw failing;
    }
    CompletableFuture<byte[]> probe = new CompletableFuture<>();
    probes.add(probe);
    return probe;
  }

  /** Returns what a probe is answered. */
  static byte[] fine() {
    return new MessageWriter().add(0).toBytes();
  }

  @Override
  public CompletionStage<?> turn() {
    CompletableFuture<Void> turn = new CompletableFuture<>();
    if (stuck) {
      turns.add(turn);
    } else {
      turn.complete(null);
    }
    return turn;
  }

  /** Lets what waits for a turn have it, and all that ask from now on. */
  void read() {
    stuck = false;
    List<CompletableFuture<Void>> waiting = List.copyOf(turns);
    turns.clear();
    waiting.forEach(turn -> turn.complete(null));
  }

  @Override
  public int slot(byte[] key) {
    return 0;
  }

  @Override
  public int maxInFlight() {
    return 2;
  }
}
