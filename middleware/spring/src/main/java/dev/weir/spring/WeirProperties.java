package dev.weir.spring;

import dev.weir.AfterCrash;
import dev.weir.StateDurability;
import dev.weir.identity.MissingValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.env.Environment;
import org.springframework.util.unit.DataSize;

/**
 * The properties of an application's limits. Wrong values are reported when the application starts,
 * all of them at once.
 *
 * @param enabled Whether requests are limited at all.
 * @param rules Rule files and folders: "classpath:weir.yaml", "file:/etc/weir/rules", or a path.
 *     Files and folders are watched. Without it "classpath:weir.yaml" if it is there; empty for
 *     none.
 * @param limits Limits by name, instead of rule files.
 * @param domain Domain of the rules. Without it the application's name, else "app".
 * @param store Store that processes share.
 * @param clientAddress How the address of a client is found.
 * @param filters Filters that limit requests. Without any, one limits all paths by "ip={ip}".
 * @param exemptPreflight Whether preflight requests of browsers pass uncounted.
 * @param exemptActuator Which actuator endpoints on the application's port pass uncounted.
 * @param fields Fields that answers have besides Retry-After.
 * @param retryAfter The time for which refused clients are asked to wait.
 * @param respond How a refused request is answered.
 * @param queue Bounds of requests that wait for their turn.
 * @param longestSeat Longest that a request keeps its seats of limits at the same time, if its end
 *     is not noticed. 1 s to 366 days.
 * @param load The load that elastic rules depend on.
 * @param identity How secrets become keys.
 * @param maxKeys Most keys that are counted in this process. Default: 4,194,304.
 * @param maxMemory Most memory that their state takes. Default: no bound.
 * @param state Folder that keeps the counts of this process over restarts.
 * @param metrics Meters.
 * @param annotations The annotation RateLimit.
 */
@ConfigurationProperties("weir")
public record WeirProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable List<String> rules,
    @DefaultValue Map<String, LimitProperties> limits,
    @Nullable String domain,
    @DefaultValue Store store,
    @DefaultValue ClientAddress clientAddress,
    @DefaultValue List<Filter> filters,
    @DefaultValue("true") boolean exemptPreflight,
    @DefaultValue("health") ExemptActuator exemptActuator,
    @DefaultValue("standard") Fields fields,
    @DefaultValue RetryAfter retryAfter,
    @DefaultValue("problem") Respond respond,
    @DefaultValue Queue queue,
    @DefaultValue("5m") Duration longestSeat,
    @DefaultValue Load load,
    @DefaultValue Identity identity,
    @Nullable Long maxKeys,
    @Nullable DataSize maxMemory,
    @DefaultValue State state,
    @DefaultValue Metrics metrics,
    @DefaultValue Annotations annotations) {

  /** The domain of an application without a name. */
  private static final String APP = "app";

  /** Returns the domain of the rules in this application. */
  public String domain(Environment environment) {
    if (domain != null) {
      return domain;
    }
    String name = environment.getProperty("spring.application.name");
    return name == null || name.isBlank() ? APP : name;
  }

  /** Returns the source of the address of a client. */
  public dev.weir.identity.ClientAddress addresses() {
    return PropertyChecks.clientAddress(this);
  }

  /**
   * Returns the filters to make: the listed ones, and those of {@link #limits}. If there are
   * neither filters nor limits, one limits all paths by address.
   */
  public List<Filter> allFilters() {
    List<Filter> all = new ArrayList<>(filters);
    all.addAll(LimitFilters.of(limits));
    if (filters.isEmpty() && limits.isEmpty()) {
      all.add(Filter.BY_ADDRESS);
    }
    return List.copyOf(all);
  }

  /**
   * The store that processes share; without it each process counts for itself. It needs weir-redis.
   *
   * @param uri Address of the store: redis://, rediss://, redis-sentinel:// or redis-cluster://.
   * @param timeout How long a decision may take; then it is as the rule's on_failure says. 1 ms to
   *     60 s.
   * @param prefix What the names of all keys begin with, 1 to 64 characters.
   * @param passwordFile File with the password, in place of one in the address.
   * @param afterCrash What becomes of limits after the store has lost counts: deny refuses keys
   *     until their windows have passed since then, amnesty counts from zero.
   */
  public record Store(
      @Nullable String uri,
      @DefaultValue("100ms") Duration timeout,
      @DefaultValue("weir") String prefix,
      @Nullable String passwordFile,
      @DefaultValue("deny") AfterCrash afterCrash) {
    /** Returns a text without the address: a password may stand in it. */
    @Override
    public String toString() {
      return "Store[timeout=" + timeout + ", prefix=" + prefix + "]";
    }
  }

  /**
   * The source of the address of a client. Without settings it is the connection's other end, and
   * no header is read.
   *
   * @param trustedProxies Addresses and ranges of your own proxies. Only from them the header is
   *     read.
   * @param header The one header that is read. The proxies must add to it or write it anew.
   * @param hops The client's place in the header from the right, where the proxies' addresses are
   *     not known. 0 for none, at most 64.
   * @param ipv4Prefix Bits of an IPv4 address that make the key, 1 to 32.
   * @param ipv6Prefix Bits of an IPv6 address that make the key, 1 to 128.
   * @param trustUnixSocket Whether a connection without an address is from a proxy of yours.
   */
  public record ClientAddress(
      @DefaultValue List<String> trustedProxies,
      @Nullable String header,
      @DefaultValue("0") int hops,
      @DefaultValue("32") int ipv4Prefix,
      @DefaultValue("64") int ipv6Prefix,
      @DefaultValue("false") boolean trustUnixSocket) {}

  /**
   * A filter that limits requests.
   *
   * @param name Name of the filter, for logs. Without it "filter" and its number.
   * @param paths Paths that are limited: "/login", "/users/*", "/static/**". Without any, all.
   * @param methods Methods that are limited. Without any, all.
   * @param exempt Paths that pass uncounted.
   * @param descriptors What a request counts for, such as "ip={ip}" or
   *     "path={path},user={login|ip}".
   * @param permits What a request costs, at least 0.
   * @param costs Whether a request counts its permits before it is served, or what the application
   *     reports afterwards.
   * @param order Place among the application's filters, a number; or "auto": after Spring Security
   *     if a descriptor has {login}, else before it.
   * @param missing What becomes of a request without a value that a descriptor needs.
   * @param refundUnlessStatus Statuses that count, such as 401 for failed logins: all other
   *     requests are given back. Without any, all requests count.
   * @param refundUnlessLoginFailed Whether only failed logins count, as Spring Security reports
   *     them, also those of a form: all other requests are given back. Not in WebFlux.
   */
  public record Filter(
      @Nullable String name,
      @DefaultValue List<String> paths,
      @DefaultValue List<String> methods,
      @DefaultValue List<String> exempt,
      @DefaultValue("ip={ip}") List<String> descriptors,
      @DefaultValue("1") long permits,
      @DefaultValue("before") Costs costs,
      @DefaultValue("auto") String order,
      @DefaultValue("shared") MissingValue missing,
      @DefaultValue Set<Integer> refundUnlessStatus,
      @DefaultValue("false") boolean refundUnlessLoginFailed) {

    /** The value of {@link #order} with which the descriptors decide the order. */
    public static final String AUTO = "auto";

    static final Filter BY_ADDRESS =
        of("all", List.of(), List.of(), List.of("ip={ip}"), Costs.BEFORE);

    static Filter of(
        String name,
        List<String> paths,
        List<String> methods,
        List<String> descriptors,
        Costs costs) {
      return new Filter(
          name,
          paths,
          methods,
          List.of(),
          descriptors,
          1,
          costs,
          AUTO,
          MissingValue.SHARED,
          Set.of(),
          false);
    }
  }

  /** The time at which the cost of a request is known. */
  public enum Costs {
    /** Before it is served: it costs the permits of the filter. */
    BEFORE,
    /**
     * When it has been served: it passes while a permit is left, and costs what the application
     * reports by {@code RateLimitFilter.charge} or {@code ReactiveLimits.charge}.
     */
    REPORTED
  }

  /** Actuator endpoints that pass uncounted. */
  public enum ExemptActuator {
    /** Health alone, with its groups, so that probes never fail for a limit. */
    HEALTH,
    /** All endpoints. */
    ALL,
    /** No endpoints. */
    NONE
  }

  /** Fields of answers. */
  public enum Fields {
    /** {@code RateLimit} and {@code RateLimit-Policy}. */
    STANDARD,
    /** {@code RateLimit-Limit}, {@code -Remaining} and {@code -Reset}. */
    RATELIMIT,
    /** {@code X-RateLimit-*} in Envoy's form. */
    ENVOY,
    /** {@code X-RateLimit-*} in GitHub's form. */
    GITHUB,
    /** {@code x-ratelimit-*} of services of language models, and a body for their clients. */
    OPENAI,
    /** No fields. */
    NONE
  }

  /**
   * The time for which refused clients are asked to wait, by {@code Retry-After}.
   *
   * @param max The longest that is asked for, rounded up to whole seconds; 0 for no bound. Longer
   *     refusals have it and x-should-retry: false.
   * @param jitter The longest random part that is added, in whole seconds; 0 for none.
   */
  public record RetryAfter(@DefaultValue("0s") Duration max, @DefaultValue("0s") Duration jitter) {}

  /** The form of the answer to a refused request. */
  public enum Respond {
    /** An answer by the filter itself, with a problem of RFC 9457. */
    PROBLEM,
    /** An exception, which the application's own handlers answer. */
    EXCEPTION
  }

  /**
   * The bounds of requests that wait for their turn, if a rule has a queue.
   *
   * @param maxRequests Most requests that wait at a time, for all keys together. 0 to 1048576.
   * @param maxBlockedThreads Most threads of the web server that wait, where a request cannot wait
   *     without one. At least 0.
   */
  public record Queue(
      @DefaultValue("1000") int maxRequests, @DefaultValue("20") int maxBlockedThreads) {}

  /**
   * The load that elastic rules depend on. Without it they are hard.
   *
   * @param signal What is measured.
   */
  public record Load(@Nullable LoadKind signal) {}

  /** The quantity that is measured as load. */
  public enum LoadKind {
    /** The use of the processors. */
    CPU
  }

  /**
   * The hashing of secrets into keys.
   *
   * @param pepper Secret that {secret:X} is hashed with, at least 16 bytes. Processes that share
   *     limits need the same.
   */
  public record Identity(@Nullable String pepper) {
    /** Returns a text without the secret. */
    @Override
    public String toString() {
      return "Identity[]";
    }
  }

  /**
   * The folder that keeps the counts of this process over restarts.
   *
   * @param dir Folder that keeps the counts of this process over restarts. Each process needs its
   *     own. Without it counts are forgotten when the process ends.
   * @param durability What the counts outlive, beside an orderly end: process, the death of the
   *     process (kill -9, no memory), by a journal; machine, the end of the machine too (no power),
   *     since answers wait until the journal is on the disk; none, nothing.
   * @param afterCrash What becomes of limits after an end that the counts have not outlived, or if
   *     the folder could not be written: deny refuses keys until their windows have passed, amnesty
   *     goes on with the counts that are known.
   */
  public record State(
      @Nullable String dir,
      @DefaultValue("process") StateDurability durability,
      @DefaultValue("deny") AfterCrash afterCrash) {}

  /**
   * Meters.
   *
   * @param enabled Whether requests are counted by rule in the application's meters.
   */
  public record Metrics(@DefaultValue("true") boolean enabled) {}

  /**
   * The annotation {@code RateLimit}.
   *
   * @param order Place among the aspects of a method. The default is outside transactions.
   */
  public record Annotations(@DefaultValue("2147483637") int order) {}
}
