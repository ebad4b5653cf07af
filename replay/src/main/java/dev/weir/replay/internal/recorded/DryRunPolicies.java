package dev.weir.replay.internal.recorded;

import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectLimits;
import dev.weir.replay.DryRun;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The limits of subjects in a dry run: those that a server has in memory, those that are looked up
 * and waited for, and proposed ones in their place. A subject whose limits cannot be found has no
 * record, on both sides. For one thread.
 */
public final class DryRunPolicies {
  /** The longest wait for one look-up. */
  private static final long WAIT_MILLIS = 200;

  /** The number of failures after which a source is not used any more. */
  private static final int MOST_FAILURES = 25;

  /** The most subjects whose limits are kept here because the source does not keep them. */
  private static final int MOST_REMEMBERED = 1 << 16;

  private final KeyPolicies source;
  private final Map<DryRun.Subject, SubjectLimits> loaded = new HashMap<>();
  private final Set<DryRun.Subject> unknown = new HashSet<>();
  private int failures;

  public DryRunPolicies(KeyPolicies source) {
    this.source = source;
  }

  /**
   * Returns the number of subjects whose limits could not be found, at most those that are
   * remembered.
   */
  public long unknown() {
    return unknown.size();
  }

  /** Returns the limits, with the proposed ones in their place. */
  public KeyPolicies with(Map<DryRun.Subject, SubjectLimits> proposed) {
    return new KeyPolicies() {
      @Override
      public SubjectLimits find(String domain, String key, String value) {
        SubjectLimits own =
            proposed.isEmpty() ? null : proposed.get(new DryRun.Subject(domain, key, value));
        return own == null ? known(domain, key, value) : own;
      }

      @Override
      public void load(
          String domain, String key, String value, Consumer<? super @Nullable SubjectLimits> done) {
        done.accept(find(domain, key, value));
      }
    };
  }

  private SubjectLimits known(String domain, String key, String value) {
    SubjectLimits limits = source.find(domain, key, value);
    if (limits != null) {
      return limits;
    }
    DryRun.Subject subject = new DryRun.Subject(domain, key, value);
    limits = loaded.get(subject);
    if (limits == null && !unknown.contains(subject)) {
      limits = load(subject);
      if (limits == null && unknown.size() < MOST_REMEMBERED) {
        unknown.add(subject);
      } else if (limits != null && loaded.size() < MOST_REMEMBERED) {
        loaded.put(subject, limits);
      }
    }
    return limits == null ? SubjectLimits.NONE : limits;
  }

  private @Nullable SubjectLimits load(DryRun.Subject subject) {
    if (failures >= MOST_FAILURES) {
      return null;
    }
    CompletableFuture<@Nullable SubjectLimits> answer = new CompletableFuture<>();
    SubjectLimits limits = null;
    try {
      source.load(subject.domain(), subject.key(), subject.value(), answer::complete);
      limits = answer.get(WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The run ends as soon as it checks the interrupt.
    } catch (ExecutionException | TimeoutException | RuntimeException e) {
      limits = null;
    }
    failures += limits == null ? 1 : 0;
    return limits;
  }
}
