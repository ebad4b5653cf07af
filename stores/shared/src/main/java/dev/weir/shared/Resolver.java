package dev.weir.shared;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Security;
import java.util.List;

/** A resolver of host names by the DNS. Safe for use by many threads; may block. */
@FunctionalInterface
public interface Resolver {
  /**
   * Returns the current addresses of a host, at least one.
   *
   * @throws UnknownHostException if it has none, or they cannot be found out
   */
  List<InetAddress> addresses(String host) throws UnknownHostException;

  /**
   * Returns the resolver of the JVM. By default Java caches an answer for half a minute, in which a
   * member whose address has changed would not be found. The first call of this method reduces that
   * to a second, unless {@code networkaddress.cache.ttl} is set. To be called before the process
   * resolves its first name, after which Java ignores the setting.
   */
  static Resolver system() {
    for (String ttl : List.of("networkaddress.cache.ttl", "networkaddress.cache.negative.ttl")) {
      String before = Security.getProperty(ttl);
      if (before == null || before.equals("10")) { // The value in Java's own file.
        Security.setProperty(ttl, "1");
      }
    }
    return host -> List.of(InetAddress.getAllByName(host));
  }
}
