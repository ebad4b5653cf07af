package dev.weir.config.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.ConfigStore;
import dev.weir.config.Threads;
import dev.weir.config.internal.rows.Keys;
import dev.weir.config.rows.Rows.Row;
import dev.weir.config.rows.Rows.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of a database on which a {@link RowConfigStore} can hold to its own contract. */
public abstract class RowsContract {
  @SuppressWarnings("NullAway.Init") // Set before each test.
  private Rows rows;

  /** Returns a new database without rows; it is closed after the test. */
  protected abstract Rows createRows();

  @BeforeEach
  void open() {
    rows = createRows();
  }

  @AfterEach
  void closeRows() {
    rows.close();
    rows.close();
  }

  private void put(Table table, int... keys) {
    String unused =
        rows.update(
            (reader, batch, wall) -> {
              for (int key : keys) {
                batch.put(table, key(key), new byte[] {(byte) key, 0, -1});
              }
              return "";
            });
  }

  private static byte[] key(int key) {
    return new byte[] {(byte) key};
  }

  private List<Integer> scan(Table table, byte[] from, byte @Nullable [] to, int limit) {
    return rows.scan(table, from, to, limit).stream().map(row -> row.key()[0] & 0xff).toList();
  }

  @Test
  void rows_areInTheOrderOfUnsignedBytes() {
    put(Table.RECORD, 200, 0, 127, 128, 255, 1);
    assertThat(scan(Table.RECORD, new byte[0], null, 100))
        .containsExactly(0, 1, 127, 128, 200, 255);
    assertThat(scan(Table.RECORD, key(1), key(200), 100)).containsExactly(1, 127, 128);
    assertThat(scan(Table.RECORD, key(2), null, 2)).containsExactly(127, 128);
    assertThat(scan(Table.RECORD, key(2), key(2), 2)).isEmpty();
    assertThat(scan(Table.CHANGE, new byte[0], null, 100)).isEmpty();
    List<Row> found = rows.scan(Table.RECORD, key(255), null, 1);
    assertThat(found.get(0).value()).containsExactly(-1, 0, -1);
  }

  @Test
  void get_hasAPlaceForEveryKey() {
    put(Table.TEXT, 1, 3);
    List<byte @Nullable []> found =
        rows.get(Table.TEXT, List.of(key(3), key(2), key(1), key(3), new byte[0]));
    assertThat(found).hasSize(5);
    assertThat(found.get(0)).containsExactly(3, 0, -1);
    assertThat(found.get(1)).isNull();
    assertThat(found.get(2)).containsExactly(1, 0, -1);
    assertThat(found.get(3)).containsExactly(3, 0, -1);
    assertThat(found.get(4)).isNull();
    assertThat(rows.get(Table.TEXT, List.of())).isEmpty();
  }

  @Test
  void updateThatThrows_writesNothing() {
    put(Table.META, 1);
    assertThatThrownBy(
            () ->
                rows.update(
                    (reader, batch, wall) -> {
                      batch.put(Table.META, key(2), key(2));
                      batch.delete(Table.META, key(1));
                      throw new IllegalArgumentException("no");
                    }))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no");
    assertThat(scan(Table.META, new byte[0], null, 10)).containsExactly(1);
  }

  @Test
  void lastWordForAKey_counts() {
    String unused =
        rows.update(
            (reader, batch, wall) -> {
              batch.put(Table.META, key(1), key(1));
              batch.delete(Table.META, key(1));
              batch.delete(Table.META, key(2));
              batch.put(Table.META, key(2), key(2));
              batch.put(Table.META, key(2), key(3));
              return "";
            });
    assertThat(scan(Table.META, new byte[0], null, 10)).containsExactly(2);
    assertThat(rows.get(Table.META, List.of(key(2))).get(0)).containsExactly(3);
  }

  @Test
  void updatesOfManyThreads_runOneAfterTheOther() throws Exception {
    int threads = 8;
    int each = 25;
    Threads.race(
        threads,
        thread -> {
          for (int i = 0; i < each; i++) {
            String unused =
                rows.update(
                    (reader, batch, wall) -> {
                      byte[] stored = reader.get(Table.META, List.of(key(0))).get(0);
                      long count = stored == null ? 0 : Keys.number(stored);
                      batch.put(Table.META, key(0), Keys.number(count + 1));
                      batch.put(Table.CHANGE, Keys.number(count), key(thread));
                      return "";
                    });
          }
        });
    byte[] count = rows.get(Table.META, List.of(key(0))).get(0);
    assertThat(count).isNotNull();
    assertThat(Keys.number(count)).isEqualTo((long) threads * each);
    assertThat(rows.scan(Table.CHANGE, new byte[0], null, 1_000)).hasSize(threads * each);
  }

  @Test
  void scanWhileRowsAreMade_seesNoGap() throws Exception {
    int total = 200;
    Threads.race(
        2,
        thread -> {
          if (thread == 0) {
            for (int i = 0; i < total; i++) {
              byte[] key = Keys.number(i);
              String unused =
                  rows.update(
                      (reader, batch, wall) -> {
                        batch.put(Table.CHANGE, key, key);
                        return "";
                      });
            }
          } else {
            List<Long> seen = new ArrayList<>();
            while (seen.size() < total) {
              for (Row row : rows.scan(Table.CHANGE, Keys.number(seen.size()), null, 10)) {
                assertThat(Keys.number(row.key())).isEqualTo(seen.size());
                seen.add(Keys.number(row.key()));
              }
            }
          }
        });
  }

  @Test
  void largeRow_isReadAsItWasWritten() {
    byte[] large = new byte[ConfigStore.MAX_TEXT_BYTES];
    new SplittableRandom(1).nextBytes(large);
    String unused =
        rows.update(
            (reader, batch, wall) -> {
              batch.put(Table.TEXT, key(1), large);
              return "";
            });
    assertThat(rows.get(Table.TEXT, List.of(key(1))).get(0)).isEqualTo(large);
  }

  @Test
  void singleRow_isPutAndDeleted() {
    rows.put(Table.NODE, key(1), key(2));
    assertThat(rows.get(Table.NODE, List.of(key(1))).get(0)).containsExactly(2);
    rows.put(Table.NODE, key(1), null);
    assertThat(rows.get(Table.NODE, List.of(key(1))).get(0)).isNull();
    assertThat(rows.wallNanos()).isPositive();
  }
}
