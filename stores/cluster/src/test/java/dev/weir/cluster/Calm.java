package dev.weir.cluster;

import dev.weir.Ticker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A runner of checks that repeats a check which has failed while the machine stood still. Members
 * that get no processor for as long as an election takes rightly elect another leader: such a run
 * is no evidence for a check that a leader stays.
 */
public final class Calm {
  private static final int MOST_TRIES = 3;
  private static final long LOOK_MILLIS = 20;
  private static final long STILL_NANOS = 300 * Policies.MILLI;

  private Calm() {}

  /** A check that holds as long as this process gets a processor. */
  public interface Check {
    void run(Path folder) throws Exception;
  }

  /** Runs a check, in an empty folder each time. */
  public static void check(Path folder, Check check) throws Exception {
    for (int i = 1; ; i++) {
      AtomicLong longest = new AtomicLong();
      Thread watch = new Thread(() -> watch(longest), "calm");
      watch.setDaemon(true);
      watch.start();
      try {
        check.run(Files.createDirectory(folder.resolve("try-" + i)));
        return;
      } catch (InterruptedException timeout) {
        throw timeout; // The test has already taken too long.
      } catch (Exception | AssertionError failure) {
        if (i == MOST_TRIES || longest.get() < STILL_NANOS) {
          throw failure;
        }
        System.out.println("the machine stood still for " + longest + " ns: " + failure);
      } finally {
        watch.interrupt();
        watch.join();
      }
    }
  }

  /** Records the longest delay of this thread, which is always ready to run. */
  private static void watch(AtomicLong longest) {
    try {
      while (true) {
        long before = Ticker.system().nanos();
        Await.pause(LOOK_MILLIS);
        long late = Ticker.system().nanos() - before - LOOK_MILLIS * Policies.MILLI;
        longest.accumulateAndGet(late, Math::max);
      }
    } catch (InterruptedException ended) {
      // The check is over.
    }
  }
}
