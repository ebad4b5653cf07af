package dev.weir.load;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A connection that sends commands to the RESP port. */
final class RespClientHandler extends OrderedClient {
  private final @Nullable String token;
  private final long allowed;
  private final long denied;
  private boolean authenticating;

  RespClientHandler(
      LoadPlan plan, LoadPlan.Target target, Lane lane, CompletableFuture<Void> ready) {
    super(plan, target, lane, ready);
    this.token = plan.access().token();
    // CL.THROTTLE answers 1 for a refusal, WEIR.CHECK answers 1 if allowed.
    this.allowed = plan.door() == Door.RESP ? 0 : 1;
    this.denied = 1 - allowed;
  }

  @Override
  void connected(ChannelHandlerContext context) {
    if (token == null) {
      up();
    } else {
      authenticating = true;
      var unused =
          context.writeAndFlush(Unpooled.wrappedBuffer(RequestBytes.plainCommand("AUTH", token)));
    }
  }

  @Override
  void read(Object message) {
    RespReply reply = (RespReply) message;
    String error = reply.error();
    if (authenticating) {
      authenticating = false;
      if (error == null) {
        up();
      } else {
        fail("AUTH: " + error);
      }
    } else if (!expecting()) {
      fail(error == null ? "unexpected answer" : "resp " + error);
    } else if (error != null) {
      refused("resp " + error);
    } else if (reply.first() == allowed || reply.first() == denied) {
      answered(reply.first() == allowed);
    } else {
      refused("resp reply without a decision");
    }
  }
}
