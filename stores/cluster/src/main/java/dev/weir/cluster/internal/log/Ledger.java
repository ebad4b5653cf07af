package dev.weir.cluster.internal.log;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The replicated log of one group, as this member sees it. What is appended is applied by the
 * {@link Machine} of every member, in one order. Safe for use by many threads.
 */
public interface Ledger extends AutoCloseable {
  /** How many bytes at the beginning of an entry are the machine's to {@link Machine#stamp}. */
  int STAMP_BYTES = Long.BYTES;

  /**
   * Appends an entry, once: it is not tried again by itself.
   *
   * @param entry begins with {@link #STAMP_BYTES} that are to be written; belongs to the ledger
   *     from then on
   * @return what the machine of this member returned when it applied the entry, which a majority of
   *     the members had on disk by then; fails with a {@link LedgerException}, at the latest when
   *     this member knows what became of the entry. It may complete on any thread, which must not
   *     be blocked.
   */
  CompletionStage<byte[]> append(byte[] entry);

  /**
   * Returns the name of the member that leads, as far as is known here: a hint; null if unknown.
   */
  @Nullable String leader();

  /** Returns whether this member takes itself for the leader, ready to append: a hint too. */
  boolean leads();

  /** Returns who takes part in this log, as this member knows. */
  Seats seats();

  /**
   * Has others take part, if this member leads; waits until the group has agreed on it. Those who
   * are new have about all entries then.
   *
   * @throws IOException if the group has not agreed in time: it may still do so
   */
  void seat(Seats next) throws IOException;

  /**
   * Closes the log and deletes what is kept of it here. The group has agreed before that this
   * member does not take part any more.
   */
  void leave() throws IOException;

  /**
   * Has a snapshot taken of all that is applied here when this is called, or of more. It begins
   * with the next entry that is applied, and others are applied while it is written.
   *
   * @return completes when it is on disk, and is to be closed then; fails with an {@link
   *     IOException} if it cannot be written, or the log is closed
   */
  CompletionStage<Snapshot> snapshot();

  /** Returns where the log is; asked often. */
  Status status();

  /**
   * Returns what the log takes on disk, for people and metrics: it looks at all of its files.
   * Default: 0, it is in memory.
   */
  default long logBytes() {
    return 0;
  }

  /**
   * Hands the leadership to another member, if this member has it; waits for it.
   *
   * @throws IOException if no other member took it in time
   */
  void transfer(@Nullable String member) throws IOException;

  @Override
  void close() throws IOException;

  /**
   * Where a log is.
   *
   * @param committed the index up to which entries are committed, as this member knows
   * @param applied the index up to which its machine has applied them
   */
  record Status(@Nullable String leader, long term, long committed, long applied) {}

  /**
   * A snapshot on disk. It can be read until it is closed, whatever becomes of the file's name.
   *
   * @param term of the last entry that is in it
   * @param index of that entry
   * @param md5 of the whole file, in hex
   */
  record Snapshot(long term, long index, String md5, FileChannel file) {}

  /** What the entries are for. Each method is called by one thread at a time. */
  interface Machine {
    /**
     * Writes the instant of an entry into its first {@link #STAMP_BYTES}. Called by the leader, in
     * the order of the log, before the entry is appended, when all entries of earlier terms have
     * been applied here. Beside it, another thread may be in {@link #apply}.
     */
    void stamp(long term, byte[] entry);

    /**
     * Applies an entry that is committed.
     *
     * @return the reply for who appended it
     */
    byte[] apply(long index, long term, byte[] entry);

    /**
     * Writes an image of what has been applied so far, to which {@link #apply} may add meanwhile:
     * the image does not show that. Called between two calls of {@link #apply}, on its thread;
     * returns as soon as the image is fixed.
     *
     * @param file does not exist yet
     * @return completes when the file is complete, but not necessarily on disk
     */
    CompletionStage<?> image(Path file) throws IOException;

    /**
     * Goes on from an image instead of all that was applied before.
     *
     * @throws IOException if it cannot be read, or is damaged: nothing has changed then
     */
    void restore(Path file) throws IOException;

    /** Takes note that this member has heard of another leader. May be called beside the others. */
    default void elected(String leader) {}

    /** Takes note that the log is closed for good, because it cannot be written. */
    default void stopped(String why) {}
  }
}
