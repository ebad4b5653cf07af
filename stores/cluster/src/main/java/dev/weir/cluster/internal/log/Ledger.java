package dev.weir.cluster.internal.log;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The replicated log of one group, as this member sees it. The {@link Machine} of every member
 * applies its entries, in one order. Safe for use by many threads.
 */
public interface Ledger extends AutoCloseable {
  /**
   * The number of bytes at the beginning of an entry that the machine writes, see {@link
   * Machine#stamp}.
   */
  int STAMP_BYTES = Long.BYTES;

  /**
   * Appends an entry, once: it is not repeated automatically.
   *
   * @param entry begins with {@link #STAMP_BYTES} to be written; belongs to the ledger from then on
   * @return the reply of this member's machine when it applied the entry, which a majority of the
   *     members had on disk by then; fails with a {@link LedgerException}, at the latest when the
   *     outcome of the entry is known here. It may complete on any thread, which must not be
   *     blocked.
   */
  CompletionStage<byte[]> append(byte[] entry);

  /**
   * Returns the name of the member that leads, as far as is known here; null if unknown. A hint.
   */
  @Nullable String leader();

  /** Returns whether this member takes itself for the leader, ready to append. A hint. */
  boolean leads();

  /** Returns the members that take part in this log, as far as is known here. */
  Seats seats();

  /**
   * Changes the members that take part, if this member leads; waits until the group has agreed on
   * it. By then, new members have about all entries.
   *
   * @throws IOException if the group has not agreed in time: it may still do so
   */
  void seat(Seats next) throws IOException;

  /**
   * Closes the log and deletes its files here. The group must have agreed before that this member
   * does not take part any more.
   */
  void leave() throws IOException;

  /**
   * Takes a snapshot of everything that is applied here when this is called, or of more. It begins
   * with the next entry that is applied, and others are applied while it is written.
   *
   * @return completes when it is on disk, and must be closed then; fails with an {@link
   *     IOException} if it cannot be written, or the log is closed
   */
  CompletionStage<Snapshot> snapshot();

  /** Returns the state of the log; called often. */
  Status status();

  /**
   * Returns how far the log is on disk, here and elsewhere, as far as a leader knows. Default:
   * nothing, for a log that is not on disk.
   */
  default FlushedIndexes flushed() {
    return FlushedIndexes.NOTHING;
  }

  /**
   * Returns the size of the log on disk, for people and metrics; it reads the sizes of all files.
   * Default: 0, for a log in memory.
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
   * The state of a log.
   *
   * @param committed the index up to which entries are committed, as far as is known here
   * @param applied the index up to which its machine has applied them
   */
  record Status(@Nullable String leader, long term, long committed, long applied) {}

  /**
   * The last entries that are on disk.
   *
   * @param here the index of the last one that this member has flushed
   * @param elsewhere the highest index that another voter has flushed
   * @param first the name of that voter; empty if there is none
   */
  record FlushedIndexes(long here, long elsewhere, String first) {
    public static final FlushedIndexes NOTHING = new FlushedIndexes(0, 0, "");
  }

  /**
   * A snapshot on disk. It can be read until it is closed, even if the file's name is deleted.
   *
   * @param term of the last entry in it
   * @param index of that entry
   * @param md5 of the whole file, in hex
   */
  record Snapshot(long term, long index, String md5, FileChannel file) {}

  /** The state machine that applies the entries. Each method is called by one thread at a time. */
  interface Machine {
    /**
     * Writes the instant of an entry into its first {@link #STAMP_BYTES}. Called by the leader, in
     * the order of the log, before the entry is appended, when all entries of earlier terms have
     * been applied here. Meanwhile another thread may be in {@link #apply}.
     */
    void stamp(long term, byte[] entry);

    /**
     * Applies an entry that is committed.
     *
     * @return the reply for the member that appended it
     */
    byte[] apply(long index, long term, byte[] entry);

    /**
     * Writes an image of the state at this call; {@link #apply} may change the state meanwhile,
     * which the image does not show. Called between two calls of {@link #apply}, on its thread;
     * returns as soon as the image is fixed.
     *
     * @param file does not exist yet
     * @return completes when the file is complete, but not necessarily on disk
     */
    CompletionStage<?> image(Path file) throws IOException;

    /**
     * Replaces the state by an image.
     *
     * @throws IOException if it cannot be read, or is damaged: then nothing has changed
     */
    void restore(Path file) throws IOException;

    /**
     * Called when this member has noticed another leader. Other methods may run at the same time.
     */
    default void elected(String leader) {}

    /** Called when the log is closed for good, because it cannot be written. */
    default void stopped(String why) {}
  }
}
