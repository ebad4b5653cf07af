package dev.weir.config.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.Node;
import dev.weir.config.RecordWrite;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.internal.bytes.ByteWriter;
import dev.weir.config.internal.bytes.HexHash;
import dev.weir.config.internal.follow.RowFormat;
import dev.weir.config.internal.rows.Keys;
import dev.weir.config.rows.Rows.Table;
import dev.weir.testkit.FakeTicker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The rows of a store, and the effects of tampering with them. */
class RowConfigStoreTest {
  private static final Cause CAUSE = Cause.of("ops", "because");
  private static final Subject ALICE = new Subject("shop", "user", "alice");
  private static final Subject BOB = new Subject("shop", "user", "bob");

  private final FakeTicker wall = new FakeTicker(1_800_000_000_000_000_000L);
  private final Rows rows = new MemoryRows(wall);
  private final ConfigStore store = RowConfigStore.open(rows);

  private void overwrite(Table table, byte[] key, byte @Nullable [] value) {
    rows.put(table, key, value);
  }

  private void records() {
    store.write(
        List.of(
            RecordWrite.put(SubjectRecord.ofPlan(ALICE, "gold"), RecordWrite.ABSENT),
            RecordWrite.put(SubjectRecord.ofPlan(BOB, "gold"), RecordWrite.ABSENT)),
        CAUSE);
  }

  private static void assertDamaged(Runnable reading, String message) {
    assertThatThrownBy(reading::run)
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.DAMAGED))
        .hasMessageStartingWith(message);
  }

  @Test
  void recordOfANewerVersion_harmsNoOtherAndCanBeReplaced() {
    records();
    byte[] newer = new ByteWriter().number(1).number(1).text("gold").number(9).number(5).toBytes();
    overwrite(Table.RECORD, Keys.subject(ALICE), newer);
    Records read = store.records(List.of(ALICE, BOB));
    assertThat(read.found()).containsOnlyKeys(BOB);
    assertThat(read.unreadable())
        .containsEntry(ALICE, "field: 9 (expected: 1..3; a newer version wrote it)");
    assertThat(store.list("shop", "user", "", null, 10).unreadable()).containsOnlyKeys(ALICE);

    assertThatThrownBy(
            () -> store.write(List.of(RecordWrite.delete(ALICE, RecordWrite.ABSENT)), CAUSE))
        .hasMessageContaining("version 1 (expected: 0)");
    Change change = store.write(List.of(RecordWrite.delete(ALICE, 1)), CAUSE).get(0);
    assertThat(change.details().before()).isEqualTo("{\"unreadable\":\"010104676f6c640905\"}");
    assertThat(store.records(List.of(ALICE, BOB)).unreadable()).isEmpty();
  }

  @Test
  void rowThatIsNoRecordAtAll_isReplacedOnlyByOneWhoDoesNotMind() {
    overwrite(Table.RECORD, Keys.subject(ALICE), new byte[0]);
    assertThat(store.records(List.of(ALICE)).unreadable()).containsOnlyKeys(ALICE);
    SubjectRecord gold = SubjectRecord.ofPlan(ALICE, "gold");
    assertThatThrownBy(() -> store.write(List.of(RecordWrite.put(gold, RecordWrite.ABSENT)), CAUSE))
        .isInstanceOf(ConfigException.class);
    store.write(List.of(RecordWrite.put(gold, RecordWrite.ANY)), CAUSE);
    assertThat(store.records(List.of(ALICE)).found()).containsOnlyKeys(ALICE);
  }

  @Test
  void editedRows_areFoundByTheChain() {
    records();
    byte[] change = rows.get(Table.CHANGE, List.of(Keys.number(1))).get(0);
    assertThat(change).isNotNull();
    byte[] edited = change.clone();
    edited[edited.length - 3] ^= 1;
    overwrite(Table.CHANGE, Keys.number(1), edited);
    assertThat(ChangeLog.verify(store).problem()).isEqualTo("change 1: edited");
    overwrite(Table.CHANGE, Keys.number(1), null);
    assertThat(ChangeLog.verify(store).problem()).startsWith("change 1: missing");
    overwrite(Table.CHANGE, Keys.number(1), change);
    assertThat(ChangeLog.verify(store).ok()).isTrue();
    overwrite(Table.CHANGE, Keys.number(2), null);
    assertThat(ChangeLog.verify(store).problem()).startsWith("change 2: missing");
    assertThat(ChangeLog.verify(store).position()).as("the first one is sound").isEqualTo(1);
    overwrite(Table.CHANGE, Keys.number(2), new byte[3]);
    assertThat(ChangeLog.verify(store).problem()).startsWith("change 2: 3 bytes");
  }

  @Test
  void feedWithAGap_isRefused() {
    records();
    overwrite(Table.CHANGE, Keys.number(1), null);
    assertDamaged(() -> store.changes(0, 10), "change 1: missing");
  }

  @Test
  void editedText_isRefused() {
    String text = "domain: a\n";
    store.commit(0, Tree.of(Map.of("a.yaml", text)), List.of(text), CAUSE);
    String hash = HexHash.of(text);
    overwrite(Table.TEXT, HexHash.bytes(hash), Keys.text("domain: b\n"));
    assertDamaged(() -> store.texts(List.of(hash)), "text " + hash + ": another one is stored");
  }

  @Test
  void brokenMeta_isRefusedAndNotMadeAnew() {
    records();
    overwrite(Table.META, RowFormat.HEAD, Keys.text("{\"position\":-1}"));
    assertDamaged(store::head, "head: unreadable");
    assertDamaged(() -> RowConfigStore.open(rows).head(), "head: unreadable");
    overwrite(Table.META, RowFormat.HEAD, null);
    assertDamaged(() -> RowConfigStore.open(rows).head(), "head: missing");
    assertDamaged(this::records, "head: missing");
  }

  @Test
  void lostIdOfAStore_isNotReplaced() {
    records();
    overwrite(Table.META, Keys.text("store"), null);
    assertDamaged(() -> RowConfigStore.open(rows), "store: a head without an id");
  }

  @Test
  void storeOfANewerVersion_isNotOpened() {
    overwrite(Table.META, Keys.text("store"), Keys.text("{\"format\":2,\"store\":\"x\"}"));
    assertDamaged(() -> RowConfigStore.open(rows), "store: format 2 (expected: at most 1");
  }

  @Test
  void storeOpenedAgain_isTheSame() {
    records();
    assertThat(RowConfigStore.open(rows).head()).isEqualTo(store.head());
    assertThat(RowConfigStore.open(new MemoryRows(wall)).head().store())
        .isNotEqualTo(store.head().store());
  }

  @Test
  void nodesSilentForADay_leaveWhenAnotherComes() {
    store.beat(Node.builder("n1").revision(1).position(1).build());
    wall.advance(Duration.ofHours(25));
    assertThat(store.nodes()).isEmpty();
    assertThat(rows.scan(Table.NODE, new byte[0], null, 10)).hasSize(1);
    store.beat(Node.builder("n2").revision(1).position(1).build());
    assertThat(store.nodes()).extracting(Node::id).containsExactly("n2");
    assertThat(store.nodes().get(0).at()).isEqualTo(Instant.ofEpochMilli(1_800_090_000_000L));
    assertThat(rows.scan(Table.NODE, new byte[0], null, 10)).hasSize(1);
  }

  @Test
  void change_isCanonicalJson() {
    records();
    assertThat(store.changes(1, 1).get(0).json())
        .isEqualTo(
            "{\"after\":{\"plan\":\"gold\"},\"at\":\"2027-01-15T08:00:00Z\",\"author\":\"ops\","
                + "\"kind\":\"record\",\"number\":2,\"reason\":\"because\",\"subject\":"
                + "{\"domain\":\"shop\",\"key\":\"user\",\"value\":\"bob\"}}");
  }

  @Test
  void changeOfAKindThatIsNotKnown_isReadAndVerified() {
    String json =
        "{\"at\":\"2027-01-15T08:00:00Z\",\"author\":\"x\",\"kind\":\"weather\",\"new\":[1,{}],"
            + "\"number\":1,\"reason\":\"rain\"}";
    Change change = new Change(1, json, HexHash.chained(HexHash.NONE, json));
    overwrite(Table.CHANGE, Keys.number(1), RowFormat.change(change));
    overwrite(Table.META, RowFormat.HEAD, RowFormat.head(new Head("", 0, 1, change.hash())));
    assertThat(ChangeLog.verify(store).ok()).isTrue();
    assertThat(store.changes(0, 1).get(0).details().kind()).isEqualTo("weather");
    byte[] broken = (HexHash.NONE.substring(32) + "{").getBytes(StandardCharsets.UTF_8);
    overwrite(Table.CHANGE, Keys.number(1), broken);
    assertDamaged(() -> store.changes(0, 1).get(0).details(), "change: unreadable");
  }
}
