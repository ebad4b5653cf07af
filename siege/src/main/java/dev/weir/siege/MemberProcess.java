package dev.weir.siege;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A member of a cluster, as a process that is started, ended in every way, and started again from
 * its folder. Safe for use by many threads.
 */
final class MemberProcess implements AutoCloseable {
  private static final Duration ENDS = Duration.ofMinutes(2);

  private final String name;
  private final ServerProcess.Launch how;
  private final Path logs;
  private final Path folder;
  private final @Nullable String token;
  private final List<String> flags;

  // Guarded by this.
  private @Nullable ServerProcess process;
  private boolean stopped;
  private int starts;
  private int levelMost;

  /**
   * @param logs the folder for its output
   * @param folder its own, the value of {@code --cluster-dir}
   * @param token of its clients, null if none is required
   * @param flags all others
   */
  MemberProcess(
      String name,
      ServerProcess.Launch how,
      Path logs,
      Path folder,
      @Nullable String token,
      List<String> flags) {
    this.name = name;
    this.how = how;
    this.logs = logs;
    this.folder = folder;
    this.token = token;
    this.flags = new ArrayList<>(flags);
    this.flags.addAll(
        List.of("--cluster-name", name, "--cluster-dir", folder.toString(), "--no-warmup"));
  }

  String name() {
    return name;
  }

  Path folder() {
    return folder;
  }

  /** Has it take part up to that level from its next start on; as far as it can if never said. */
  synchronized void understands(int level) {
    levelMost = level;
  }

  /** Starts it, and returns at once. */
  synchronized void start() throws IOException {
    if (process != null) {
      throw new IllegalStateException(name + ": runs (expected: ended)");
    }
    List<String> all = new ArrayList<>(flags);
    if (levelMost > 0) {
      all.addAll(List.of("--cluster-level-max", levelMost + ""));
    }
    Path log = logs.resolve(name + "-" + starts++ + ".log");
    process = ServerProcess.launch(how, log, token, all.toArray(String[]::new));
    stopped = false;
  }

  synchronized ServerProcess process() {
    if (process == null) {
      throw new IllegalStateException(name + ": does not run (expected: started)");
    }
    return process;
  }

  /** Returns whether it was started and not ended by this. */
  synchronized boolean started() {
    return process != null;
  }

  /** Returns whether it was started, and is not held by {@link #stop}. */
  synchronized boolean goesOn() {
    return process != null && !stopped;
  }

  /** Returns its ports, null while it does not run or is not ready. */
  synchronized @Nullable Target target() {
    return process != null && process.ready() ? process.target() : null;
  }

  /** Returns how the cluster is, as this member says; nothing if it does not. */
  ClusterPage page() {
    Target target = target();
    if (target == null) {
      return ClusterPage.NONE;
    }
    try (HttpGuest guest = new HttpGuest(target)) {
      return ClusterPage.of(guest.get("/cluster"));
    } catch (IOException away) {
      return ClusterPage.NONE;
    }
  }

  /** Returns what it has written since it was started. */
  String log() {
    return process().log();
  }

  /** Deletes its folder, if it has one, while it does not run. */
  synchronized void loseFolder() throws IOException {
    if (process != null) {
      throw new IllegalStateException(name + ": runs (expected: ended)");
    }
    if (Files.exists(folder)) {
      DamageFault.delete(folder);
    }
  }

  /** Ends it as its operator would, and waits for that. */
  synchronized void end() throws IOException {
    ServerProcess ending = process();
    ending.terminate();
    if (!ending.endsWithin(ENDS) || ending.exitStatus() != 0) {
      throw new IOException(name + ": did not end in order\n" + ending.log());
    }
    kill();
  }

  /** Ends it at once: kill -9. */
  synchronized void kill() {
    if (process != null) {
      process.close();
      process = null;
    }
  }

  /** Has it run no more: SIGSTOP. */
  synchronized void stop() throws IOException {
    process().signal("STOP");
    stopped = true;
  }

  /** Has it go on: SIGCONT. */
  synchronized void goOn() throws IOException {
    process().signal("CONT");
    stopped = false;
  }

  @Override
  public void close() {
    kill();
  }
}
