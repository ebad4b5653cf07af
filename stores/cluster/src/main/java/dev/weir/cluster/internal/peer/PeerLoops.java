package dev.weir.cluster.internal.peer;

import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The threads that connections between members share. Safe for use by many threads. */
public final class PeerLoops implements AutoCloseable {
  private static final long CLOSE_SECONDS = 5;

  private final MultiThreadIoEventLoopGroup group;

  /** Threads that resolve names and read certificates, which may block. */
  private final ExecutorService files;

  public PeerLoops(int threads) {
    group =
        new MultiThreadIoEventLoopGroup(
            threads, new DefaultThreadFactory("weir-peer", true), NioIoHandler.newFactory());
    files = Executors.newCachedThreadPool(new DefaultThreadFactory("weir-peer-names", true));
  }

  MultiThreadIoEventLoopGroup group() {
    return group;
  }

  EventLoop next() {
    return group.next();
  }

  /** Returns an executor for tasks that may block for a moment, which a loop must not. */
  Executor files() {
    return files;
  }

  @Override
  public void close() {
    group
        .shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS)
        .awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
    files.shutdownNow();
  }
}
