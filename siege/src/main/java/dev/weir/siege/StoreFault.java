package dev.weir.siege;

import dev.weir.redis.RedisServer;
import java.time.Duration;

/** What can happen to a Redis that servers share. */
enum StoreFault {
  /** A crash, with nothing kept, and a restart. */
  KILL("Redis killed") {
    @Override
    void run(RedisServer redis, WindowWatch watch, Pause pause) throws InterruptedException {
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
    void run(RedisServer redis, WindowWatch watch, Pause pause) throws InterruptedException {
      redis.pause();
      try {
        pause.of(DOWN);
      } finally {
        redis.resume();
      }
    }
  },

  /** Everything is forgotten. */
  FLUSH("FLUSHALL") {
    @Override
    void run(RedisServer redis, WindowWatch watch, Pause pause) {
      watch.lossBegins();
      redis.command("FLUSHALL");
      watch.lossEnds();
    }
  },

  /** Redis keeps its clients waiting. */
  PAUSE("CLIENT PAUSE") {
    @Override
    void run(RedisServer redis, WindowWatch watch, Pause pause) throws InterruptedException {
      redis.command("CLIENT", "PAUSE", DOWN.toMillis() + "");
      pause.of(DOWN);
    }
  };

  private static final Duration DOWN = Duration.ofMillis(1_500);

  /** Lets time pass, less of it if the soak ends. */
  interface Pause {
    void of(Duration time) throws InterruptedException;
  }

  private final String label;

  StoreFault(String label) {
    this.label = label;
  }

  /** Returns when it is over. */
  abstract void run(RedisServer redis, WindowWatch watch, Pause pause) throws InterruptedException;

  @Override
  public String toString() {
    return label;
  }
}
