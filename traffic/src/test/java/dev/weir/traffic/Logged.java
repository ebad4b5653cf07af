package dev.weir.traffic;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * A request in the form in which each server logs it. Each form is taken from the documentation of
 * the format, which is named at the constant in {@link DocumentedLog}.
 */
public record Logged(
    long nanos,
    String ip,
    int port,
    String user,
    String method,
    String path,
    String query,
    int status,
    long bytes,
    String referer,
    String agent,
    String host) {

  private static final DateTimeFormatter CLF =
      DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ROOT).withZone(ZoneOffset.UTC);

  private static final List<String> AGENTS =
      List.of(
          "curl/8.5.0",
          "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
          "Mozilla/5.0 (compatible; bot/2.1; +http://bot.example/)");

  /** Returns requests in the order of their times. */
  public static List<Logged> some(int count, SplittableRandom random) {
    List<Logged> all = new ArrayList<>();
    long millis = Instant.parse("2026-11-02T09:00:00Z").toEpochMilli();
    for (int i = 0; i < count; i++) {
      millis += random.nextInt(2_000);
      String ip =
          random.nextInt(10) == 0
              ? "2001:db8::" + Integer.toHexString(1 + random.nextInt(40))
              : "192.0.2." + (1 + random.nextInt(40));
      all.add(
          new Logged(
              millis * 1_000_000,
              ip,
              1_024 + random.nextInt(60_000),
              random.nextInt(3) == 0 ? "alice" : "-",
              random.nextInt(4) == 0 ? "POST" : "GET",
              "/items/" + random.nextInt(50) + (random.nextInt(5) == 0 ? "/a%20b" : ""),
              random.nextBoolean() ? "q=" + random.nextInt(9) + "&x=%3F" : "",
              List.of(200, 301, 404, 503).get(random.nextInt(4)),
              random.nextInt(100_000),
              random.nextBoolean() ? "-" : "https://example.org/from?a=1",
              AGENTS.get(random.nextInt(AGENTS.size())),
              random.nextBoolean() ? "shop.example" : "www.example.com"));
    }
    return all;
  }

  String target() {
    return query.isEmpty() ? path : path + "?" + query;
  }

  String request() {
    return method + " " + target() + " HTTP/1.1";
  }

  String clf() {
    return CLF.format(instant());
  }

  Instant instant() {
    return Instant.ofEpochSecond(nanos / 1_000_000_000, nanos % 1_000_000_000);
  }

  long millis() {
    return nanos / 1_000_000;
  }

  String pattern(String pattern) {
    return DateTimeFormatter.ofPattern(pattern, Locale.ROOT)
        .withZone(ZoneOffset.UTC)
        .format(instant());
  }

  /** Returns the address with its port, an IPv6 address in brackets. */
  String client() {
    return (ip.contains(":") ? "[" + ip + "]" : ip) + ":" + port;
  }

  String combined() {
    return String.format(
        Locale.ROOT,
        "%s - %s [%s] \"%s\" %d %d \"%s\" \"%s\"",
        ip,
        user,
        clf(),
        request(),
        status,
        bytes,
        referer,
        agent);
  }
}
