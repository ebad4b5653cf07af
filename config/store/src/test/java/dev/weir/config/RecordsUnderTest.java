package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.ConfigException.Kind;
import dev.weir.config.internal.follow.SubjectLoads;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** A store in memory whose answers are late, lost or unreadable at a test's request. */
public final class RecordsUnderTest extends WrappedConfigStore {
  public static final Cause CAUSE = Cause.of("test", "a test");

  public boolean away;
  public boolean feedAway;
  public int queries;
  int underWay;
  public int most;
  public final Map<Subject, String> unreadable = new HashMap<>();

  /** An action after the records were read, and before the call returns. */
  @Nullable public Runnable afterRead;

  /** The tasks of loaders, in their order; tests run them. */
  public final Queue<Runnable> tasks = new ArrayDeque<>();

  public RecordsUnderTest(FakeTicker wall) {
    super(ConfigStores.inMemory(wall));
  }

  public static Subject subject(String value) {
    return new Subject("shop", "user", value);
  }

  public void put(SubjectRecord record) {
    write(List.of(RecordWrite.put(record, RecordWrite.ANY)), CAUSE);
  }

  public void delete(Subject subject) {
    write(List.of(RecordWrite.delete(subject, RecordWrite.ANY)), CAUSE);
  }

  /** Runs the waiting tasks of loaders. */
  public void work() {
    assertThat(tasks).hasSizeLessThanOrEqualTo(SubjectLoads.MAX_UNDER_WAY);
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  @Override
  public Head head() {
    if (feedAway) {
      throw new ConfigException(Kind.UNAVAILABLE, "no answer (expected: one)");
    }
    return super.head();
  }

  @Override
  public Records records(Collection<Subject> subjects) {
    assertThat(subjects).isNotEmpty().hasSizeLessThanOrEqualTo(SubjectLoads.MAX_BATCH);
    queries++;
    most = Math.max(most, ++underWay);
    try {
      Records read = super.records(subjects);
      Map<Subject, SubjectRecord> found = new HashMap<>(read.found());
      Map<Subject, String> not = new HashMap<>(unreadable);
      not.keySet().retainAll(subjects);
      found.keySet().removeAll(not.keySet());
      boolean lost = away;
      Runnable run = afterRead;
      if (run != null) {
        run.run();
      }
      if (lost) {
        throw new ConfigException(Kind.UNAVAILABLE, "no answer (expected: one)");
      }
      return new Records(found, not, read.next());
    } finally {
      underWay--;
    }
  }
}
