package dev.weir.redis;

import dev.weir.Ticker;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The way to one Redis, or to the one that sentinels name. Safe for use by many threads.
 *
 * <p>It connects by itself and again after a loss, which asks the sentinels anew. What was on its
 * way when the connection was lost is never sent again: it may have been decided.
 */
final class SingleLink implements Link, Shard {
  /** One call is being decided while the next is on its way. */
  private static final int MAX_IN_FLIGHT = 2;

  private static final long LEAST_PAUSE_NANOS = 20_000_000L;
  private static final long MOST_PAUSE_NANOS = 500_000_000L;

  /** A connection on which nothing was answered for so long may be one to nobody. */
  private static final long LEAST_SILENCE_NANOS = 3_000_000_000L;

  private static final Duration QUIET = Duration.ZERO;
  private static final Duration SHUTDOWN = Duration.ofSeconds(2);

  private final RedisClient client;
  private final RedisURI uri;
  private final byte[] probeKey;
  private final LinkSettings settings;
  private final Ticker ticker;
  private final Consumer<? super String> log;
  private final Caller caller;
  private final Script script = new Script();
  private volatile @Nullable StatefulRedisConnection<byte[], byte[]> connection;
  private volatile boolean closed;
  private boolean connecting;
  private boolean probing;
  private long probingSinceNanos;
  private long pauseNanos;
  private long connectAtNanos;
  private String lastProblem = "";

  SingleLink(RedisURI uri, LinkSettings settings, Counters counters) {
    this.uri = uri;
    uri.setTimeout(LinkSettings.CONNECT_TIMEOUT);
    this.settings = settings;
    ticker = settings.ticker();
    log = settings.log();
    probeKey = (settings.prefix() + ":probe").getBytes(StandardCharsets.UTF_8);
    client = RedisClient.create();
    client.setOptions(
        ClientOptions.builder()
            .autoReconnect(false)
            .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
            // What comes too late is to be read all the same.
            .timeoutOptions(TimeoutOptions.create())
            .socketOptions(
                SocketOptions.builder().connectTimeout(LinkSettings.CONNECT_TIMEOUT).build())
            .build());
    caller = new Caller(this, ticker, settings.timeoutNanos(), counters, log);
    connectAtNanos = ticker.nanos();
    pauseNanos = LEAST_PAUSE_NANOS;
  }

  @Override
  public Caller caller(byte[] key) {
    return caller;
  }

  @Override
  public boolean oneSlot() {
    return true;
  }

  @Override
  public int slot(byte[] key) {
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
  public long queued() {
    return caller.queued();
  }

  @Override
  public CompletionStage<byte[]> call(byte[][] keys, byte[] message) {
    StatefulRedisConnection<byte[], byte[]> current = connection;
    if (current == null) {
      return notConnected();
    }
    CompletionStage<byte[]> reply = script.call(current.async(), keys, message);
    if (settings.replicas() > 0) {
      reply = reply.thenCompose(bytes -> replicated(current, bytes));
    }
    return reply.whenComplete(
        (bytes, error) -> {
          // A replica now: the address, or the sentinels, may lead to its master.
          if (error != null && Script.failed(error).failure() == Failure.READONLY) {
            closeLater(current);
          }
        });
  }

  private CompletionStage<byte[]> replicated(
      StatefulRedisConnection<byte[], byte[]> current, byte[] reply) {
    return current
        .async()
        .waitForReplication(
            settings.replicas(), Math.max(1, Duration.ofNanos(settings.timeoutNanos()).toMillis()))
        .thenApply(
            count -> {
              if (count < settings.replicas()) {
                throw new ShardException(
                    Failure.REPLICAS,
                    count + " replicas have it (expected: " + settings.replicas() + ")");
              }
              return reply;
            });
  }

  /** Gives the connection up if earlier probes are not answered: a new one may be. */
  @Override
  public CompletionStage<?> probe() {
    StatefulRedisConnection<byte[], byte[]> current = connection;
    if (current == null) {
      return notConnected();
    }
    if (silent()) {
      log.accept("the store's connection is silent: it is made anew");
      closeLater(current);
      return notConnected();
    }
    return current
        .async()
        .set(probeKey, new byte[0], SetArgs.Builder.px(1_000))
        .whenComplete((done, error) -> answered());
  }

  /** Returns whether the first of the probes that have no answer is an old one. */
  private synchronized boolean silent() {
    long now = ticker.nanos();
    if (!probing) {
      probing = true;
      probingSinceNanos = now;
    }
    return now - probingSinceNanos > Math.max(LEAST_SILENCE_NANOS, 2 * settings.timeoutNanos());
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
  }

  private synchronized void connectIfNeeded() {
    if (closed || connecting || connection != null || ticker.nanos() - connectAtNanos < 0) {
      return;
    }
    connecting = true;
    CompletionStage<StatefulRedisConnection<byte[], byte[]>> connected;
    try {
      connected = client.connectAsync(ByteArrayCodec.INSTANCE, uri);
    } catch (RuntimeException e) {
      connected = CompletableFuture.failedStage(e);
    }
    connected.whenComplete(
        (opened, error) -> {
          if (opened == null) {
            notOpened(Script.cause(error));
          } else {
            opened(opened);
          }
        });
  }

  private synchronized void notOpened(Throwable error) {
    connecting = false;
    pauseNanos = Math.min(MOST_PAUSE_NANOS, 2 * pauseNanos);
    connectAtNanos = ticker.nanos() + pauseNanos;
    Throwable root = error;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String problem = String.valueOf(root.getMessage());
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
    synchronized (this) {
      connecting = false;
      pauseNanos = LEAST_PAUSE_NANOS;
      lastProblem = "";
      connection = opened;
      probing = false;
    }
    if (closed || !opened.isOpen()) {
      lost(opened);
      closeLater(opened);
      return;
    }
    script.load(opened.async());
    Checks.run(opened.async(), log);
    caller.tick();
  }

  private static void closeLater(StatefulRedisConnection<byte[], byte[]> connection) {
    if (connection.isOpen()) {
      Object unused = connection.closeAsync();
    }
  }

  private void lost(StatefulRedisConnection<byte[], byte[]> gone) {
    synchronized (this) {
      if (connection != gone) {
        return;
      }
      connection = null;
      connectAtNanos = ticker.nanos();
    }
    if (!closed) {
      caller.disconnected();
    }
  }

  @Override
  public void close() {
    caller.close();
    Closing.await(caller::idle, settings.timeoutNanos());
    closed = true;
    client.shutdown(QUIET, SHUTDOWN);
  }
}
