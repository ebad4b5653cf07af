package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LoopsTest {
  private static final int ROUNDS = 200;

  @Test
  void turn_isOverOnlyWhenWhatHadArrivedIsRead() throws Exception {
    Loops loops = new Loops();
    AtomicInteger read = new AtomicInteger();
    MultiThreadIoEventLoopGroup group =
        new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Bootstrap bootstrap =
          new Bootstrap()
              .group(group)
              .channel(NioSocketChannel.class)
              .handler(
                  new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                      loops.afterChannelInitialized(channel);
                      channel.pipeline().addLast(new Counting(read));
                    }
                  });
      Channel channel =
          bootstrap.connect(server.getInetAddress(), server.getLocalPort()).sync().channel();
      try (Socket peer = server.accept()) {
        peer.setTcpNoDelay(true);
        for (int round = 1; round <= ROUNDS; round++) {
          CountDownLatch busy = new CountDownLatch(1);
          channel.eventLoop().execute(() -> awaitUninterruptibly(busy));
          // The bytes arrive while the loop does something else.
          peer.getOutputStream().write(round);
          CompletableFuture<Integer> seen =
              loops.turn().thenApply(done -> read.get()).toCompletableFuture();
          assertThat(seen).isNotDone();
          busy.countDown();
          assertThat(seen.get(30, TimeUnit.SECONDS)).isEqualTo(round);
        }
      }
      channel.close().sync();
    } finally {
      group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
    }
    assertThat(loops.turn().toCompletableFuture().get(30, TimeUnit.SECONDS))
        .as("loops that have ended are not waited for")
        .isNull();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static final class Counting extends SimpleChannelInboundHandler<ByteBuf> {
    private final AtomicInteger read;

    Counting(AtomicInteger read) {
      this.read = read;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
      read.addAndGet(bytes.readableBytes());
    }
  }
}
