package dev.weir.engine;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Knows the limits of subjects, for rules with {@code by}: a cache over a database of records. Must
 * be safe for use by many threads.
 *
 * <p>An engine asks {@link #find} once for each subject of a request, and {@link #load} only where
 * that knows nothing. It asks for a subject once at a time, and gives up after a bounded time;
 * until then it does not ask again, also if the answer is that the limits cannot be known.
 */
public interface KeyPolicies {
  /** Knows that no subject has a record: every rule has its own number for all. */
  KeyPolicies NONE =
      new KeyPolicies() {
        @Override
        public SubjectLimits find(String domain, String key, String value) {
          return SubjectLimits.NONE;
        }

        @Override
        public void load(
            String domain,
            String key,
            String value,
            Consumer<? super @Nullable SubjectLimits> done) {
          done.accept(SubjectLimits.NONE);
        }
      };

  /**
   * Returns the limits of a subject, {@link SubjectLimits#NONE} if it has no record, or null if
   * that is not known here. Asked on the path of every request: it must not wait for anything, and
   * should allocate nothing. Where it throws a {@link RuntimeException}, nothing is known.
   *
   * @param domain of the request
   * @param key of the level that the rule's {@code by} names
   * @param value of that level: the subject
   */
  @Nullable SubjectLimits find(String domain, String key, String value);

  /**
   * Finds out what a subject's limits are, and keeps them for {@link #find}. Must not wait for the
   * answer. Where it throws, the limits cannot be known now.
   *
   * @param done to be given the limits, or null if they cannot be known now; on any thread, before
   *     or after this returns. An answer that comes too late is dropped, as is a second one
   */
  void load(
      String domain, String key, String value, Consumer<? super @Nullable SubjectLimits> done);
}
