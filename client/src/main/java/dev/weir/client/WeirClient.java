package dev.weir.client;

import dev.weir.FailureMode;
import dev.weir.Ticker;
import dev.weir.client.internal.lease.AskedBytes;
import dev.weir.client.internal.lease.Counters;
import dev.weir.client.internal.lease.Keys;
import dev.weir.client.internal.lease.LeasingDecider;
import dev.weir.client.internal.seat.KeptSeat;
import dev.weir.client.internal.seat.SeatKeeper;
import dev.weir.client.internal.wire.EnvoyWire;
import dev.weir.client.internal.wire.GrpcWire;
import dev.weir.client.internal.wire.HoldCalls;
import dev.weir.client.internal.wire.SeatCalls;
import dev.weir.client.internal.wire.Service;
import dev.weir.client.internal.wire.ServiceLog;
import dev.weir.client.internal.wire.Wire;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Ticket;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.Settlement;
import dev.weir.rules.Request;
import dev.weir.shared.Clocks;
import io.grpc.CallCredentials;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A client of a Weir service that decides most requests without a call. If a rule has {@code
 * consistency: leased}, the client spends permits that the service has lent it. It repeats a
 * refusal of the service by itself until the service would admit the request. The limit holds as if
 * the service decided every request. Safe for use by many threads; one client serves a whole
 * process.
 *
 * <pre>{@code
 * try (WeirClient weir = WeirClient.builder("weir:8081").build()) {
 *   weir.decide(Request.of("shop", "user", "alice"), answer -> {
 *     if (answer.allowed()) { ... }
 *   });
 * }
 * }</pre>
 *
 * <p>A client is a {@link Decider}, so all middleware takes it in place of an engine. Callbacks run
 * on the caller's thread if no call is needed, else on a thread of the connection, which must not
 * be blocked. A rule's {@code on_limit} queue is not used: such a request is refused at once.
 */
public final class WeirClient implements Decider, AutoCloseable {
  private static final long LOOK_NANOS = 1_000_000L;

  private final LeasingDecider decider;
  private final HoldCalls holds;
  private final SeatCalls seatCalls;
  private final SeatKeeper seats;
  private final Clocks clocks;
  private final Counters counters;
  private final Ticker ticker;

  private WeirClient(Builder builder) {
    counters = new Counters();
    ticker = builder.clocks.monotonic();
    long deadlineNanos = builder.deadline.toNanos();
    List<Service> services = new ArrayList<>();
    List<ManagedChannel> channels = new ArrayList<>();
    for (String target : builder.targets) {
      ManagedChannel channel =
          Grpc.newChannelBuilder(target, builder.credentials())
              .directExecutor()
              .disableRetry()
              .userAgent("weir-client")
              .build();
      channels.add(channel);
      Wire wire = builder.dialect == Dialect.WEIR ? new GrpcWire(channel) : new EnvoyWire(channel);
      services.add(
          new Service(wire, builder.clocks, deadlineNanos, counters, new ServiceLog(target)));
    }
    decider =
        new LeasingDecider(
            services,
            builder.clocks,
            deadlineNanos,
            builder.onFailure,
            counters,
            new LeasingDecider.Bounds(Keys.most(), AskedBytes.most()));
    clocks = builder.clocks;
    holds = new HoldCalls(channels, clocks, deadlineNanos, builder.onFailure);
    seatCalls = new SeatCalls(channels, clocks, deadlineNanos, builder.onFailure);
    seats = new SeatKeeper(clocks, seatCalls::renew, seatCalls::release);
  }

  /**
   * Returns a builder of a client of a service.
   *
   * @param targets {@code host:port} or any name that gRPC resolves. Several services must share
   *     their counts in a store: the client calls one of them, and the next only while that one is
   *     away. Services that do not share their counts would each grant the whole limit
   * @throws IllegalArgumentException if there is no target, or an empty one
   */
  public static Builder builder(String... targets) {
    return new Builder(targets);
  }

  /** The settings of a client to be built. Not safe for use by several threads. */
  public static final class Builder {
    private static final Duration LEAST_DEADLINE = Duration.ofMillis(1);
    private static final Duration MOST_DEADLINE = Duration.ofMinutes(1);

    private final List<String> targets;
    private Duration deadline = Duration.ofMillis(50);
    private ChannelCredentials credentials = InsecureChannelCredentials.create();
    private @Nullable Supplier<String> token;
    private FailureMode onFailure = FailureMode.DENY;
    private Dialect dialect = Dialect.WEIR;
    private Clocks clocks = new Clocks(Ticker.system(), Ticker.wall());

    private Builder(String... targets) {
      this.targets = List.of(targets);
      if (this.targets.isEmpty() || this.targets.stream().anyMatch(String::isBlank)) {
        throw new IllegalArgumentException(
            "targets: " + this.targets + " (expected: at least one, as host:port)");
      }
    }

    /** Sets the longest that a request waits for its answer, 1 ms to 1 minute. Default: 50 ms. */
    public Builder deadline(Duration longest) {
      if (longest.compareTo(LEAST_DEADLINE) < 0 || longest.compareTo(MOST_DEADLINE) > 0) {
        throw new IllegalArgumentException("deadline: " + longest + " (expected: 1 ms..1 min)");
      }
      deadline = longest;
      return this;
    }

    /**
     * Sets the credentials of connections, for example {@link io.grpc.TlsChannelCredentials}.
     * Default: none, without TLS.
     */
    public Builder credentials(ChannelCredentials secured) {
      credentials = secured;
      return this;
    }

    /**
     * Sets the source of the token that the service requires. The source is read again for every
     * connection, so the token may change; it must return at once. Default: none.
     */
    public Builder token(Supplier<String> source) {
      token = source;
      return this;
    }

    /**
     * Sets the answer to requests for keys whose rule the client does not have yet, while the
     * service cannot be reached. Default: {@link FailureMode#DENY}.
     *
     * @throws IllegalArgumentException if it is {@link FailureMode#LOCAL}: no limit is known
     */
    public Builder onFailure(FailureMode answer) {
      if (answer == FailureMode.LOCAL) {
        throw new IllegalArgumentException("onFailure: LOCAL (expected: DENY or ALLOW)");
      }
      onFailure = answer;
      return this;
    }

    /** Sets the protocol. Default: {@link Dialect#WEIR}. */
    public Builder dialect(Dialect spoken) {
      dialect = spoken;
      return this;
    }

    /** Sets the clocks, for tests. Default: those of the system. */
    public Builder clocks(Clocks time) {
      clocks = time;
      return this;
    }

    private ChannelCredentials credentials() {
      Supplier<String> source = token;
      return source == null
          ? credentials
          : io.grpc.CompositeChannelCredentials.create(credentials, new Bearer(source));
    }

    /** Returns a client, which starts to connect. */
    public WeirClient build() {
      WeirClient client = new WeirClient(this);
      client.decider.start();
      return client;
    }
  }

  /** The credentials that add a token to every call. */
  private static final class Bearer extends CallCredentials {
    private static final Metadata.Key<String> AUTHORIZATION =
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final Supplier<String> source;

    Bearer(Supplier<String> source) {
      this.source = source;
    }

    @Override
    public void applyRequestMetadata(RequestInfo info, Executor executor, MetadataApplier to) {
      Metadata metadata = new Metadata();
      metadata.put(AUTHORIZATION, "Bearer " + source.get());
      to.apply(metadata);
    }
  }

  /**
   * Waits until a service has answered. This is not needed before requests: they wait for that too,
   * up to their deadlines.
   *
   * @return whether a service has answered
   */
  public boolean awaitAvailable(Duration longest) throws InterruptedException {
    long end = ticker.nanos() + longest.toNanos();
    while (!decider.answers()) {
      if (ticker.nanos() - end >= 0) {
        return false;
      }
      CountDownLatch look = new CountDownLatch(1);
      Ticker.ScheduledTask unused = ticker.schedule(LOOK_NANOS, look::countDown);
      boolean looked = look.await(longest.toNanos(), TimeUnit.NANOSECONDS);
      if (!looked) {
        return decider.answers();
      }
    }
    return true;
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    decider.decide(request, done);
  }

  /** {@inheritDoc} Always calls the service. */
  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    decider.peek(request, done);
  }

  /**
   * {@inheritDoc} Permits spent from a lease return to the lease during its lifetime. A charge of
   * the service is refunded if the service has kept it for that. The client requests this only from
   * its first refund on; a refund of an earlier charge gives back nothing.
   */
  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    decider.refund(request, answer, done);
  }

  /** {@inheritDoc} The service has no queues for clients: {@code done} receives the refusal. */
  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    return decider.enqueue(request, refused, maxWaitNanos, done);
  }

  /**
   * Decides a request whose permits are the most that it may cost, and holds them if it is
   * admitted: see {@link dev.weir.engine.Holds}. Always calls a service, and the next one while the
   * one before does not answer. Needs {@link Dialect#WEIR}.
   *
   * @return completes with the answer, on a thread of the connection, which must not be blocked.
   *     Never fails: an error is an answer. The hold is empty if the request was refused, or passes
   *     although no service has answered
   */
  public CompletionStage<HoldAnswer> hold(Request request) {
    return holds.hold(request);
  }

  /**
   * Settles a hold by what its request did cost, at whichever service answers: gives back what is
   * less, and counts what is more, whatever is left. The first settlement counts, so a settlement
   * that ends {@linkplain Settlement.Outcome#UNCERTAIN uncertain} may be sent again.
   *
   * @param hold of {@link #hold}
   * @param costs what each descriptor did cost, in their order, at least 0; or one number, for all
   *     descriptors that had the permits of the request, or the only one
   * @return completes with the result, on a thread of the connection, which must not be blocked;
   *     fails with an {@link IllegalArgumentException} if it is no hold of the services, or the
   *     costs do not fit it
   */
  public CompletionStage<Settlement> settle(String hold, long... costs) {
    return holds.settle(hold, LongStream.of(costs).boxed().toList());
  }

  /**
   * Decides a request, and takes a seat of its limits at the same time if it is admitted: see
   * {@link dev.weir.engine.Seats}. Always calls a service, and the next one while the one before
   * does not answer. The seat is renewed in the background until it is given back. Needs {@link
   * Dialect#WEIR}.
   *
   * @return completes with the seat or its refusal, on a thread of the connection, which must not
   *     be blocked. Never fails: an error is an answer
   */
  public CompletableFuture<ClientSeat> acquire(Request request) {
    Clocks.Instant sent = clocks.now();
    return seatCalls
        .acquire(request)
        .thenApply(
            taken ->
                new ClientSeat(
                    taken.answer(),
                    taken.seat().isEmpty()
                        ? null
                        : KeptSeat.of(seats, taken.seat(), taken.holdNanos(), sent)))
        .toCompletableFuture();
  }

  /**
   * Gives back all leases now. To be called before a snapshot of this process or of its machine,
   * which could be restored twice.
   */
  public void giveBackLeases() {
    decider.giveBackAll();
  }

  /** Returns the counts of this client. */
  public ClientMetrics metrics() {
    return counters.snapshot(decider.answers());
  }

  /**
   * Gives back all leases and seats and closes the connections, within about half a second. Later
   * requests are answered as if the service were away.
   */
  @Override
  public void close() {
    seats.close();
    decider.close();
  }
}
