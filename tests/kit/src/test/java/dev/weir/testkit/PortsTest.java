package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class PortsTest {
  /** The number of ports. Two processes that choose independently would have some 25 in common. */
  private static final int MANY = 500;

  /** A program that prints the ports that it is given, and keeps them until its input ends. */
  public static final class Other {
    private Other() {}

    public static void main(String[] arguments) throws Exception {
      StringBuilder ports = new StringBuilder();
      for (int i = 0; i < MANY; i++) {
        ports.append(Ports.free()).append('\n');
      }
      System.out.write(ports.toString().getBytes(StandardCharsets.US_ASCII));
      System.out.flush();
      int unused = System.in.read();
    }
  }

  @Test
  void twoProcesses_areNeverGivenTheSame() throws Exception {
    try (ChildProcess other = ChildProcess.java(Other.class).errors(Redirect.INHERIT).start()) {
      Set<Integer> given = new HashSet<>();
      for (int i = 0; i < MANY; i++) {
        given.add(Integer.valueOf(other.await(Pattern.compile("\\d+")).group()));
      }
      for (int i = 0; i < MANY; i++) {
        assertThat(given.add(Ports.free())).as("port %d of this process", i).isTrue();
      }
      assertThat(given).hasSize(2 * MANY);
    }
  }

  /** Tests ports while processes are started, which have copies of open sockets for a moment. */
  @Test
  void port_whileProcessesAreStarted_canBeOpened() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    Thread starts = new Thread(() -> startProcesses(over));
    starts.start();
    try {
      for (int i = 0; i < MANY; i++) {
        int port = Ports.free();
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
          assertThat(socket.isBound()).isTrue();
        }
      }
    } finally {
      over.set(true);
      starts.join();
    }
  }

  private static void startProcesses(AtomicBoolean over) {
    while (!over.get()) {
      try {
        new ProcessBuilder("true").start().waitFor();
      } catch (IOException | InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
