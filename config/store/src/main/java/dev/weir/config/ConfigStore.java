package dev.weir.config;

import dev.weir.config.rows.Tree;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Rules and records of customers, with every change that was made to them. The methods block for a
 * time that the adapter bounds, so they must be called on threads that may wait; all are safe for
 * use by many threads. Once a write has returned, its content is on disk.
 *
 * <p>All methods throw a {@link ConfigException} if the store fails, and an {@link
 * IllegalArgumentException} for arguments that no store would accept; in that case nothing is
 * written.
 *
 * <p>{@code ConfigStoreContract}, in this module's test jar, is the contract of every store.
 */
public interface ConfigStore extends AutoCloseable {
  /** The most subjects of one look-up, writes of one call, and records or changes of one page. */
  int MAX_BATCH = 1_000;

  /** The largest text of one rule file, in bytes. */
  int MAX_TEXT_BYTES = 1 << 20;

  /** Returns the head of the store; cheap enough to be called every second. */
  Head head();

  /** Returns a revision of the rules, or none if the store has no revision of this number. */
  Optional<Revision> revision(long number);

  /**
   * Returns texts of rule files by their SHA-256; texts that the store lacks are left out.
   *
   * @param hashes 64 hexadecimal digits each
   */
  Map<String, String> texts(Collection<String> hashes);

  /**
   * Makes a new revision of the rules. They are stored as they are: the caller has checked that
   * they can be parsed, and every reader checks it again.
   *
   * @param expectedRevision of the head, 0 for the first
   * @param tree with at least one file
   * @param texts those of the tree's texts that the store may lack; others are refused
   * @throws ConfigException of kind CONFLICT if the head has another revision
   */
  Revision commit(long expectedRevision, Tree tree, Collection<String> texts, Cause cause);

  /**
   * Returns the records of subjects; those without a record are left out.
   *
   * @param subjects at most {@link #MAX_BATCH}
   */
  Records records(Collection<Subject> subjects);

  /**
   * Writes records, all or none of them.
   *
   * @param writes at most {@link #MAX_BATCH}, each of another subject
   * @return a change for each record that was put or deleted, in their order; the number of the
   *     change is the record's new version
   * @throws ConfigException of kind CONFLICT if any record has another version than expected
   */
  List<Change> write(List<RecordWrite> writes, Cause cause);

  /**
   * Returns a page of the records of a domain and key, in the order of the subjects' values as
   * bytes in UTF-8. Records that are written between two pages may or may not be in the second;
   * every other record is on exactly one page.
   *
   * @param prefix of the values, in whole characters; empty for all
   * @param after the page begins after this value; null for the first page
   * @param limit 1 to {@link #MAX_BATCH}
   */
  Records list(String domain, String key, String prefix, @Nullable String after, int limit);

  /**
   * Returns a page of the records of a domain, or of all, in the order of the subjects' domains,
   * keys and values as bytes in UTF-8; records that are written between two pages are treated as by
   * {@link #list}.
   *
   * @param domain empty for all
   * @param after the page begins after this subject; null for the first page
   * @param limit 1 to {@link #MAX_BATCH}
   */
  RecordPage all(String domain, @Nullable Subject after, int limit);

  /**
   * Returns changes in the order of their numbers, without gaps. A change that is returned is never
   * followed by one with a smaller number.
   *
   * @param after the number of the last change already known, 0 for none
   * @param limit 1 to {@link #MAX_BATCH}
   */
  List<Change> changes(long after, int limit);

  /** Returns all entries, in the order of their kinds and names as bytes in UTF-8. */
  List<Entry> entries();

  /** Returns all entries of a kind, in the order of their names as bytes in UTF-8. */
  List<Entry> entries(String kind);

  /**
   * Writes or deletes an entry.
   *
   * @return the change, whose number is the entry's new version; none if there was nothing to
   *     delete
   * @throws ConfigException of kind CONFLICT if the entry has another version than expected
   */
  Optional<Change> write(EntryWrite write, Cause cause);

  /**
   * Adds a line to the log of changes for an event that changes nothing here but must be known: a
   * refused login, a reset of a key.
   *
   * @param kind as in {@link Entry}
   * @param json a description of the event, an object as in {@link Entry}; the change has it as
   *     {@code after}
   */
  Change log(String kind, String json, Cause cause);

  /** Returns the servers that have reported within a day, in the order of their ids. */
  List<Node> nodes();

  /**
   * Reports that a server is alive. The report may be lost in a crash: the next one follows soon.
   *
   * @param node its {@code at} becomes the store's time
   */
  void beat(Node node);

  /** Closes the store, which must not be used any more. May be called again. */
  @Override
  void close();
}
