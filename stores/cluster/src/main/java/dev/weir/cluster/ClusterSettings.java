package dev.weir.cluster;

import dev.weir.Ticker;
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
 * @param members all of them, the same at each member
 * @param listen where this one listens for the others
 * @param folder this member's alone: its log, its snapshots, what it agreed on
 * @param groups how many logs the keys are spread over, the same at each member, 1..256
 * @param electionTimeout after how long without a leader another may be elected, at least 50 ms;
 *     twice as long at most
 * @param maxKeys from how many keys in a group on no new one is let in
 * @param maxBytes from how many bytes of a group's state on no new key is let in
 * @param tls null for connections without TLS
 * @param ticker monotonic; decides
 * @param log receives what an operator should know, in one line each
 */
public record ClusterSettings(
    String name,
    List<ClusterMember> members,
    InetSocketAddress listen,
    Path folder,
    int groups,
    Duration electionTimeout,
    long maxKeys,
    long maxBytes,
    @Nullable TlsFiles tls,
    Ticker ticker,
    Consumer<? super String> log) {
  /**
   * A member as the operator names it.
   *
   * @param name unique, and the name in its certificate
   * @param host a name or an address, looked up at each connection
   * @param port for the other members, 1..65535
   */
  public record ClusterMember(String name, String host, int port) {}

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
    if (members.stream().map(ClusterMember::name).distinct().count() < members.size()) {
      throw new IllegalArgumentException("members: two of one name");
    }
  }
}
