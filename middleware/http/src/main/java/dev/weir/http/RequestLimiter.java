package dev.weir.http;

import dev.weir.Ticker;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.seats.RequestSeat;
import dev.weir.engine.seats.RequestSeats;
import dev.weir.identity.ClientAddress;
import dev.weir.identity.DescriptorTemplate;
import dev.weir.identity.MissingValue;
import dev.weir.identity.RequestIdentity;
import dev.weir.identity.RequestView;
import dev.weir.identity.SecretHash;
import dev.weir.identity.Source;
import dev.weir.protocol.http.OlderFields;
import dev.weir.protocol.http.RetryFields;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A limiter of the requests that an HTTP server of any kind receives. It makes the descriptors of a
 * request, decides it, and makes the answer. All middleware for servers is based on it. Immutable
 * and safe for use by many threads, as long as its functions are.
 *
 * <pre>{@code
 * RequestLimiter limiter =
 *     RequestLimiter.builder(engine).domain("shop").descriptor("ip={ip}").build();
 * limiter.decide(request, verdict -> {
 *   if (verdict.passes()) { ... } else { ... }
 * });
 * }</pre>
 */
public final class RequestLimiter {
  private static final String OPTIONS = "OPTIONS";

  private final Decider decider;
  private final String domain;
  private final List<DescriptorTemplate> templates;
  private final ClientAddress address;
  private final SecretHash secrets;
  private final MissingValue missing;
  private final ToLongFunction<? super RequestView> permits;
  private final boolean costsReported;
  private final PathPatterns paths;
  private final PathPatterns exempt;
  private final Set<String> methods;
  private final boolean exemptPreflight;
  private final @Nullable Set<Integer> counted;
  private final boolean countedByCall;
  private final @Nullable Predicate<? super Outcome> countedOutcomes;
  private final long maxWaitNanos;
  private final RequestSeats seats;
  private final @Nullable AdaptiveLimiter adaptive;
  private final RefusalStyle style;

  private RequestLimiter(Builder builder) {
    decider = builder.decider;
    domain = builder.domain;
    templates =
        builder.templates.isEmpty()
            ? List.of(DescriptorTemplate.parse("ip={ip}"))
            : List.copyOf(builder.templates);
    address = builder.address;
    secrets = builder.secrets;
    missing = builder.missing;
    ToLongFunction<? super RequestView> given = builder.permits;
    if (given != null && builder.costsReported) {
      throw new IllegalArgumentException(
          "permits: set (expected: none beside costsReported, which takes what Verdict.charge"
              + " reports)");
    }
    costsReported = builder.costsReported;
    permits = given != null ? given : costsReported ? request -> 0 : request -> 1;
    paths = PathPatterns.of(builder.paths);
    exempt = PathPatterns.of(builder.exempt);
    methods = Set.copyOf(builder.methods);
    exemptPreflight = builder.exemptPreflight;
    counted = builder.counted == null ? null : Set.copyOf(builder.counted);
    countedByCall = builder.countedByCall;
    countedOutcomes = builder.countedOutcomes;
    maxWaitNanos = builder.maxWaitNanos;
    seats = new RequestSeats(decider, builder.ticker, builder.longestSeat);
    adaptive = builder.adaptive;
    style =
        new RefusalStyle(
            builder.olderFields,
            RetryFields.of(builder.maxRetryAfter, builder.retryJitter),
            builder.fields,
            Set.copyOf(builder.origins),
            builder.ticker);
  }

  /**
   * Returns a builder; without settings every request counts for its client's address in the domain
   * {@code app}.
   */
  public static Builder builder(Decider decider) {
    return new Builder(decider);
  }

  /** The settings of a limiter to be built. Not safe for use by several threads. */
  public static final class Builder {
    private final Decider decider;
    private String domain = "app";
    private final List<DescriptorTemplate> templates = new ArrayList<>();
    private ClientAddress address = ClientAddress.ofPeer();
    private SecretHash secrets = SecretHash.plain();
    private MissingValue missing = MissingValue.SHARED;
    private @Nullable ToLongFunction<? super RequestView> permits;
    private boolean costsReported;
    private final List<String> paths = new ArrayList<>();
    private final List<String> exempt = new ArrayList<>();
    private final Set<String> methods = new TreeSet<>();
    private boolean exemptPreflight = true;
    private @Nullable Set<Integer> counted;
    private boolean countedByCall;
    private @Nullable Predicate<? super Outcome> countedOutcomes;
    private long maxWaitNanos = LimiterSettings.maxWaitNanos(Duration.ofMinutes(1));
    private Duration longestSeat = RequestSeats.LONGEST;
    private @Nullable AdaptiveLimiter adaptive;
    private OlderFields olderFields = OlderFields.NONE;
    private Duration maxRetryAfter = Duration.ZERO;
    private Duration retryJitter = Duration.ZERO;
    private boolean fields = true;
    private final Set<String> origins = new TreeSet<>();
    private Ticker ticker = Ticker.system();

    private Builder(Decider decider) {
      this.decider = decider;
    }

    /** Sets the domain of the rules, not empty. Default: {@code app}. */
    public Builder domain(String name) {
      domain = LimiterSettings.domain(name);
      return this;
    }

    /**
     * Adds a descriptor, under which a request is counted together with others. Default, if none is
     * added: {@code ip={ip}}.
     *
     * @param template in the syntax of {@link DescriptorTemplate}
     * @throws dev.weir.identity.TemplateException if it is malformed
     */
    public Builder descriptor(String template) {
      templates.add(DescriptorTemplate.parse(template));
      return this;
    }

    /** Sets the source of the client's address. Default: the connection's other end. */
    public Builder address(ClientAddress clientAddress) {
      address = clientAddress;
      return this;
    }

    /** Sets the hash of {@code {secret:X}}. Default: without a pepper. */
    public Builder secrets(SecretHash hash) {
      secrets = hash;
      return this;
    }

    /** Sets the treatment of requests without a value that a descriptor needs. Default: shared. */
    public Builder missing(MissingValue what) {
      missing = what;
      return this;
    }

    /** Sets the permits of each request, at least 0; 0 charges nothing. Default: 1. */
    public Builder permits(long each) {
      if (each < 0) {
        throw new IllegalArgumentException("permits: " + each + " (expected: at least 0)");
      }
      permits = request -> each;
      return this;
    }

    /**
     * Sets the function that returns the permits of a request; 0 charges nothing. A negative number
     * counts as 1: it may be derived from a client's input, and must not lift the limit.
     */
    public Builder permits(ToLongFunction<? super RequestView> each) {
      permits = each;
      return this;
    }

    /**
     * Takes costs that are known only afterwards, such as the tokens of a language model's answer:
     * a request passes while at least one permit is left, and counts what the application reports
     * by {@link Verdict#charge}, whatever is left then. What is beyond the limit is a debt, and
     * refuses requests until it has passed. Requests at the same time all see the same rest. Rules
     * need no {@code costs} for it. Not together with permits. Default: the permits count at once.
     */
    public Builder costsReported() {
      costsReported = true;
      return this;
    }

    /**
     * Limits only requests for these {@link PathPatterns}. Default: all. This includes requests for
     * paths that a server could take for one of them, such as {@code //login} or {@code /login/}.
     */
    public Builder paths(Collection<String> patterns) {
      paths.addAll(patterns);
      return this;
    }

    /** Limits only requests for these paths. See {@link #paths(Collection)}. */
    public Builder paths(String... patterns) {
      return paths(List.of(patterns));
    }

    /**
     * Exempts requests for these {@link PathPatterns}, such as health checks, even if they are
     * among those of {@link #paths(Collection)}: they pass uncounted. A path that could be read as
     * another one is not exempt.
     */
    public Builder exempt(Collection<String> patterns) {
      exempt.addAll(patterns);
      return this;
    }

    /** Exempts requests for these paths. See {@link #exempt(Collection)}. */
    public Builder exempt(String... patterns) {
      return exempt(List.of(patterns));
    }

    /**
     * Limits only requests with these methods, in any case. {@code GET} includes {@code HEAD},
     * which servers answer by the same code. Default: all.
     */
    public Builder methods(Collection<String> names) {
      names.forEach(name -> methods.add(LimiterSettings.method(name).toUpperCase(Locale.ROOT)));
      if (methods.contains("GET")) {
        methods.add("HEAD");
      }
      return this;
    }

    /** Limits only requests with these methods. See {@link #methods(Collection)}. */
    public Builder methods(String... names) {
      return methods(List.of(names));
    }

    /**
     * Sets whether the browsers' own requests before a cross-origin one pass uncounted: {@code
     * OPTIONS} with {@code Origin} and {@code Access-Control-Request-Method}. Default: true.
     */
    public Builder exemptPreflight(boolean yes) {
      exemptPreflight = yes;
      return this;
    }

    /**
     * Counts only requests that end with one of these statuses, for example failed logins with 401:
     * the permits of all others are given back. Until then they are charged, so that the number of
     * counted requests stays within the limit. Default: all requests count.
     *
     * @param statuses one at least, each from 100 to 599
     */
    public Builder refundUnless(int... statuses) {
      Set<Integer> set = new TreeSet<>();
      for (int status : statuses) {
        set.add(LimiterSettings.status(status));
      }
      if (set.isEmpty()) {
        throw new IllegalArgumentException("refundUnless: none (expected: at least one status)");
      }
      counted = set;
      return this;
    }

    /**
     * Counts only requests whose outcome passes this test, besides those that {@link
     * #refundUnless(int...)} names. For outcomes that a status does not show, such as the login of
     * a form, which redirects after a right password and after a wrong one: {@code
     * refundUnless(outcome -> outcome.redirectsTo("?error"))}. The permits of all others are given
     * back; until then they are charged. A later call replaces the test. Default: all requests
     * count.
     *
     * @param counts returns whether a request counts, when the head of its response is sent. It is
     *     called by many threads, must not block, and should not throw: the request then counts,
     *     and its response may fail
     */
    public Builder refundUnless(Predicate<? super Outcome> counts) {
      countedOutcomes = counts;
      return this;
    }

    /**
     * Counts only requests for which the application has called {@link Verdict#count}, besides
     * those that {@link #refundUnless(int...)} names: for outcomes that a status does not show,
     * such as the login of a form, which redirects after a right password and after a wrong one.
     * The permits of all others are given back; until then they are charged. Default: all requests
     * count.
     */
    public Builder refundUnlessCounted() {
      countedByCall = true;
      return this;
    }

    /**
     * Sets the longest that a request waits for its turn, if the rules have a queue. Default: 1
     * minute, the longest that a rule can state.
     *
     * @param longest at least 0, which means no wait
     */
    public Builder maxWait(Duration longest) {
      maxWaitNanos = LimiterSettings.maxWaitNanos(longest);
      return this;
    }

    /**
     * Sets an adaptive limit on the requests that this process serves at the same time, besides the
     * rules. A request beyond it gets 503 without {@code Retry-After}, and is not charged. A
     * request takes its place before the rules are decided, and gives it back when it has ended, or
     * after {@link #longestSeat}. The latency is that from the decision to the head of the
     * response, so durations of streams are not learnt. A status 503 or 504 counts as dropped; 429,
     * other failures from 500 on, and clients that leave before the head are ignored. Exempt
     * requests take no place. Default: none.
     */
    public Builder adaptive(AdaptiveLimiter limiter) {
      adaptive = limiter;
      return this;
    }

    /**
     * Sets the longest that a request keeps its seats, if the rules have limits at the same time
     * ({@code concurrency}). Then they are given back though no end of the request was noticed, and
     * the log has a warning. Default: 5 minutes.
     *
     * @param longest 1 second to 366 days
     */
    public Builder longestSeat(Duration longest) {
      longestSeat = RequestSeats.checked(longest);
      return this;
    }

    /** Sets whether answers have {@code RateLimit} and {@code RateLimit-Policy}. Default: true. */
    public Builder fields(boolean yes) {
      fields = yes;
      return this;
    }

    /** Adds fields of an older kind. Default: none. */
    public Builder olderFields(OlderFields kind) {
      olderFields = kind;
      return this;
    }

    /**
     * Sets the longest {@code Retry-After} that is sent, rounded up to whole seconds. Longer
     * refusals have it and {@code x-should-retry: false}; body and {@code RateLimit} keep the
     * truth. Many clients sleep inside the call for however long they are asked to. Default: zero,
     * no bound.
     *
     * @param most 0 to 366 days; {@link #build} refuses any other
     */
    public Builder maxRetryAfter(Duration most) {
      maxRetryAfter = most;
      return this;
    }

    /**
     * Sets the longest random part, in whole seconds, that is added to {@code Retry-After}, so that
     * clients do not come back all at once. Default: zero, none.
     *
     * @param most 0 to 1 hour; {@link #build} refuses any other
     */
    public Builder retryJitter(Duration most) {
      retryJitter = most;
      return this;
    }

    /**
     * Allows pages of these origins to read refusals, for example {@code https://shop.example},
     * also of requests with credentials; {@code *} allows all, without credentials. For servers
     * whose own handling of cross-origin requests comes later than the limit.
     */
    public Builder allowOrigins(Collection<String> allowed) {
      allowed.forEach(origin -> origins.add(LimiterSettings.origin(origin)));
      return this;
    }

    /** Allows pages of these origins to read refusals. See {@link #allowOrigins(Collection)}. */
    public Builder allowOrigins(String... allowed) {
      return allowOrigins(List.of(allowed));
    }

    /**
     * Sets the clock for fields that show the time of day, and for the renewal of seats. Default:
     * the system's.
     */
    public Builder ticker(Ticker newTicker) {
      ticker = newTicker;
      return this;
    }

    /**
     * Returns the limiter.
     *
     * @throws IllegalArgumentException if a path is not a pattern, a time is out of its range, or
     *     there are permits beside {@link #costsReported}
     */
    public RequestLimiter build() {
      return new RequestLimiter(this);
    }
  }

  /** Returns the decider. */
  public Decider decider() {
    return decider;
  }

  /** Returns whether a descriptor reads this source of a request. */
  public boolean uses(Source source) {
    return templates.stream().anyMatch(template -> template.uses(source));
  }

  /** Returns the source of the client's address. */
  public ClientAddress address() {
    return address;
  }

  /**
   * Decides a request.
   *
   * @param view is also read when fields and a body are taken from the verdict
   * @param done receives the verdict exactly once: before this method returns if all limits are
   *     counted in this process, else later and on a thread that must not be blocked
   * @throws RuntimeException if a function of the settings throws it; {@code done} is not called
   *     then
   */
  public void decide(RequestView view, Consumer<? super Verdict> done) {
    if (isExempt(view)) {
      done.accept(Verdict.UNLIMITED);
      return;
    }
    RequestIdentity identity = new RequestIdentity(view, address, secrets);
    long asked = permits.applyAsLong(view);
    Long cost = asked < 0 ? 1 : asked;
    String absent = absent(identity);
    if (absent != null) {
      done.accept(new Verdict(this, view, absent));
      return;
    }
    List<Descriptor> descriptors = descriptors(identity, cost);
    AdaptivePlace place = place(view);
    if (place != null && !place.granted()) {
      done.accept(new Verdict(this, view, place));
      return;
    }
    if (descriptors.isEmpty()) {
      done.accept(place == null ? Verdict.UNLIMITED : new Verdict(this, view, place));
      return;
    }
    Request request = new Request(domain, descriptors, 1, costsReported);
    try {
      decider.decide(
          request, answer -> done.accept(Verdict.of(this, view, request, answer, place)));
    } catch (RuntimeException | Error e) {
      if (place != null) {
        place.end();
      }
      throw e;
    }
  }

  /** Takes a place under the adaptive limit; null if there is none. */
  @Nullable AdaptivePlace place(RequestView view) {
    return adaptive == null ? null : AdaptivePlace.take(adaptive, seats, name(view));
  }

  /** Returns the first required value that the request lacks, or null. */
  private @Nullable String absent(RequestIdentity identity) {
    if (missing == MissingValue.REFUSE) {
      for (DescriptorTemplate template : templates) {
        String absent = template.missing(identity);
        if (absent != null) {
          return absent;
        }
      }
    }
    return null;
  }

  private List<Descriptor> descriptors(RequestIdentity identity, Long cost) {
    boolean all = missing != MissingValue.SKIP;
    if (all && templates.size() == 1) {
      return List.of(descriptor(0, identity, cost)); // The usual cases, in the smallest lists.
    } else if (all && templates.size() == 2) {
      return List.of(descriptor(0, identity, cost), descriptor(1, identity, cost));
    }
    List<Descriptor> descriptors = new ArrayList<>(templates.size());
    for (int i = 0; i < templates.size(); i++) {
      if (all || templates.get(i).missing(identity) == null) {
        descriptors.add(descriptor(i, identity, cost));
      }
    }
    return descriptors;
  }

  private Descriptor descriptor(int i, RequestIdentity identity, Long cost) {
    return new Descriptor(templates.get(i).fill(identity, Entry::new), null, cost);
  }

  private boolean isExempt(RequestView view) {
    if (!methods.isEmpty() && !methods.contains(view.method().toUpperCase(Locale.ROOT))) {
      return true;
    }
    if (exemptPreflight
        && view.method().equals(OPTIONS)
        && !view.headers("Origin").isEmpty()
        && !view.headers("Access-Control-Request-Method").isEmpty()) {
      return true;
    }
    if (paths.isEmpty() && exempt.isEmpty()) {
      return false;
    }
    String path = view.path();
    return exempt.matches(path) || (!paths.isEmpty() && !paths.covers(path));
  }

  /**
   * Returns whether a request counts.
   *
   * @param status the one with which it ended
   * @param location where its response sends the client; null if nowhere
   * @param called whether the application has counted it
   */
  boolean counts(int status, @Nullable String location, boolean called) {
    return !countsSome()
        || (counted != null && counted.contains(status))
        || (countedByCall && called)
        || (countedOutcomes != null && countedOutcomes.test(new Outcome(status, location)));
  }

  /** Returns whether some requests stop counting once they are answered. */
  boolean countsSome() {
    return counted != null || countedByCall || countedOutcomes != null;
  }

  /** Returns whether requests count what the application reports. */
  boolean costsReported() {
    return costsReported;
  }

  long maxWaitNanos() {
    return maxWaitNanos;
  }

  /** Returns the seats of an admitted request, named by its method and route; null if none. */
  @Nullable RequestSeat seat(RequestView view, Request request, Answer answer) {
    if (!RequestSeats.mayHave(answer)) {
      return null;
    }
    return seats.take(request, answer, name(view));
  }

  private static String name(RequestView view) {
    String route = view.route();
    return view.method() + ' ' + (route == null ? view.path() : route);
  }

  /** Returns the seats that the requests of this limiter hold. */
  public RequestSeats seats() {
    return seats;
  }

  RefusalStyle style() {
    return style;
  }
}
