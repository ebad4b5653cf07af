package dev.weir.siege.faults;

import dev.weir.siege.soak.WindowWatch;
import dev.weir.wire.testkit.RedisServer;
import java.time.Duration;

/** Faults of a Redis that servers share. */
public enum StoreFault {
  /** A crash that loses all data, and a restart. */
  KILL("Redis killed") {
    @Override
    public void run(RedisServer redis, WindowWatch watch, Pause pause) throws InterruptedException {
      watch.lossBegins();
      redis.kill();
      pause.of(DOWN);
      redis.restart();
      watch.lossEnds();
    }
  },

  /** Connections stay, answers do not come. */
  STOP("Redis stopped") {
    @Override
    public void run(RedisServer redis, WindowWatch watch, Pause pause) throws InterruptedException {
      redis.pause();
      try {
        pause.of(DOWN);
      } finally {
        redis.resume();
      }
    }
  },

  /** All data is deleted. */
  FLUSH("FLUSHALL") {
    @Override
    public void run(RedisServer redis, WindowWatch watch, Pause pause) {
      watch.lossBegins();
      redis.command("FLUSHALL");
      watch.lossEnds();
    }
  },

  /** Redis keeps its clients waiting. */
  PAUSE("CLIENT PAUSE") {
    @Override
    public void run(RedisServer redis, WindowWatch watch, Pause pause) throws InterruptedException {
      redis.command("CLIENT", "PAUSE", DOWN.toMillis() + "");
      pause.of(DOWN);
    }
  };

  private static final Duration DOWN = Duration.ofMillis(1_500);

  /** Waits, less if the soak ends. */
  public interface Pause {
    void of(Duration time) throws InterruptedException;
  }

  private final String label;

  StoreFault(String label) {
    this.label = label;
  }

  /** Returns when it is over. */
  public abstract void run(RedisServer redis, WindowWatch watch, Pause pause)
      throws InterruptedException;

  @Override
  public String toString() {
    return label;
  }
}
