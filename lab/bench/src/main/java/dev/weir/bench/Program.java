package dev.weir.bench;

import dev.weir.internal.DaemonThreads;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Another program, started by this one and ended with it. */
public final class Program implements AutoCloseable {
  private static final int RUN_SECONDS = 120;
  private static final int READY_SECONDS = 30;

  private final Process process;

  private Program(Process process) {
    this.process = process;
    // The hook ends the program even if this one is ended before it has closed it.
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
  }

  /**
   * Returns the command on one processor, if there is a tool for that and more than one processor.
   */
  public static List<String> on(int processor, List<String> command) {
    List<String> all = new ArrayList<>();
    if (Runtime.getRuntime().availableProcessors() > 1 && there("taskset")) {
      all.addAll(List.of("taskset", "-c", Integer.toString(processor)));
    }
    all.addAll(command);
    return all;
  }

  public static boolean there(String tool) {
    for (String folder : System.getenv("PATH").split(":", -1)) {
      if (Files.isExecutable(Path.of(folder, tool))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Starts a program that keeps running, and waits for a line that reports that it is ready.
   *
   * @return the match in that line
   */
  public static Matcher start(List<Program> started, Pattern ready, List<String> command)
      throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    started.add(new Program(process));
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    StringBuilder said = new StringBuilder();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      said.append(line).append('\n');
      Matcher matcher = ready.matcher(line);
      if (matcher.find()) {
        DaemonThreads.create("output", () -> skip(lines)).start();
        return matcher;
      }
    }
    throw new IOException(String.join(" ", command) + ": ended early\n" + said);
  }

  /**
   * Starts a program that keeps running, and waits until it accepts connections.
   *
   * @param environment the variables that are added to this program's own
   * @throws IOException if it does not accept them within 30 s, or ends
   */
  public static void start(
      List<Program> started, Map<String, String> environment, String port, List<String> command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    started.add(new Program(process));
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
    while (!accepts(Integer.parseInt(port))) {
      if (process.waitFor(100, TimeUnit.MILLISECONDS) || System.nanoTime() > end) {
        throw new IOException(
            String.join(" ", command)
                + ": does not listen on port "
                + port
                + " (expected: it does)");
      }
    }
  }

  private static boolean accepts(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  /** Reads and drops the output, until the program or its output is closed. */
  private static void skip(BufferedReader lines) {
    try (lines) {
      while (lines.readLine() != null) {}
    } catch (IOException e) {
      // This program has ended it.
    }
  }

  /** Runs a program to its end; returns what it printed. */
  public static String run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(RUN_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IOException(String.join(" ", command) + ": failed\n" + said);
    }
    return said;
  }

  /** Returns the last number that a pattern's first group finds. */
  public static double number(String pattern, String said) throws IOException {
    Matcher matcher = Pattern.compile(pattern).matcher(said);
    double number = Double.NaN;
    while (matcher.find()) {
      number = Double.parseDouble(matcher.group(1));
    }
    if (Double.isNaN(number)) {
      throw new IOException("no figure like " + pattern + " in\n" + said);
    }
    return number;
  }

  public long pid() {
    return process.pid();
  }

  /**
   * Returns the processor time that the program has taken, to a hundredth of a second; 0 if not
   * known.
   */
  public Duration processorTime() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
