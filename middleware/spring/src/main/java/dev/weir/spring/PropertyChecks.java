package dev.weir.spring;

import dev.weir.engine.seats.RequestSeats;
import dev.weir.http.PathPatterns;
import dev.weir.identity.ClientAddress;
import dev.weir.identity.DescriptorTemplate;
import dev.weir.identity.SecretHash;
import dev.weir.identity.Source;
import dev.weir.identity.TemplateException;
import dev.weir.protocol.http.RetryFields;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The checks of the values of properties, which find all problems. Used by one thread, once. */
final class PropertyChecks {
  /** The longest domain, as in a rule file. */
  private static final int MAX_DOMAIN = 1_024;

  private static final int MAX_PREFIX = 64;
  private static final int MAX_WAITING = 1 << 20;

  /** The names of methods by RFC 9110. */
  private static final Pattern METHOD = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}");

  /**
   * The form in which the classes below report a value: {@code name: value (expected: constraint)}.
   */
  private static final Pattern SAID =
      Pattern.compile("([a-z0-9-]+): (.*) \\(expected: (.*)\\)", Pattern.DOTALL);

  private final List<PropertyProblem> problems = new ArrayList<>();

  private PropertyChecks() {}

  static List<PropertyProblem> problems(WeirProperties properties) {
    PropertyChecks checks = new PropertyChecks();
    checks.all(properties);
    return checks.problems;
  }

  private void all(WeirProperties properties) {
    String domain = properties.domain();
    if (domain != null && (domain.isBlank() || domain.length() > MAX_DOMAIN)) {
      wrong("weir.domain", domain, "1.." + MAX_DOMAIN + " characters");
    }
    List<String> rules = properties.rules();
    if (rules != null && !rules.isEmpty() && !properties.limits().isEmpty()) {
      wrong("weir.rules", String.join(",", rules), "none beside weir.limits");
    }
    store(properties.store());
    address(properties.clientAddress());
    queue(properties.queue());
    time("weir.retry-after.max", properties.retryAfter().max(), RetryFields.LARGEST_BOUND, "366d");
    time(
        "weir.retry-after.jitter",
        properties.retryAfter().jitter(),
        RetryFields.LARGEST_JITTER,
        "1h");
    longestSeat(properties.longestSeat());
    pepper(properties.identity().pepper());
    Long maxKeys = properties.maxKeys();
    if (maxKeys != null && maxKeys < 1) {
      wrong("weir.max-keys", maxKeys, "at least 1");
    }
    if (properties.maxMemory() != null && properties.maxMemory().toBytes() < 1) {
      wrong("weir.max-memory", properties.maxMemory(), "at least 1B");
    }
    state(properties.state().dir());
    filters(properties.filters());
    properties.limits().forEach(this::limit);
    if (problems.stream().noneMatch(problem -> problem.name().startsWith("weir.limits."))) {
      problems.addAll(LimitRules.problems(properties.limits()));
    }
  }

  private void wrong(String name, @Nullable Object value, String expected) {
    problems.add(new PropertyProblem(name, value, expected));
  }

  private void store(WeirProperties.Store store) {
    Duration timeout = store.timeout();
    if (timeout.compareTo(Duration.ofMillis(1)) < 0
        || timeout.compareTo(Duration.ofSeconds(60)) > 0) {
      wrong("weir.store.timeout", timeout, "1ms to 60s");
    }
    if (store.prefix().isEmpty() || store.prefix().length() > MAX_PREFIX) {
      wrong("weir.store.prefix", store.prefix(), "1.." + MAX_PREFIX + " characters");
    }
    if (store.passwordFile() != null && store.uri() == null) {
      wrong("weir.store.password-file", store.passwordFile(), "weir.store.uri beside it");
    }
  }

  private void address(WeirProperties.ClientAddress given) {
    try {
      ClientAddress unused = address(given, ClientAddress.builder());
    } catch (IllegalArgumentException e) {
      for (String line : String.valueOf(e.getMessage()).split("\n", -1)) {
        Matcher said = SAID.matcher(line);
        if (said.matches()) {
          boolean trusted = said.group(1).equals("trusted");
          wrong(
              "weir.client-address." + (trusted ? "trusted-proxies" : said.group(1)),
              unquoted(said.group(2)),
              said.group(3));
        } else {
          wrong("weir.client-address", null, line);
        }
      }
    }
  }

  private static ClientAddress address(
      WeirProperties.ClientAddress given, ClientAddress.Builder builder) {
    return builder
        .trusted(given.trustedProxies())
        .header(given.header())
        .hops(given.hops())
        .ipv4Prefix(given.ipv4Prefix())
        .ipv6Prefix(given.ipv6Prefix())
        .trustUnixSocket(given.trustUnixSocket())
        .build();
  }

  /** Returns the source of addresses, by properties that were checked. */
  static ClientAddress clientAddress(WeirProperties properties) {
    return address(properties.clientAddress(), ClientAddress.builder());
  }

  private static Object unquoted(String value) {
    boolean quoted = value.length() > 1 && value.startsWith("\"") && value.endsWith("\"");
    return quoted ? value.substring(1, value.length() - 1) : value;
  }

  private void queue(WeirProperties.Queue queue) {
    if (queue.maxRequests() < 0 || queue.maxRequests() > MAX_WAITING) {
      wrong("weir.queue.max-requests", queue.maxRequests(), "0.." + MAX_WAITING);
    }
    if (queue.maxBlockedThreads() < 0) {
      wrong("weir.queue.max-blocked-threads", queue.maxBlockedThreads(), "at least 0");
    }
  }

  private void time(String name, Duration time, Duration largest, String shown) {
    if (time.isNegative() || time.compareTo(largest) > 0) {
      wrong(name, time, "0s to " + shown);
    }
  }

  private void longestSeat(Duration longest) {
    try {
      Duration unused = RequestSeats.checked(longest);
    } catch (IllegalArgumentException e) {
      wrong("weir.longest-seat", longest, "1s to 366d");
    }
  }

  private void state(@Nullable String dir) {
    try {
      if (dir != null && (dir.isBlank() || Path.of(dir).toString().isEmpty())) {
        wrong("weir.state.dir", dir, "a folder");
      }
    } catch (InvalidPathException e) {
      wrong("weir.state.dir", dir, "a folder");
    }
  }

  private void pepper(@Nullable String pepper) {
    if (pepper != null) {
      try {
        SecretHash unused = SecretHash.withPepper(pepper);
      } catch (IllegalArgumentException e) {
        wrong("weir.identity.pepper", null, "at least 16 bytes, of random");
      }
    }
  }

  private void filters(List<WeirProperties.Filter> filters) {
    Set<String> names = new HashSet<>();
    for (int i = 0; i < filters.size(); i++) {
      String root = "weir.filters[" + i + "].";
      WeirProperties.Filter filter = filters.get(i);
      if (filter.name() != null && !names.add(filter.name())) {
        wrong(root + "name", filter.name(), "another name than the filters before it");
      }
      paths(root + "paths", filter.paths());
      paths(root + "exempt", filter.exempt());
      methods(root + "methods", filter.methods());
      for (int j = 0; j < filter.descriptors().size(); j++) {
        String text = filter.descriptors().get(j);
        descriptor(root + "descriptors[" + j + "]", text, text);
      }
      if (filter.descriptors().isEmpty()) {
        wrong(root + "descriptors", null, "at least one");
      }
      if (filter.permits() < 0) {
        wrong(root + "permits", filter.permits(), "at least 0");
      } else if (filter.permits() != 1 && filter.costs() == WeirProperties.Costs.REPORTED) {
        wrong(root + "permits", filter.permits(), "none beside costs: reported");
      }
      if (!filter.order().matches("auto|[+-]?[0-9]{1,9}")) {
        wrong(root + "order", filter.order(), "auto or a number");
      }
      for (Integer status : filter.refundUnlessStatus()) {
        if (status == null || status < 100 || status > 599) {
          wrong(root + "refund-unless-status", status, "100..599");
        }
      }
    }
  }

  private void limit(String name, LimitProperties limit) {
    String root = LimitRules.property(name);
    paths(root + "paths", limit.paths());
    methods(root + "methods", limit.methods());
    if ("held".equals(limit.costs())) {
      wrong(root + "costs", limit.costs(), "before, reported: no filter settles a hold");
    }
    List<String> by = limit.by();
    if (by.contains(LimitFilters.NOTHING) && by.size() > 1) {
      wrong(root + "by", String.join(",", by), "none alone, or what to count by");
    } else if (LimitFilters.hasFilter(limit)) {
      descriptor(root + "by", LimitFilters.descriptor(name, limit), String.join(",", limit.by()));
    }
  }

  private void paths(String name, List<String> paths) {
    for (String path : paths) {
      try {
        PathPatterns unused = PathPatterns.of(List.of(path));
      } catch (IllegalArgumentException e) {
        wrong(name, path, "a path such as /login, /users/* or /static/**");
      }
    }
  }

  private void methods(String name, List<String> methods) {
    for (String method : methods) {
      if (!METHOD.matcher(method).matches()) {
        wrong(name, method, "a method such as POST");
      }
    }
  }

  private void descriptor(String name, String text, String shown) {
    try {
      if (DescriptorTemplate.parse(text).uses(Source.ROUTE)) {
        wrong(name, shown, "no route, which is known after all filters: {path} or @RateLimit");
      }
    } catch (TemplateException e) {
      wrong(name, shown, e.expected());
    }
  }
}
