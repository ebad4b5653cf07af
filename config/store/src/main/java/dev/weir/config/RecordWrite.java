package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import org.jspecify.annotations.Nullable;

/**
 * A record to be put in the place of another, or to be deleted, if it still has a version.
 *
 * @param record what to put, of this subject; its version does not matter. Null deletes
 * @param expectedVersion of the record that is stored; {@link #ABSENT} if none may be stored,
 *     {@link #ANY} if it does not matter
 */
public record RecordWrite(Subject subject, @Nullable SubjectRecord record, long expectedVersion) {
  /** There must be no record of the subject. */
  public static final long ABSENT = 0;

  /** Whatever is stored is replaced. */
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

  /** Deletes the record of a subject; what is not there needs no deletion and makes no change. */
  public static RecordWrite delete(Subject subject, long expectedVersion) {
    return new RecordWrite(subject, null, expectedVersion);
  }
}
