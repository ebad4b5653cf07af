package dev.weir.cli;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the values of {@code weir bench}'s flags. What cannot be one is an {@link
 * IllegalArgumentException} that says which flag, what it was given, and what was expected.
 */
final class BenchFlags {
  static final long MAX_DURATION_NANOS = 3_600_000_000_000L;

  /** A token fits into a header field many times over. */
  private static final int MAX_TOKEN_LENGTH = 4_096;

  private static final int MAX_TEXT_LENGTH = 1_024;

  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");
  private static final Pattern TARGET =
      Pattern.compile("(\\[[0-9a-fA-F:.%]+\\]|[^:\\[\\]\\s/]+)(?::(\\d{1,5}))?");

  private BenchFlags() {}

  private static IllegalArgumentException wrong(String flag, String text, String expected) {
    return new IllegalArgumentException(flag + ": " + text + " (expected: " + expected + ")");
  }

  static long number(String flag, String text, long from, long to) {
    String digits = text.replace("_", "");
    if (digits.matches("\\d{1,18}")) {
      long value = Long.parseLong(digits);
      if (value >= from && value <= to) {
        return value;
      }
    }
    throw wrong(flag, text, from + ".." + to);
  }

  /** Reads {@code 5000} or {@code 5000/s}. */
  static long rate(String text) {
    String number = text.endsWith("/s") ? text.substring(0, text.length() - 2) : text;
    try {
      return number("--rate", number, 1, 10_000_000);
    } catch (IllegalArgumentException e) {
      throw wrong("--rate", text, "1..10000000 requests a second");
    }
  }

  static long durationNanos(String flag, String text, long fromNanos, String expected) {
    Matcher matcher = DURATION.matcher(text);
    if (matcher.matches()) {
      long unit =
          switch (matcher.group(2)) {
            case "ms" -> 1_000_000L;
            case "s" -> 1_000_000_000L;
            case "m" -> 60_000_000_000L;
            default -> MAX_DURATION_NANOS;
          };
      long count = Long.parseLong(matcher.group(1));
      if (count <= MAX_DURATION_NANOS / unit && count * unit >= fromNanos) {
        return count * unit;
      }
    }
    throw wrong(flag, text, expected + ", for example 500ms, 10s, 5m");
  }

  /** Reads {@code 0.2} or {@code 20%}. */
  static double share(String flag, String text) {
    boolean percent = text.endsWith("%");
    String number = percent ? text.substring(0, text.length() - 1) : text;
    if (number.matches("\\d{1,9}(\\.\\d{1,9})?")) {
      double share = new BigDecimal(number).movePointLeft(percent ? 2 : 0).doubleValue();
      if (share <= 1) {
        return share;
      }
    }
    throw wrong(flag, text, "0..1 or 0%..100%");
  }

  /** Reads {@code 99 100 60}. */
  static LoadPlan.Throttle throttle(String text) {
    String[] parts = text.strip().split("[ ,]+", -1);
    if (parts.length == 3) {
      long[] values = new long[3];
      try {
        for (int i = 0; i < 3; i++) {
          values[i] = number("--throttle", parts[i], i == 0 ? 0 : 1, 1_000_000_000_000L);
        }
        return new LoadPlan.Throttle(values[0], values[1], values[2]);
      } catch (IllegalArgumentException e) {
        throw wrong("--throttle", text, "max burst, count and seconds, for example 99,100,60");
      }
    }
    throw wrong("--throttle", text, "max burst, count and seconds, for example 99,100,60");
  }

  static String text(String flag, String text) {
    if (text.isEmpty()
        || text.length() > MAX_TEXT_LENGTH
        || text.chars().anyMatch(c -> Character.isISOControl(c))) {
      throw wrong(
          flag,
          text.length() > MAX_TEXT_LENGTH ? text.length() + " characters" : "\"" + text + "\"",
          "1.." + MAX_TEXT_LENGTH + " characters, no control characters");
    }
    return text;
  }

  /** Reads {@code host}, {@code host:port} or {@code [address]:port}, and finds the address. */
  static LoadPlan.Target target(String text, int defaultPort, boolean allowRemote) {
    Matcher matcher = TARGET.matcher(text);
    if (!matcher.matches()) {
      throw wrong("--target", text, "host:port");
    }
    String host = matcher.group(1).replaceAll("^\\[|\\]$", "");
    int port =
        matcher.group(2) == null
            ? defaultPort
            : (int) number("--target: port", matcher.group(2), 1, 65_535);
    InetAddress[] addresses;
    try {
      addresses = InetAddress.getAllByName(host);
    } catch (UnknownHostException e) {
      throw wrong("--target", text, "a host that can be found");
    }
    if (!allowRemote && !Arrays.stream(addresses).allMatch(InetAddress::isLoopbackAddress)) {
      throw wrong(
          "--target",
          text + " is not on this machine",
          "a loopback address, or --allow-remote if you may put load on that server");
    }
    return new LoadPlan.Target(host, new InetSocketAddress(addresses[0], port));
  }

  /** Reads a token: the one line of a file. */
  static String token(Path file) {
    String token;
    try {
      if (Files.size(file) > MAX_TOKEN_LENGTH + 2) {
        throw wrong("--token-file", file.toString(), "at most " + MAX_TOKEN_LENGTH + " bytes");
      }
      token = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      throw wrong("--token-file", file + " cannot be read", "a file with one line, the token");
    }
    if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw wrong("--token-file", file.toString(), "one line of printable ASCII without spaces");
    }
    return token;
  }

  static Path readable(String flag, Path file) {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw wrong(flag, file + " cannot be read", "a file of certificates in PEM");
    }
    return file;
  }
}
