package dev.weir.shared;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Security;
import java.util.List;

/** Asks the DNS. Safe for use by many threads; may block. */
@FunctionalInterface
public interface Resolver {
  /**
   * Returns the addresses of a host as they are now, at least one.
   *
   * @throws UnknownHostException if it has none, or nobody can tell
   */
  List<InetAddress> addresses(String host) throws UnknownHostException;

  /**
   * Returns the resolver of the JVM. Java remembers an answer for half a minute by default, in
   * which a member whose address has changed would not be found; from the first call of this on for
   * a second, unless {@code networkaddress.cache.ttl} says otherwise. To be called before the
   * process asks for the first address, after which Java does not look at it any more.
   */
  static Resolver system() {
    for (String ttl : List.of("networkaddress.cache.ttl", "networkaddress.cache.negative.ttl")) {
      String before = Security.getProperty(ttl);
      if (before == null || before.equals("10")) { // What Java's own file says.
        Security.setProperty(ttl, "1");
      }
    }
    return host -> List.of(InetAddress.getAllByName(host));
  }
}
