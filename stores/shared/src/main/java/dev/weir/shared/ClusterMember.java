package dev.weir.shared;

/**
 * A member of a cluster of Weir's own servers, as the operator names it.
 *
 * @param name unique, and the name in its certificate
 * @param host a name or an address, looked up at each connection
 * @param port for the other members, 1..65535
 */
public record ClusterMember(String name, String host, int port) {
  /** The highest level of what members say to each other that this version of Weir understands. */
  public static final int MOST_LEVEL = 2;

  private static final String DNS = "dns:";

  /**
   * Returns what stands for all members behind a name of the DNS: each of its addresses is that of
   * one.
   *
   * @param port that all of them have
   */
  public static ClusterMember allBehind(String host, int port) {
    return new ClusterMember(DNS + host, host, port);
  }

  /** Returns whether it stands for all members behind a name of the DNS. */
  public boolean standsForAll() {
    return name.startsWith(DNS);
  }
}
