package dev.weir.cluster.internal.peer;

import dev.weir.cluster.internal.peer.PeerDoor.RegisteredHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.CorruptedFrameException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A connection that another member opened. Its state belongs to its event loop. */
final class PeerSession extends SimpleChannelInboundHandler<PeerFrame> {
  private static final long HELLO_SECONDS = 5;

  /** The most open requests of a member; one with more is broken, and its connection is closed. */
  private static final int MAX_OPEN = 8_192;

  private final PeerDoor door;
  private final PeerSelf self;
  private final AtomicInteger unanswered = new AtomicInteger();
  private @Nullable PeerHello peer;
  private @Nullable ChannelHandlerContext context;
  private boolean closing;

  PeerSession(PeerDoor door, PeerSelf self) {
    this.door = door;
    this.self = self;
  }

  /** Returns the member and the purpose; several clients may share a name. */
  String key() {
    if (peer == null) {
      return "";
    }
    String key = peer.name() + "/" + peer.purpose();
    return peer.member() ? key : key + "/" + peer.boot();
  }

  private @Nullable UUID boot() {
    return peer == null ? null : peer.boot();
  }

  /** Returns the hello of the other side; null before it has arrived. */
  @Nullable PeerHello peer() {
    return peer;
  }

  /** Closes the connection if the other side does not understand the level in force. */
  void check() {
    ChannelHandlerContext mine = context;
    if (mine != null) {
      mine.executor()
          .execute(
              () -> {
                String problem = peer == null ? null : peer.levels().conflict(self.levels());
                if (problem != null) {
                  end(problem);
                }
              });
    }
  }

  void superseded(PeerSession by) {
    ChannelHandlerContext mine = context;
    if (mine == null) {
      return;
    }
    mine.executor()
        .execute(
            () -> {
              if (!Objects.equals(boot(), by.boot())) {
                door.log("member " + key() + " was started anew");
              }
              closing = true;
              Object unused = mine.close();
            });
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    this.context = context;
    Object unused =
        context
            .executor()
            .schedule(
                () -> {
                  if (peer == null && context.channel().isActive()) {
                    end("no hello within " + HELLO_SECONDS + " s");
                  }
                },
                HELLO_SECONDS,
                TimeUnit.SECONDS);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, PeerFrame frame) {
    if (closing) {
      return;
    }
    PeerHello known = peer;
    if (known == null) {
      hello(context, frame);
    } else if (frame.kind() < PeerFrame.FIRST_REQUEST) {
      end("frame of kind " + frame.kind());
    } else if (unanswered.incrementAndGet() > MAX_OPEN) {
      end("more than " + MAX_OPEN + " requests without an answer");
    } else {
      request(context, known, frame);
    }
  }

  private void hello(ChannelHandlerContext context, PeerFrame frame) {
    if (frame.kind() != PeerFrame.HELLO) {
      end("frame of kind " + frame.kind() + " instead of a hello");
      return;
    }
    PeerHello hello;
    String problem;
    try {
      hello = PeerHello.decode(frame.payload());
      problem = hello.conflict(self);
      if (problem == null) {
        problem = PeerTls.mismatch(context.channel(), hello.name());
      }
    } catch (IOException e) {
      refuse(context, "hello: " + e.getMessage());
      return;
    }
    if (problem != null) {
      refuse(context, "hello of " + hello.name() + ": " + problem);
      return;
    }
    peer = hello;
    context.pipeline().get(PeerFrame.Decoder.class).known();
    door.opened(this);
    answer(context, PeerFrame.WELCOME, 0, PeerHello.of(self, "").encode());
  }

  private void refuse(ChannelHandlerContext context, String problem) {
    closing = true;
    door.log("a connection from " + context.channel().remoteAddress() + " was refused: " + problem);
    Object unused =
        context
            .writeAndFlush(
                new PeerFrame(PeerFrame.REFUSED, 0, problem.getBytes(StandardCharsets.UTF_8))
                    .encode())
            .addListener(ChannelFutureListener.CLOSE);
  }

  private void request(ChannelHandlerContext context, PeerHello from, PeerFrame frame) {
    RegisteredHandler registered = door.handler(frame.kind());
    if (registered == null) {
      failed(context, frame.call(), new IOException("kind " + frame.kind() + " is unknown here"));
      return;
    }
    if (!from.member() && !registered.forAll()) {
      failed(context, frame.call(), new IOException("kind " + frame.kind() + " is for members"));
      return;
    }
    try {
      registered
          .executor()
          .execute(() -> handle(context, from.name(), frame, registered.handler()));
    } catch (RuntimeException rejected) {
      failed(context, frame.call(), rejected);
    }
  }

  private void handle(
      ChannelHandlerContext context, String from, PeerFrame frame, PeerHandler handler) {
    try {
      Object unused =
          handler
              .handle(from, frame.payload())
              .whenComplete(
                  (reply, problem) -> {
                    if (problem != null) {
                      failed(context, frame.call(), problem);
                    } else {
                      unanswered.decrementAndGet();
                      answer(context, PeerFrame.REPLY, frame.call(), reply);
                    }
                  });
    } catch (Exception e) {
      failed(context, frame.call(), e);
    }
  }

  private void failed(ChannelHandlerContext context, long call, Throwable problem) {
    Throwable cause =
        problem instanceof CompletionException && problem.getCause() != null
            ? problem.getCause()
            : problem;
    unanswered.decrementAndGet();
    answer(context, PeerFrame.FAILED, call, String.valueOf(cause).getBytes(StandardCharsets.UTF_8));
  }

  private static void answer(ChannelHandlerContext context, int kind, long call, byte[] payload) {
    Object unused =
        context.writeAndFlush(new PeerFrame(kind, call, payload).encode(), context.voidPromise());
  }

  private void end(String problem) {
    if (closing || context == null) {
      return;
    }
    closing = true;
    door.log(
        "the connection of "
            + (peer == null ? context.channel().remoteAddress() : key())
            + " is closed: "
            + problem);
    Object unused = context.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    closing = true;
    if (peer != null) {
      door.closed(this);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable problem) {
    Throwable cause = problem.getCause() == null ? problem : problem.getCause();
    if (cause instanceof IOException && peer != null) {
      // The other side is gone, and notices that itself.
      closing = true;
      Object unused = context.close();
    } else {
      end(String.valueOf(cause instanceof CorruptedFrameException ? cause.getMessage() : cause));
    }
  }
}
