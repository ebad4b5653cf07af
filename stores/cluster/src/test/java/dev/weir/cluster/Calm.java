package dev.weir.cluster;

import dev.weir.Ticker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Has a check run again that has failed while the machine stood still. Members that get no
 * processor for as long as an election takes elect another leader, and are right to do so: such a
 * run says nothing of a leader that must stay.
 */
public final class Calm {
  private static final int MOST_TRIES = 3;
  private static final long LOOK_MILLIS = 20;
  private static final long STILL_NANOS = 300 * Policies.MILLI;

  private Calm() {}

  /** What holds as long as this process gets a processor. */
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
        throw timeout; // The test has taken too long already.
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

  /** Notes the longest time for which this thread, which wants to run, did not. */
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
