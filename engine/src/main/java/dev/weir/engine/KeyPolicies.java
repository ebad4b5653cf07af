package dev.weir.engine;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The limits of subjects, for rules with {@code by}: a cache over a database of records. Must be
 * safe for use by many threads.
 *
 * <p>An engine calls {@link #find} once for each subject of a request, and {@link #load} only if
 * that returns nothing. It loads a subject once at a time, and gives up after a bounded time; until
 * then it does not load it again, even if the answer is that the limits cannot be known.
 */
public interface KeyPolicies {
  /** The limits if no subject has a record: every rule has its own number for all. */
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
   * that is not known here. Called on the path of every request: it must not wait for anything, and
   * should allocate nothing. If it throws a {@link RuntimeException}, the limits count as not
   * known.
   *
   * @param domain the request's domain
   * @param key the key of the level that the rule's {@code by} names
   * @param value the value of that level: the subject
   */
  @Nullable SubjectLimits find(String domain, String key, String value);

  /**
   * Loads the limits of a subject, and keeps them for {@link #find}. Must not wait for the answer.
   * If it throws, the limits cannot be known now.
   *
   * @param done receives the limits, or null if they cannot be known now; on any thread, before or
   *     after this returns. An answer that comes too late is dropped, and so is a second one
   */
  void load(
      String domain, String key, String value, Consumer<? super @Nullable SubjectLimits> done);
}
