package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of clients that go on sending commands while the server stops. */
class PipelinesAtTheStopTest {
  /** The common pool has one thread on two processors: the client would keep it from the stop. */
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  @TempDir private Path folder;

  private static void drain(RunningServer running) {
    try {
      running.server.drain(Duration.ofSeconds(60));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void sendUntilClosed(Socket socket) {
    byte[] commands =
        "CL.THROTTLE key 1000000000 1000000000 60\r\n"
            .repeat(100)
            .getBytes(StandardCharsets.US_ASCII);
    try {
      OutputStream out = socket.getOutputStream();
      while (!socket.isClosed()) {
        out.write(commands);
      }
    } catch (IOException e) {
      // The connection is closed.
    }
  }

  /** A reset, which comes in about every other run, would discard replies of charged commands. */
  @RepeatedTest(5)
  @Timeout(120)
  void repliesOfCommandsThatWereRead_arriveAlsoIfTheClientGoesOnSending() throws Exception {
    RunningServer running = RunningServer.start(folder, "drain-delay", "0s");
    CompletableFuture<Void> sender;
    CompletableFuture<Void> drained;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.respPort())) {
      sender = CompletableFuture.runAsync(() -> sendUntilClosed(socket), OWN_THREAD);
      InputStream in = socket.getInputStream();
      byte[] read = new byte[1 << 16];
      assertThat(in.read(read)).isPositive();
      drained = CompletableFuture.runAsync(() -> drain(running), OWN_THREAD);
      int last = 0;
      for (int size = in.read(read); size >= 0; size = in.read(read)) { // A reset would throw.
        last = size == 0 ? last : read[size - 1];
      }
      assertThat(last).isEqualTo('\n');
    }
    sender.get(60, TimeUnit.SECONDS);
    drained.get(60, TimeUnit.SECONDS);
  }
}
