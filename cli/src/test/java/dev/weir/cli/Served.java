package dev.weir.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process of its own that serves, and what it says on standard error. */
final class Served implements AutoCloseable {
  private static final Pattern READY =
      Pattern.compile(
          "ready: http on \\S+:(\\d+), grpc on \\S+:(\\d+), resp on \\S+:(\\d+)(?:, admin on \\S+:(\\d+))?");
  private static final int SECONDS = 120;

  private final Process process;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private int[] ports = {};

  private Served(List<String> command) throws IOException {
    process = new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    Thread reader = new Thread(this::read, "served-log");
    reader.setDaemon(true);
    reader.start();
  }

  /** Starts a class's main method. */
  static Served start(Class<?> main, String... arguments) throws IOException {
    return start(List.of(), List.of(), main, arguments);
  }

  /**
   * Starts a class's main method.
   *
   * @param before a command that runs the rest of its line
   * @param options of the virtual machine
   */
  static Served start(List<String> before, List<String> options, Class<?> main, String... arguments)
      throws IOException {
    String path = System.getProperty("java.class.path");
    return start(
        before, options, System.getProperty("surefire.test.class.path", path), main, arguments);
  }

  private static Served start(
      List<String> before, List<String> options, String path, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", path, main.getName()));
    command.addAll(Arrays.asList(arguments));
    return new Served(command);
  }

  /** Starts {@code weir serve} on free ports and waits until it is ready. */
  static Served serve(List<String> before, List<String> options, Class<?> main, String... settings)
      throws IOException, InterruptedException {
    return start(before, options, main, onFreePorts(settings)).awaitReady();
  }

  /** Does the same with classes of another path than that of the tests. */
  static Served servePacked(String path, List<String> options, String... settings)
      throws IOException, InterruptedException {
    return start(List.of(), options, path, Main.class, onFreePorts(settings)).awaitReady();
  }

  private static String[] onFreePorts(String... settings) {
    List<String> arguments =
        new ArrayList<>(
            List.of("serve", "--port", "0", "--grpc-port", "0", "--resp-port", "0", "--no-warmup"));
    arguments.addAll(Arrays.asList(settings));
    return arguments.toArray(new String[0]);
  }

  private Served awaitReady() throws InterruptedException {
    Matcher ready = READY.matcher(await("ready: "));
    if (!ready.find()) {
      throw new AssertionError("no ports");
    }
    ports =
        new int[] {
          Integer.parseInt(ready.group(1)),
          Integer.parseInt(ready.group(2)),
          Integer.parseInt(ready.group(3)),
          ready.group(4) == null ? -1 : Integer.parseInt(ready.group(4))
        };
    return this;
  }

  private void read() {
    try (BufferedReader from = process.errorReader(StandardCharsets.UTF_8)) {
      for (String line = from.readLine(); line != null; line = from.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      lines.add("closed: " + e); // The process was ended by its test.
    }
  }

  /** Waits for a line that contains a text, and returns it. */
  String await(String text) throws InterruptedException {
    List<String> others = new ArrayList<>();
    while (true) {
      String line = lines.poll(SECONDS, TimeUnit.SECONDS);
      if (line == null) {
        throw new AssertionError("no line with: " + text + ", but:\n" + String.join("\n", others));
      }
      if (line.contains(text)) {
        return line;
      }
      others.add(line);
    }
  }

  Process process() {
    return process;
  }

  int httpPort() {
    return ports[0];
  }

  int grpcPort() {
    return ports[1];
  }

  /** Returns the port for administration, or -1 if there is none. */
  int adminPort() {
    return ports[3];
  }

  int respPort() {
    return ports[2];
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
