package dev.weir.config.rocksdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.rows.RowConfigStore;
import dev.weir.config.rows.Rows;
import dev.weir.config.rows.Rows.Table;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.SmallDisk;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Reads and writes on a disk that other programs fill. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@EnabledOnOs(OS.LINUX)
class FullDiskTest {
  private static final int MIB = 1 << 20;

  @TempDir Path place;

  private final FakeTicker ticker = new FakeTicker();

  /**
   * Loads the library, once per process, from an ordinary folder: a small disk has no path of its
   * own in this process.
   */
  @BeforeAll
  static void loadTheLibrary(@TempDir Path folder) {
    RocksSettings settings = new RocksSettings(folder.resolve("data"), MIB, MIB, false);
    RocksRows.open(settings, new FakeTicker(), Ticker.wall()).close();
  }

  private RocksRows open(SmallDisk disk, long minFree) {
    return RocksRows.open(
        new RocksSettings(disk.path().resolve("data"), MIB, minFree, false), ticker, Ticker.wall());
  }

  @Test
  void lessSpaceThanAskedFor_refusesWritesUntilThereIsMore() throws Exception {
    SmallDisk mounted = SmallDisk.of(48, place);
    if (mounted == null) {
      return;
    }
    try (SmallDisk disk = mounted;
        ConfigStore store = RowConfigStore.open(open(disk, 8 * MIB))) {
      for (long i = 1; i < 10; i++) {
        Writer.write(store, i);
      }
      Head head = store.head();
      disk.fill(8 * MIB - 1);
      assertFull(() -> Writer.write(store, 11));
      assertThat(Contents.verify(store)).isEqualTo(head);
      disk.empty();
      Writer.write(store, 11);
      assertThat(Contents.verify(store).position()).isGreaterThan(head.position());
    }
  }

  /** Another program fills the disk between the check for free space and the write. */
  @Test
  void diskThatIsFullWhileItIsWritten_isReadAndIsWrittenAgainOnceThereIsSpace() throws Exception {
    SplittableRandom random = new SplittableRandom(5);
    List<byte[]> written = new ArrayList<>();
    SmallDisk mounted = SmallDisk.of(64, place);
    if (mounted == null) {
      return;
    }
    try (SmallDisk disk = mounted) {
      try (RocksRows rows = open(disk, MIB)) {
        add(rows, written, random);
        disk.fill(2 * MIB);
        assertFull(
                () -> {
                  while (written.size() < 100) { // 300 MiB
                    disk.fill(2 * MIB);
                    add(rows, written, random);
                  }
                })
            .hasMessageContaining("No space left");
        assertThat(written).hasSizeLessThan(20);
        assertHas(rows, written);
        assertFull(() -> add(rows, written, random));
        assertHas(rows, written);
        disk.empty();
        // Not at once: the database must be opened again first.
        assertFull(() -> add(rows, written, random)).hasMessageContaining("not written, ");
        ticker.advance(Duration.ofSeconds(1));
        add(rows, written, random);
        assertHas(rows, written);
      }
      try (RocksRows rows = open(disk, MIB)) {
        assertHas(rows, written);
        add(rows, written, random);
      }
    }
  }

  /** Writes 3 MiB. */
  private static void add(Rows rows, List<byte[]> written, SplittableRandom random) {
    byte[] value = new byte[3 * MIB];
    random.nextBytes(value);
    byte[] key = ("k" + written.size()).getBytes(UTF_8);
    boolean unused =
        rows.update(
            (reader, batch, wall) -> {
              batch.put(Table.TEXT, key, value);
              return true;
            });
    written.add(value);
  }

  private static void assertHas(Rows rows, List<byte[]> written) {
    for (int i = 0; i < written.size(); i++) {
      assertThat(rows.get(Table.TEXT, List.of(("k" + i).getBytes(UTF_8))).get(0))
          .as("k%d of %d", i, written.size())
          .isEqualTo(written.get(i));
    }
    assertThat(rows.scan(Table.TEXT, new byte[0], null, 1_000).size())
        .isBetween(written.size(), written.size() + 1); // A refused write may be there.
  }

  /** A call that the store may refuse. */
  private interface Call {
    void run() throws Exception;
  }

  private static AbstractThrowableAssert<?, ?> assertFull(Call call) {
    return assertThatThrownBy(call::run)
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).as(e.toString()).isEqualTo(Kind.FULL));
  }
}
