package dev.weir.cluster;

import dev.weir.cluster.PeerException.Outcome;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection to another member for one purpose. It connects by itself, and again after a loss,
 * and resolves the member's host each time. What was on its way when the connection was lost is
 * never sent again. Safe for use by many threads.
 */
final class PeerLink implements AutoCloseable {
  private static final int CONNECT_MILLIS = 3_000;
  private static final long LEAST_PAUSE_MILLIS = 50;
  private static final long MOST_PAUSE_MILLIS = 1_000;

  /** More calls may not be open at once; what comes beyond is not sent. */
  private static final int MAX_OPEN = 4_096;

  private final PeerLoops loops;
  private final PeerSelf self;
  private final @Nullable PeerTls tls;
  private final Supplier<Member> target;
  private final String purpose;
  private final Consumer<? super String> log;
  private final EventLoop loop;

  // Belong to the event loop.
  private final Map<Long, Call> calls = new HashMap<>();
  private @Nullable Channel channel;
  private long lastCall;
  private long heard;
  private long pauseMillis = LEAST_PAUSE_MILLIS;
  private String lastProblem = "";

  private volatile boolean open;
  private volatile boolean closed;

  /**
   * A request on its way.
   *
   * @param heardBefore how often something had been read when it was sent
   */
  private record Call(CompletableFuture<byte[]> reply, Future<?> timer, long heardBefore) {}

  /**
   * Starts to connect.
   *
   * @param tls null for a connection without TLS
   * @param target asked for the address at each connection; its name never changes
   * @param purpose tells this connection to that member from others of this member's
   */
  PeerLink(
      PeerLoops loops,
      PeerSelf self,
      @Nullable PeerTls tls,
      Supplier<Member> target,
      String purpose,
      Consumer<? super String> log) {
    this.loops = loops;
    this.self = self;
    this.tls = tls;
    this.target = target;
    this.purpose = purpose;
    this.log = log;
    loop = loops.next();
    resolve();
  }

  /** Returns whether a call would be sent now. A hint. */
  boolean connected() {
    return open;
  }

  /**
   * Asks the other member, once.
   *
   * @param kind what was registered at its {@link PeerDoor}
   * @param payload belongs to the link from then on
   * @return the reply; fails with a {@link PeerException}. Completes on an event loop, which must
   *     not be blocked.
   */
  CompletionStage<byte[]> call(int kind, byte[] payload, long timeoutMillis) {
    if (!open) {
      return CompletableFuture.failedFuture(notSent("no connection"));
    }
    CompletableFuture<byte[]> reply = new CompletableFuture<>();
    try {
      loop.execute(() -> send(kind, payload, timeoutMillis, reply));
    } catch (RejectedExecutionException ended) {
      reply.completeExceptionally(notSent("closed"));
    }
    return reply;
  }

  private PeerException notSent(String problem) {
    return new PeerException(Outcome.NOT_SENT, "to " + name() + ": " + problem);
  }

  private String name() {
    return target.get().name() + "/" + purpose;
  }

  private void send(int kind, byte[] payload, long timeoutMillis, CompletableFuture<byte[]> reply) {
    Channel to = channel;
    if (!open || to == null) {
      reply.completeExceptionally(notSent("no connection"));
      return;
    }
    if (calls.size() >= MAX_OPEN) {
      reply.completeExceptionally(notSent("more than " + MAX_OPEN + " calls"));
      return;
    }
    long id = ++lastCall;
    Future<?> timer =
        loop.schedule(() -> late(id, to, timeoutMillis), timeoutMillis, TimeUnit.MILLISECONDS);
    calls.put(id, new Call(reply, timer, heard));
    Object unused =
        to.writeAndFlush(new PeerFrame(kind, id, payload).encode())
            .addListener(
                written -> {
                  if (!written.isSuccess()) {
                    // Without its last byte, the other side does not look at a frame.
                    fail(id, notSent(String.valueOf(written.cause())));
                  }
                });
  }

  private void late(long id, Channel on, long timeoutMillis) {
    Call call = calls.get(id);
    if (call == null) {
      return;
    }
    fail(
        id,
        new PeerException(
            Outcome.UNKNOWN, "to " + name() + ": no reply within " + timeoutMillis + " ms"));
    if (call.heardBefore() == heard && on == channel) {
      // Nothing at all was read since: there may be nobody at the other end.
      problem("silent for " + timeoutMillis + " ms");
      Object unused = on.close();
    }
  }

  private void fail(long id, PeerException problem) {
    Call call = calls.remove(id);
    if (call != null) {
      call.timer().cancel(false);
      call.reply().completeExceptionally(problem);
    }
  }

  private void resolve() {
    if (closed) {
      return;
    }
    try {
      loops
          .files()
          .execute(
              () -> {
                Member to = target.get();
                try {
                  InetSocketAddress address =
                      new InetSocketAddress(InetAddress.getByName(to.host()), to.port());
                  PeerTls.@Nullable Contexts contexts = tls == null ? null : tls.current();
                  loop.execute(() -> connect(address, contexts));
                } catch (IOException e) {
                  loop.execute(
                      () -> {
                        problem(e.toString());
                        again();
                      });
                }
              });
    } catch (RejectedExecutionException ended) {
      closed = true;
    }
  }

  private void connect(InetSocketAddress address, PeerTls.@Nullable Contexts contexts) {
    if (closed) {
      return;
    }
    ChannelFuture connecting =
        new Bootstrap()
            .group(loop)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            .handler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel made) {
                    if (contexts != null) {
                      made.pipeline().addLast(contexts.client().newHandler(made.alloc()));
                    }
                    made.pipeline()
                        .addLast(
                            new PeerFrame.Decoder(),
                            new PeerReplies(PeerLink.this, self, purpose, target.get().name()));
                  }
                })
            .connect(address);
    channel = connecting.channel();
    Object unused =
        connecting.addListener(
            done -> {
              if (!done.isSuccess()) {
                problem(String.valueOf(done.cause()));
              }
            });
    unused =
        channel
            .closeFuture()
            .addListener(
                done -> {
                  lost();
                  again();
                });
  }

  /** Called on the loop when the other member has welcomed this one. */
  void welcomed() {
    pauseMillis = LEAST_PAUSE_MILLIS;
    open = true;
    if (!lastProblem.isEmpty()) {
      log.accept("member " + name() + " is connected again");
      lastProblem = "";
    }
  }

  /** Called on the loop for each answer. */
  void answered(PeerFrame frame, @Nullable String problem) {
    heard++;
    Call call = calls.remove(frame.call());
    if (call == null) {
      return;
    }
    call.timer().cancel(false);
    if (problem == null) {
      call.reply().complete(frame.payload());
    } else {
      call.reply()
          .completeExceptionally(new PeerException(Outcome.FAILED, name() + " says: " + problem));
    }
  }

  /** Says what is wrong with the member, once. */
  void problem(String problem) {
    if (!closed && !problem.equals(lastProblem)) {
      lastProblem = problem;
      log.accept("member " + name() + ": " + problem);
    }
  }

  private void lost() {
    open = false;
    channel = null;
    Map<Long, Call> unanswered = new HashMap<>(calls);
    unanswered
        .keySet()
        .forEach(
            id ->
                fail(
                    id,
                    new PeerException(
                        Outcome.UNKNOWN, "to " + name() + ": the connection was lost")));
  }

  private void again() {
    if (closed) {
      return;
    }
    long pause = pauseMillis;
    pauseMillis = Math.min(2 * pause, MOST_PAUSE_MILLIS);
    try {
      Object unused = loop.schedule(this::resolve, pause, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException ended) {
      closed = true;
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      loop.execute(
          () -> {
            if (channel != null) {
              Object unused = channel.close();
            }
          });
    } catch (RejectedExecutionException ended) {
      // The loop has closed its connections.
      open = false;
    }
  }
}
