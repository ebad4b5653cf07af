package dev.weir.siege.cluster;

import dev.weir.siege.ServerProcess;
import dev.weir.siege.Target;
import dev.weir.siege.faults.DamageFault;
import dev.weir.siege.guests.HttpGuest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The process of a member of a cluster: it is started, ended in every way, and started again from
 * its folder. Safe for use by many threads.
 */
public final class MemberProcess implements AutoCloseable {
  private static final Duration ENDS = Duration.ofMinutes(2);

  private final String name;
  private final ServerProcess.Launch how;
  private final Path logs;
  private final Path folder;
  private final @Nullable String token;
  private final List<String> flags;

  // Guarded by this object's lock.
  private @Nullable ServerProcess process;
  private boolean stopped;
  private int starts;
  private int levelMost;

  /**
   * @param logs the folder for its output
   * @param folder the member's folder, the value of {@code --cluster-dir}
   * @param token the token of its clients, null if none is required
   * @param flags all other flags
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

  public String name() {
    return name;
  }

  public Path folder() {
    return folder;
  }

  /**
   * Sets the highest level of the member from its next start on; without a call, it is the highest
   * of its version.
   */
  public synchronized void understands(int level) {
    levelMost = level;
  }

  /** Starts the process, and returns at once. */
  public synchronized void start() throws IOException {
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

  public synchronized ServerProcess process() {
    if (process == null) {
      throw new IllegalStateException(name + ": does not run (expected: started)");
    }
    return process;
  }

  /** Returns whether the process was started and not ended here. */
  synchronized boolean started() {
    return process != null;
  }

  /** Returns whether the process was started, and is not held by {@link #stop}. */
  synchronized boolean goesOn() {
    return process != null && !stopped;
  }

  /** Returns the member's ports; null while it does not run or is not ready. */
  synchronized @Nullable Target target() {
    return process != null && process.ready() ? process.target() : null;
  }

  /** Returns the member's view of the cluster; an empty page if it does not answer. */
  public ClusterPage page() {
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

  /** Returns the output of the process since its start. */
  public String log() {
    return process().log();
  }

  /** Deletes the member's folder, if it has one, while it does not run. */
  public synchronized void loseFolder() throws IOException {
    if (process != null) {
      throw new IllegalStateException(name + ": runs (expected: ended)");
    }
    if (Files.exists(folder)) {
      DamageFault.delete(folder);
    }
  }

  /** Ends the process in the way of an operator, and waits for the end. */
  public synchronized void end() throws IOException {
    ServerProcess ending = process();
    ending.terminate();
    if (!ending.endsWithin(ENDS) || ending.exitStatus() != 0) {
      throw new IOException(name + ": did not end in order\n" + ending.log());
    }
    kill();
  }

  /** Ends the process at once: kill -9. */
  public synchronized void kill() {
    if (process != null) {
      process.close();
      process = null;
    }
  }

  /** Stops the process without ending it: SIGSTOP. */
  public synchronized void stop() throws IOException {
    process().signal("STOP");
    stopped = true;
  }

  /** Continues the stopped process: SIGCONT. */
  public synchronized void goOn() throws IOException {
    process().signal("CONT");
    stopped = false;
  }

  @Override
  public void close() {
    kill();
  }
}
