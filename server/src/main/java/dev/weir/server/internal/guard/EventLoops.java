package dev.weir.server.internal.guard;

import dev.weir.Ticker;
import dev.weir.server.internal.settings.ServerSettings;
import io.netty.bootstrap.ServerBootstrap;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The threads that serve HTTP and RESP: an event loop for each core, on Linux over epoll. Safe for
 * use by many threads.
 */
public final class EventLoops {
  private static final int WAIT_SECONDS = 30;

  /** The time in which the threads end, also on a busy machine, unless one of them hangs. */
  private static final int END_SECONDS = 3;

  private final Vertx vertx;
  private final int count;

  private EventLoops(Vertx vertx, int count) {
    this.vertx = vertx;
    this.count = count;
  }

  public static EventLoops start(ServerSettings settings, Ticker ticker) {
    int count = Runtime.getRuntime().availableProcessors();
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions()
                .setPreferNativeTransport(true)
                .setEventLoopPoolSize(count)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(2)
                .setFileSystemOptions(
                    new FileSystemOptions()
                        .setClassPathResolvingEnabled(false)
                        .setFileCachingEnabled(false)));
    ((VertxInternal) vertx)
        .nettyEventLoopGroup()
        .forEach(loop -> LoopLag.watch(loop, settings, ticker));
    return new EventLoops(vertx, count);
  }

  public int count() {
    return count;
  }

  public Vertx vertx() {
    return vertx;
  }

  /** Returns the bootstrap of a listener on these threads. */
  public ServerBootstrap bootstrap() {
    VertxInternal inside = (VertxInternal) vertx;
    return new ServerBootstrap()
        .group(inside.acceptorEventLoopGroup(), inside.nettyEventLoopGroup())
        .channelFactory(inside.transport().serverChannelFactory(false));
  }

  /**
   * Ends the threads; requests that are still open on them are cut off.
   *
   * @throws IOException if they may still run
   */
  public void close() throws IOException, InterruptedException {
    try {
      await(vertx.close(), END_SECONDS);
    } catch (IOException e) {
      throw new IOException("event loops: " + e.getMessage(), e);
    }
  }

  public static <T> T await(Future<T> future) throws IOException, InterruptedException {
    return await(future, WAIT_SECONDS);
  }

  private static <T> T await(Future<T> future, int seconds)
      throws IOException, InterruptedException {
    try {
      return future.toCompletionStage().toCompletableFuture().get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("no answer within " + seconds + " s", e);
    }
  }
}
