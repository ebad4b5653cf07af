package dev.weir.cli.cluster;

import dev.weir.cli.Main;
import dev.weir.cli.Providers;
import dev.weir.internal.DaemonThreads;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A member of a cluster that is started to try one: a separate process, which is started again when
 * it ends. Safe for use by many threads.
 */
final class DemoMember {
  /** The number of ports: one for the other members, then HTTP, gRPC and the Redis protocol. */
  static final int PORTS = 4;

  /** The pause before a restart: long enough to see what the other members do meanwhile. */
  static final int PAUSE_SECONDS = 5;

  /** The longest time for an end: longer than an orderly stop takes. */
  private static final int SECONDS_TO_END = 20;

  /**
   * The options by which members start fast and take little of a small machine, with room for
   * 100,000 keys.
   */
  private static final List<String> OPTIONS =
      List.of(
          "-Xmx256m",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-XX:+ExitOnOutOfMemoryError",
          "--enable-native-access=ALL-UNNAMED");

  /**
   * The longest wait for an answer: on a shared machine, with code that is not warm, an answer may
   * take longer than usual.
   */
  private static final String PATIENCE = "1s";

  private final String name;
  private final List<Integer> ports;
  private final List<String> command = new ArrayList<>();
  private final PrintWriter log;
  private final CountDownLatch ending = new CountDownLatch(1);

  // Guarded by this object's lock.
  private @Nullable Process process;

  /**
   * @param seeds all members, in the form of {@code --cluster}
   * @param ports the ports for HTTP, gRPC and the Redis protocol
   * @param folder the folder of this member alone
   * @param log receives each line that the process writes, after its name
   */
  DemoMember(String name, String seeds, List<Integer> ports, Path folder, PrintWriter log) {
    this.name = name;
    this.ports = List.copyOf(ports);
    this.log = log;
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(OPTIONS);
    for (String each : List.of(Providers.FOLDER, Providers.COMMAND)) {
      String value = System.getProperty(each);
      if (value != null) {
        command.add("-D" + each + "=" + value);
      }
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(List.of("serve", "--cluster", seeds, "--cluster-name", name));
    command.addAll(List.of("--cluster-dir", folder.toString(), "--port", "" + ports.get(0)));
    command.addAll(List.of("--grpc-port", "" + ports.get(1), "--resp-port", "" + ports.get(2)));
    command.addAll(List.of("--store-timeout", PATIENCE, "--no-warmup"));
  }

  String name() {
    return name;
  }

  String url() {
    return "http://127.0.0.1:" + ports.get(0);
  }

  synchronized long pid() {
    return process == null ? 0 : process.pid();
  }

  /** Returns the member's name, addresses and process, for a table. */
  String[] row() {
    return new String[] {
      name, url(), "127.0.0.1:" + ports.get(1), "127.0.0.1:" + ports.get(2), String.valueOf(pid())
    };
  }

  /**
   * Starts the process, and again whenever it has ended.
   *
   * @param begun receives once whether the process became ready: true when it does, false if it
   *     ended before
   * @throws IOException if it cannot be started
   */
  void start(Consumer<Boolean> begun) throws IOException {
    Process first = startProcess();
    DaemonThreads.create("weir-demo-" + name, () -> keep(first, begun)).start();
  }

  private synchronized Process startProcess() throws IOException {
    if (ending.getCount() == 0) {
      throw new IOException("the demonstration ends");
    }
    Process started = new ProcessBuilder(command).redirectErrorStream(true).start();
    process = started;
    return started;
  }

  private void keep(Process first, Consumer<Boolean> begun) {
    try {
      if (!relay(first, () -> begun.accept(true))) {
        begun.accept(false);
        return;
      }
      Process ended = first;
      while (true) {
        print("has ended with status " + ended.waitFor());
        if (ending.await(PAUSE_SECONDS, TimeUnit.SECONDS)) {
          return;
        }
        print("is started again from its folder");
        ended = startProcess();
        boolean unused = relay(ended, () -> {});
      }
    } catch (IOException e) {
      print("is not started: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Shows what the process writes until it ends; returns whether it was ready. */
  private boolean relay(Process of, Runnable ready) {
    boolean wasReady = false;
    try (BufferedReader lines = of.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        print("| " + line);
        if (!wasReady && line.contains("ready: ")) {
          wasReady = true;
          ready.run();
        }
      }
    } catch (IOException e) {
      print("cannot be read: " + e.getMessage());
    }
    return wasReady;
  }

  private void print(String line) {
    log.println(name + " " + line);
    log.flush();
  }

  /** Ends the processes, all at once, and waits until they are gone. */
  static void end(List<DemoMember> all) throws InterruptedException {
    all.forEach(each -> each.ending.countDown());
    all.forEach(DemoMember::stop);
    for (DemoMember each : all) {
      each.awaitEnd();
    }
  }

  private synchronized void stop() {
    if (process != null) {
      process.toHandle().destroy(); // The process's own method would close its log first.
    }
  }

  private synchronized void awaitEnd() throws InterruptedException {
    if (process != null && !process.waitFor(SECONDS_TO_END, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
  }
}
