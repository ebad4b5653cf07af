package dev.weir.cluster.internal.peer;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/** This member's side of a connection that it opened. Belongs to an event loop. */
final class PeerReplies extends SimpleChannelInboundHandler<PeerFrame> {
  private static final long WELCOME_SECONDS = 3;

  private final PeerLink link;
  private final PeerSelf self;
  private final String purpose;
  private final String wanted;
  private boolean welcome;
  private boolean ended;

  /**
   * Creates the handler.
   *
   * @param wanted the required name of the member; {@link PeerLink#ANY} to find it out
   */
  PeerReplies(PeerLink link, PeerSelf self, String purpose, String wanted) {
    this.link = link;
    this.self = self;
    this.purpose = purpose;
    this.wanted = wanted;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    Object unused =
        context
            .executor()
            .schedule(
                () -> {
                  if (!welcome && context.channel().isActive()) {
                    end(context, "no welcome within " + WELCOME_SECONDS + " s");
                  }
                },
                WELCOME_SECONDS,
                TimeUnit.SECONDS);
    if (context.pipeline().get(SslHandler.class) == null) {
      hello(context);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
      String problem =
          wanted.equals(PeerLink.ANY) ? null : PeerTls.mismatch(context.channel(), wanted);
      if (problem == null) {
        hello(context);
      } else {
        end(context, problem);
      }
    }
  }

  private void hello(ChannelHandlerContext context) {
    Object unused =
        context.writeAndFlush(
            new PeerFrame(PeerFrame.HELLO, 0, PeerHello.of(self, purpose).encode()).encode(),
            context.voidPromise());
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, PeerFrame frame) {
    if (ended) {
      return;
    }
    switch (frame.kind()) {
      case PeerFrame.WELCOME -> welcome(context, frame);
      case PeerFrame.REFUSED -> {
        self.level().refused(text(frame));
        end(context, "it refuses: " + text(frame));
      }
      case PeerFrame.REPLY -> link.answered(frame, null);
      case PeerFrame.FAILED -> link.answered(frame, text(frame));
      default -> end(context, "frame of kind " + frame.kind());
    }
  }

  private static String text(PeerFrame frame) {
    return new String(frame.payload(), StandardCharsets.UTF_8);
  }

  private void welcome(ChannelHandlerContext context, PeerFrame frame) {
    try {
      PeerHello hello = PeerHello.decode(frame.payload());
      String problem = hello.conflict(self);
      if (problem == null && wanted.equals(PeerLink.ANY)) {
        problem = PeerTls.mismatch(context.channel(), hello.name());
      } else if (problem == null && !hello.name().equals(wanted)) {
        problem = "member " + hello.name() + " (expected: " + wanted + ")";
      }
      if (problem != null) {
        end(context, problem);
        return;
      }
      welcome = true;
      context.pipeline().get(PeerFrame.Decoder.class).known();
      link.welcomed(hello.name());
    } catch (IOException e) {
      end(context, "welcome: " + e.getMessage());
    }
  }

  private void end(ChannelHandlerContext context, String problem) {
    if (!ended) {
      ended = true;
      link.problem(problem);
      Object unused = context.close();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable problem) {
    if (welcome && !ended && problem instanceof IOException && !(problem instanceof SSLException)) {
      link.hungUp(); // By a reset.
    }
    end(context, String.valueOf(problem.getCause() == null ? problem : problem.getCause()));
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (!ended) {
      ended = true;
      if (welcome) {
        link.hungUp();
      }
      link.problem("the connection was lost");
    }
  }
}
