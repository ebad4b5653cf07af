package dev.weir.cluster;

import dev.weir.shared.Clocks;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How a member takes part in a cluster.
 *
 * @param name this member's, one of {@code members}
 * @param members those that form the cluster, or some of one that is there; with this one
 * @param size how many members must see each other before they form a cluster, where they find each
 *     other by the DNS; else their number
 * @param resolver finds members by the DNS
 * @param listen where this one listens for the others
 * @param folder this member's alone: its log, its snapshots, what it agreed on; without a comma
 * @param zone what fails together with this member; may be empty
 * @param groups how many logs the keys are spread over, the same at each member, 1..256
 * @param replicas how many members have each group, where there are as many; the same at each
 *     member
 * @param electionTimeout after how long without a leader another may be elected, at least 50 ms;
 *     twice as long at most
 * @param maxKeys from how many keys in a group on no new one is let in
 * @param maxBytes from how many bytes of a group's state on no new key is let in
 * @param levelMost the member takes part up to that level of what members say to each other, and
 *     keeps the cluster at it; 0 for all that this version of Weir understands
 * @param tls null for connections without TLS
 * @param clocks the monotonic one decides; the wall clock is what the calendar follows
 * @param maxSkew by how much a leader's wall clock may differ from the calendar of its group for
 *     that to follow it; at least 50 ms
 * @param log receives what an operator should know, in one line each
 */
public record ClusterSettings(
    String name,
    List<ClusterMember> members,
    int size,
    Resolver resolver,
    InetSocketAddress listen,
    Path folder,
    String zone,
    int groups,
    int replicas,
    Duration electionTimeout,
    long maxKeys,
    long maxBytes,
    int levelMost,
    @Nullable TlsFiles tls,
    Clocks clocks,
    Duration maxSkew,
    Consumer<? super String> log) {
  /** The highest level of what members say to each other that this version of Weir understands. */
  public static final int MOST_LEVEL = Levels.HERE.most();

  /**
   * A member as the operator names it.
   *
   * @param name unique, and the name in its certificate
   * @param host a name or an address, looked up at each connection
   * @param port for the other members, 1..65535
   */
  public record ClusterMember(String name, String host, int port) {
    private static final String DNS = "dns:";

    /**
     * Returns what stands for all members behind a name of the DNS: each of its addresses is that
     * of one.
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

  /**
   * What members prove themselves to each other with; PEM files, read again when they change.
   *
   * @param certificate this member's, and those between it and an authority's
   * @param key its private key, in PKCS #8
   * @param authorities who may sign members' certificates
   */
  public record TlsFiles(Path certificate, Path key, Path authorities) {}

  public ClusterSettings {
    members = List.copyOf(members);
    if (members.stream().noneMatch(each -> each.name().equals(name))) {
      throw new IllegalArgumentException(
          "name: "
              + name
              + " (expected: one of "
              + String.join(", ", members.stream().map(ClusterMember::name).toList())
              + ")");
    }
    if (folder.toString().contains(",")) { // Ratis takes it for two folders.
      throw new IllegalArgumentException("folder: " + folder + " (expected: without a comma)");
    }
    if (levelMost != 0 && (levelMost < Levels.HERE.least() || levelMost > Levels.HERE.most())) {
      throw new IllegalArgumentException(
          "levelMost: "
              + levelMost
              + " (expected: one of "
              + Levels.HERE
              + ", or 0 for all of them)");
    }
    if (members.stream().map(ClusterMember::name).distinct().count() < members.size()) {
      throw new IllegalArgumentException("members: two of one name");
    }
  }
}
