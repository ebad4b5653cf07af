package dev.weir.shared;

import dev.weir.shared.FakeCall.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A shard whose answers and their times a test determines. Safe for use by many threads. */
public final class FakeShard implements Shard {
  /** A call and the reply that it waits for. */
  public record Sent(List<Request> requests, CompletableFuture<Reply> reply) {
    /** Answers with these numbers, after a time of 0. */
    public void answer(long... numbers) {
      answerAt(0, numbers);
    }

    /** Answers with these numbers, after the given time. */
    void answerAt(long nowMicros, long... numbers) {
      reply.complete(new FakeReply(nowMicros * Result.NANOS_PER_MICRO, numbers));
    }

    void fail(Failure failure) {
      reply.completeExceptionally(new ShardException(failure, failure.text()));
    }
  }

  public final List<Sent> calls = new CopyOnWriteArrayList<>();
  public final List<CompletableFuture<Reply>> probes = new CopyOnWriteArrayList<>();
  volatile @Nullable RuntimeException thrown;

  /** Turns that were requested while nothing was read. */
  final List<CompletableFuture<Void>> turns = new CopyOnWriteArrayList<>();

  /** True while nothing is read. */
  volatile boolean stuck;

  /** A function that answers calls at once; null if there is none. */
  public volatile @Nullable Function<List<Request>, long[]> answers;

  @Override
  public Call newCall() {
    return new FakeCall(this::send);
  }

  private CompletionStage<? extends Reply> send(List<Request> requests) {
    RuntimeException failing = thrown;
    if (failing != null) {
      throw failing;
    }
    Sent sent = new Sent(List.copyOf(requests), new CompletableFuture<>());
    calls.add(sent);
    Function<List<Request>, long[]> known = answers;
    if (known != null) {
      sent.answer(known.apply(sent.requests()));
    }
    return sent.reply();
  }

  @Override
  public CompletionStage<? extends Reply> probe() {
    RuntimeException failing = thrown;
    if (failing != null) {
      throw failing;
    }
    CompletableFuture<Reply> probe = new CompletableFuture<>();
    probes.add(probe);
    return probe;
  }

  /** Returns the answer of a successful probe. */
  public static Reply fine() {
    return new FakeReply(0);
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

  /** Completes waiting turns, and from now on all others at once. */
  void read() {
    stuck = false;
    List<CompletableFuture<Void>> waiting = List.copyOf(turns);
    turns.clear();
    waiting.forEach(turn -> turn.complete(null));
  }

  @Override
  public int slot(SharedBinding binding, long fingerprint) {
    return 0;
  }

  @Override
  public int maxInFlight() {
    return 2;
  }
}
