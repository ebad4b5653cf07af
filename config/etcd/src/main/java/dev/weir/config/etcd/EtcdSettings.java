package dev.weir.config.etcd;

import dev.weir.config.StoreAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The settings of a connection to etcd.
 *
 * @param hosts {@code HOST:PORT} each
 * @param user empty if there is no authentication
 * @param password of the user; never shown
 * @param prefix that all keys begin with; ends in a slash
 * @param tls whether connections are encrypted
 * @param caFile the certificates to trust, or empty for Java's own
 * @param timeoutSeconds the longest time that an answer may take
 */
record EtcdSettings(
    List<String> hosts,
    String user,
    String password,
    String prefix,
    boolean tls,
    String caFile,
    int timeoutSeconds) {
  static final String FORM =
      "etcd://[USER@]HOST[:PORT][,HOST[:PORT]...][?prefix=/weir/&timeout=5s&tls=on&cafile=FILE]";

  private static final String HOST = "(?:\\[[0-9a-fA-F:.]+]|[^@/:,\\[\\]\\s]+)(?::[0-9]{1,5})?";

  private static final Pattern PLACE =
      Pattern.compile("//(?:(?<user>[^@/:]+)@)?(?<hosts>" + HOST + "(?:," + HOST + ")*)/?");

  private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9._/-]{0,99}/");
  private static final Pattern SECONDS = Pattern.compile("([1-9]|[1-5][0-9]|60)s");

  static EtcdSettings of(StoreAddress address) {
    address.requireOptions(Set.of("prefix", "timeout", "tls", "cafile"));
    Matcher place = PLACE.matcher(address.place());
    if (!place.matches()) {
      // The address is not shown: it may hold a password, which belongs elsewhere.
      throw new IllegalArgumentException(
          "configuration store: not an address of etcd (expected: "
              + FORM
              + "; the password is given apart)");
    }
    String user = place.group("user") == null ? "" : place.group("user");
    if (user.isEmpty() != address.password().isEmpty()) {
      throw new IllegalArgumentException(
          "configuration store: "
              + (user.isEmpty() ? "a password without a user" : "a user without a password")
              + " (expected: both or none)");
    }
    String caFile = address.options().getOrDefault("cafile", "");
    String tls = option(address, "tls", caFile.isEmpty() ? "off" : "on", "on|off", "on or off");
    if (tls.equals("off") && !caFile.isEmpty()) {
      throw new IllegalArgumentException("cafile: without TLS (expected: tls=on)");
    }
    Matcher seconds =
        SECONDS.matcher(option(address, "timeout", "5s", SECONDS.pattern(), "1s..60s"));
    return new EtcdSettings(
        hosts(place.group("hosts")),
        user,
        address.password(),
        option(
            address,
            "prefix",
            "/weir/",
            PREFIX.pattern(),
            "up to 100 of letters, digits, '.', '_', '-' and '/', with '/' at the end"),
        tls.equals("on"),
        caFile,
        seconds.matches() ? Integer.parseInt(seconds.group(1)) : 0);
  }

  private static String option(
      StoreAddress address, String name, String otherwise, String pattern, String expected) {
    String value = address.options().getOrDefault(name, otherwise);
    if (!value.matches(pattern)) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: " + expected + ")");
    }
    return value;
  }

  private static List<String> hosts(String list) {
    List<String> hosts = new ArrayList<>();
    for (String host : list.split(",", -1)) {
      int colon = host.indexOf(':', host.indexOf(']') + 1);
      int port = colon < 0 ? 2379 : Integer.parseInt(host.substring(colon + 1));
      if (port < 1 || port > 65_535) {
        throw new IllegalArgumentException("port: " + port + " (expected: 1..65535)");
      }
      hosts.add(colon < 0 ? host + ":" + port : host);
    }
    return List.copyOf(hosts);
  }

  /** Returns the address, without the password. */
  @Override
  public String toString() {
    return "etcd://" + String.join(",", hosts) + prefix;
  }
}
