package dev.weir.redis;

import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** The event loops that read a client's replies. Safe for use by many threads. */
final class Loops implements NettyCustomizer {
  /** The loops: as many as the client has threads, which are few and live as long as the client. */
  private final Set<EventLoop> loops = ConcurrentHashMap.newKeySet();

  @Override
  public void afterChannelInitialized(Channel channel) {
    loops.add(channel.eventLoop());
  }

  /** Returns a stage that is complete once each loop has read what had arrived before this call. */
  CompletionStage<?> turn() {
    return CompletableFuture.allOf(
        loops.stream().map(Loops::turn).toArray(CompletableFuture<?>[]::new));
  }

  /**
   * Returns a future that is complete after a loop's next look at its sockets: a task may run
   * before that look, but what it schedules runs after it.
   */
  private static CompletableFuture<?> turn(EventLoop loop) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    try {
      loop.execute(
          () -> {
            Object unused = loop.schedule(() -> done.complete(null), 1, TimeUnit.NANOSECONDS);
          });
    } catch (RejectedExecutionException ended) {
      done.complete(null);
    }
    return done;
  }
}
