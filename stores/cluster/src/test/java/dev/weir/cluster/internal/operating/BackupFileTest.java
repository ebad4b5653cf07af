package dev.weir.cluster.internal.operating;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Ticker;
import dev.weir.cluster.ClusterBackup;
import dev.weir.cluster.ClusterRestore;
import dev.weir.cluster.Servers;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.peer.CheckedFile;
import dev.weir.shared.ClusterMember;
import dev.weir.testkit.Trials;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of backups that are damaged, incomplete, or mixed from several. */
class BackupFileTest {
  private static final String MANIFEST = "backup.properties";

  @TempDir private static Path backups;
  private static Path whole = Path.of("");
  private static final Map<String, byte[]> PARTS = new LinkedHashMap<>();
  @TempDir private Path folder;

  @BeforeAll
  static void take() throws Exception {
    whole = taken("whole");
    PARTS.putAll(read(whole));
    assertThat(PARTS).containsOnlyKeys("group-0", "group-1", Charter.FILE, MANIFEST);
  }

  private static Path taken(String name) throws Exception {
    Path members = Files.createDirectory(backups.resolve("members-" + name));
    Policy policy = Policy.builder(Quota.of(5, Duration.ofHours(1))).build();
    try (Servers servers = new Servers(members, 2, "a")) {
      servers.start("a");
      servers.admits(3, "a", "rule", policy, "key", 3);
      ClusterBackup.BackupSource asked =
          question -> {
            try {
              return servers.cluster("a").backup(question).toCompletableFuture().join();
            } catch (CompletionException e) {
              throw new IOException(e.getCause());
            }
          };
      Path file = backups.resolve(name);
      ClusterBackup unused =
          ClusterBackup.take(file, asked, "1", Ticker.system(), (a, b, c, d) -> {});
      return file;
    }
  }

  private static Map<String, byte[]> read(Path file) throws IOException {
    Map<String, byte[]> parts = new LinkedHashMap<>();
    try (ZipFile zip = new ZipFile(file.toFile())) {
      for (ZipEntry each : zip.stream().toList()) {
        parts.put(each.getName(), zip.getInputStream(each).readAllBytes());
      }
    }
    return parts;
  }

  private Path file(Map<String, byte[]> of) throws IOException {
    Path file = folder.resolve("file");
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      for (Map.Entry<String, byte[]> each : of.entrySet()) {
        zip.putNextEntry(new ZipEntry(each.getKey()));
        zip.write(each.getValue());
        zip.closeEntry();
      }
    }
    return file;
  }

  private void refused(Map<String, byte[]> of, String... words) throws IOException {
    Path file = file(of);
    assertThatThrownBy(() -> ClusterBackup.open(file))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(file.toString())
        .hasMessageContainingAll(words);
  }

  /** Returns the files with a changed manifest, whose checksum is right again. */
  private Map<String, byte[]> said(String name, UnaryOperator<String> change) throws IOException {
    Properties p = new Properties();
    p.load(new ByteArrayInputStream(PARTS.get(MANIFEST)));
    p.setProperty(name, change.apply(p.getProperty(name)));
    CheckedFile.sign(p);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    p.store(out, null);
    Map<String, byte[]> changed = new LinkedHashMap<>(PARTS);
    changed.put(MANIFEST, out.toByteArray());
    return changed;
  }

  @Test
  void fileThatIsWhole_isOpened() throws IOException {
    assertThat(ClusterBackup.open(file(PARTS)).groups()).hasSize(2);
  }

  @Test
  void fileThatLacksAPart_isRefused_andNamesIt() throws IOException {
    for (String each : PARTS.keySet()) {
      Map<String, byte[]> rest = new LinkedHashMap<>(PARTS);
      rest.remove(each);
      refused(rest, each, "expected: a whole file by 'weir cluster backup'");
    }
  }

  @Tag("model")
  @Tag("sample")
  @Test
  void bitThatIsFlipped_inAnyPart_isFound() throws IOException {
    int bits = Trials.unseeded("flipped bits of a part", Trials.runs(5, 20));
    long seed = 20_260_304;
    SplittableRandom random = new SplittableRandom(seed);
    for (String each : PARTS.keySet()) {
      for (int i = 0; i < bits; i++) {
        byte[] bytes = PARTS.get(each).clone();
        int at = random.nextInt(bytes.length);
        bytes[at] ^= (byte) (1 << random.nextInt(8));
        Map<String, byte[]> changed = new LinkedHashMap<>(PARTS);
        changed.put(each, bytes);
        Path file = file(changed);
        if (each.startsWith("group-")) {
          refused(changed, each, "damaged");
        } else if (!says(bytes, PARTS.get(each))) {
          assertThatThrownBy(() -> ClusterBackup.open(file))
              .as("seed %d, byte %d of %s", seed, at, each)
              .isInstanceOf(IOException.class)
              .hasMessageStartingWith(file.toString());
        }
      }
    }
  }

  /** Compares the properties: a changed bit in a comment or at a line's end does not matter. */
  private static boolean says(byte[] one, byte[] other) throws IOException {
    try {
      Properties p = new Properties();
      p.load(new ByteArrayInputStream(one));
      Properties q = new Properties();
      q.load(new ByteArrayInputStream(other));
      return p.equals(q);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  @Test
  void fileThatIsCutShort_orNone_isRefused() throws IOException {
    byte[] bytes = Files.readAllBytes(whole);
    Path file = folder.resolve("cut");
    for (int length : new int[] {0, 1, 100, bytes.length / 2, bytes.length - 1}) {
      Files.write(file, Arrays.copyOf(bytes, length));
      assertThatThrownBy(() -> ClusterBackup.open(file))
          .as("%d bytes", length)
          .hasMessageStartingWith(file + ": no whole backup (expected: ");
    }
    Files.write(file, "no backup at all".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> ClusterBackup.open(file)).hasMessageContaining("no whole backup");
    Files.delete(file);
    assertThatThrownBy(() -> ClusterBackup.open(file)).isInstanceOf(IOException.class);
  }

  @Test
  void bytesOfTheFileThatAreFlipped_areFoundOrChangeNothing() throws IOException {
    byte[] bytes = Files.readAllBytes(whole);
    Path file = folder.resolve("flipped");
    long seed = 7;
    SplittableRandom random = new SplittableRandom(seed);
    int found = 0;
    for (int i = 0; i < 100; i++) {
      byte[] flipped = bytes.clone();
      int at = random.nextInt(bytes.length);
      flipped[at] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, flipped);
      try {
        assertThat(ClusterBackup.open(file).groups())
            .as("seed %d, byte %d", seed, at)
            .isEqualTo(ClusterBackup.open(whole).groups());
      } catch (IOException e) {
        found++;
      }
    }
    assertThat(found).isPositive();
  }

  @Test
  void anotherFormat_level_orNumberOfGroups_isRefused() throws IOException {
    refused(said("format", was -> "2"), "format 2 (expected: 1");
    refused(said("level", was -> "99"), "level 99 (expected: one of");
    refused(said("groups", was -> "1"), "slots");
    refused(said("groups", was -> "x"), "makes no sense");
    refused(said("group-0", was -> "1 2"), "makes no sense");
    refused(said("taken", was -> "now"), "makes no sense");
  }

  @Test
  void partsOfTwoBackups_areRefused() throws Exception {
    Map<String, byte[]> others = read(taken("other"));
    for (String each : PARTS.keySet()) {
      Map<String, byte[]> mixed = new LinkedHashMap<>(PARTS);
      mixed.put(each, others.get(each));
      refused(mixed, "expected");
    }
  }

  @Test
  void restore_fromADamagedFile_writesNothing() throws IOException {
    Path file = Files.copy(whole, folder.resolve("damaged"));
    ClusterBackup backup = ClusterBackup.open(file);
    ClusterMember self = new ClusterMember("a", "127.0.0.1", 7946);
    Path to = folder.resolve("to");
    byte[] bytes = Files.readAllBytes(whole);
    Files.write(file, Arrays.copyOf(bytes, bytes.length / 2)); // Changed since it was opened.
    assertThatThrownBy(() -> ClusterRestore.into(backup, to, self, "", true, Ticker.system()))
        .isInstanceOf(IOException.class);
    assertThat(to.resolve(Charter.FILE)).doesNotExist(); // A member refuses the remains.
    Files.write(file, bytes);
    assertThatThrownBy(() -> ClusterRestore.into(backup, to, self, "", true, Ticker.system()))
        .hasMessageContaining("is not empty");
    Path other = folder.resolve("other-to");
    assertThatCode(() -> ClusterRestore.into(backup, other, self, "", true, Ticker.system()))
        .doesNotThrowAnyException();
    assertThat(other.resolve(Charter.FILE)).exists();
  }
}
