package dev.weir.redis;

import dev.weir.Policy;
import dev.weir.Ticker;
import dev.weir.internal.Backoff;
import dev.weir.shared.Call;
import dev.weir.shared.Caller;
import dev.weir.shared.Failure;
import dev.weir.shared.Link;
import dev.weir.shared.PolicyCode;
import dev.weir.shared.Reply;
import dev.weir.shared.Shard;
import dev.weir.shared.ShardException;
import dev.weir.shared.SharedBinding;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A link to one Redis, or to the one that sentinels name. Safe for use by many threads.
 *
 * <p>It connects by itself, and again after a loss by the sentinels' newest answer. Calls that were
 * in flight when the connection was lost are never sent again: they may have been decided.
 */
final class SingleLink implements Link, Shard {
  /** The most calls in flight: one is decided while the next is on its way. */
  private static final int MAX_IN_FLIGHT = 2;

  private static final Backoff PAUSES_NANOS = new Backoff(20_000_000, 500_000_000);

  /**
   * The shortest silence after which a connection counts as broken: nothing may be at its other
   * end.
   */
  private static final long LEAST_SILENCE_NANOS = 3_000_000_000L;

  private static final Duration QUIET = Duration.ZERO;
  private static final Duration SHUTDOWN = Duration.ofSeconds(2);

  private final Loops loops = new Loops();
  private final ClientResources resources;
  private final RedisClient client;
  private final RedisURI uri;
  private final LinkSettings settings;
  private final Ticker ticker;
  private final Consumer<? super String> log;
  private final Caller caller;
  private final Checks checks;
  private final Marks marks;
  private volatile @Nullable LinkedServer connected;
  private volatile boolean closed;
  private boolean connecting;
  private boolean probing;
  private long probingSinceNanos;
  private int failures;
  private long connectAtNanos;
  private volatile String lastProblem = "";

  /** A connection, with the script that decides there. */
  private record LinkedServer(StatefulRedisConnection<byte[], byte[]> connection, Script script) {}

  SingleLink(RedisURI uri, LinkSettings settings) {
    this.uri = uri;
    uri.setTimeout(LinkSettings.CONNECT_TIMEOUT);
    this.settings = settings;
    ticker = settings.ticker();
    log = settings.store().log();
    checks = new Checks(settings.store());
    marks = Marks.ofOne(settings);
    resources = ClientResources.builder().nettyCustomizer(loops).build();
    client = RedisClient.create(resources);
    client.setOptions(
        ClientOptions.builder()
            .autoReconnect(false)
            .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
            // A late reply must still be read.
            .timeoutOptions(TimeoutOptions.create())
            .socketOptions(
                SocketOptions.builder().connectTimeout(LinkSettings.CONNECT_TIMEOUT).build())
            .build());
    caller = new Caller(this, settings.store());
    connectAtNanos = ticker.nanos();
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
  public Caller caller(SharedBinding binding, long fingerprint) {
    return caller;
  }

  @Override
  public boolean oneSlot() {
    return true;
  }

  @Override
  public int slot(SharedBinding binding, long fingerprint) {
    return 0;
  }

  @Override
  public int maxInFlight() {
    return MAX_IN_FLIGHT;
  }

  @Override
  public boolean available() {
    return caller.available();
  }

  @Override
  public String problem() {
    return connected == null ? lastProblem : caller.problem();
  }

  @Override
  public CompletionStage<?> turn() {
    return loops.turn();
  }

  @Override
  public long queued() {
    return caller.queued();
  }

  @Override
  public Call newCall() {
    return new Message(this::call);
  }

  private CompletionStage<RedisReply> call(byte[][] keys, byte[] message) {
    LinkedServer current = connected;
    if (current == null) {
      return notConnected();
    }
    CompletionStage<byte[]> reply =
        current.script.call(keys, message, marks.name(0), marks.argument(0));
    if (settings.replicas() > 0) {
      long begun = ticker.nanos();
      reply = reply.thenCompose(bytes -> replicated(current.connection, begun, bytes));
    }
    return reply
        .whenComplete(
            (bytes, error) -> {
              if (error != null && elsewhere(Script.failed(error).failure())) {
                closeLater(current.connection);
              }
            })
        .thenApply(bytes -> marks.reply(0, bytes));
  }

  /**
   * Returns whether another server may be the master. A replica's address, or the sentinels, may
   * lead to its master. A master that has lost its replicas may have been replaced, which only the
   * sentinels know. No other connection mends other failures, and a new one would hide them.
   */
  private boolean elsewhere(Failure failure) {
    return failure == Failure.READONLY
        || (failure == Failure.NOREPLICAS && !uri.getSentinels().isEmpty());
  }

  /**
   * Waits until enough replicas have the decision, until three quarters of the timeout have passed
   * since the call began: after that it would end as late, and the reason would not be seen.
   */
  private CompletionStage<byte[]> replicated(
      StatefulRedisConnection<byte[], byte[]> current, long begunNanos, byte[] reply) {
    long left = begunNanos + settings.store().timeoutNanos() * 3 / 4 - ticker.nanos();
    return current
        .async()
        .waitForReplication(settings.replicas(), Math.max(1, Duration.ofNanos(left).toMillis()))
        .handle(
            (count, error) -> {
              if (error == null && count >= settings.replicas()) {
                return reply;
              }
              if (error != null
                  && !(ErrorWords.of(error) instanceof RedisCommandExecutionException)) {
                throw Script.failed(error);
              }
              // Also if WAIT is refused: the requests themselves have been decided.
              String words =
                  error == null
                      ? count + " replicas have it (expected: " + settings.replicas() + ")"
                      : "WAIT: " + ErrorWords.words(error);
              throw new ShardException(Failure.REPLICAS, words);
            });
  }

  /**
   * Probes the server. Closes the connection if earlier probes were not answered: a new one may be.
   */
  @Override
  public CompletionStage<? extends Reply> probe() {
    LinkedServer current = connected;
    if (current == null) {
      return notConnected();
    }
    if (silent()) {
      log.accept("the store's connection is silent: it is made anew");
      closeLater(current.connection);
      return notConnected();
    }
    byte[] key = Probe.key(settings.prefix(), any -> true);
    return call(new byte[][] {key}, Probe.message()).whenComplete((done, error) -> answered());
  }

  /** Returns whether the oldest probe without an answer is too old. */
  private synchronized boolean silent() {
    long now = ticker.nanos();
    if (!probing) {
      probing = true;
      probingSinceNanos = now;
    }
    return now - probingSinceNanos
        > Math.max(LEAST_SILENCE_NANOS, 2 * settings.store().timeoutNanos());
  }

  private synchronized void answered() {
    probing = false;
  }

  private static <T> CompletionStage<T> notConnected() {
    return CompletableFuture.failedStage(new ShardException(Failure.OPEN, "not connected"));
  }

  @Override
  public void tick() {
    connectIfNeeded();
    caller.tick();
    LinkedServer current = connected;
    if (current != null) {
      checks.tick(() -> Map.of("", current.connection.async().info()));
    }
  }

  private synchronized void connectIfNeeded() {
    if (closed || connecting || connected != null || ticker.nanos() - connectAtNanos < 0) {
      return;
    }
    connecting = true;
    CompletionStage<StatefulRedisConnection<byte[], byte[]>> making;
    try {
      making = client.connectAsync(ByteArrayCodec.INSTANCE, uri);
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
    connectAtNanos = ticker.nanos() + PAUSES_NANOS.longest(++failures);
    String problem = ErrorWords.words(error);
    if (!closed && !problem.equals(lastProblem)) {
      log.accept("cannot reach the store, trying again: " + problem);
      lastProblem = problem;
    }
  }

  private void opened(StatefulRedisConnection<byte[], byte[]> opened) {
    opened.addListener(
        new RedisConnectionStateListener() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            lost(opened);
          }
        });
    Script script = new Script(opened.async());
    synchronized (this) {
      connecting = false;
      failures = 0;
      lastProblem = "";
      connected = new LinkedServer(opened, script);
      probing = false;
    }
    if (closed || !opened.isOpen()) {
      lost(opened);
      closeLater(opened);
      return;
    }
    script.load();
    checks.checkNow();
    caller.tick();
  }

  private static void closeLater(StatefulRedisConnection<byte[], byte[]> connection) {
    if (connection.isOpen()) {
      Object unused = connection.closeAsync();
    }
  }

  private void lost(StatefulRedisConnection<byte[], byte[]> gone) {
    synchronized (this) {
      LinkedServer current = connected;
      if (current == null || current.connection != gone) {
        return;
      }
      connected = null;
      connectAtNanos = ticker.nanos();
    }
    if (!closed) {
      caller.disconnected();
    }
  }

  @Override
  public void close() {
    Caller.closeAll(List.of(caller), settings.store().timeoutNanos());
    closed = true;
    client.shutdown(QUIET, SHUTDOWN);
    Object unused = resources.shutdown();
  }
}
