package dev.weir.server.internal.settings;

import dev.weir.internal.Choice;
import dev.weir.rules.DurationText;
import dev.weir.rules.ShareText;
import dev.weir.rules.ValueErrors;
import dev.weir.shared.ClusterMember;
import java.net.InetSocketAddress;
import java.net.URI;
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
 * The values that a setting accepts, with their reader, and their description in errors and help
 * texts.
 *
 * @param expected the description of the accepted values in errors and help texts
 * @param placeholder stands for the value in a help text, empty for a switch
 * @param reader reads the text; any {@link IllegalArgumentException} means that it cannot be read
 */
public record SettingKind<T>(String expected, String placeholder, Reader<T> reader) {
  /** A reader of a text without blanks around it. */
  interface Reader<T> {
    T read(String text);
  }

  /** One percent, in millionths. */
  private static final long PERCENT = ShareText.WHOLE / 100;

  private static final Pattern MEMORY = Pattern.compile("(\\d{1,9})([kmg%])");
  private static final Pattern STORE_PREFIX = Pattern.compile("[A-Za-z0-9._:-]{1,64}");
  private static final Pattern CONFIG_STORE = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]*:\\S*");
  private static final int MOST_MEMBERS = 9;

  /** The default port of members. */
  private static final int MEMBERS_PORT = 7946;

  private static final Pattern NODE_NAME = Pattern.compile("[A-Za-z0-9._:-]{1,100}");
  private static final Pattern HOST_NAME = Pattern.compile("[a-z0-9._-]{1,253}|\\[[0-9a-f:.]+]");
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

  /** Returns the kind of a port, or none. */
  static SettingKind<Optional<Integer>> portOrOff() {
    SettingKind<Integer> port = number(0, 65_535);
    return new SettingKind<>(
        port.expected + ", or off",
        port.placeholder + "|off",
        text ->
            text.equalsIgnoreCase("off") ? Optional.empty() : Optional.of(port.reader.read(text)));
  }

  /** Returns the kind of a number of bytes; a share of the heap is converted to bytes. */
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

  /** Returns the kind of a switch whose values are an hour, or nothing at all. */
  static SettingKind<Boolean> hourOrOff() {
    return new SettingKind<>(
        "1h or off",
        "1h|off",
        text ->
            switch (text.toLowerCase(Locale.ROOT)) {
              case "1h" -> true;
              case "off" -> false;
              default -> throw new IllegalArgumentException();
            });
  }

  /** Returns the kind of a ratio from 0 to 1, kept in percent. */
  static SettingKind<Integer> percent() {
    return new SettingKind<>(
        ShareText.EXPECTED + ", in whole percent",
        "SHARE",
        text -> {
          long share = ShareText.parse(text);
          require(share >= 0 && share <= ShareText.WHOLE && share % PERCENT == 0);
          return (int) (share / PERCENT);
        });
  }

  /** Returns the kind of a share above 0, in percent or as a fraction. */
  static SettingKind<Optional<Double>> share() {
    return new SettingKind<>(
        "above 0% and at most 100%, for example 25% or 0.25",
        "SHARE",
        text -> {
          long share = ShareText.parse(text);
          require(share > 0 && share <= ShareText.WHOLE);
          return Optional.of((double) share / ShareText.WHOLE);
        });
  }

  /** Returns the kind of a share of all, 0 for none, in millionths. */
  static SettingKind<Long> millionths() {
    return new SettingKind<>(
        ShareText.EXPECTED,
        "SHARE",
        text -> {
          long share = ShareText.parse(text);
          require(share >= 0 && share <= ShareText.WHOLE);
          return share;
        });
  }

  /** Returns the kind of the address of another service, or none. */
  static SettingKind<Optional<URI>> http() {
    return new SettingKind<>(
        "http://HOST:PORT, or the same with https://",
        "URL",
        text -> {
          URI uri = URI.create(text);
          String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
          require((scheme.equals("http") || scheme.equals("https")) && uri.getHost() != null);
          return Optional.of(uri);
        });
  }

  /**
   * Returns the kind of a host and a port of another service, or none; the name is not resolved
   * yet.
   */
  static SettingKind<Optional<InetSocketAddress>> address() {
    return new SettingKind<>(
        "HOST:PORT",
        "HOST:PORT",
        text -> {
          int colon = text.lastIndexOf(':');
          require(colon > 0);
          int port = Integer.parseInt(text.substring(colon + 1));
          require(port > 0 && port <= 65_535);
          String host = text.substring(0, colon);
          require(host.chars().noneMatch(c -> c <= ' '));
          return Optional.of(InetSocketAddress.createUnresolved(host, port));
        });
  }

  static SettingKind<Duration> duration(Duration min, Duration max) {
    return new SettingKind<>(
        text(min) + ".." + text(max) + ", for example 500ms, 10s, 1h30m",
        "TIME",
        text -> {
          long nanos = DurationText.parse(text);
          require(nanos >= min.toNanos() && nanos <= max.toNanos());
          return Duration.ofNanos(nanos);
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

  static SettingKind<Optional<Path>> folder() {
    return new SettingKind<>(
        "a folder, without ? in its name",
        "DIR",
        text -> {
          require(text.indexOf('?') < 0);
          return Optional.of(path(text));
        });
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

  /** Returns the kind of a shared store, or none. */
  static SettingKind<Optional<StoreUri>> store() {
    return new SettingKind<>(
        "local, redis://[user:password@]host[:port][/database], the same with rediss:// for TLS,"
            + " redis-sentinel://host[:port][,host...][/database]#master,"
            + " redis-cluster://host[:port][,host...],"
            + " or weir://[name=]host:port[,...] for members of a cluster, weirs:// for TLS",
        "local|URI",
        text -> text.equalsIgnoreCase("local") ? Optional.empty() : Optional.of(StoreUri.of(text)));
  }

  /** Returns the kind of the members of a cluster, or none. */
  static SettingKind<List<ClusterMember>> members() {
    return new SettingKind<>(
        "1..9 of [NAME=]HOST:PORT, separated by commas, no name twice; or dns:NAME[:PORT]",
        "[NAME=]HOST:PORT,...|dns:NAME[:PORT]",
        text -> {
          if (text.startsWith("dns:")) {
            return List.of(allBehind(text.substring("dns:".length())));
          }
          List<ClusterMember> members = new ArrayList<>();
          for (String each : text.split(",", -1)) {
            members.add(member(each.strip()));
          }
          long names = members.stream().map(ClusterMember::name).distinct().count();
          require(names == members.size() && names <= MOST_MEMBERS);
          return List.copyOf(members);
        });
  }

  private static ClusterMember allBehind(String text) {
    String address = text.indexOf(':') < 0 ? text + ":" + MEMBERS_PORT : text;
    InetSocketAddress there = address().reader.read(address).orElseThrow();
    return ClusterMember.allBehind(there.getHostString(), there.getPort());
  }

  private static ClusterMember member(String text) {
    int equals = text.indexOf('=');
    InetSocketAddress address = address().reader.read(text.substring(equals + 1)).orElseThrow();
    String name = equals < 0 ? address.getHostString() : text.substring(0, equals);
    require(NODE_NAME.matcher(name).matches());
    return new ClusterMember(name, address.getHostString(), address.getPort());
  }

  /** Returns the kind of another server, or none. */
  static SettingKind<Optional<UpstreamUri>> upstream() {
    return new SettingKind<>(
        "weir://HOST:PORT, or weirs:// for TLS, with the other server's gRPC port",
        "URI",
        text -> Optional.of(UpstreamUri.of(text)));
  }

  /**
   * Returns the kind of the address of a configuration store, or none; only the store's module
   * interprets it.
   */
  static SettingKind<Optional<String>> configStore() {
    return new SettingKind<>(
        "postgresql://USER@HOST:PORT/DATABASE, or the address of another store",
        "URI",
        text -> {
          require(CONFIG_STORE.matcher(text).matches());
          return Optional.of(text);
        });
  }

  static SettingKind<Optional<String>> nodeName() {
    return new SettingKind<>(
        "1..100 of letters, digits, . _ - and :",
        "NAME",
        text -> {
          require(NODE_NAME.matcher(text).matches());
          return Optional.of(text);
        });
  }

  static SettingKind<Optional<Duration>> durationOrNone(Duration min, Duration max) {
    SettingKind<Duration> duration = duration(min, max);
    return new SettingKind<>(
        duration.expected, duration.placeholder, text -> Optional.of(duration.reader.read(text)));
  }

  /** Returns the kind of names that a Host field may have, in small letters and without a port. */
  static SettingKind<List<String>> hostNames() {
    return new SettingKind<>(
        "host names, separated by commas",
        "HOST,...",
        text -> {
          List<String> names = new ArrayList<>();
          for (String each : text.toLowerCase(Locale.ROOT).split(",", -1)) {
            require(HOST_NAME.matcher(each.strip()).matches());
            names.add(each.strip());
          }
          return List.copyOf(names);
        });
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

  /** Returns the kind of a constant in any case: that of environment variables is often upper. */
  static <E extends Enum<E>> SettingKind<E> choice(Class<E> type) {
    List<String> names = Choice.texts(type);
    return new SettingKind<>(
        String.join(", ", names),
        String.join("|", names),
        text -> ValueErrors.choice(type, "setting", text.toLowerCase(Locale.ROOT)));
  }

  /** Returns the kind of a constant, or none. See {@link #choice}. */
  static <E extends Enum<E>> SettingKind<Optional<E>> choiceOrNone(Class<E> type) {
    SettingKind<E> choice = choice(type);
    return new SettingKind<>(
        choice.expected, choice.placeholder, text -> Optional.of(choice.reader.read(text)));
  }

  private static Path path(String text) {
    require(!text.isEmpty());
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** Returns a duration in the form of a setting. */
  static String text(Duration duration) {
    return DurationText.format(duration.toNanos());
  }

  private static void require(boolean condition) {
    if (!condition) {
      throw new IllegalArgumentException();
    }
  }
}
