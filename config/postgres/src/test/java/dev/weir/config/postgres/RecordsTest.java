package dev.weir.config.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.RecordWrite;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.rows.Rows.Table;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Records of customers: in partitions, found by a hash, paged by their names. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class RecordsTest {
  private static final Cause CAUSE = Cause.of("test", "a test");

  private final Postgres postgres = Postgres.server();
  private final String database = postgres.newDatabase();

  private static void write(ConfigStore store, List<Subject> subjects) {
    List<Change> unused =
        store.write(
            subjects.stream()
                .map(
                    each -> RecordWrite.put(SubjectRecord.ofPlan(each, "gold"), RecordWrite.ABSENT))
                .toList(),
            CAUSE);
  }

  /** An index takes at most 2,704 bytes, and these keys cannot be compressed. */
  @Test
  void longestSubjects_areFoundAndPagedInTheirOrder() {
    SplittableRandom random = new SplittableRandom(4_096);
    List<String> values = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      byte[] bytes = new byte[2_048];
      random.nextBytes(bytes);
      // Half of the keys agree in more bytes than an index has of them.
      String text = HexFormat.of().formatHex(bytes);
      values.add(i % 2 == 0 ? text : "f".repeat(3_000) + text.substring(3_000));
    }
    values.add("f".repeat(900));
    values.add("f".repeat(3_000));
    try (ConfigStore store = ConfigStores.open(postgres.address(database))) {
      List<Subject> subjects =
          values.stream().map(value -> new Subject("d".repeat(100), "k", value)).toList();
      write(store, subjects);
      assertThat(store.records(subjects).found()).containsOnlyKeys(subjects);
      Collections.sort(values);
      for (int limit : List.of(1, 7, 100)) {
        assertThat(page(store, "", limit)).isEqualTo(values);
        assertThat(page(store, "f".repeat(2_000), limit))
            .isEqualTo(values.stream().filter(each -> each.startsWith("f".repeat(2_000))).toList());
      }
      List<Change> unused =
          store.write(
              subjects.stream().map(each -> RecordWrite.delete(each, RecordWrite.ANY)).toList(),
              CAUSE);
      assertThat(store.records(subjects).found()).isEmpty();
    }
  }

  private static List<String> page(ConfigStore store, String prefix, int limit) {
    List<String> values = new ArrayList<>();
    @Nullable String after = null;
    do {
      Records page = store.list("d".repeat(100), "k", prefix, after, limit);
      page.found().keySet().forEach(each -> values.add(each.value()));
      after = page.next().orElse(null);
    } while (after != null);
    return values;
  }

  @Test
  void manyRecords_areInAllPartitionsAndReadByTheirIndexes() {
    ConfigStores.open(postgres.address(database)).close();
    postgres.execute(database, "alter database " + database + " set search_path = weir");
    postgres.execute(
        database,
        "insert into record select sha256(k), k, k from"
            + " (select convert_to('user-' || i, 'UTF8') k from generate_series(1, 100000) i) keys");
    postgres.execute(database, "analyze record");
    assertThat(postgres.query(database, "select count(distinct tableoid) from record"))
        .isEqualTo("16");
    Sql sql = Sql.of(Table.RECORD);
    assertThat(plan(sql.select(), "array[sha256('a'), sha256('b')]"))
        .contains("Index Scan")
        .doesNotContain("Seq Scan");
    for (String plan :
        List.of(
            plan(sql.scan(), "'user-5'", "'user-5'", "100"),
            plan(sql.scanTo(), "'user-5'", "'user-5'", "'user-6'", "'user-6'", "100"))) {
      assertThat(plan).contains("Index Scan").doesNotContain("Seq Scan");
      // Only rows that agree in the indexed part are sorted, not all of them.
      assertThat(plan).contains("Incremental Sort").doesNotContain("\"Sort\"");
    }
  }

  private String plan(String sql, String... parameters) {
    String statement = sql;
    for (String parameter : parameters) {
      statement = statement.replaceFirst("\\?", parameter);
    }
    return postgres.query(database, "explain (format json) " + statement);
  }
}
