package dev.weir.testkit;

import dev.weir.Ticker;
import dev.weir.internal.DaemonThreads;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A program in a process of its own, which ends with this process at the latest. Its output is kept
 * for the message of a failure. Safe for use by many threads.
 */
public final class ChildProcess implements AutoCloseable {
  /*
   * How is the process ended, and why in this way? It is ended by its handle, because
   * Process.destroy() would close this side of its pipes first and lose its last output. All
   * processes that it has started are ended with it, because the workers of a killed server go on
   * without it, and keep its pipes and ports. One thread for each process reads its output, line by
   * line, until every process that has the pipe has closed it. So a process never waits for a
   * reader, and a caller that waits for a line is notified if none will come. Lines are kept for as
   * long as this object exists: no test's program prints more than fits.
   */

  private static final Ticker CLOCK = Ticker.system();
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** The time to read the output that an ended process has left in its pipe. */
  private static final long REST_MILLIS = 10_000;

  private static final Set<ChildProcess> OPEN = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> OPEN.forEach(ChildProcess::destroy), "child-processes-end"));
  }

  private final String name;
  private final Duration patience;
  private final Process process;
  private final Thread reader;

  // The object's lock guards the following fields.
  private final List<String> lines = new ArrayList<>();
  private int next;
  private boolean closed;

  private ChildProcess(
      String name, Duration patience, Process process, InputStream output, Writer log) {
    this.name = name;
    this.patience = patience;
    this.process = process;
    reader = DaemonThreads.create("output of " + name, () -> read(output, log));
  }

  /** A program that is not started yet. */
  public static final class Builder {
    private final String program;
    private final List<String> arguments;
    private final List<String> options = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private final String name;
    private List<String> wrapper = List.of();
    private @Nullable String classPath;
    private @Nullable Path folder;
    private @Nullable Path log;
    private @Nullable Redirect errors;
    private boolean errorsOnly;
    private Duration patience = PATIENCE;

    private Builder(String program, List<String> arguments) {
      this.program = program;
      this.arguments = List.copyOf(arguments);
      name = Path.of(program).getFileName() + " " + String.join(" ", arguments);
    }

    /** Adds options that come before all other arguments. */
    public Builder options(List<String> more) {
      options.addAll(more);
      return this;
    }

    /** Adds options that come before all other arguments. */
    public Builder options(String... more) {
      return options(List.of(more));
    }

    /** Sets the class path of a Java program. Default: that of this process. */
    public Builder classPath(String path) {
      classPath = path;
      return this;
    }

    /** Sets the command that runs the rest of its line in its own place. Default: none. */
    public Builder within(List<String> command) {
      wrapper = List.copyOf(command);
      return this;
    }

    /** Adds variables to the environment of this process. */
    public Builder environment(Map<String, String> more) {
      environment.putAll(more);
      return this;
    }

    /** Sets the working directory. Default: that of this process. */
    public Builder folder(Path path) {
      folder = path;
      return this;
    }

    /** Sets a file that gets a copy of the output. */
    public Builder log(Path file) {
      log = file;
      return this;
    }

    /** Sets the target of standard error. Default: the output. */
    public Builder errors(Redirect to) {
      errors = to;
      return this;
    }

    /** Uses standard error as the output; standard output is dropped. */
    public Builder errorsOnly() {
      errorsOnly = true;
      return this;
    }

    /** Sets how long to wait for a line, and for the end. Default: 2 minutes. */
    public Builder patience(Duration longest) {
      patience = longest;
      return this;
    }

    private List<String> command() {
      List<String> command = new ArrayList<>(wrapper);
      command.add(program);
      if (classPath != null) {
        command.addAll(List.of("-cp", classPath));
      }
      command.addAll(options);
      command.addAll(arguments);
      return command;
    }

    /** Starts the program and returns at once. */
    public ChildProcess start() throws IOException {
      ProcessBuilder builder = new ProcessBuilder(command());
      builder.environment().putAll(environment);
      if (folder != null) {
        builder.directory(folder.toFile());
      }
      if (errorsOnly) {
        builder.redirectOutput(Redirect.DISCARD);
      } else if (errors != null) {
        builder.redirectError(errors);
      } else {
        builder.redirectErrorStream(true);
      }
      Writer copy = log == null ? Writer.nullWriter() : Files.newBufferedWriter(log);
      Process process;
      try {
        process = builder.start();
      } catch (IOException e) {
        copy.close();
        throw e;
      }
      InputStream output = errorsOnly ? process.getErrorStream() : process.getInputStream();
      ChildProcess started = new ChildProcess(name, patience, process, output, copy);
      OPEN.add(started);
      started.reader.start();
      return started;
    }

    /**
     * Runs the program to its end, with no input, and returns its output.
     *
     * @throws IOException if it does not end in time, or its exit status is not 0; the message has
     *     the output
     */
    public String run() throws IOException {
      try (ChildProcess started = start()) {
        return started.finish();
      }
    }
  }

  /** Returns a program with its arguments. */
  public static Builder of(String... command) {
    return of(List.of(command));
  }

  /** Returns a program with its arguments. */
  public static Builder of(List<String> command) {
    return new Builder(command.get(0), command.subList(1, command.size()));
  }

  /** Returns a tool of the JDK that runs this process, for example {@code keytool}. */
  public static Builder tool(String tool, String... arguments) {
    String path = Path.of(System.getProperty("java.home"), "bin", tool).toString();
    return new Builder(path, List.of(arguments));
  }

  /** Returns a Java program on the class path of this process. */
  public static Builder java(Class<?> main, String... arguments) {
    return java(main.getName(), arguments);
  }

  /** Returns a Java program, by the name of its class. */
  public static Builder java(String main, String... arguments) {
    List<String> words = new ArrayList<>(List.of(main));
    words.addAll(List.of(arguments));
    String path = System.getProperty("java.class.path");
    return tool("java", words.toArray(String[]::new))
        .classPath(System.getProperty("surefire.test.class.path", path));
  }

  private void read(InputStream output, Writer log) {
    try (BufferedReader from =
            new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8));
        log) {
      for (String line = from.readLine(); line != null; line = from.readLine()) {
        add(line);
        log.append(line).append('\n').flush();
      }
    } catch (IOException e) {
      add("[its output is not read any more: " + e + "]");
    } finally {
      end();
    }
  }

  private synchronized void add(String line) {
    lines.add(line);
    notifyAll();
  }

  private synchronized void end() {
    closed = true;
    notifyAll();
  }

  /**
   * Waits for a line of the output, after the one that was waited for last.
   *
   * @param line a pattern that is found in the line
   * @throws IOException if it does not come in time, or the program ends; the message has the
   *     output
   */
  public synchronized Matcher await(Pattern line) throws IOException {
    long deadline = CLOCK.nanos() + patience.toNanos();
    while (true) {
      while (next < lines.size()) {
        Matcher found = line.matcher(lines.get(next++));
        if (found.find()) {
          return found;
        }
      }
      long rest = deadline - CLOCK.nanos();
      if (closed || rest <= 0) {
        String trouble = closed ? "has ended" : "no such line within " + patience;
        throw new IOException(text(trouble + " (expected: a line with " + line + ")"));
      }
      try {
        TimeUnit.NANOSECONDS.timedWait(this, rest);
      } catch (InterruptedException e) {
        throw interrupted(e);
      }
    }
  }

  /**
   * Waits for a line of the output that contains a text, after the one that was waited for last.
   *
   * @return the line
   * @throws IOException if it does not come in time, or the program ends; the message has the
   *     output
   */
  public String await(String text) throws IOException {
    return await(Pattern.compile(".*" + Pattern.quote(text) + ".*")).group();
  }

  /**
   * Waits for the next line of the output, and returns it.
   *
   * @throws IOException if it does not come in time, or the program ends; the message has the
   *     output
   */
  public String line() throws IOException {
    return await("");
  }

  /** Returns the first line of the whole output in which the pattern is found; null if none is. */
  public synchronized @Nullable Matcher find(Pattern line) {
    return lines.stream().map(line::matcher).filter(Matcher::find).findFirst().orElse(null);
  }

  /** Returns the whole output so far. */
  public synchronized String output() {
    return lines.isEmpty() ? "" : String.join("\n", lines) + "\n";
  }

  private String text(String trouble) {
    return name + ": " + trouble + "\n" + output();
  }

  /** Writes to the standard input of the process. */
  public void write(String text) throws IOException {
    process.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  public ProcessHandle handle() {
    return process.toHandle();
  }

  public boolean running() {
    return process.isAlive();
  }

  /** Returns the exit status of the process. */
  public int exitStatus() {
    return process.exitValue();
  }

  /** Waits for the end of the process and for its last output; returns whether it came in time. */
  public boolean endsWithin(Duration limit) {
    try {
      boolean ended = process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS);
      if (ended) {
        reader.join(REST_MILLIS);
      }
      return ended;
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /**
   * Closes the standard input of the process and waits for its end.
   *
   * @return its output
   * @throws IOException if it does not end in time, or its exit status is not 0; the message has
   *     the output
   */
  public String finish() throws IOException {
    process.getOutputStream().close();
    if (!endsWithin(patience)) {
      throw new IOException(text("has not ended within " + patience));
    }
    if (exitStatus() != 0) {
      throw new IOException(text("exit status " + exitStatus() + " (expected: 0)"));
    }
    return output();
  }

  /**
   * Sends a signal, unless the process has ended.
   *
   * @param signal for example {@code STOP}
   */
  public void signal(String signal) throws IOException {
    try (ChildProcess kill = of("kill", "-" + signal, Long.toString(process.pid())).start()) {
      if ((!kill.endsWithin(patience) || kill.exitStatus() != 0) && running()) {
        throw new IOException(kill.text("failed"));
      }
    }
  }

  /** Requests the end of the process: SIGTERM. */
  public void terminate() {
    boolean unused = process.toHandle().destroy();
  }

  private void destroy() {
    List<ProcessHandle> started = process.descendants().toList();
    boolean unused = process.toHandle().destroyForcibly();
    started.forEach(ProcessHandle::destroyForcibly);
  }

  /**
   * Ends the process at once, with all processes that it has started, and returns when it has
   * ended: SIGKILL.
   */
  public void kill() {
    destroy();
    if (!endsWithin(patience)) {
      throw new IllegalStateException(text("survives SIGKILL"));
    }
  }

  private static IllegalStateException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new IllegalStateException("interrupted", cause);
  }

  /** Ends the process at once, if it has not ended. */
  @Override
  public void close() {
    kill();
    process.destroy(); // Closes its pipes.
    OPEN.remove(this);
  }

  @Override
  public String toString() {
    return name;
  }
}
