package dev.weir.grpc;

import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.seats.RequestSeat;
import dev.weir.engine.seats.RequestSeats;
import dev.weir.identity.ClientAddress;
import dev.weir.identity.DescriptorTemplate;
import dev.weir.identity.MissingValue;
import dev.weir.identity.SecretHash;
import dev.weir.identity.Source;
import dev.weir.rules.Request;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A server interceptor that limits the rate of gRPC calls. Each call is decided once, before it
 * starts, whatever its messages; a call that is retried is another call.
 *
 * <pre>{@code
 * ServerInterceptor limits =
 *     RateLimitServerInterceptor.builder(engine)
 *         .domain("shop")
 *         .descriptor("method={method},peer={ip}")
 *         .build();
 * server.addService(ServerInterceptors.intercept(service, limits));
 * }</pre>
 *
 * <p>A refused call ends with {@code RESOURCE_EXHAUSTED}, or with {@code UNAVAILABLE} if it could
 * not be decided. The status names the policy that refuses and the time after which the call may
 * come again. The same information is in the trailers {@code grpc-status-details-bin}, with {@code
 * google.rpc.RetryInfo} and {@code google.rpc.QuotaFailure}, and {@code grpc-retry-pushback-ms},
 * which gRPC's own retries wait for. The pushback is -1, which forbids the retry, if the wait would
 * last until the call's deadline or longer: the client then sees the refusal rather than its
 * deadline. A call without a required value ends with {@code INVALID_ARGUMENT}, and a request that
 * no decider could decide with {@code INTERNAL}.
 *
 * <p>If a rule has {@code on_limit: {queue: ...}}, a call waits for its turn, uncharged, until its
 * own deadline at most. If a client cancels its call before it starts, the call has used no
 * permits.
 *
 * <p>A call that takes a seat of a limit at the same time ({@code concurrency}) gives it back when
 * it is complete or cancelled. gRPC does not notice a client that vanishes without a word, unless
 * the call has a deadline or the server sends keepalives; then {@link Builder#longestSeat} gives it
 * back.
 *
 * <p>While a call waits, or is decided by a store that answers later, no message of it is read and
 * no thread is held. It then starts on the builder's {@link Builder#executor}, within its {@link
 * Context} but without thread-locals that earlier interceptors have set. The interceptor is safe
 * for use by many threads and servers, and ends with them.
 */
public final class RateLimitServerInterceptor implements ServerInterceptor {
  private final Decider decider;
  private final CallDescriptors descriptors;
  private final LoginFinder login;
  private final ExemptMethods exempt;
  private final long maxWaitNanos;
  private final Set<Status.Code> counted;
  private final Executor executor;
  private final RequestSeats seats;

  private RateLimitServerInterceptor(Builder builder) {
    decider = builder.decider;
    descriptors = builder.settings.build();
    login = builder.login == null ? (context, headers) -> null : builder.login;
    exempt = builder.exempt;
    maxWaitNanos = builder.maxWaitNanos;
    counted = builder.counted;
    seats = new RequestSeats(decider, builder.ticker, builder.longestSeat);
    executor = builder.executor == null ? LateThreads.create() : builder.executor;
  }

  /**
   * Returns a builder.
   *
   * @param decider decides the calls; its owner closes it, after the server
   */
  public static Builder builder(Decider decider) {
    return new Builder(decider);
  }

  /** Returns the seats that calls hold. */
  public RequestSeats seats() {
    return seats;
  }

  @Override
  public <A, B> ServerCall.Listener<A> interceptCall(
      ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> next) {
    if (exempt.contains(call.getMethodDescriptor())) {
      return next.startCall(call, headers);
    }
    Context context = Context.current();
    CallDescriptors.Made made =
        descriptors.of(
            new CallView(
                call.getMethodDescriptor().getFullMethodName(),
                headers,
                call.getAuthority(),
                call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR),
                () -> login.login(context, headers)));
    if (made.missing() != null) {
      return refuse(call, Refusal.missing(made.missing()));
    }
    Request request = made.request();
    if (request.descriptors().isEmpty()) {
      return next.startCall(call, headers);
    }
    DelayedCall<A> late =
        new DelayedCall<>(
            call, (turn, answer) -> start(turn, request, answer, call, headers, next), executor);
    Turn turn = new Turn(decider, request, () -> waitNanos(context), late::decided);
    late.turn(turn);
    Answer answer = turn.decide();
    return answer == null ? late : start(turn, request, answer, call, headers, next);
  }

  private long waitNanos(Context context) {
    Deadline deadline = context.getDeadline();
    return deadline == null
        ? maxWaitNanos
        : Math.min(maxWaitNanos, deadline.timeRemaining(TimeUnit.NANOSECONDS));
  }

  private <A, B> ServerCall.Listener<A> start(
      Turn turn,
      Request request,
      Answer answer,
      ServerCall<A, B> call,
      Metadata headers,
      ServerCallHandler<A, B> next) {
    if (!answer.allowed()) {
      return refuse(call, Refusal.of(request, answer, Context.current().getDeadline()));
    }
    Runnable refund = () -> turn.giveBack(answer);
    RequestSeat seat = seats.take(request, answer, call.getMethodDescriptor().getFullMethodName());
    if (seat == null) {
      return next.startCall(refunding(call, refund), headers);
    }
    SeatedCall seated = new SeatedCall(seat, refund);
    return seated.start(refunding(call, seated::refundAtEnd), headers, next);
  }

  private <A, B> ServerCall<A, B> refunding(ServerCall<A, B> call, Runnable refund) {
    return counted.isEmpty() ? call : new RefundingCall<>(call, counted, refund);
  }

  private static <A> ServerCall.Listener<A> refuse(ServerCall<A, ?> call, Refusal refusal) {
    refusal.close(call);
    return new ServerCall.Listener<>() {};
  }

  /** The settings of an interceptor to be built. */
  public static final class Builder {
    private final Decider decider;
    private final CallDescriptors.Settings settings = new CallDescriptors.Settings();
    private @Nullable LoginFinder login;
    private ExemptMethods exempt = ExemptMethods.DEFAULT;
    private long maxWaitNanos = Long.MAX_VALUE;
    private Set<Status.Code> counted = Set.of();
    private Duration longestSeat = RequestSeats.LONGEST;
    private Ticker ticker = Ticker.system();
    private @Nullable Executor executor;

    private Builder(Decider decider) {
      this.decider = decider;
    }

    /** Sets the domain of the rules; must be set. */
    public Builder domain(String domain) {
      settings.domain = domain;
      return this;
    }

    /**
     * Adds a descriptor, for example {@code method={method},peer={ip}}; at least one is needed. All
     * descriptors of a call are charged together or not at all.
     *
     * <p>{@code {method}} is the full method name, {@code shop.Cart/Add}; {@code {path}} and {@code
     * {route}} are the same after a slash; {@code {host}} is the authority; {@code {header:x}} is a
     * text header of the call's metadata.
     *
     * @throws dev.weir.identity.TemplateException if the template is malformed
     */
    public Builder descriptor(String template) {
      settings.templates.add(DescriptorTemplate.parse(template));
      return this;
    }

    /** Sets the source of {@code {ip}}. Default: the connection's other end. */
    public Builder address(ClientAddress address) {
      settings.address = address;
      return this;
    }

    /** Sets the finder of the user of a call: {@code {login}}. Default: none. */
    public Builder login(LoginFinder login) {
      this.login = login;
      return this;
    }

    /** Sets the hash of {@code {secret:x}}. Default: without a pepper. */
    public Builder secrets(SecretHash secrets) {
      settings.secrets = secrets;
      return this;
    }

    /** Sets the effect of a missing value on a call. Default: {@link MissingValue#SHARED}. */
    public Builder missing(MissingValue missing) {
      settings.missing = missing;
      return this;
    }

    /**
     * Sets the services ({@code shop.Cart}) and methods ({@code shop.Cart/Add}) that are not
     * limited, instead of the default: health checks and reflection.
     *
     * @throws IllegalArgumentException if a name can be neither
     */
    public Builder exempt(String... names) {
      exempt = ExemptMethods.of(names);
      return this;
    }

    /**
     * Sets the longest that a call may wait for its turn, if its rules have a queue. Default: as
     * long as they and its deadline allow. 0: not at all.
     */
    public Builder maxWait(Duration maxWait) {
      maxWaitNanos = Waits.nanos("maxWait", maxWait);
      return this;
    }

    /**
     * Gives permits back unless a call ends with one of these codes, for example to limit only
     * failed logins: {@code refundUnless(UNAUTHENTICATED)}. A call is charged until it ends, so the
     * limit is not exceeded. Calls that are cancelled, and those whose application fails without
     * closing them, stay charged. Default: all calls do.
     */
    public Builder refundUnless(Status.Code first, Status.Code... more) {
      counted = EnumSet.of(first, more);
      return this;
    }

    /**
     * Sets the longest that a call keeps its seats, if the rules have limits at the same time
     * ({@code concurrency}). Then they are given back though the call has not ended, and the log
     * has a warning. Default: 5 minutes.
     *
     * @param longest 1 second to 366 days
     */
    public Builder longestSeat(Duration longest) {
      longestSeat = RequestSeats.checked(longest);
      return this;
    }

    /** Sets the clock for the renewal of seats. Default: the system's. */
    public Builder ticker(Ticker newTicker) {
      ticker = newTicker;
      return this;
    }

    /**
     * Sets the executor that starts calls that are decided late. It runs the application like the
     * server's own executor, which is a good choice for it. A call whose start it rejects ends with
     * {@code UNAVAILABLE}. Default: daemon threads of this interceptor's own, as many as are
     * needed.
     */
    public Builder executor(Executor executor) {
      this.executor = executor;
      return this;
    }

    /**
     * Checks the settings.
     *
     * @throws IllegalArgumentException with all problems, a line each in the form {@code name:
     *     value (expected: constraint)}
     */
    public RateLimitServerInterceptor build() {
      List<String> problems = new ArrayList<>();
      settings.check(problems);
      settings.checkAbsent(Source.QUERY, "no {query:x}: a gRPC call has no query", problems);
      if (login == null) {
        settings.checkAbsent(Source.LOGIN, "no {login}, as no login is set", problems);
      }
      if (!problems.isEmpty()) {
        throw new IllegalArgumentException(String.join("\n", problems));
      }
      return new RateLimitServerInterceptor(this);
    }
  }
}
