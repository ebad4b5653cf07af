package dev.weir.config.internal.rows;

import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ChangeDetails;
import dev.weir.config.Entry;
import dev.weir.config.EntryWrite;
import dev.weir.config.Head;
import dev.weir.config.Json;
import dev.weir.config.RecordWrite;
import dev.weir.config.Revision;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.internal.bytes.HexHash;
import dev.weir.config.internal.bytes.RecordCodec;
import dev.weir.config.internal.follow.RowFormat;
import dev.weir.config.rows.Rows.Batch;
import dev.weir.config.rows.Rows.Table;
import dev.weir.config.rows.Tree;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The changes of one update: adds them to the log, each together with the write that it describes.
 */
public final class Log {
  private final Batch batch;
  private final Instant at;
  private final Cause cause;
  private Head head;

  public Log(Head head, Batch batch, Instant at, Cause cause) {
    this.head = head;
    this.batch = batch;
    this.at = at;
    this.cause = cause;
  }

  public Head head() {
    return head;
  }

  /** Makes the next revision of the rules. */
  public Revision revision(@Nullable Revision before, Tree tree) {
    long number = head.revision() + 1;
    Map<String, Object> members = members(ChangeDetails.RULES);
    members.put("revision", number);
    if (before != null) {
      members.put("before", Map.of("tree", before.tree().hash()));
    }
    members.put("after", Map.of("tree", tree.hash()));
    Change change = add(members, number);
    Revision revision =
        new Revision(number, tree, change.number(), cause.author(), cause.reason(), at);
    batch.put(Table.REVISION, Keys.number(number), RowFormat.revision(revision));
    return revision;
  }

  /** Puts or deletes a record. */
  public Change record(RecordWrite write, byte[] key, byte @Nullable [] before) {
    Subject subject = write.subject();
    Map<String, Object> members = members(ChangeDetails.RECORD);
    members.put(
        "subject",
        Map.of("domain", subject.domain(), "key", subject.key(), "value", subject.value()));
    if (before != null) {
      members.put("before", RowFormat.members(subject, before));
    }
    SubjectRecord record = write.record();
    if (record == null) {
      batch.delete(Table.RECORD, key);
    } else {
      members.put("after", RecordCodec.members(record));
      batch.put(Table.RECORD, key, RecordCodec.write(record.at(head.position() + 1)));
    }
    return add(members, head.revision());
  }

  /** Puts or deletes an entry. */
  public Change entry(EntryWrite write, byte[] key, @Nullable Entry before) {
    Map<String, Object> members = members(write.kind());
    members.put("name", write.name());
    if (before != null) {
      members.put("before", RowFormat.members(before.json()).without(write.secret()));
    }
    String json = write.json();
    if (json == null) {
      batch.delete(Table.ENTRY, key);
    } else {
      members.put("after", RowFormat.members(json).without(write.secret()));
      members.put("sha256", HexHash.of(json));
      batch.put(
          Table.ENTRY,
          key,
          RowFormat.entry(new Entry(write.kind(), write.name(), json, head.position() + 1)));
    }
    return add(members, head.revision());
  }

  /** Adds a note of an event. */
  public Change addNote(String kind, String json) {
    Map<String, Object> members = members(kind);
    members.put("after", RowFormat.members(json).without(Set.of()));
    return add(members, head.revision());
  }

  private Map<String, Object> members(String kind) {
    return new TreeMap<>(ChangeDetails.members(head.position() + 1, kind, at, cause));
  }

  private Change add(Map<String, Object> members, long revision) {
    long number = head.position() + 1;
    String json = Json.write(members);
    Change change = new Change(number, json, HexHash.chained(head.hash(), json));
    head = new Head(head.store(), revision, number, change.hash());
    batch.put(Table.CHANGE, Keys.number(number), RowFormat.change(change));
    batch.put(Table.META, RowFormat.HEAD, RowFormat.head(head));
    return change;
  }
}
