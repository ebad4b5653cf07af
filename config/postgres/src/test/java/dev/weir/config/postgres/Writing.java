package dev.weir.config.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.RecordWrite;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import java.util.List;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Helpers that write records and check a store's error messages. */
final class Writing {
  private static final Cause CAUSE = Cause.of("test", "a test");

  private Writing() {}

  static Subject user(String value) {
    return new Subject("shop", "user", value);
  }

  /** Writes a new record; returns its version. */
  static long write(ConfigStore store, String value) {
    SubjectRecord record = SubjectRecord.ofPlan(user(value), "gold");
    List<Change> changes = store.write(List.of(RecordWrite.put(record, RecordWrite.ABSENT)), CAUSE);
    return changes.get(0).number();
  }

  static AbstractThrowableAssert<?, ? extends Throwable> assertUnavailable(ThrowingCallable call) {
    return assertFails(Kind.UNAVAILABLE, call);
  }

  /** Checks that a call fails with one line that states what was expected. */
  static AbstractThrowableAssert<?, ? extends Throwable> assertFails(
      Kind kind, ThrowingCallable call) {
    AbstractThrowableAssert<?, ? extends Throwable> thrown =
        assertThatThrownBy(call)
            .isInstanceOfSatisfying(
                ConfigException.class, e -> assertThat(e.kind()).as(e.getMessage()).isEqualTo(kind))
            .hasMessageStartingWith("postgresql://")
            .hasMessageContaining("(expected: ");
    thrown.message().hasLineCount(1);
    return thrown;
  }
}
