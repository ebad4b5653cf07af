package dev.weir.vertx;

import dev.weir.http.WaitingBody;
import io.netty.buffer.ByteBufHolder;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.impl.HttpServerConnection;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A holder of what a connection of HTTP/1 receives while its request waits. It works on the
 * connection's event loop; other threads may call its methods.
 */
final class UploadHold extends ChannelInboundHandlerAdapter {
  /*
   * Why not by the request's own methods? A paused request stops the reading of its connection after
   * a few parts of the body, and then the end of the connection is not noticed. A request that is
   * not paused passes each part to the handlers that it has by then, and the application's come
   * later. So the parts are held before they reach Vert.x, which offers that only below its public
   * interface. Where a version has no such place, the request is just paused.
   *
   * Over HTTP/2 a connection is read on whatever its streams do.
   */

  /** The bytes that a message without a content counts, such as the head of a next request. */
  private static final int HEAD_BYTES = 8192;

  private final EventExecutor loop;
  private final WaitingBody bound = new WaitingBody();

  /** The messages in their order, within the bound. */
  private final Queue<Object> held = new ArrayDeque<>();

  private @Nullable ChannelHandlerContext context;
  private boolean stopped;

  private UploadHold(EventExecutor loop) {
    this.loop = loop;
  }

  /**
   * Begins to hold what comes after the parts that the request already has. Returns null if there
   * is no need, or no way.
   */
  static @Nullable UploadHold begin(HttpServerRequest request) {
    if (request.version() == HttpVersion.HTTP_2) {
      return null;
    }
    try {
      return Http1.begin(request);
    } catch (LinkageError e) {
      return null; // Another version of Vert.x.
    }
  }

  /** A separate class, because another version of Vert.x may have another place for it. */
  private static final class Http1 {
    static @Nullable UploadHold begin(HttpServerRequest request) {
      if (!(request.connection() instanceof HttpServerConnection connection)) {
        return null;
      }
      ChannelHandlerContext last = connection.channelHandlerContext();
      UploadHold hold = new UploadHold(last.executor());
      hold.run(
          () -> {
            // If Vert.x has stopped the reading, Vert.x alone knows when to go on.
            if (last.channel().isActive() && last.channel().config().isAutoRead()) {
              last.pipeline().addBefore(last.name(), null, hold);
            }
          });
      return hold;
    }
  }

  private void run(Runnable task) {
    if (loop.inEventLoop()) {
      task.run();
    } else {
      loop.execute(task);
    }
  }

  /** Passes on what is held, after the handlers that are called now, and then holds nothing. */
  void end() {
    loop.execute(this::passOn);
  }

  private void passOn() {
    ChannelHandlerContext own = context;
    if (own == null) {
      return;
    }
    context = null;
    bound.release();
    if (stopped) {
      own.channel().config().setAutoRead(true); // Before Vert.x may stop it again.
    }
    for (Object message = held.poll(); message != null; message = held.poll()) {
      own.fireChannelRead(message);
    }
    own.fireChannelReadComplete();
    own.pipeline().remove(this);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public void channelRead(ChannelHandlerContext own, Object message) {
    if (context == null) {
      own.fireChannelRead(message);
      return;
    }
    held.add(message);
    int bytes =
        message instanceof ByteBufHolder content ? content.content().readableBytes() : HEAD_BYTES;
    if (!bound.add(bytes) && !stopped) {
      stopped = true;
      own.channel().config().setAutoRead(false);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext own) {
    drop();
    own.fireChannelInactive();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext own) {
    context = null;
    drop();
  }

  private void drop() {
    bound.release();
    for (Object message = held.poll(); message != null; message = held.poll()) {
      ReferenceCountUtil.release(message);
    }
  }
}
