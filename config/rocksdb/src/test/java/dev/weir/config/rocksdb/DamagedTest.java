package dev.weir.config.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.Head;
import dev.weir.testkit.Trials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Databases whose files are not as they were written. */
@Tag("model")
@Tag("sample")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class DamagedTest {
  @TempDir Path folder;

  private Path whole = Path.of("");

  @SuppressWarnings("NullAway.Init") // Set before each test.
  private Head head;

  private int copies;

  /** Writes a part of the rows to files of tables, and a part to the log. */
  @BeforeEach
  void write() {
    whole = folder.resolve("whole");
    try (ConfigStore store = open(whole, "")) {
      for (long i = 0; i < 60; i++) {
        Writer.write(store, i);
      }
    }
    try (ConfigStore store = open(whole, "")) {
      for (long i = 60; i < 120; i++) {
        Writer.write(store, i);
      }
      head = Contents.verify(store);
    }
  }

  private static ConfigStore open(Path folder, String options) {
    return ConfigStores.open("rocksdb:" + folder + "?min-free=1MB" + options);
  }

  /** Returns a copy with one file of it changed; null removes the file. */
  private Path damaged(Path file, byte[] content) throws IOException {
    Path copy = copy();
    Files.write(copy.resolve(whole.relativize(file)), content);
    return copy;
  }

  private Path copy() throws IOException {
    Path copy = folder.resolve("copy" + copies++);
    try (Stream<Path> files = Files.walk(whole)) {
      for (Path file : files.filter(each -> !each.startsWith(whole.resolve("native"))).toList()) {
        Files.copy(file, copy.resolve(whole.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    return copy;
  }

  private List<Path> files(String glob) throws IOException {
    List<Path> found = new ArrayList<>();
    try (var files = Files.newDirectoryStream(whole.resolve("config"), glob)) {
      files.forEach(found::add);
    }
    assertThat(found).isNotEmpty();
    return found;
  }

  /** Returns whether the copy is refused; otherwise everything must be there. */
  private boolean refused(Path damaged, String how) {
    return assertTimeoutPreemptively(
        Duration.ofSeconds(60), () -> refusedInTime(damaged, how), () -> "not opened: " + how);
  }

  private boolean refusedInTime(Path damaged, String how) {
    try (ConfigStore store = open(damaged, "")) {
      assertThat(Contents.verify(store)).as(how).isEqualTo(head);
      return false;
    } catch (ConfigException e) {
      assertThat(e.kind()).as(how + ": " + e.getMessage()).isEqualTo(Kind.DAMAGED);
      assertThat(e).as(how).hasMessageStartingWith(damaged.toString());
      assertThat(e).as(how).message().containsOnlyOnce("restore the folder from a backup");
      assertThat(e).as(how).message().hasLineCount(1);
      return true;
    } catch (AssertionError e) {
      // The verification of the chain also reads, and reports damage by a message.
      if (String.valueOf(e.getMessage()).contains("restore the folder from a backup")) {
        return true;
      }
      throw new AssertionError(how, e);
    }
  }

  private static byte[] zeroed(byte[] content, int from) {
    byte[] zeroed = content.clone();
    Arrays.fill(zeroed, from, zeroed.length, (byte) 0);
    return zeroed;
  }

  private static byte[] withGarbage(byte[] content, SplittableRandom random) {
    byte[] longer = Arrays.copyOf(content, content.length + 200);
    byte[] garbage = new byte[200];
    random.nextBytes(garbage);
    System.arraycopy(garbage, 0, longer, content.length, garbage.length);
    return longer;
  }

  @Test
  void wholeCopy_isOpened() throws IOException {
    assertThat(refused(copy(), "whole")).isFalse();
  }

  @Test
  void logThatWasZeroedOrCutOff_isRefused() throws IOException {
    Path log = liveLog();
    byte[] content = Files.readAllBytes(log);
    for (int part = 0; part < 4; part++) {
      int from = content.length * part / 4;
      assertThat(refused(damaged(log, zeroed(content, from)), "zeroed " + part)).isTrue();
      byte[] cut = Arrays.copyOf(content, from);
      assertThat(refused(damaged(log, cut), "cut " + part)).isTrue();
    }
  }

  /** Returns the log with the largest number; the content of earlier ones is in files of tables. */
  private Path liveLog() throws IOException {
    List<Path> logs = files("*.log");
    Path last = Collections.max(logs);
    assertThat(Files.size(last)).isPositive();
    return last;
  }

  @Test
  void anyDamage_isRefusedOrHarmless() throws IOException {
    SplittableRandom random = Trials.numbers("DamagedTest");
    int times = Trials.runs(1, 2); // Runs of each kind of random damage.
    int tried = 0;
    List<Path> files = new ArrayList<>(files("*"));
    files.add(whole.resolve("config.anchor"));
    int refused = 0;
    int kinds = Trials.runs(3, 9); // Of each file: all of them at full length.
    for (Path file : files) {
      byte[] content = Files.readAllBytes(file);
      List<byte[]> damages = new ArrayList<>();
      damages.add(new byte[0]);
      damages.add(zeroed(content, 0));
      damages.add(zeroed(content, content.length / 2));
      damages.add(Arrays.copyOf(content, content.length / 2));
      for (int i = 0; i < (times + 1) / 2; i++) {
        damages.add(withGarbage(content, random));
      }
      for (int i = 0; i < times && content.length > 0; i++) {
        byte[] flipped = content.clone();
        flipped[random.nextInt(content.length)] ^= (byte) (1 << random.nextInt(8));
        damages.add(flipped);
        damages.add(withNoise(content, random));
      }
      while (damages.size() > kinds) {
        damages.remove(random.nextInt(damages.size()));
      }
      for (int i = 0; i < damages.size(); i++) {
        String how = file.getFileName() + " " + i + ", -Dweir.seed=" + Trials.SEED;
        refused += refused(damaged(file, damages.get(i)), how) ? 1 : 0;
        tried++;
      }
    }
    Trials.report("DamagedTest", tried);
    assertThat(refused).isGreaterThan(tried / 7);
  }

  /** Returns a copy with up to 64 random bytes anywhere. */
  private static byte[] withNoise(byte[] content, SplittableRandom random) {
    byte[] noisy = content.clone();
    byte[] noise = new byte[1 + random.nextInt(Math.min(64, content.length))];
    random.nextBytes(noise);
    System.arraycopy(
        noise, 0, noisy, random.nextInt(content.length - noise.length + 1), noise.length);
    return noisy;
  }

  /** Returns two values in a sample, each time others, and all of them at full length. */
  private static List<Integer> some(List<Integer> all) {
    List<Integer> some = new ArrayList<>(all);
    Collections.shuffle(some, new Random(Trials.SEED));
    return some.subList(0, Math.min(all.size(), Trials.runs(2, all.size())));
  }

  /** RocksDB 11.8.1 never returns from the six types, and skips the zeros without a warning. */
  @Test
  void headerThatRocksDbMisreads_isRefusedWithItsPlace() throws IOException {
    Path log = liveLog();
    byte[] content = Files.readAllBytes(log);
    List<Integer> headers = headers(content);
    int second = headers.get(1);
    int middle = headers.get(headers.size() / 2);
    for (int at : List.of(second, middle)) {
      for (int type : some(List.of(5, 6, 7, 8, 11, 131))) {
        Path damaged = damaged(log, with(content, at + 6, type));
        assertDamage(damaged, log, at, "restore the folder from a backup, or open it once with");
        assertThat(recovered(damaged)).isLessThan(head.position());
      }
    }
    int block = 32 << 10;
    for (int i = 0; i < headers.size(); i += 10) {
      int at = headers.get(i);
      // Zeros to the end of the block, which RocksDB takes for its unused rest; and fewer.
      for (int end : List.of(at + 100, (at / block + 1) * block)) {
        if (at > block && end < content.length - block) {
          byte[] hole = content.clone();
          Arrays.fill(hole, at, end, (byte) 0);
          Path damaged = damaged(log, hole);
          assertDamage(damaged, log, at, "");
          assertThat(recovered(damaged)).isLessThan(head.position());
        }
      }
    }
  }

  /** Returns the log's last position after a recovery; everything up to there must be there. */
  private static long recovered(Path damaged) {
    try (ConfigStore store = open(damaged, "&recover=true")) {
      return Contents.verify(store).position();
    }
  }

  @Test
  void headerOfTheListOfFiles_isRefusedWithItsPlace() throws IOException {
    Path list = files("MANIFEST-*").get(0);
    byte[] content = Files.readAllBytes(list);
    int at = headers(content).get(1);
    for (int type : some(List.of(5, 6, 7, 8, 11, 131))) {
      Path damaged = damaged(list, with(content, at + 6, type));
      for (String options : List.of("", "&recover=true")) {
        assertThatThrownBy(() -> open(damaged, options))
            .hasMessage(
                "%s: not opened, %s is damaged at byte %d; restore the folder from a backup",
                damaged.resolve("config"), list.getFileName(), at);
      }
    }
    // Zeros at the end could be those of a write that was broken off, but this was acknowledged.
    assertThatThrownBy(() -> open(damaged(list, zeroed(content, at)), ""))
        .hasMessageContaining("the list of files is shorter than it was");
  }

  private static void assertDamage(Path damaged, Path file, int at, String remedy) {
    assertThatThrownBy(() -> open(damaged, ""))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.DAMAGED))
        .hasMessageStartingWith(
            "%s: not opened, %s is damaged at byte %d; %s",
            damaged.resolve("config"), file.getFileName(), at, remedy);
  }

  private static byte[] with(byte[] content, int at, int value) {
    byte[] changed = content.clone();
    changed[at] = (byte) value;
    return changed;
  }

  /** Returns the offsets of the parts of records in an undamaged log or list of files. */
  private static List<Integer> headers(byte[] content) {
    int block = 32 << 10;
    List<Integer> headers = new ArrayList<>();
    for (int at = 0; at < content.length; ) {
      if (block - at % block < 7) {
        at += block - at % block;
      } else {
        headers.add(at);
        at += 7 + Byte.toUnsignedInt(content[at + 4]) + 256 * Byte.toUnsignedInt(content[at + 5]);
      }
    }
    return headers;
  }

  @Test
  void filesThatAreMissing_areRefusedAndNeverMadeAnew() throws IOException {
    for (String glob : List.of("*.log", "*.sst", "MANIFEST-*", "CURRENT", "*")) {
      Path copy = copy();
      for (Path file : files(glob)) {
        Files.delete(copy.resolve(whole.relativize(file)));
      }
      assertThat(refused(copy, "without " + glob)).isTrue();
    }
    Path withoutCurrentAndAnchor = copy();
    Files.delete(withoutCurrentAndAnchor.resolve("config/CURRENT"));
    Files.delete(withoutCurrentAndAnchor.resolve("config.anchor"));
    assertThat(refused(withoutCurrentAndAnchor, "without CURRENT and anchor")).isTrue();
  }

  @Test
  void recovery_dropsTheEndAndSaysSo() throws IOException {
    Path log = liveLog();
    byte[] content = Files.readAllBytes(log);
    Path cut = damaged(log, Arrays.copyOf(content, content.length / 2));
    assertThatThrownBy(() -> open(cut, ""))
        .hasMessageMatching(
            ".*the last [0-9]+ rows that were written are gone; .*\\?recover=true.*");
    try (LogCapture logged = LogCapture.of("dev.weir.config.rocksdb");
        ConfigStore store = open(cut, "&recover=true")) {
      assertThat(logged.messages()).anyMatch(each -> each.matches(".*the last [0-9]+ rows .*"));
      Head left = Contents.verify(store);
      assertThat(left.store()).isEqualTo(head.store());
      assertThat(left.position()).isBetween(1L, head.position() - 1);
    }
    try (ConfigStore store = open(cut, "")) {
      Contents.verify(store);
    }
  }
}
