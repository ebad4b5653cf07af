package dev.weir.wire.testkit;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A cluster of real masters, each with an equal part of the slots. Not safe for use by several
 * threads.
 */
public final class RedisCluster implements AutoCloseable {
  private static final int SLOTS = 16_384;

  private final List<RedisServer> nodes = new ArrayList<>();

  private RedisCluster() {}

  /**
   * Starts a cluster and returns when all of its nodes report that it is complete.
   *
   * @param size how many nodes, at least 3
   * @param options lines of their configuration
   */
  public static RedisCluster start(int size, String... options) {
    RedisCluster cluster = new RedisCluster();
    try {
      cluster.begin(size, options);
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private void begin(int size, String... options) {
    List<String> all = new ArrayList<>(Arrays.asList(options));
    all.add("cluster-enabled yes");
    all.add("cluster-node-timeout 2000");
    for (int i = 0; i < size; i++) {
      RedisServer node = RedisServer.start(all.toArray(String[]::new));
      nodes.add(node);
      node.command(slots(i, size));
      // Epochs of their own; otherwise nodes that meet would have to settle which epoch counts.
      node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
      if (i > 0) {
        node.command("CLUSTER", "MEET", "127.0.0.1", String.valueOf(nodes.get(0).port()));
      }
    }
    String whole = "cluster_known_nodes:" + size;
    for (RedisServer node : nodes) {
      node.await(
          info -> info.contains("cluster_state:ok") && info.contains(whole), "CLUSTER", "INFO");
    }
  }

  private static String[] slots(int node, int size) {
    List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
    for (int slot = node * SLOTS / size; slot < (node + 1) * SLOTS / size; slot++) {
      command.add(String.valueOf(slot));
    }
    return command.toArray(String[]::new);
  }

  /** Returns the nodes, those with the lower slots first. */
  public List<RedisServer> nodes() {
    return List.copyOf(nodes);
  }

  /** Returns the node to which the key belongs. */
  public RedisServer nodeOf(String key) {
    int slot = Integer.parseInt(nodes.get(0).command("CLUSTER", "KEYSLOT", key));
    return nodes.get(((slot + 1) * nodes.size() - 1) / SLOTS);
  }

  /** Returns the address for clients: {@code redis-cluster://127.0.0.1:port,127.0.0.1:port,...}. */
  public String uri() {
    return nodes.stream()
        .map(node -> "127.0.0.1:" + node.port())
        .collect(Collectors.joining(",", "redis-cluster://", ""));
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }
}
