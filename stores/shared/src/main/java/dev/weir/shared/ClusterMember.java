package dev.weir.shared;

/**
 * A member of a cluster of Weir's own servers, as the operator configures it.
 *
 * @param name unique, and the name in its certificate
 * @param host a name or an address, looked up at each connection
 * @param port for the other members, 1..65535
 */
public record ClusterMember(String name, String host, int port) {
  /** The highest level of the members' messages that this version of Weir understands. */
  public static final int MOST_LEVEL = 3;

  private static final String DNS = "dns:";

  /**
   * Returns a stand-in for all members behind a name of the DNS, each of whose addresses is that of
   * one member.
   *
   * @param port of every member
   */
  public static ClusterMember allBehind(String host, int port) {
    return new ClusterMember(DNS + host, host, port);
  }

  /** Returns whether this stands for all members behind a name of the DNS. */
  public boolean standsForAll() {
    return name.startsWith(DNS);
  }
}
