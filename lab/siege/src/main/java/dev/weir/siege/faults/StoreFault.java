package dev.weir.siege.faults;

import dev.weir.siege.soak.WindowWatch;
import dev.weir.wire.testkit.RedisServer;
import java.time.Duration;

/** The faults of a Redis that servers share. */
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

  /** A stop: connections stay, answers do not come. */
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

  /** The deletion of all data. */
  FLUSH("FLUSHALL") {
    @Override
    public void run(RedisServer redis, WindowWatch watch, Pause pause) {
      watch.lossBegins();
      redis.command("FLUSHALL");
      watch.lossEnds();
    }
  },

  /** A pause in which Redis keeps its clients waiting. */
  PAUSE("CLIENT PAUSE") {
    @Override
    public void run(RedisServer redis, WindowWatch watch, Pause pause) throws InterruptedException {
      redis.command("CLIENT", "PAUSE", DOWN.toMillis() + "");
      pause.of(DOWN);
    }
  };

  private static final Duration DOWN = Duration.ofMillis(1_500);

  /** A wait, which is shorter if the soak ends. */
  public interface Pause {
    void of(Duration time) throws InterruptedException;
  }

  private final String label;

  StoreFault(String label) {
    this.label = label;
  }

  /** Runs the fault, and returns when it is over. */
  public abstract void run(RedisServer redis, WindowWatch watch, Pause pause)
      throws InterruptedException;

  @Override
  public String toString() {
    return label;
  }
}
