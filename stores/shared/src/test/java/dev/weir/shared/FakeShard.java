package dev.weir.shared;

import dev.weir.shared.FakeCall.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A shard that answers when and what a test says. Safe for use by many threads. */
public final class FakeShard implements Shard {
  /** A call and the reply it waits for. */
  public record Sent(List<Request> requests, CompletableFuture<Reply> reply) {
    /** Answers with these numbers, after the time. */
    public void answer(long... numbers) {
      answerAt(0, numbers);
    }

    /** Answers with these numbers, after that time. */
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

  /** Turns that were asked for while nothing was read. */
  final List<CompletableFuture<Void>> turns = new CopyOnWriteArrayList<>();

  /** Whether nothing is read. */
  volatile boolean stuck;

  /** Answers at once, if there is one. */
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

  /** Returns what a probe is answered. */
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

  /** Lets what waits for a turn have it, and all that ask from now on. */
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
