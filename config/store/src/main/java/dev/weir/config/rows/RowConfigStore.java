package dev.weir.config.rows;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.Entry;
import dev.weir.config.EntryWrite;
import dev.weir.config.Head;
import dev.weir.config.Node;
import dev.weir.config.RecordPage;
import dev.weir.config.RecordWrite;
import dev.weir.config.Records;
import dev.weir.config.Revision;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.internal.bytes.Check;
import dev.weir.config.internal.bytes.HexHash;
import dev.weir.config.internal.bytes.RecordCodec;
import dev.weir.config.internal.follow.RowFormat;
import dev.weir.config.internal.rows.Keys;
import dev.weir.config.internal.rows.Log;
import dev.weir.config.rows.Rows.Reader;
import dev.weir.config.rows.Rows.Row;
import dev.weir.config.rows.Rows.Table;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A configuration store on any database of rows. */
public final class RowConfigStore implements ConfigStore {
  /*
   * How is RowConfigStore designed, and why? A write and its change are one update of the database,
   * so the log has every write and no other. Updates run one after the other, so the numbers of
   * changes have no gaps and come in the order in which readers see them: a follower that has read
   * up to a number has read all changes below it.
   *
   * The version of a record is the number of the change that wrote it. It never comes back, even if
   * the record is deleted and created again, so no writer can overwrite the change of another by
   * chance; and nothing needs to be kept of deleted records.
   */

  private final Rows rows;
  private final String store;

  private RowConfigStore(Rows rows, String store) {
    this.rows = rows;
    this.store = store;
  }

  /**
   * Opens the store in these rows, or creates it if there is none. Closing it closes them. {@link
   * ChangeLog} verifies the whole log of changes.
   *
   * @throws ConfigException also if a newer version of Weir made the store
   */
  public static ConfigStore open(Rows rows) {
    String id = RowFormat.id(rows::get);
    if (id == null) {
      id = rows.update((reader, batch, wall) -> RowFormat.make(reader, batch));
    }
    RowConfigStore opened = new RowConfigStore(rows, id);
    opened.requireEnds(opened.head());
    return opened;
  }

  /**
   * Checks that the first and the last change are there: a database that has lost a part of its
   * rows would probably lack one of them.
   */
  private void requireEnds(Head head) {
    long last = head.position();
    if (head.revision() > 0 && revision(head.revision()).isEmpty()) {
      throw RowFormat.damaged("revision " + head.revision(), "missing", null);
    }
    if (last > 0 && (changes(0, 1).isEmpty() || changes(last - 1, 1).isEmpty())) {
      throw RowFormat.damaged("log of changes", "its begin or its end is missing", null);
    }
    if (last > 0 && !changes(last - 1, 1).get(0).hash().equals(head.hash())) {
      throw RowFormat.damaged("change " + last, "not the one of the head", null);
    }
  }

  @Override
  public Head head() {
    return RowFormat.head(rows::get, store);
  }

  @Override
  public Optional<Revision> revision(long number) {
    if (number <= 0) {
      return Optional.empty();
    }
    return Optional.ofNullable(RowFormat.revision(rows::get, number));
  }

  @Override
  public Map<String, String> texts(Collection<String> hashes) {
    Check.range("hashes", hashes.size(), 0, MAX_BATCH);
    List<String> wanted = List.copyOf(new LinkedHashSet<>(hashes));
    List<byte @Nullable []> values = rows.get(Table.TEXT, wanted.stream().map(this::hash).toList());
    Map<String, String> texts = new HashMap<>();
    for (int i = 0; i < wanted.size(); i++) {
      byte[] value = values.get(i);
      if (value != null) {
        String text = new String(value, UTF_8);
        if (!HexHash.of(text).equals(wanted.get(i))) {
          throw RowFormat.damaged("text " + wanted.get(i), "another one is stored", null);
        }
        texts.put(wanted.get(i), text);
      }
    }
    return texts;
  }

  private byte[] hash(String hash) {
    return HexHash.bytes(HexHash.require("hash", hash));
  }

  @Override
  public Revision commit(long expectedRevision, Tree tree, Collection<String> texts, Cause cause) {
    Check.range("expectedRevision", expectedRevision, 0, Long.MAX_VALUE - 1);
    Check.range("files", tree.files().size(), 1, Tree.MAX_FILES);
    Map<String, String> given = new LinkedHashMap<>();
    for (String text : texts) {
      Check.text("text", text, 0, MAX_TEXT_BYTES);
      given.put(HexHash.of(text), text);
    }
    given.keySet().stream()
        .filter(hash -> !tree.files().containsValue(hash))
        .findFirst()
        .ifPresent(
            hash -> {
              throw Check.wrong("text", "SHA-256 " + hash, "a text of the tree");
            });
    return rows.update(
        (reader, batch, wallNanos) -> {
          Log log =
              new Log(RowFormat.head(reader, store), batch, RowFormat.instant(wallNanos), cause);
          if (log.head().revision() != expectedRevision) {
            throw new ConfigException(
                Kind.CONFLICT,
                "rules: revision %d (expected: %d)"
                    .formatted(log.head().revision(), expectedRevision));
          }
          requireTexts(reader, tree, given.keySet());
          given.forEach((hash, text) -> batch.put(Table.TEXT, hash(hash), Keys.text(text)));
          return log.revision(RowFormat.revision(reader, expectedRevision), tree);
        });
  }

  private void requireTexts(Reader reader, Tree tree, Set<String> given) {
    List<String> files =
        tree.files().keySet().stream()
            .filter(file -> !given.contains(tree.files().get(file)))
            .toList();
    List<byte[]> keys =
        files.stream().map(file -> hash(tree.files().getOrDefault(file, HexHash.NONE))).toList();
    List<byte @Nullable []> stored = reader.get(Table.TEXT, keys);
    for (int i = 0; i < files.size(); i++) {
      if (stored.get(i) == null) {
        throw Check.wrong(files.get(i), "no text", "one that is given or stored already");
      }
    }
  }

  @Override
  public Records records(Collection<Subject> subjects) {
    Check.range("subjects", subjects.size(), 0, MAX_BATCH);
    List<Subject> wanted = List.copyOf(subjects);
    List<byte @Nullable []> values =
        rows.get(Table.RECORD, wanted.stream().map(Keys::subject).toList());
    Found found = new Found();
    for (int i = 0; i < wanted.size(); i++) {
      found.add(wanted.get(i), values.get(i));
    }
    return found.records(Optional.empty());
  }

  /** Records of a look-up, sorted into those that can be read and others. */
  private static final class Found {
    private final Map<Subject, SubjectRecord> found = new LinkedHashMap<>();
    private final Map<Subject, String> unreadable = new LinkedHashMap<>();

    void add(Subject subject, byte @Nullable [] value) {
      if (value == null) {
        return;
      }
      try {
        found.put(subject, RecordCodec.read(subject, value));
      } catch (IllegalArgumentException e) {
        unreadable.put(subject, String.valueOf(e.getMessage()));
      }
    }

    Records records(Optional<String> next) {
      return new Records(found, unreadable, next);
    }
  }

  @Override
  public List<Change> write(List<RecordWrite> writes, Cause cause) {
    Check.range("writes", writes.size(), 0, MAX_BATCH);
    Set<Subject> subjects = new HashSet<>();
    for (RecordWrite write : writes) {
      if (!subjects.add(write.subject())) {
        throw Check.wrong("writes", write.subject() + " twice", "each subject once");
      }
    }
    List<byte[]> keys = writes.stream().map(write -> Keys.subject(write.subject())).toList();
    return rows.update(
        (reader, batch, wallNanos) -> {
          Log log =
              new Log(RowFormat.head(reader, store), batch, RowFormat.instant(wallNanos), cause);
          List<byte @Nullable []> before = reader.get(Table.RECORD, keys);
          for (int i = 0; i < writes.size(); i++) {
            requireVersion(writes.get(i), before.get(i));
          }
          List<Change> changes = new ArrayList<>();
          for (int i = 0; i < writes.size(); i++) {
            if (before.get(i) != null || writes.get(i).record() != null) {
              changes.add(log.record(writes.get(i), keys.get(i), before.get(i)));
            }
          }
          return List.copyOf(changes);
        });
  }

  private static void requireVersion(RecordWrite write, byte @Nullable [] stored) {
    long version = stored == null ? RecordWrite.ABSENT : RowFormat.version(stored);
    requireVersion(write.subject(), version, write.expectedVersion());
  }

  private static void requireVersion(Object what, long version, long expected) {
    if (expected != RecordWrite.ANY && expected != version) {
      throw new ConfigException(
          Kind.CONFLICT, "%s: version %d (expected: %d)".formatted(what, version, expected));
    }
  }

  @Override
  public Records list(String domain, String key, String prefix, @Nullable String after, int limit) {
    Check.range("limit", limit, 1, MAX_BATCH);
    Subject first = new Subject(domain, key, prefix);
    byte[] begin = Keys.subject(first);
    byte[] from = begin;
    if (after != null) {
      byte[] behind = Keys.after(Keys.subject(new Subject(domain, key, after)));
      from = Arrays.compareUnsigned(behind, begin) > 0 ? behind : begin;
    }
    List<Row> page = rows.scan(Table.RECORD, from, Keys.afterAll(begin), limit + 1);
    Found found = new Found();
    Optional<String> next = Optional.empty();
    for (Row row : page.subList(0, Math.min(limit, page.size()))) {
      String value = Keys.value(row.key(), domain, key);
      found.add(new Subject(domain, key, value), row.value());
      next = Optional.of(value);
    }
    return found.records(page.size() > limit ? next : Optional.empty());
  }

  @Override
  public RecordPage all(String domain, @Nullable Subject after, int limit) {
    Check.range("limit", limit, 1, MAX_BATCH);
    Check.line("domain", domain, 0, Subject.MAX_NAME_BYTES);
    byte[] begin = Keys.domain(domain);
    byte[] from = begin;
    if (after != null) {
      byte[] behind = Keys.after(Keys.subject(after));
      from = Arrays.compareUnsigned(behind, begin) > 0 ? behind : begin;
    }
    List<Row> page = rows.scan(Table.RECORD, from, Keys.afterAll(begin), limit + 1);
    Found found = new Found();
    Optional<Subject> last = Optional.empty();
    for (Row row : page.subList(0, Math.min(limit, page.size()))) {
      Subject subject = Keys.subject(row.key());
      found.add(subject, row.value());
      last = Optional.of(subject);
    }
    return new RecordPage(
        found.records(Optional.empty()), page.size() > limit ? last : Optional.empty());
  }

  @Override
  public List<Change> changes(long after, int limit) {
    Check.range("after", after, 0, Long.MAX_VALUE - 1);
    Check.range("limit", limit, 1, MAX_BATCH);
    List<Change> changes = new ArrayList<>();
    for (Row row : rows.scan(Table.CHANGE, Keys.number(after + 1), null, limit)) {
      Change change = RowFormat.change(row);
      long expected = after + 1 + changes.size();
      if (change.number() != expected) {
        throw RowFormat.damaged("change " + expected, "missing", null);
      }
      changes.add(change);
    }
    return changes;
  }

  @Override
  public List<Entry> entries() {
    return entriesFrom(new byte[0], null);
  }

  @Override
  public List<Entry> entries(String kind) {
    byte[] begin = Keys.entry(Entry.requireKind(kind), "");
    return entriesFrom(begin, Keys.afterAll(begin));
  }

  private List<Entry> entriesFrom(byte[] begin, byte @Nullable [] end) {
    List<Entry> entries = new ArrayList<>();
    byte[] from = begin;
    while (true) {
      List<Row> page = rows.scan(Table.ENTRY, from, end, MAX_BATCH);
      for (Row row : page) {
        String kind = Keys.kind(row.key());
        entries.add(RowFormat.entry(kind, Keys.name(row.key(), kind), row.value()));
        from = Keys.after(row.key());
      }
      if (page.size() < MAX_BATCH) {
        return List.copyOf(entries);
      }
    }
  }

  @Override
  public Optional<Change> write(EntryWrite write, Cause cause) {
    byte[] key = Keys.entry(write.kind(), write.name());
    return rows.update(
        (reader, batch, wallNanos) -> {
          Log log =
              new Log(RowFormat.head(reader, store), batch, RowFormat.instant(wallNanos), cause);
          byte[] stored = reader.get(Table.ENTRY, List.of(key)).get(0);
          Entry before =
              stored == null ? null : RowFormat.entry(write.kind(), write.name(), stored);
          requireVersion(
              write.kind() + " " + write.name(),
              before == null ? RecordWrite.ABSENT : before.version(),
              write.expectedVersion());
          return before == null && write.json() == null
              ? Optional.empty()
              : Optional.of(log.entry(write, key, before));
        });
  }

  @Override
  public Change log(String kind, String json, Cause cause) {
    Entry.requireKind(kind);
    String canonical = Entry.canonical(json);
    return rows.update(
        (reader, batch, wallNanos) ->
            new Log(RowFormat.head(reader, store), batch, RowFormat.instant(wallNanos), cause)
                .addNote(kind, canonical));
  }

  @Override
  public List<Node> nodes() {
    return RowFormat.nodes(rows, rows.wallNanos(), false);
  }

  @Override
  public void beat(Node node) {
    long nowNanos = rows.wallNanos();
    byte[] key = Keys.text(node.id());
    if (rows.get(Table.NODE, List.of(key)).get(0) == null) {
      // Servers come and go, and each may have another id: silent ones are removed when one is
      // added.
      for (Node silent : RowFormat.nodes(rows, nowNanos, true)) {
        rows.put(Table.NODE, Keys.text(silent.id()), null);
      }
    }
    rows.put(Table.NODE, key, RowFormat.node(node, RowFormat.instant(nowNanos)));
  }

  @Override
  public void close() {
    rows.close();
  }
}
