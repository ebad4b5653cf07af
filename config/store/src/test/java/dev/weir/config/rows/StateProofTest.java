package dev.weir.config.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigStore;
import dev.weir.config.Entry;
import dev.weir.config.EntryWrite;
import dev.weir.config.Head;
import dev.weir.config.RecordWrite;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.WrappedConfigStore;
import dev.weir.config.internal.bytes.ByteWriter;
import dev.weir.config.internal.follow.RowFormat;
import dev.weir.config.internal.rows.Keys;
import dev.weir.config.rows.Rows.Row;
import dev.weir.config.rows.Rows.Table;
import dev.weir.testkit.FakeTicker;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of what is in force in a database in which somebody has changed rows. */
class StateProofTest {
  private static final Cause CAUSE = new Cause("test", "", "", "", "", "a test");
  private static final Subject ALICE = new Subject("shop", "user", "alice");
  private static final Subject BOB = new Subject("shop", "user", "bob");
  private static final Subject CAROL = new Subject("shop", "user", "carol");
  private static final String TEXT = "domain: shop\n";

  private final MemoryRows rows = new MemoryRows(new FakeTicker(1_800_000_000_000_000_000L));
  private final ConfigStore store = RowConfigStore.open(rows);

  @BeforeEach
  void fill() {
    store.commit(0, Tree.of(Map.of("a.yaml", TEXT)), List.of(TEXT), CAUSE); // 1
    put(ALICE, "gold"); // 2
    put(BOB, "gold"); // 3
    put(ALICE, "silver"); // 4
    put(CAROL, "gold"); // 5
    store.write(List.of(RecordWrite.delete(CAROL, RecordWrite.ANY)), CAUSE); // 6
    token("t1", "viewer"); // 7
    token("t2", "editor"); // 8
    store.write(EntryWrite.delete("token", "t2", RecordWrite.ANY), CAUSE); // 9
    store.log("reset", "{\"key\":\"x\"}", CAUSE); // 10
  }

  private void put(Subject subject, String plan) {
    store.write(
        List.of(RecordWrite.put(SubjectRecord.ofPlan(subject, plan), RecordWrite.ANY)), CAUSE);
  }

  private void token(String name, String role) {
    String json = "{\"role\":\"" + role + "\",\"hash\":\"5ec2e7\"}";
    store.write(new EntryWrite("token", name, json, RecordWrite.ANY, Set.of("hash")), CAUSE);
  }

  private String problem() {
    return ChangeLog.verify(store).problem();
  }

  private void replace(Table table, byte[] key, String from, String to) {
    String text = new String(rows.get(table, List.of(key)).get(0), StandardCharsets.ISO_8859_1);
    assertThat(text).contains(from);
    rows.put(table, key, text.replace(from, to).getBytes(StandardCharsets.ISO_8859_1));
  }

  @Test
  void untouchedStore_isAsItsLogSays() {
    assertThat(problem()).isEmpty();
    assertThat(ChangeLog.verify(store).position()).isEqualTo(10);
  }

  @Test
  void promotedToken_isFound() {
    replace(Table.ENTRY, Keys.entry("token", "t1"), "viewer", "editor");
    assertThat(problem()).isEqualTo("in force: token t1: not as change 7 says");
  }

  @Test
  void secretThatIsNotInTheLog_isCoveredToo() {
    replace(Table.ENTRY, Keys.entry("token", "t1"), "5ec2e7", "000000");
    assertThat(problem()).isEqualTo("in force: token t1: not as change 7 says");
  }

  @Test
  void tokenThatWasPutInTakenOutOrPutBack_isFound() {
    byte[] key = Keys.entry("token", "t1");
    byte[] token = rows.get(Table.ENTRY, List.of(key)).get(0);
    rows.put(Table.ENTRY, Keys.entry("token", "t3"), token);
    assertThat(problem()).isEqualTo("in force: token t3: not in the log");
    rows.put(Table.ENTRY, Keys.entry("token", "t3"), null);
    rows.put(Table.ENTRY, Keys.entry("other", "t3"), token);
    assertThat(problem()).isEqualTo("in force: other t3: not in the log");
    rows.put(Table.ENTRY, Keys.entry("other", "t3"), null);
    rows.put(Table.ENTRY, key, null);
    assertThat(problem()).isEqualTo("in force: token t1: missing");
    rows.put(Table.ENTRY, key, token);
    token("t1", "none");
    assertThat(problem()).isEmpty();
    rows.put(Table.ENTRY, key, token); // That of before.
    assertThat(problem()).isEqualTo("in force: token t1: of change 7 (expected: 11)");
  }

  @Test
  void recordThatWasChanged_isFound() {
    byte[] key = Keys.subject(ALICE);
    byte[] before = rows.get(Table.RECORD, List.of(key)).get(0);
    replace(Table.RECORD, key, "silver", "golden");
    assertThat(problem()).isEqualTo("in force: record shop, user=alice: not as change 4 says");
    rows.put(Table.RECORD, key, null);
    assertThat(problem()).isEqualTo("in force: the record of change 4: missing");
    rows.put(Table.RECORD, key, before);
    put(ALICE, "bronze");
    assertThat(problem()).isEmpty();
    rows.put(Table.RECORD, key, before);
    assertThat(problem())
        .isEqualTo("in force: record shop, user=alice: of change 4 (expected: 11)");
  }

  /** The log has no change of that subject, and another row has the number of its change. */
  @Test
  void recordThatWasPutIn_isFound() {
    byte[] bob = rows.get(Table.RECORD, List.of(Keys.subject(BOB))).get(0);
    for (String domain : List.of("shop", "aaa", "zzz")) {
      Subject mallory = new Subject(domain, "user", "mallory");
      rows.put(Table.RECORD, Keys.subject(mallory), bob);
      assertThat(problem()).startsWith("in force: record ").endsWith(": not in the log");
      rows.put(Table.RECORD, Keys.subject(mallory), null);
    }
    rows.put(Table.RECORD, Keys.subject(CAROL), bob); // It was deleted.
    assertThat(problem()).isEqualTo("in force: record shop, user=carol: of change 3 (expected: 5)");
    assertThat(problem()).isNotEmpty();
  }

  @Test
  void rulesThatWereChanged_areFound() {
    List<Row> revisions = rows.scan(Table.REVISION, new byte[0], null, 10);
    assertThat(revisions).hasSize(1);
    byte[] key = revisions.get(0).key();
    replace(Table.REVISION, key, "a.yaml", "b.yaml");
    assertThat(problem()).isNotEmpty();
    rows.put(Table.REVISION, key, revisions.get(0).value());
    assertThat(problem()).isEmpty();
    rows.put(Table.TEXT, rows.scan(Table.TEXT, new byte[0], null, 1).get(0).key(), null);
    assertThat(problem()).isEqualTo("in force: rules, revision 1, a text: missing");
  }

  /** The head names the revision that servers follow. */
  @Test
  void rulesThatWerePutBack_areFound() {
    byte[] head = rows.get(Table.META, List.of(RowFormat.HEAD)).get(0);
    String text = "domain: shop\ndescriptors: []\n";
    store.commit(1, Tree.of(Map.of("a.yaml", text)), List.of(text), CAUSE);
    assertThat(problem()).isEmpty();
    Head now = store.head();
    rows.put(
        Table.META,
        RowFormat.HEAD,
        RowFormat.head(new Head(now.store(), 1, now.position(), now.hash())));
    assertThat(problem()).isEqualTo("in force: rules: revision 1 (expected: 2)");
    rows.put(Table.META, RowFormat.HEAD, head); // The change behind it is still there.
    assertThat(problem()).isEqualTo("in force: rules: revision 1 (expected: 2)");
  }

  @Test
  void recordThatCannotBeRead_isNotCalledSound() {
    byte[] newer = new ByteWriter().number(1).number(4).text("gold").number(9).number(5).toBytes();
    rows.put(Table.RECORD, Keys.subject(ALICE), newer);
    assertThat(problem())
        .isEqualTo("in force: record shop, user=alice: cannot be read, so it cannot be compared");
  }

  /** Tests a store that others write while it is verified. */
  @Test
  void writesMeanwhile_areNoDifference() {
    List<Runnable> writes =
        new ArrayList<>(
            List.of(
                () -> put(ALICE, "bronze"),
                () -> store.write(List.of(RecordWrite.delete(BOB, RecordWrite.ANY)), CAUSE),
                () -> put(CAROL, "gold"),
                () -> token("t1", "editor"),
                () -> store.write(EntryWrite.delete("token", "t1", RecordWrite.ANY), CAUSE),
                () -> token("t4", "viewer"),
                () -> put(BOB, "gold"),
                () -> store.write(List.of(RecordWrite.delete(ALICE, RecordWrite.ANY)), CAUSE)));
    ConfigStore busy =
        new WrappedConfigStore(store) {
          private void write() {
            if (!writes.isEmpty()) {
              writes.remove(0).run();
            }
          }

          @Override
          public Records records(Collection<Subject> subjects) {
            write();
            return super.records(subjects);
          }

          @Override
          public List<Entry> entries() {
            write();
            return super.entries();
          }

          @Override
          public List<Change> changes(long after, int limit) {
            write();
            return super.changes(after, limit);
          }
        };
    while (!writes.isEmpty()) {
      assertThat(ChangeLog.verify(busy).problem()).isEmpty();
    }
  }
}
