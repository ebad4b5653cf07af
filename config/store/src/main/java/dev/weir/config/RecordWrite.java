package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import org.jspecify.annotations.Nullable;

/**
 * A record to be put in the place of another, or to be deleted, if it still has a version.
 *
 * @param record to put, of this subject; its version does not matter. Null deletes the stored one
 * @param expectedVersion of the record that is stored; {@link #ABSENT} if none may be stored,
 *     {@link #ANY} if it does not matter
 */
public record RecordWrite(Subject subject, @Nullable SubjectRecord record, long expectedVersion) {
  /** The expected version if there must be no record of the subject. */
  public static final long ABSENT = 0;

  /** The expected version if any stored record is to be replaced. */
  public static final long ANY = -1;

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if the version is less than {@link #ANY}, or the record is of
   *     another subject
   */
  public RecordWrite {
    Check.range("expectedVersion", expectedVersion, ANY, Long.MAX_VALUE);
    if (record != null && !record.subject().equals(subject)) {
      throw Check.wrong("record", record.subject(), "of " + subject);
    }
  }

  public static RecordWrite put(SubjectRecord record, long expectedVersion) {
    return new RecordWrite(record.subject(), record, expectedVersion);
  }

  /**
   * Returns a write that deletes the record of a subject; a missing record needs no deletion and
   * makes no change.
   */
  public static RecordWrite delete(Subject subject, long expectedVersion) {
    return new RecordWrite(subject, null, expectedVersion);
  }
}
