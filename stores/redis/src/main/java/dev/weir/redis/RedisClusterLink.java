package dev.weir.redis;

import dev.weir.Policy;
import dev.weir.Ticker;
import dev.weir.shared.Call;
import dev.weir.shared.Caller;
import dev.weir.shared.Failure;
import dev.weir.shared.Link;
import dev.weir.shared.PolicyCode;
import dev.weir.shared.Reply;
import dev.weir.shared.Shard;
import dev.weir.shared.ShardException;
import dev.weir.shared.SharedBinding;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A link to a cluster. Each node that has slots is a shard with a circuit breaker of its own. Safe
 * for use by many threads.
 */
final class RedisClusterLink implements Link {
  /** The most calls in flight: the operations of each slot are a call of their own. */
  private static final int MAX_IN_FLIGHT = 256;

  private static final long CONNECT_PAUSE_NANOS = 200_000_000L;
  private static final Duration REFRESH = Duration.ofSeconds(10);
  private static final Duration TRIGGERED_REFRESH = Duration.ofMillis(500);
  private static final long LEAST_RECONNECT_MILLIS = 10;
  private static final long MOST_RECONNECT_MILLIS = 500;
  private static final Duration QUIET = Duration.ZERO;
  private static final Duration SHUTDOWN = Duration.ofSeconds(2);

  private final Loops loops = new Loops();
  private final ClientResources resources;
  private final RedisClusterClient client;
  private final LinkSettings settings;
  private final Ticker ticker;
  private final Checks checks;
  private final Marks marks;
  private final Map<String, Caller> callers = new ConcurrentHashMap<>();
  private volatile @Nullable LinkedCluster connected;
  private volatile boolean closed;
  private boolean connecting;
  private long connectAtNanos;
  private volatile String lastProblem = "";

  /** A connection to all nodes, with the script that decides there. */
  private record LinkedCluster(
      StatefulRedisClusterConnection<byte[], byte[]> connection, Script script) {}

  RedisClusterLink(List<RedisURI> uris, LinkSettings settings) {
    this.settings = settings;
    ticker = settings.ticker();
    checks = new Checks(settings.store());
    marks = Marks.ofSlots(settings);
    resources =
        ClientResources.builder()
            .reconnectDelay(
                Delay.equalJitter(
                    LEAST_RECONNECT_MILLIS, MOST_RECONNECT_MILLIS, 1, TimeUnit.MILLISECONDS))
            .nettyCustomizer(loops)
            .build();
    client = RedisClusterClient.create(resources, uris);
    client.setOptions(options());
    connectAtNanos = ticker.nanos();
  }

  private static ClusterClientOptions options() {
    ClusterClientOptions.Builder options = ClusterClientOptions.builder();
    options.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS);
    // The client must repeat nothing: it may have been decided.
    options.replayFilter(command -> true);
    options.socketOptions(
        SocketOptions.builder().connectTimeout(LinkSettings.CONNECT_TIMEOUT).build());
    options.topologyRefreshOptions(
        ClusterTopologyRefreshOptions.builder()
            .adaptiveRefreshTriggersTimeout(TRIGGERED_REFRESH)
            .enablePeriodicRefresh(REFRESH)
            .build());
    return options.build();
  }

  @Override
  public PolicyCode code(String name, Policy policy) {
    return new RedisCode(settings.prefix(), name, policy);
  }

  @Override
  public PolicyCode variant(PolicyCode code, Policy policy) {
    return ((RedisCode) code).variant(policy);
  }

  @Override
  public @Nullable Caller caller(SharedBinding binding, long fingerprint) {
    if (connected == null) {
      return null;
    }
    RedisClusterNode node = client.getPartitions().getPartitionBySlot(slot(binding, fingerprint));
    return node == null ? null : caller(node);
  }

  /**
   * Returns {@link Failure#OPEN} until the cluster is connected: no node is known, none is called.
   */
  @Override
  public Failure withoutCaller() {
    return connected == null ? Failure.OPEN : Failure.MOVED;
  }

  private Caller caller(RedisClusterNode node) {
    return callers.computeIfAbsent(
        node.getNodeId(), id -> new Caller(new Node(id), settings.store()));
  }

  @Override
  public boolean oneSlot() {
    return false;
  }

  @Override
  public int slot(SharedBinding binding, long fingerprint) {
    return SlotHash.getSlot(RedisCode.of(binding).key(fingerprint));
  }

  @Override
  public boolean available() {
    return connected != null && callers.values().stream().allMatch(Caller::available);
  }

  @Override
  public String problem() {
    return connected == null
        ? lastProblem
        : callers.values().stream()
            .map(Caller::problem)
            .filter(problem -> !problem.isEmpty())
            .findFirst()
            .orElse("");
  }

  @Override
  public long queued() {
    return callers.values().stream().mapToLong(Caller::queued).sum();
  }

  @Override
  public void tick() {
    connectIfNeeded();
    LinkedCluster current = connected;
    if (current != null) {
      checks.tick(() -> infos(current.connection));
      callers.forEach(
          (id, caller) -> {
            caller.tick();
            if (isRemoved(id) && caller.idle()) {
              callers.remove(id, caller);
            }
          });
    }
  }

  /** Requests the INFO of each node that has slots. */
  private Map<String, CompletionStage<String>> infos(
      StatefulRedisClusterConnection<byte[], byte[]> current) {
    Map<String, CompletionStage<String>> infos = new HashMap<>();
    for (RedisClusterNode node : client.getPartitions()) {
      if (!node.getSlots().isEmpty()) {
        infos.put(node.getNodeId(), info(current, node.getNodeId()));
      }
    }
    return infos;
  }

  private static CompletionStage<String> info(
      StatefulRedisClusterConnection<byte[], byte[]> current, String nodeId) {
    try {
      return current.getConnectionAsync(nodeId).thenCompose(each -> each.async().info());
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  /** Returns whether a node has no slots any more. */
  private boolean isRemoved(String id) {
    RedisClusterNode node = client.getPartitions().getPartitionByNodeId(id);
    return node == null || node.getSlots().isEmpty();
  }

  private synchronized void connectIfNeeded() {
    if (closed || connecting || connected != null || ticker.nanos() - connectAtNanos < 0) {
      return;
    }
    connecting = true;
    CompletionStage<StatefulRedisClusterConnection<byte[], byte[]>> making;
    try {
      making =
          client
              .refreshPartitionsAsync()
              .thenCompose(refreshed -> client.connectAsync(ByteArrayCodec.INSTANCE));
    } catch (RuntimeException e) {
      making = CompletableFuture.failedStage(e);
    }
    making.whenComplete(
        (opened, error) -> {
          if (opened == null) {
            notOpened(error);
          } else {
            opened(opened);
          }
        });
  }

  private synchronized void notOpened(Throwable error) {
    connecting = false;
    connectAtNanos = ticker.nanos() + CONNECT_PAUSE_NANOS;
    String problem = ErrorWords.words(error);
    if (!closed && !problem.equals(lastProblem)) {
      settings.store().log().accept("cannot reach the store, trying again: " + problem);
      lastProblem = problem;
    }
  }

  private void opened(StatefulRedisClusterConnection<byte[], byte[]> opened) {
    // All nodes are known before the cluster is available, so that it waits for each of them.
    List<Caller> masters = new ArrayList<>();
    for (RedisClusterNode node : client.getPartitions()) {
      if (!node.getSlots().isEmpty()) {
        masters.add(caller(node));
      }
    }
    Script script = new Script(opened.async());
    synchronized (this) {
      connecting = false;
      lastProblem = "";
      connected = new LinkedCluster(opened, script);
    }
    script.load();
    checks.checkNow();
    masters.forEach(Caller::tick);
  }

  @Override
  public void close() {
    Caller.closeAll(callers.values(), settings.store().timeoutNanos());
    closed = true;
    client.shutdown(QUIET, SHUTDOWN);
    Object unused = resources.shutdown();
  }

  /** One node of the cluster. */
  private final class Node implements Shard {
    private final String id;

    Node(String id) {
      this.id = id;
    }

    @Override
    public Call newCall() {
      return new Message(this::call);
    }

    private CompletionStage<RedisReply> call(byte[][] keys, byte[] message) {
      LinkedCluster current = connected;
      if (current == null) {
        return failed("not connected");
      }
      int slot = keys.length == 0 ? -1 : SlotHash.getSlot(keys[0]);
      byte[] mark = slot < 0 ? null : marks.name(slot);
      return current
          .script
          .call(keys, message, mark, marks.argument(Math.max(0, slot)))
          .thenApply(bytes -> marks.reply(Math.max(0, slot), bytes));
    }

    /** Charges a key whose slot the node has. */
    @Override
    public CompletionStage<? extends Reply> probe() {
      RedisClusterNode node = client.getPartitions().getPartitionByNodeId(id);
      if (node == null || node.getSlots().isEmpty()) {
        return failed("no slots");
      }
      int wanted = node.getSlots().get(0);
      byte[] key = Probe.key(settings.prefix(), each -> SlotHash.getSlot(each) == wanted);
      return call(new byte[][] {key}, Probe.message());
    }

    @Override
    public CompletionStage<?> turn() {
      return loops.turn();
    }

    private static <T> CompletionStage<T> failed(String message) {
      return CompletableFuture.failedStage(new ShardException(Failure.OPEN, message));
    }

    @Override
    public int slot(SharedBinding binding, long fingerprint) {
      return RedisClusterLink.this.slot(binding, fingerprint);
    }

    @Override
    public int maxInFlight() {
      return MAX_IN_FLIGHT;
    }
  }
}
