package dev.weir.server;

import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What values a setting takes: how their text is read, and how that is said to people.
 *
 * @param expected what is accepted, as errors and help texts say it
 * @param placeholder stands for the value in a help text, empty for a switch
 * @param reader reads the text; any {@link IllegalArgumentException} means that it cannot be read
 */
record SettingKind<T>(String expected, String placeholder, Reader<T> reader) {
  /** Reads a text that has no blanks around it. */
  interface Reader<T> {
    T read(String text);
  }

  private static final Pattern DURATION_PART = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");
  private static final Pattern MEMORY = Pattern.compile("(\\d{1,9})([kmg%])");
  private static final Pattern STORE_PREFIX = Pattern.compile("[A-Za-z0-9._:-]{1,64}");
  private static final Pattern HEADER_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");

  static SettingKind<Integer> number(long min, long max) {
    SettingKind<Long> wide = count(min, max);
    return new SettingKind<>(
        wide.expected, wide.placeholder, text -> Math.toIntExact(wide.reader.read(text)));
  }

  static SettingKind<Long> count(long min, long max) {
    return new SettingKind<>(
        min + ".." + max,
        "N",
        text -> {
          long value = Long.parseLong(text);
          require(value >= min && value <= max);
          return value;
        });
  }

  /** A port, or none. */
  static SettingKind<Optional<Integer>> portOrOff() {
    SettingKind<Integer> port = number(0, 65_535);
    return new SettingKind<>(
        port.expected + ", or off",
        port.placeholder + "|off",
        text ->
            text.equalsIgnoreCase("off") ? Optional.empty() : Optional.of(port.reader.read(text)));
  }

  /** Bytes; a share of the heap is turned into them. */
  static SettingKind<Long> memory() {
    return new SettingKind<>(
        "1m..1024g, or 1%..90% of the heap",
        "SIZE",
        text -> {
          Matcher matcher = MEMORY.matcher(text.toLowerCase(Locale.ROOT));
          require(matcher.matches());
          long count = Long.parseLong(matcher.group(1));
          if (matcher.group(2).equals("%")) {
            require(count >= 1 && count <= 90);
            return Runtime.getRuntime().maxMemory() / 100 * count;
          }
          long bytes = count << (10 * ("kmg".indexOf(matcher.group(2)) + 1));
          require(bytes >= 1L << 20 && bytes <= 1L << 40);
          return bytes;
        });
  }

  static SettingKind<Boolean> onOff() {
    return new SettingKind<>(
        "true or false",
        "",
        text ->
            switch (text.toLowerCase(Locale.ROOT)) {
              case "true", "t", "1" -> true;
              case "false", "f", "0" -> false;
              default -> throw new IllegalArgumentException();
            });
  }

  /** A share of 1, kept in percent. */
  static SettingKind<Integer> percent() {
    return new SettingKind<>(
        "0 to 1 with at most two decimals",
        "RATIO",
        text -> {
          int percent = new BigDecimal(text).movePointRight(2).intValueExact();
          require(percent >= 0 && percent <= 100);
          return percent;
        });
  }

  /** A share above nothing, in percent or of 1. */
  static SettingKind<Optional<Double>> share() {
    return new SettingKind<>(
        "above 0% and at most 100%, for example 25% or 0.25",
        "SHARE",
        text -> {
          boolean percent = text.endsWith("%");
          BigDecimal number =
              new BigDecimal(percent ? text.substring(0, text.length() - 1) : text)
                  .movePointLeft(percent ? 2 : 0);
          require(number.signum() > 0 && number.compareTo(BigDecimal.ONE) <= 0);
          double share = number.doubleValue();
          require(share > 0);
          return Optional.of(share);
        });
  }

  static SettingKind<Duration> duration(Duration min, Duration max) {
    return new SettingKind<>(
        text(min) + ".." + text(max) + ", for example 500ms, 10s, 1h30m",
        "TIME",
        text -> {
          Duration value = parseDuration(text);
          require(value.compareTo(min) >= 0 && value.compareTo(max) <= 0);
          return value;
        });
  }

  static SettingKind<String> host() {
    return new SettingKind<>(
        "a host name or an address",
        "HOST",
        text -> {
          require(!text.isEmpty() && text.chars().noneMatch(c -> c <= ' '));
          return text;
        });
  }

  static SettingKind<String> headerName() {
    return new SettingKind<>(
        "a header field's name",
        "NAME",
        text -> {
          require(HEADER_NAME.matcher(text).matches());
          return text;
        });
  }

  static SettingKind<Optional<Path>> file() {
    return new SettingKind<>("a file", "FILE", text -> Optional.of(path(text)));
  }

  static SettingKind<List<Path>> files() {
    return new SettingKind<>(
        "files or folders, separated by commas",
        "FILE|DIR",
        text -> {
          List<Path> paths = new ArrayList<>();
          for (String each : text.split(",", -1)) {
            paths.add(path(each.strip()));
          }
          return List.copyOf(paths);
        });
  }

  /** A shared store, or none. */
  static SettingKind<Optional<StoreUri>> store() {
    return new SettingKind<>(
        "local, redis://[user:password@]host[:port][/database], the same with rediss:// for TLS,"
            + " redis-sentinel://host[:port][,host...][/database]#master,"
            + " or redis-cluster://host[:port][,host...]",
        "local|URI",
        text -> text.equalsIgnoreCase("local") ? Optional.empty() : Optional.of(StoreUri.of(text)));
  }

  static SettingKind<String> storePrefix() {
    return new SettingKind<>(
        "1..64 of letters, digits, . _ - and :",
        "TEXT",
        text -> {
          require(STORE_PREFIX.matcher(text).matches());
          return text;
        });
  }

  static <E extends Enum<E>> SettingKind<E> choice(Class<E> type) {
    List<String> names = new ArrayList<>();
    for (E each : type.getEnumConstants()) {
      names.add(name(each));
    }
    return new SettingKind<>(
        String.join(", ", names),
        String.join("|", names),
        text -> {
          for (E each : type.getEnumConstants()) {
            if (name(each).equalsIgnoreCase(text)) {
              return each;
            }
          }
          throw new IllegalArgumentException();
        });
  }

  /** Returns a constant as a user writes it. */
  static String name(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static Path path(String text) {
    require(!text.isEmpty());
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static Duration parseDuration(String text) {
    if (text.equals("0")) {
      return Duration.ZERO;
    }
    Duration sum = Duration.ZERO;
    Matcher part = DURATION_PART.matcher(text);
    int end = 0;
    while (part.lookingAt()) {
      long count = Long.parseLong(part.group(1));
      sum =
          sum.plus(
              switch (part.group(2)) {
                case "ms" -> Duration.ofMillis(count);
                case "s" -> Duration.ofSeconds(count);
                case "m" -> Duration.ofMinutes(count);
                case "h" -> Duration.ofHours(count);
                default -> Duration.ofDays(count);
              });
      end = part.end();
      part.region(end, text.length());
    }
    require(end > 0 && end == text.length());
    return sum;
  }

  /** Returns a duration as it is written in a setting. */
  static String text(Duration duration) {
    long millis = duration.toMillis();
    if (millis % 1_000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1_000;
    if (seconds == 0 || seconds % 60 != 0) {
      return seconds + "s";
    }
    return seconds % 86_400 == 0
        ? seconds / 86_400 + "d"
        : seconds % 3_600 == 0 ? seconds / 3_600 + "h" : seconds / 60 + "m";
  }

  private static void require(boolean condition) {
    if (!condition) {
      throw new IllegalArgumentException();
    }
  }
}
