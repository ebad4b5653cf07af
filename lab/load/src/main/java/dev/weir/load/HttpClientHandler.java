package dev.weir.load;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.CompletableFuture;

/** A connection that sends requests to the HTTP port. */
final class HttpClientHandler extends OrderedClient {
  private static final int ALLOWED = 200;
  private static final int DENIED = 429;

  private int status;

  HttpClientHandler(
      LoadPlan plan, LoadPlan.Target target, Lane lane, CompletableFuture<Void> ready) {
    super(plan, target, lane, ready);
  }

  @Override
  void connected(ChannelHandlerContext context) {
    up();
  }

  @Override
  void read(Object message) {
    try {
      if (message instanceof HttpObject part && part.decoderResult().isFailure()) {
        fail("unreadable answer");
        return;
      }
      if (message instanceof HttpResponse response) {
        status = response.status().code();
      }
      if (message instanceof LastHttpContent) {
        complete();
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void complete() {
    if (!expecting()) {
      fail("unexpected answer");
    } else if (status == ALLOWED || status == DENIED) {
      answered(status == ALLOWED);
    } else {
      refused("http " + status);
    }
  }
}
