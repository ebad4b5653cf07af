package dev.weir.http.outgoing;

import dev.weir.Ticker;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Ticket;
import dev.weir.engine.seats.RequestSeat;
import dev.weir.engine.seats.RequestSeats;
import dev.weir.identity.ClientAddress;
import dev.weir.identity.DescriptorTemplate;
import dev.weir.identity.RequestIdentity;
import dev.weir.identity.SecretHash;
import dev.weir.identity.Source;
import dev.weir.internal.Choice;
import dev.weir.internal.RememberedRefusals;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A limiter of outgoing HTTP requests. It decides by rules, if there are any. It also keeps the
 * refusals of services that have answered 429 (Too Many Requests) or 503 (Service Unavailable) with
 * {@code Retry-After}, or with a {@code RateLimit} without permits: until the stated time no
 * requests are sent to them. It never sends a request again by itself.
 *
 * <p>Services are distinguished by host and port and by a key, by default the request's {@code
 * Authorization}. So one customer of an application who uses up a quota does not stop the requests
 * of the others. At most 65,536 refusals are kept, with only hashes of their keys.
 *
 * <p>One limiter may serve several HTTP clients. Safe for use by many threads; it has none of its
 * own and need not be closed.
 */
public final class OutgoingLimiter {
  private static final Duration MAX_DURATION = Duration.ofDays(1);
  private static final int MAX_WAITING = 1_000_000;

  /**
   * The most refusals: more hosts and keys than one process has refusals of within the longest
   * time.
   */
  private static final int MAX_REFUSALS = 65_536;

  /** The address of the client: an outgoing request has none, and no template needs one. */
  private static final ClientAddress NO_ADDRESS = ClientAddress.ofPeer();

  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVICE_UNAVAILABLE = 503;
  private static final int SERVER_ERROR = 500;

  final Ticker ticker;
  final @Nullable Decider decider;
  final RememberedRefusals<HostKey> refusals;
  private final String domain;
  private final Function<? super OutgoingRequest, ? extends List<Descriptor>> descriptors;
  private final Function<? super OutgoingRequest, String> key;
  private final long maxWaitNanos;
  private final int maxWaiting;
  private final RequestSeats seats;
  private final @Nullable Function<? super OutgoingRequest, AdaptiveLimiter> adaptive;
  private final boolean throwsOnRefusal;
  private final AtomicInteger waiting = new AtomicInteger();

  private OutgoingLimiter(Builder builder) {
    ticker = builder.ticker;
    decider = builder.decider;
    refusals = new RememberedRefusals<>(ticker, MAX_REFUSALS, builder.maxRemembered.toNanos());
    domain = builder.domain;
    descriptors = builder.allDescriptors();
    key = builder.key;
    maxWaitNanos = builder.maxWait.toNanos();
    maxWaiting = builder.maxWaiting;
    seats = new RequestSeats(decider, ticker, builder.longestSeat);
    adaptive = builder.adaptive;
    throwsOnRefusal = builder.throwsOnRefusal;
  }

  /** Returns a builder of a limiter that only keeps the refusals of services. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Decides a request; if it is refused, it waits for at most {@link Builder#maxWait}.
   *
   * @param done receives an admission, once: before this method returns unless the request waits or
   *     the rules are decided over a network, else on a thread that must not be blocked. An
   *     exception on such a thread is lost
   * @return a ticket with which the request can leave; a charge at that moment is given back
   */
  public Ticket admit(OutgoingRequest request, Consumer<? super Admission> done) {
    return admit(request, maxWaitNanos, done);
  }

  /**
   * Decides a request that has less time. See {@link #admit(OutgoingRequest, Consumer)}.
   *
   * @param maxWaitNanos at least 0; {@link Builder#maxWait} bounds it, too
   */
  public Ticket admit(
      OutgoingRequest request, long maxWaitNanos, Consumer<? super Admission> done) {
    List<Descriptor> asked = decider == null ? List.of() : descriptors.apply(request);
    Attempt attempt =
        new Attempt(
            this,
            request,
            asked.isEmpty() ? null : new Request(domain, asked, 1),
            Math.min(maxWaitNanos, this.maxWaitNanos),
            done);
    attempt.step();
    return attempt;
  }

  /** Returns whether a refusal is to be an exception; otherwise it is a response. */
  public boolean throwsOnRefusal() {
    return throwsOnRefusal;
  }

  /** Returns the number of requests that wait. */
  public int waiting() {
    return waiting.get();
  }

  /** Returns the number of hosts and keys with a kept refusal, even if it is over by now. */
  public int remembered() {
    return refusals.size();
  }

  HostKey place(OutgoingRequest request) {
    return HostKey.of(request.host(), request.port(), key.apply(request));
  }

  void received(
      OutgoingRequest answered, long sentNanos, int status, Function<String, List<String>> fields) {
    if (status == TOO_MANY_REQUESTS || status == SERVICE_UNAVAILABLE) {
      refusals.add(place(answered), status, RetryAfter.nanos(fields, ticker.nanos()));
    } else if (status < SERVER_ERROR && refusals.size() > 0) {
      refusals.forget(place(answered), sentNanos);
    }
  }

  /** Returns the seats that an admitted request has taken; null if it has taken none. */
  @Nullable RequestSeat seat(Request request, Answer answer, String host) {
    return seats.take(request, answer, host);
  }

  /** Returns the adaptive limit of the service that gets a request; null if there is none. */
  @Nullable AdaptiveLimiter adaptive(OutgoingRequest request) {
    return adaptive == null ? null : adaptive.apply(request);
  }

  /** Returns a permit of an adaptive limit as a seat. */
  RequestSeat hold(AdaptivePermit permit, String host) {
    return seats.hold(permit, host);
  }

  boolean isFull() {
    return waiting.get() >= maxWaiting;
  }

  boolean startWaiting() {
    if (waiting.incrementAndGet() > maxWaiting) {
      waiting.decrementAndGet();
      return false;
    }
    return true;
  }

  void stopWaiting() {
    waiting.decrementAndGet();
  }

  /** The settings of a limiter to be built. Used by one thread. */
  public static final class Builder {
    private Ticker ticker = Ticker.system();
    private @Nullable Decider decider;
    private String domain = "";
    private final List<Function<? super OutgoingRequest, ? extends List<Descriptor>>> descriptors =
        new ArrayList<>();
    private Function<? super OutgoingRequest, String> key = Builder::authorization;
    private Duration maxWait = Duration.ZERO;
    private Duration maxRemembered = Duration.ofSeconds(30);
    private int maxWaiting = 1_000;
    private Duration longestSeat = RequestSeats.LONGEST;
    private @Nullable Function<? super OutgoingRequest, AdaptiveLimiter> adaptive;
    private boolean throwsOnRefusal;

    private Builder() {}

    private static String authorization(OutgoingRequest request) {
      return String.join(",", request.headers("Authorization"));
    }

    /**
     * Sets the rules that decide before a request is sent. All descriptors of a request are one
     * request to the decider: all of them are charged, or none.
     *
     * @param decider an engine in this process, or a service
     * @param domain the domain of the rules
     */
    public Builder rules(Decider decider, String domain) {
      this.decider = decider;
      this.domain = domain;
      return this;
    }

    /**
     * Adds a descriptor, for example {@code host={host},method={method}}. Values that a request
     * lacks are left empty.
     *
     * @param template in the syntax of {@link DescriptorTemplate}, without the sources that only a
     *     received request has: {@code {ip}}, {@code {login}} and {@code {route}}
     * @throws IllegalArgumentException if it is malformed
     */
    public Builder descriptor(String template) {
      DescriptorTemplate parsed = DescriptorTemplate.parse(template);
      for (Source source : List.of(Source.IP, Source.LOGIN, Source.ROUTE)) {
        if (parsed.uses(source)) {
          throw new IllegalArgumentException(
              "descriptor "
                  + template
                  + ": {"
                  + Choice.text(source)
                  + "} (expected: what an outgoing request has, such as {host})");
        }
      }
      return descriptors(request -> List.of(filled(parsed, request)));
    }

    private static Descriptor filled(DescriptorTemplate template, OutgoingRequest request) {
      RequestIdentity identity = new RequestIdentity(request, NO_ADDRESS, SecretHash.plain());
      return new Descriptor(template.fill(identity, Entry::new), null, null);
    }

    /** Adds descriptors that a function makes of a request; none if they do not apply to it. */
    public Builder descriptors(
        Function<? super OutgoingRequest, ? extends List<Descriptor>> descriptors) {
      this.descriptors.add(descriptors);
      return this;
    }

    /**
     * Sets the key by which a service distinguishes its callers, besides host and port. By default
     * it is the request's field {@code Authorization}, empty if there is none; with {@code request
     * -> ""} a refusal holds for all requests to that host. Only a hash of it is kept.
     */
    public Builder key(Function<? super OutgoingRequest, String> key) {
      this.key = key;
      return this;
    }

    /**
     * Sets the longest that refused requests wait. Requests wait in the queue of their rule if it
     * has one; otherwise they are decided again after their retry-after, in no order. By default
     * they are refused at once.
     *
     * @param maxWait 0 to 24 hours
     * @throws IllegalArgumentException if it is not in this range
     */
    public Builder maxWait(Duration maxWait) {
      this.maxWait = checked("maxWait", maxWait);
      return this;
    }

    /**
     * Bounds the time for which a service's refusal is kept, after which a request is sent again.
     * By default it is 30 seconds: a mistake of a service must not stop a program for a day.
     * Callers get the time that the service has stated, whatever this bound is.
     *
     * @param maxRemembered 0, which keeps nothing, to 24 hours
     * @throws IllegalArgumentException if it is not in this range
     */
    public Builder maxRemembered(Duration maxRemembered) {
      this.maxRemembered = checked("maxRemembered", maxRemembered);
      return this;
    }

    /**
     * Bounds the number of requests that wait at once; a further one is refused. By default 1,000.
     *
     * @param maxWaiting 0 to 1,000,000
     * @throws IllegalArgumentException if it is not in this range
     */
    public Builder maxWaiting(int maxWaiting) {
      if (maxWaiting < 0 || maxWaiting > MAX_WAITING) {
        throw new IllegalArgumentException(
            "maxWaiting: " + maxWaiting + " (expected: 0.." + MAX_WAITING + ")");
      }
      this.maxWaiting = maxWaiting;
      return this;
    }

    /**
     * Makes a refused request fail with a {@link RateLimitedException}. By default it is answered
     * with a response that is made here, with status 429 or 503, {@code Retry-After} and no body,
     * so that it is handled as if the service itself had refused it.
     */
    public Builder throwOnRefusal() {
      throwsOnRefusal = true;
      return this;
    }

    /**
     * Sets an adaptive limit on the requests that are sent to a service at the same time, besides
     * the rules, for a limiter of one service. A request beyond it waits for at most {@link
     * #maxWait}, in the order of arrival, and is refused with 503 otherwise; what the rules have
     * charged is given back then. The latency is that to the head of the response, and the permit
     * is held until the body has ended, or for {@link #longestSeat}. Statuses 429 and 503, timeouts
     * and failures to connect count as dropped; cancelled requests and other failures are ignored.
     * Default: none.
     */
    public Builder adaptive(AdaptiveLimiter limiter) {
      return adaptive(request -> limiter);
    }

    /**
     * Sets the adaptive limit of each service, like {@link #adaptive(AdaptiveLimiter)}.
     *
     * @param limiters returns the limiter for a request, the same for all requests to one service.
     *     It is called by many threads and must not block
     */
    public Builder adaptive(Function<? super OutgoingRequest, AdaptiveLimiter> limiters) {
      adaptive = limiters;
      return this;
    }

    /**
     * Sets the longest that a request keeps its seats of limits at the same time, if its end is not
     * noticed. Default: 5 minutes.
     *
     * @param longest 1 second to 366 days
     */
    public Builder longestSeat(Duration longest) {
      longestSeat = RequestSeats.checked(longest);
      return this;
    }

    /** Replaces the system's clock. */
    public Builder ticker(Ticker ticker) {
      this.ticker = ticker;
      return this;
    }

    /**
     * Builds the limiter.
     *
     * @throws IllegalArgumentException if there are rules without descriptors, or descriptors
     *     without rules
     */
    public OutgoingLimiter build() {
      if (decider == null && !descriptors.isEmpty()) {
        throw new IllegalArgumentException("rules: none (expected: rules for the descriptors)");
      }
      if (decider != null && descriptors.isEmpty()) {
        throw new IllegalArgumentException("descriptor: none (expected: at least one, for rules)");
      }
      return new OutgoingLimiter(this);
    }

    private Function<OutgoingRequest, List<Descriptor>> allDescriptors() {
      List<Function<? super OutgoingRequest, ? extends List<Descriptor>>> all =
          List.copyOf(descriptors);
      return request -> {
        List<Descriptor> made = new ArrayList<>();
        all.forEach(each -> made.addAll(each.apply(request)));
        return made;
      };
    }

    private static Duration checked(String name, Duration value) {
      if (value.isNegative() || value.compareTo(MAX_DURATION) > 0) {
        throw new IllegalArgumentException(name + ": " + value + " (expected: 0 s to 24 h)");
      }
      return value;
    }
  }
}
