package dev.weir.cluster;

/**
 * A server that takes part in the cluster's logs.
 *
 * @param name unique in the cluster, and what the member's certificate is made out to
 * @param host a name or an address; a name is resolved at each connection
 * @param port the port for other members, 1 to 65535
 */
record Member(String name, String host, int port) {
  Member {
    if (name.isEmpty() || host.isEmpty()) {
      throw new IllegalArgumentException("a member needs a name and a host: " + name + " " + host);
    }
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("port of " + name + ": " + port + " (expected: 1..65535)");
    }
  }
}
