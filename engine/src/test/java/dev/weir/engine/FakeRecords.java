package dev.weir.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Records of subjects in memory, which answer when a test calls for it. Safe for use by threads.
 */
public final class FakeRecords implements KeyPolicies {
  /** A load that has no answer yet. */
  public record Asked(String subject, Consumer<? super @Nullable SubjectLimits> done) {}

  public final Map<String, SubjectLimits> atHand = new ConcurrentHashMap<>();
  public final Deque<Asked> asked = new ArrayDeque<>();
  public final AtomicInteger finds = new AtomicInteger();
  public final AtomicInteger loads = new AtomicInteger();
  private boolean atOnce;
  private boolean failing;
  private boolean brokenFinds;
  private @Nullable Error broken;

  public static SubjectLimits plan(String name) {
    return new SubjectLimits(name, Map.of());
  }

  /** Returns own limits: rule, number, rule, number. */
  public static SubjectLimits own(Object... rulesAndNumbers) {
    Map<String, SubjectLimits.OwnLimit> own = new HashMap<>();
    for (int i = 0; i < rulesAndNumbers.length; i += 2) {
      own.put(
          (String) rulesAndNumbers[i],
          new SubjectLimits.OwnLimit((Integer) rulesAndNumbers[i + 1]));
    }
    return new SubjectLimits(null, own);
  }

  /** Makes every load answer before it returns: there is no record. */
  public void answerAtOnce() {
    atOnce = true;
  }

  /** Makes every load end in an exception. */
  public void fail() {
    failing = true;
  }

  /** Makes every load end in an error. */
  void fail(Error error) {
    broken = error;
  }

  /** Makes every read of the limits at hand end in an exception, or no longer. */
  void breakFinds(boolean now) {
    brokenFinds = now;
  }

  /** Makes a subject's limits known. */
  public void put(String value, SubjectLimits limits) {
    atHand.put(value, limits);
  }

  /** Answers the oldest load. */
  public void answer(@Nullable SubjectLimits limits) {
    Asked oldest;
    synchronized (asked) {
      oldest = asked.remove();
    }
    if (limits != null) {
      atHand.put(oldest.subject, limits);
    }
    oldest.done.accept(limits);
  }

  @Override
  public @Nullable SubjectLimits find(String domain, String key, String value) {
    finds.incrementAndGet();
    if (brokenFinds) {
      throw new IllegalStateException("find");
    }
    return atHand.get(value);
  }

  @Override
  public void load(
      String domain, String key, String value, Consumer<? super @Nullable SubjectLimits> done) {
    loads.incrementAndGet();
    if (broken != null) {
      throw broken;
    }
    if (failing) {
      throw new IllegalStateException("no records");
    }
    if (atOnce) {
      done.accept(SubjectLimits.NONE);
      return;
    }
    synchronized (asked) {
      asked.add(new Asked(value, done));
    }
  }
}
