package dev.weir.admin.internal.rules;

import dev.weir.Ticker;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;

/** The wait until every live server has a change. */
public final class Barrier {
  /*
   * Whose clock decides which servers are live? The store's: it has dated the write and every
   * server's last report. So the time at the store is the time of the write, plus what has passed
   * here since.
   */
  public static final Duration SILENT = Duration.ofSeconds(10);
  static final long MAX_WAIT_NANOS = 60_000_000_000L;
  private static final long DEFAULT_WAIT_NANOS = 5_000_000_000L;
  private static final long POLL_NANOS = 100_000_000L;

  /** The name of a query that {@link #await} reads. */
  public static final String WAIT = "wait";

  public static final String TIMEOUT = "timeout";

  /**
   * The most calls that wait: threads must be left for other calls, such as one that revokes a
   * token.
   */
  private static final int MAX_WAITING = 4;

  private final Semaphore waits = new Semaphore(MAX_WAITING);
  private final ConfigStore store;
  private final Ticker ticker;

  public Barrier(ConfigStore store, Ticker ticker) {
    this.store = store;
    this.ticker = ticker;
  }

  /**
   * A change that was written.
   *
   * @param revision the revision of the rules that servers must have, or 0
   * @param position the position of the change that servers must have read, or 0
   * @param at the instant of the write, by the store's clock
   * @param nodes the ids of the servers to wait for; empty for all
   */
  public record Write(long revision, long position, Instant at, List<String> nodes) {
    public Write(long revision, long position, Instant at) {
      this(revision, position, at, List.of());
    }

    boolean concerns(Node node) {
      return nodes.isEmpty() || nodes.contains(node.id());
    }
  }

  /** Checks the parameters of the wait before anything is written. */
  public static void check(Call call) {
    String wait = call.query().text(WAIT);
    if (call.query().has(WAIT) && !wait.equals("applied")) {
      throw new RequestException(400, ShownText.wrong(WAIT, wait, "applied"));
    }
    long unused = timeoutNanos(call);
  }

  private static long timeoutNanos(Call call) {
    return call.query().nanos(TIMEOUT, DEFAULT_WAIT_NANOS, MAX_WAIT_NANOS);
  }

  /**
   * Waits, if the call requests it, and adds the outcome to the answer. If too many calls wait
   * already, it only checks once.
   *
   * @return whether all servers have the change, or the call requested no wait
   */
  public boolean await(Call call, Write write, Map<String, Object> answer) {
    if (!call.query().has(WAIT)) {
      return true;
    }
    boolean mayWait = waits.tryAcquire();
    try {
      return await(write, mayWait ? timeoutNanos(call) : 0, answer);
    } finally {
      if (mayWait) {
        waits.release();
      }
    }
  }

  private boolean await(Write write, long most, Map<String, Object> answer) {
    long begin = ticker.nanos();
    long timeout = most;
    while (true) {
      long passed = ticker.nanos() - begin;
      List<Map<String, Object>> behind;
      try {
        behind = laggards(write, write.at().plusNanos(passed));
      } catch (ConfigException e) {
        // The write was made, even if the store has failed since.
        answer.put("applied", false);
        answer.put("waiting", List.of());
        answer.put("unknown", String.valueOf(e.getMessage()));
        return false;
      }
      if (behind.isEmpty() || passed >= timeout) {
        answer.put("applied", behind.isEmpty());
        answer.put("waiting", behind);
        return behind.isEmpty();
      }
      try {
        ticker.sleep(Math.min(POLL_NANOS, timeout - passed));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        timeout = 0;
      }
    }
  }

  private List<Map<String, Object>> laggards(Write write, Instant now) {
    List<Map<String, Object>> behind = new ArrayList<>();
    for (Node node : store.nodes()) {
      boolean has = node.revision() >= write.revision() && node.position() >= write.position();
      if (!has && write.concerns(node) && node.at().isAfter(now.minus(SILENT))) {
        behind.add(members(node));
      }
    }
    return behind;
  }

  public static Map<String, Object> members(Node node) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", node.id());
    members.put("address", node.address());
    members.put("version", node.version());
    members.put("revision", node.revision());
    members.put("position", node.position());
    members.put("problems", node.problems());
    members.put("asked", node.counts().asked());
    members.put("refused", node.counts().refused());
    members.put("at", node.at().toString());
    return members;
  }
}
