package dev.weir.cluster.internal.peer;

import dev.weir.internal.IoCauses;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The port for other members: each opens one connection per purpose and sends requests, which this
 * answers. Safe for use by many threads.
 *
 * <p>A member has one connection per purpose: a new one closes the one before, which may be dead
 * without this side having noticed.
 */
public final class PeerDoor implements AutoCloseable {
  /**
   * The most connections, which also bounds those of unauthenticated peers; enough for some 64
   * members with 16 groups.
   */
  private static final int MAX_CONNECTIONS = 1_024;

  private final PeerSelf self;
  private final PeerLoops loops;
  private final @Nullable PeerTls tls;
  private final Consumer<? super String> log;
  private final Map<Integer, RegisteredHandler> handlers = new ConcurrentHashMap<>();
  private final Map<String, PeerSession> sessions = new ConcurrentHashMap<>();
  private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel listener;

  /**
   * A handler of a kind of request, and its executor.
   *
   * @param forAll whether processes that are no members may send it
   */
  record RegisteredHandler(Executor executor, PeerHandler handler, boolean forAll) {}

  /**
   * Opens the port.
   *
   * @param tls null for connections without TLS
   * @throws IOException if the address cannot be used
   */
  public PeerDoor(
      PeerSelf self,
      InetSocketAddress address,
      PeerLoops loops,
      @Nullable PeerTls tls,
      Consumer<? super String> log)
      throws IOException {
    this.self = self;
    this.loops = loops;
    this.tls = tls;
    this.log = log;
    ChannelFuture bound =
        new ServerBootstrap()
            .group(loops.group())
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.AUTO_READ, tls == null)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    accepted(channel);
                  }
                })
            .bind(address)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(
          address
              + ": "
              + IoCauses.of(bound.cause())
              + " (expected: a free port of this machine, for members)",
          bound.cause());
    }
    listener = bound.channel();
  }

  /** Returns the address of the port. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /**
   * Sets the handler of a kind of members' requests; it replaces the handler before.
   *
   * @param kind {@link PeerFrame#FIRST_REQUEST} to {@link PeerFrame#LAST_REQUEST}
   * @param executor runs the handler, which may block there; a rejected request fails
   */
  public void register(int kind, Executor executor, PeerHandler handler) {
    register(kind, executor, handler, false);
  }

  /** Sets a handler like {@link #register}, also for processes that are no members. */
  public void registerForAll(int kind, Executor executor, PeerHandler handler) {
    register(kind, executor, handler, true);
  }

  private void register(int kind, Executor executor, PeerHandler handler, boolean forAll) {
    if (kind < PeerFrame.FIRST_REQUEST || kind > PeerFrame.LAST_REQUEST) {
      throw new IllegalArgumentException("kind " + kind);
    }
    handlers.put(kind, new RegisteredHandler(executor, handler, forAll));
  }

  private void accepted(Channel channel) {
    if (open.size() >= MAX_CONNECTIONS) {
      log.accept("more than " + MAX_CONNECTIONS + " connections of members: one was refused");
      Object unused = channel.close();
      return;
    }
    open.add(channel);
    channel.pipeline().addLast(new PeerFrame.Decoder(), new PeerSession(this, self));
    if (tls != null) {
      loops.files().execute(() -> secure(channel, tls));
    }
  }

  private static void secure(Channel channel, PeerTls tls) {
    PeerTls.Contexts contexts = tls.current();
    channel
        .eventLoop()
        .execute(
            () -> {
              channel.pipeline().addFirst(contexts.server().newHandler(channel.alloc()));
              channel.config().setAutoRead(true);
            });
  }

  @Nullable RegisteredHandler handler(int kind) {
    return handlers.get(kind);
  }

  void log(String line) {
    log.accept(line);
  }

  /** Called when a session has identified its other side. */
  void opened(PeerSession session) {
    PeerSession before = sessions.put(session.key(), session);
    if (before != null) {
      before.superseded(session);
    }
  }

  /** Closes the connections of processes that do not understand the level in force. */
  public void check() {
    sessions.values().forEach(PeerSession::check);
  }

  /**
   * Returns the connected processes that are no members and understand less than this member, by
   * their names, each with the highest level that it understands.
   */
  public Map<String, Integer> older() {
    Map<String, Integer> found = new TreeMap<>();
    for (PeerSession each : sessions.values()) {
      PeerHello peer = each.peer();
      if (peer != null && !peer.member() && peer.levels().most() < self.level().able().most()) {
        found.merge(peer.name(), peer.levels().most(), Math::min);
      }
    }
    return found;
  }

  void closed(PeerSession session) {
    sessions.remove(session.key(), session);
  }

  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
    open.close().awaitUninterruptibly();
  }
}
