package dev.weir.cluster.internal.peer;

import dev.weir.cluster.internal.peer.PeerException.Outcome;
import dev.weir.internal.Backoff;
import dev.weir.internal.IoCauses;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection to another member for one purpose. It connects by itself, and again after a loss,
 * and resolves the member's host each time. Calls that were in flight when the connection was lost
 * are never sent again. Safe for use by many threads.
 *
 * <p>It connects to the member of one name, and to no other that has its address by now; or to
 * {@link #ANY} member, to find out which one has an address. Over TLS the name that the other side
 * gives must be that of its certificate in both cases.
 *
 * <p>The reason for the end of a connection matters. When the other process ends, its system ends
 * the connection and refuses the next one: then the member is {@link #gone}. If this side has given
 * a connection up, since it received nothing any more, nothing follows for the other process. The
 * same holds for a connection that a network cuts, if the port accepts the next.
 */
public final class PeerLink implements AutoCloseable {
  /** The target of a connection to whichever member is there. */
  static final String ANY = "";

  private static final int CONNECT_MILLIS = 3_000;
  private static final Backoff PAUSES_MILLIS = new Backoff(50, 1_000);

  /** The most calls in flight; further ones are not sent. */
  private static final int MAX_OPEN = 4_096;

  private final PeerEnd own;
  private final Supplier<Member> target;
  private final String purpose;
  private final @Nullable String wanted;
  private volatile String welcomedBy = "";
  private final Runnable ended;
  private final EventLoop loop;

  // Used by the event loop only.
  private final Map<Long, Call> calls = new HashMap<>();
  private @Nullable Channel channel;
  private long lastCall;
  private final PeerSilence silence = new PeerSilence();
  private boolean looking;
  private int pauses;
  private String lastProblem = "";
  private boolean givenUp;
  private boolean hungUp;

  private volatile boolean open;
  private volatile boolean gone;
  private volatile boolean closed;

  /** A request in flight. */
  private record Call(CompletableFuture<byte[]> reply, Future<?> timer, int bytes) {}

  /**
   * Starts to connect.
   *
   * @param target returns the member with its address, called at each connection; the name never
   *     changes
   * @param purpose distinguishes this connection to that member from others of this member
   * @param ended called on the event loop when the member is {@link #gone}
   */
  PeerLink(PeerEnd own, Supplier<Member> target, String purpose, Runnable ended) {
    this(own, target, purpose, null, ended);
  }

  /**
   * Creates a link.
   *
   * @param wanted {@link #ANY}, or null for the member of the target's name
   */
  PeerLink(
      PeerEnd own,
      Supplier<Member> target,
      String purpose,
      @Nullable String wanted,
      Runnable ended) {
    this.wanted = wanted;
    this.own = own;
    this.target = target;
    this.purpose = purpose;
    this.ended = ended;
    loop = own.loops().next();
    resolve();
  }

  /** Returns whether a call would be sent now. A hint. */
  public boolean connected() {
    return open;
  }

  /**
   * Returns whether the other member's process has ended: it ended a connection on which this
   * member was welcome, and its port has refused connections since. A hint. The end of a host and a
   * failing network are not noticed by this.
   */
  boolean hasEnded() {
    return gone;
  }

  /**
   * Sends a request to the other member, once.
   *
   * @param kind one that was registered at its {@link PeerDoor}
   * @param payload belongs to the link from then on
   * @return the reply; fails with a {@link PeerException}. Completes on an event loop, which must
   *     not be blocked.
   */
  public CompletionStage<byte[]> call(int kind, byte[] payload, long timeoutMillis) {
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
        loop.schedule(() -> late(id, timeoutMillis), timeoutMillis, TimeUnit.MILLISECONDS);
    calls.put(id, new Call(reply, timer, payload.length));
    silence.sent();
    checkLater();
    Object unused =
        to.writeAndFlush(new PeerFrame(kind, id, payload).encode())
            .addListener(
                written -> {
                  if (!written.isSuccess()) {
                    // Without its last byte, the other side does not process a frame.
                    fail(id, notSent(String.valueOf(written.cause())));
                  }
                });
  }

  private void late(long id, long timeoutMillis) {
    fail(
        id,
        new PeerException(
            Outcome.UNKNOWN, "to " + name() + ": no reply within " + timeoutMillis + " ms"));
  }

  private void checkLater() {
    if (!looking) {
      looking = true;
      Object unused = loop.schedule(this::check, PeerSilence.LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** Gives the connection up if it delivers nothing: there may be no process at the other end. */
  private void check() {
    looking = false;
    Channel on = channel;
    if (!open || on == null) {
      return;
    }
    switch (silence.check(calls.size(), calls.values().stream().mapToLong(Call::bytes).sum())) {
      case IDLE -> {}
      case WAIT -> checkLater();
      case ASK -> {
        Object unused = on.writeAndFlush(PeerPulse.question(++lastCall).encode());
        checkLater();
      }
      case GONE -> {
        givenUp = true;
        problem("the connection delivers nothing");
        Object unused = on.close();
      }
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
      own.loops()
          .files()
          .execute(
              () -> {
                Member to = target.get();
                try {
                  InetSocketAddress address =
                      new InetSocketAddress(InetAddress.getByName(to.host()), to.port());
                  PeerTls tls = own.tls();
                  PeerTls.@Nullable Contexts contexts = tls == null ? null : tls.current();
                  loop.execute(() -> connect(address, contexts));
                } catch (IOException e) {
                  loop.execute(
                      () -> {
                        problem(IoCauses.of(e));
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
                            new PeerReplies(
                                PeerLink.this,
                                own.self(),
                                purpose,
                                wanted == null ? target.get().name() : wanted));
                  }
                })
            .connect(address);
    channel = connecting.channel();
    Object unused =
        connecting.addListener(
            done -> {
              if (!done.isSuccess()) {
                problem(IoCauses.of(done.cause()));
                if (hungUp && !gone && refused(done.cause())) {
                  gone = true;
                  ended.run();
                }
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

  /**
   * Returns whether a host answered that its port is closed, in contrast to a host that did not
   * answer.
   */
  private static boolean refused(Throwable problem) {
    // Java throws this for a refusal, and for the system's timeout, before which ours has passed.
    // The words of the message are in the language of the machine.
    return problem instanceof ConnectException && !(problem instanceof ConnectTimeoutException);
  }

  /** Called on the loop when the other side has ended a connection on which it welcomed this. */
  void hungUp() {
    hungUp = !givenUp;
  }

  /** Called on the loop when the other member has welcomed this one, with its name. */
  void welcomed(String name) {
    welcomedBy = name;
    givenUp = false;
    hungUp = false;
    gone = false;
    pauses = 0;
    silence.received();
    open = true;
    if (!lastProblem.isEmpty()) {
      own.log().accept("member " + name() + " is connected again");
      lastProblem = "";
    }
  }

  /** Returns the name of the member that welcomed this one last; empty before. */
  public String welcomedBy() {
    return welcomedBy;
  }

  /** Called on the loop for each answer. */
  void answered(PeerFrame frame, @Nullable String problem) {
    silence.received();
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

  /** Logs a problem with the member, once. */
  void problem(String problem) {
    if (!closed && !problem.equals(lastProblem)) {
      lastProblem = problem;
      own.log().accept("member " + name() + ": " + problem);
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
    long pause = PAUSES_MILLIS.longest(pauses++);
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
