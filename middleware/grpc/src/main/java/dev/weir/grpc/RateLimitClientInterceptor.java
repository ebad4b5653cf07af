package dev.weir.grpc;

import dev.weir.Ticker;
import dev.weir.engine.Decider;
import dev.weir.engine.seats.RequestSeats;
import dev.weir.identity.DescriptorTemplate;
import dev.weir.identity.MissingValue;
import dev.weir.identity.SecretHash;
import dev.weir.identity.Source;
import dev.weir.internal.RememberedRefusals;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A client interceptor that limits the rate of gRPC calls, and spares servers the calls that they
 * would refuse.
 *
 * <pre>{@code
 * Channel limited =
 *     ClientInterceptors.intercept(
 *         channel, RateLimitClientInterceptor.builder().maxWait(Duration.ofSeconds(2)).build());
 * }</pre>
 *
 * <p>If a server refuses a call with {@code RESOURCE_EXHAUSTED} and states when it may come again,
 * by {@code RetryInfo} or {@code grpc-retry-pushback-ms}, the interceptor keeps that refusal. Until
 * then, and for {@link Builder#maxRemembered} at most, calls of that method to that authority with
 * the same descriptors are not sent. With a decider, calls are also decided before they are sent. A
 * call that may not be sent waits, for {@link Builder#maxWait} and within the call's deadline.
 * Otherwise it ends with the status that the server would give, {@code RESOURCE_EXHAUSTED} or
 * {@code UNAVAILABLE}.
 *
 * <p>The interceptor never sends a call a second time. A call that waits holds no thread; its
 * messages are kept, and {@link ClientCall#isReady} is false, so that there should be no more of
 * them. If it is cancelled, it has used no permits. The interceptor is safe for use by many threads
 * and channels.
 */
public final class RateLimitClientInterceptor implements ClientInterceptor {
  /** The most refusals that are kept, about 2 MB. */
  static final int MAX_REFUSALS = 10_000;

  final @Nullable Decider decider;
  final CallDescriptors descriptors;
  final CallKeys keys = new CallKeys();
  final RememberedRefusals<Long> refusals;
  final long maxWaitNanos;
  final Ticker ticker;
  private final Executor executor;
  final @Nullable RequestSeats seats;

  private RateLimitClientInterceptor(Builder builder) {
    decider = builder.decider;
    descriptors = builder.settings.build();
    maxWaitNanos = builder.maxWaitNanos;
    ticker = builder.ticker;
    refusals = new RememberedRefusals<>(ticker, MAX_REFUSALS, builder.maxRememberedNanos);
    seats = decider == null ? null : new RequestSeats(decider, ticker, builder.longestSeat);
    executor = builder.executor == null ? LateThreads.create() : builder.executor;
  }

  /** Returns a builder of an interceptor that only keeps the refusals of servers. */
  public static Builder builder() {
    return new Builder(null);
  }

  /**
   * Returns a builder of an interceptor that also decides calls before they are sent.
   *
   * @param decider decides the calls; its owner closes it, after the channel
   */
  public static Builder builder(Decider decider) {
    return new Builder(decider);
  }

  @Override
  public <A, B> ClientCall<A, B> interceptCall(
      MethodDescriptor<A, B> method, CallOptions options, Channel next) {
    String authority = options.getAuthority() == null ? next.authority() : options.getAuthority();
    return new LimitedClientCall<>(
        this,
        next.newCall(method, options),
        method.getFullMethodName(),
        authority,
        options.getDeadline(),
        options.getExecutor() == null ? executor : options.getExecutor());
  }

  /** The settings of an interceptor to be built. */
  public static final class Builder {
    private static final Duration REMEMBERED = Duration.ofSeconds(30);

    private final @Nullable Decider decider;
    private final CallDescriptors.Settings settings = new CallDescriptors.Settings();
    private long maxWaitNanos;
    private long maxRememberedNanos = REMEMBERED.toNanos();
    private Duration longestSeat = RequestSeats.LONGEST;
    private Ticker ticker = Ticker.system();
    private @Nullable Executor executor;

    private Builder(@Nullable Decider decider) {
      this.decider = decider;
    }

    /** Sets the domain of the rules; must be set if there is a decider. */
    public Builder domain(String domain) {
      settings.domain = domain;
      return this;
    }

    /**
     * Adds a descriptor, for example {@code method={method},tenant={header:tenant}}; at least one
     * is needed if there is a decider. Without a decider they distinguish calls that the server
     * counts separately: a refusal for one tenant does not hold for another.
     *
     * <p>{@code {method}} is the full method name, {@code shop.Cart/Add}; {@code {host}} is the
     * authority; {@code {header:x}} is a text header of the call's metadata, as far as other
     * interceptors have already added it.
     *
     * @throws dev.weir.identity.TemplateException if the template is malformed
     */
    public Builder descriptor(String template) {
      settings.templates.add(DescriptorTemplate.parse(template));
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
     * Sets the longest that a call may wait before it is sent, in a queue or for the time that the
     * server has stated. Default: 0, it is refused at once.
     */
    public Builder maxWait(Duration maxWait) {
      maxWaitNanos = Waits.nanos("maxWait", maxWait);
      return this;
    }

    /**
     * Sets the longest that a refusal is kept, so that a raised limit takes effect. Default: 30
     * seconds. 0 keeps none. Callers get the time that the server has stated, whatever this is.
     */
    public Builder maxRemembered(Duration maxRemembered) {
      maxRememberedNanos = Waits.nanos("maxRemembered", maxRemembered);
      return this;
    }

    /**
     * Sets the longest that a call keeps its seats, if the rules have limits at the same time.
     * Default: 5 minutes.
     *
     * @param longest 1 second to 366 days
     */
    public Builder longestSeat(Duration longest) {
      longestSeat = RequestSeats.checked(longest);
      return this;
    }

    /** Sets the clock, which also wakes calls that wait. Default: the system's. */
    public Builder ticker(Ticker ticker) {
      this.ticker = ticker;
      return this;
    }

    /**
     * Sets the executor that notifies the application of refused calls, and sends calls that have
     * waited, if the call's options name no executor. Default: daemon threads of this interceptor's
     * own.
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
    public RateLimitClientInterceptor build() {
      List<String> problems = new ArrayList<>();
      if (decider != null) {
        settings.check(problems);
      }
      settings.checkAbsent(Source.IP, "no {ip}: a client knows no peer", problems);
      settings.checkAbsent(Source.LOGIN, "no {login}: a client has no caller", problems);
      settings.checkAbsent(Source.QUERY, "no {query:x}: a gRPC call has no query", problems);
      if (!problems.isEmpty()) {
        throw new IllegalArgumentException(String.join("\n", problems));
      }
      return new RateLimitClientInterceptor(this);
    }
  }
}
