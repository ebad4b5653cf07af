package dev.weir.cli.imports;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;

/** The kinds of configurations that can be imported. */
enum ImportFormat {
  NGINX("nginx"),
  HAPROXY("HAProxy"),
  SPRING("Spring Cloud Gateway, Resilience4j and the starter of Bucket4j"),
  ENVOY("Envoy's local rate limits"),
  TRAEFIK("Traefik"),
  KONG("Kong"),
  APISIX("APISIX");

  private static final Pattern NGINX_LIMIT = Pattern.compile("limit_(req|conn)(_zone)?\\s");
  private static final Pattern HAPROXY_LIMIT = Pattern.compile("stick-table\\s|track-sc\\d");
  private static final Pattern SPRING_LIMIT =
      Pattern.compile("RequestRateLimiter|resilience4j|bucket4j");
  private static final Pattern ENVOY_LIMIT = Pattern.compile("token_?[bB]ucket");
  private static final Pattern APISIX_LIMIT = Pattern.compile("limit-(count|req|conn)[\"']?\\s*:");
  private static final Pattern KONG_LIMIT =
      Pattern.compile("name[\"']?\\s*:\\s*[\"']?rate-limiting");
  private static final Pattern TRAEFIK_LIMIT = Pattern.compile("rate[lL]imit:|inFlightReq:");

  private final String original;

  ImportFormat(String original) {
    this.original = original;
  }

  /** Returns the name of the other limiter. */
  String original() {
    return original;
  }

  /** Returns the kind of a text, by the names in it; NGINX if there are none. */
  static ImportFormat of(Path file, String text) {
    String name = String.valueOf(Objects.requireNonNullElse(file.getFileName(), file));
    if (HAPROXY_LIMIT.matcher(text).find() || name.endsWith(".cfg")) {
      return HAPROXY;
    }
    if (name.endsWith(".conf") || NGINX_LIMIT.matcher(text).find()) {
      return NGINX;
    }
    if (SPRING_LIMIT.matcher(text).find() || name.endsWith(".properties")) {
      return SPRING;
    }
    if (ENVOY_LIMIT.matcher(text).find()) {
      return ENVOY;
    }
    if (APISIX_LIMIT.matcher(text).find()) {
      return APISIX;
    }
    if (KONG_LIMIT.matcher(text).find()) {
      return KONG;
    }
    return TRAEFIK_LIMIT.matcher(text).find() ? TRAEFIK : NGINX;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
