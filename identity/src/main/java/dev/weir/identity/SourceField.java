package dev.weir.identity;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One name of a field, with the source of its value.
 *
 * @param name the name as written in the template
 * @param source the source of its value
 * @param part for a secret the source of the hashed value, else the same as {@code source}
 * @param argument the name of a header, cookie or parameter, else empty
 * @param ipv4Prefix the prefix of an address, 0 for the usual one
 * @param ipv6Prefix the prefix of an address, 0 for the usual one
 */
record SourceField(
    String name, Source source, Source part, String argument, int ipv4Prefix, int ipv6Prefix) {
  static final String EXPECTED =
      "{ip}, {ip/48}, {login}, {path}, {route}, {method}, {host}, {header:NAME}, {cookie:NAME},"
          + " {query:NAME} or {secret:NAME}";

  /**
   * Reads a name.
   *
   * @throws IllegalArgumentException with what was expected, if it is none
   */
  static SourceField parse(String name) {
    int colon = name.indexOf(':');
    String kind = colon < 0 ? name : name.substring(0, colon);
    String argument = colon < 0 ? "" : name.substring(colon + 1);
    if (kind.equals("secret")) {
      int second = argument.indexOf(':');
      String part = second < 0 ? "header" : argument.substring(0, second);
      return named(name, Source.SECRET, argument(part), argument.substring(second + 1));
    }
    Source source = argument(kind);
    if (source != null) {
      return named(name, source, source, argument);
    }
    if (name.startsWith("ip/")) {
      return prefixed(name);
    }
    return new SourceField(name, plain(name), plain(name), "", 0, 0);
  }

  private static @Nullable Source argument(String kind) {
    return switch (kind) {
      case "header" -> Source.HEADER;
      case "cookie" -> Source.COOKIE;
      case "query" -> Source.QUERY;
      default -> null;
    };
  }

  private static Source plain(String name) {
    return switch (name) {
      case "ip" -> Source.IP;
      case "login" -> Source.LOGIN;
      case "path" -> Source.PATH;
      case "route" -> Source.ROUTE;
      case "method" -> Source.METHOD;
      case "host" -> Source.HOST;
      default -> throw new IllegalArgumentException(EXPECTED);
    };
  }

  private static SourceField named(
      String name, Source source, @Nullable Source part, String argument) {
    boolean valid = part == Source.QUERY ? !argument.isEmpty() : HeaderNames.valid(argument);
    if (part == null || !valid) {
      throw new IllegalArgumentException(
          source == Source.SECRET
              ? "{secret:NAME} with the name of a header, {secret:cookie:NAME} or"
                  + " {secret:query:NAME}"
              : "{" + source.name().toLowerCase(Locale.ROOT) + ":NAME}");
    }
    return new SourceField(name, source, part, argument, 0, 0);
  }

  /** Reads {@code ip/48} or {@code ip/24/48}. */
  private static SourceField prefixed(String name) {
    List<Integer> prefixes = Prefixes.parse(name.substring("ip/".length()));
    return new SourceField(name, Source.IP, Source.IP, "", prefixes.get(0), prefixes.get(1));
  }

  /** Returns the value, null if it is missing. An empty one is missing too. */
  @Nullable String value(RequestIdentity identity) {
    if (source == Source.IP) {
      return address(identity);
    }
    String text = given(identity);
    if (text == null) {
      return null;
    }
    return source == Source.SECRET ? identity.secrets().of(text) : PlainText.key(text);
  }

  /** Returns whether the request has a value. It always has an address. */
  boolean isIn(RequestIdentity identity) {
    return source == Source.IP || given(identity) != null;
  }

  /** Returns the value unchanged, null if it is missing. */
  private @Nullable String given(RequestIdentity identity) {
    String text = text(identity.request());
    if (source == Source.SECRET && text != null && argument.equalsIgnoreCase("Authorization")) {
      text = Credentials.steady(text);
    }
    return text == null || text.isEmpty() ? null : text;
  }

  private String address(RequestIdentity identity) {
    if (ipv6Prefix == 0) {
      return identity.clientKey();
    }
    Client client = identity.client();
    return ipv4Prefix == 0 ? client.key(ipv6Prefix) : client.key(ipv4Prefix, ipv6Prefix);
  }

  private @Nullable String text(RequestView request) {
    return switch (part) {
      case LOGIN -> request.login();
      case PATH -> request.path();
      case ROUTE -> request.route();
      case METHOD -> request.method();
      case HOST -> RequestTexts.hostName(request.host());
      case HEADER -> RequestTexts.only(request.headers(argument));
      case COOKIE -> request.cookie(argument);
      case QUERY -> request.query(argument);
      case IP, SECRET -> throw new AssertionError(part);
    };
  }
}
