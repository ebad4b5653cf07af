package dev.weir.cli.command;

import dev.weir.Quota;
import dev.weir.load.LoadPlan;
import dev.weir.rules.DurationText;
import dev.weir.rules.ValueErrors;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A reader of the values of flags. For an invalid value it throws an {@link
 * IllegalArgumentException} that names the flag, the value, and the expectation.
 */
public final class FlagValues {
  private static final long MIN_WINDOW_NANOS = 1_000_000L;
  static final long MAX_DURATION_NANOS = 3_600_000_000_000L;

  /** The longest token: it fits into a header field many times over. */
  private static final int MAX_TOKEN_LENGTH = 4_096;

  private static final int MAX_TEXT_LENGTH = 1_024;

  private static final Pattern TARGET =
      Pattern.compile("(\\[[0-9a-fA-F:.%]+\\]|[^:\\[\\]\\s/]+)(?::(\\d{1,5}))?");

  private FlagValues() {}

  public static long number(String flag, String text, long from, long to) {
    String digits = text.replace("_", "");
    if (digits.matches("\\d{1,18}")) {
      long value = Long.parseLong(digits);
      if (value >= from && value <= to) {
        return value;
      }
    }
    String whole = digits.matches("-?\\d+") ? "" : "a whole number, ";
    throw ValueErrors.error(flag, text, whole + from + ".." + to);
  }

  /** Reads {@code 5000} or {@code 5000/s}. */
  public static long rate(String text) {
    String number = text.endsWith("/s") ? text.substring(0, text.length() - 2) : text;
    try {
      return number("--rate", number, 1, 10_000_000);
    } catch (IllegalArgumentException e) {
      throw ValueErrors.error("--rate", text, "1..10000000 requests a second");
    }
  }

  /** Reads a length of time from {@code fromNanos} to an hour. */
  public static long durationNanos(String flag, String text, long fromNanos) {
    return DurationText.read(flag, text, fromNanos, MAX_DURATION_NANOS);
  }

  /** Reads the length of a window, 1 ms to 366 days. */
  public static Duration window(String name, String text) {
    return Duration.ofNanos(
        DurationText.read(name, text, MIN_WINDOW_NANOS, Quota.MAX_WINDOW_NANOS));
  }

  /** Reads {@code 99 100 60}. */
  public static LoadPlan.Throttle throttle(String text) {
    String[] parts = text.strip().split("[ ,]+", -1);
    if (parts.length == 3) {
      long[] values = new long[3];
      try {
        for (int i = 0; i < 3; i++) {
          values[i] = number("--throttle", parts[i], i == 0 ? 0 : 1, 1_000_000_000_000L);
        }
        return new LoadPlan.Throttle(values[0], values[1], values[2]);
      } catch (IllegalArgumentException e) {
        throw ValueErrors.error(
            "--throttle", text, "max burst, count and seconds, for example 99,100,60");
      }
    }
    throw ValueErrors.error(
        "--throttle", text, "max burst, count and seconds, for example 99,100,60");
  }

  public static String text(String flag, String text) {
    if (text.isEmpty()
        || text.length() > MAX_TEXT_LENGTH
        || text.chars().anyMatch(c -> Character.isISOControl(c))) {
      throw ValueErrors.error(
          flag,
          text.length() > MAX_TEXT_LENGTH ? text.length() + " characters" : "\"" + text + "\"",
          "1.." + MAX_TEXT_LENGTH + " characters, no control characters");
    }
    return text;
  }

  /** Reads {@code host}, {@code host:port} or {@code [address]:port}, and resolves the address. */
  public static LoadPlan.Target target(String text, int defaultPort, boolean allowRemote) {
    Matcher matcher = TARGET.matcher(text);
    if (!matcher.matches()) {
      throw ValueErrors.error("--target", text, "host:port");
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
      throw ValueErrors.error("--target", text, "a host that can be found");
    }
    if (!allowRemote && !Arrays.stream(addresses).allMatch(InetAddress::isLoopbackAddress)) {
      throw ValueErrors.error(
          "--target",
          text + " is not on this machine",
          "a loopback address, or --allow-remote if you may put load on that server");
    }
    return new LoadPlan.Target(host, new InetSocketAddress(addresses[0], port));
  }

  /** Reads a token: the only line of a file. */
  public static String token(Path file) {
    String token;
    try {
      if (Files.size(file) > MAX_TOKEN_LENGTH + 2) {
        throw ValueErrors.error(
            "--token-file", file.toString(), "at most " + MAX_TOKEN_LENGTH + " bytes");
      }
      token = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      throw ValueErrors.error(
          "--token-file", file + " cannot be read", "a file with one line, the token");
    }
    if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw ValueErrors.error(
          "--token-file", file.toString(), "one line of printable ASCII without spaces");
    }
    return token;
  }

  public static Path readable(String flag, Path file) {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw ValueErrors.error(flag, file + " cannot be read", "a file of certificates in PEM");
    }
    return file;
  }
}
