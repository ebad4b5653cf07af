package dev.weir.admin.internal.http;

import dev.weir.admin.AdminRequest;
import dev.weir.admin.internal.limits.ShownText;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The names by which clients may address this server. A page of another site can make its own name
 * lead to this machine (DNS rebinding), but its requests then have that name.
 */
public final class Hosts {
  private final Set<String> others = new HashSet<>();

  public Hosts(Collection<String> others) {
    for (String host : others) {
      this.others.add(name(host));
    }
  }

  /**
   * Refuses a request that names a host other than these.
   *
   * @throws RequestException with 421 if the request is for another host
   */
  public void check(AdminRequest request) {
    List<String> given = request.fields().getOrDefault("host", List.of());
    String name = given.size() == 1 ? name(given.get(0)) : "";
    if (!isLoopback(name) && !others.contains(name)) {
      throw new RequestException(
          421,
          ShownText.wrong(
              "Host",
              given.isEmpty() ? "none" : given.get(0),
              "localhost or a loopback address, or a host from the server's settings"));
    }
  }

  /**
   * Returns whether the request addresses this machine by a name that every machine uses only for
   * itself.
   */
  public static boolean isLoopback(AdminRequest request) {
    return isLoopback(name(request.field("host")));
  }

  private static boolean isLoopback(String name) {
    return name.equals("localhost")
        || name.equals("[::1]")
        || name.matches("127\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}");
  }

  /** Returns a host without its port. */
  private static String name(String host) {
    String small = host.toLowerCase(Locale.ROOT);
    int end = small.startsWith("[") ? small.indexOf(']') + 1 : small.indexOf(':');
    String name = end <= 0 ? small : small.substring(0, end);
    return end <= 0 || small.substring(end).matches("(:[0-9]{0,5})?") ? name : "";
  }
}
