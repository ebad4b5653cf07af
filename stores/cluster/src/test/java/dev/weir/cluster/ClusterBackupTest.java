package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Ticker;
import dev.weir.cluster.ClusterStatus.Health;
import dev.weir.cluster.internal.operating.Backups;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Backups of real members, and new clusters made from them. */
@Tag("live")
class ClusterBackupTest {
  private static final Policy FIVE =
      Policy.builder(Quota.of(5, Duration.ofHours(1)))
          .algorithm(Algorithm.SLIDING_WINDOW_LOG)
          .build();

  @TempDir private Path folder;

  private static ClusterBackup take(Servers servers, String member, Path to) throws Exception {
    return ClusterBackup.take(
        to, asked(servers, member), "1.2.3", Ticker.system(), (group, groups, bytes, of) -> {});
  }

  /** Returns a member that answers like the page of its server. */
  private static ClusterBackup.BackupSource asked(Servers servers, String member) {
    return question -> {
      try {
        return servers.cluster(member).backup(question).toCompletableFuture().join();
      } catch (CompletionException e) {
        throw new IOException(e.getCause());
      }
    };
  }

  private static String restore(Servers servers, ClusterBackup backup, String name, boolean trust)
      throws IOException {
    return ClusterRestore.into(
        backup, servers.folder(name), servers.address(name), "", trust, Ticker.system());
  }

  @Test
  void trustedBackup_goesOnWithItsCounts_andTheOldMembersAreRefused() throws Exception {
    try (Servers servers = new Servers(folder, 2, "a", "b", "c", "x", "y", "z")) {
      servers.start("a", "b", "c");
      for (String key : List.of("k0", "k1", "k2", "k3", "k4", "k5")) { // In both groups.
        servers.admits(3, "a", "rule", FIVE, key, 3);
      }
      Path file = folder.resolve("backup");
      ClusterBackup backup = take(servers, "b", file);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
      assertThat(backup.cluster()).isEqualTo(servers.cluster("a").status().cluster());
      assertThat(backup.version()).isEqualTo("1.2.3");
      assertThat(backup.groups()).hasSize(2).allMatch(each -> each.bytes() > 0);
      servers.admits(2, "c", "rule", FIVE, "k0", 9);
      servers.end("a", "b", "c");

      String id = restore(servers, ClusterBackup.open(file), "x", true);
      assertThat(id).isNotEqualTo(backup.cluster());
      servers.start("x");
      servers.admits(2, "x", "rule", FIVE, "k0", 9);
      servers.admits(2, "x", "rule", FIVE, "k5", 9);
      servers.admits(5, "x", "rule", FIVE, "new", 9);

      // Others join, and get its keys.
      servers.open("y", "x", "y", "z");
      servers.open("z", "x", "y", "z");
      servers.healthy();
      Await.until(
          "three voters",
          () ->
              servers.cluster("x").status().members().stream()
                      .flatMap(each -> each.groups().stream())
                      .filter(each -> each.leads() && each.settled() && each.voters().size() == 3)
                      .count()
                  == 2);
      servers.end("x");
      servers.deciding();
      servers.admits(2, "z", "rule", FIVE, "k4", 9);
      assertThat(servers.cluster("y").status().cluster()).isEqualTo(id);

      // A member of the old cluster has the address of the new one, and does not belong to it.
      servers.open("c", "c", "y", "z");
      Await.until("c to be refused", () -> servers.log.stream().anyMatch(l -> l.contains(id)));
      assertThat(servers.cluster("c").status().cluster()).isEqualTo(backup.cluster());
      assertThat(servers.cluster("c").status().health()).isEqualTo(Health.UNANSWERED);
      assertThat(servers.cluster("y").status().members()).noneMatch(m -> m.name().equals("c"));
      assertThat(servers.log).noneMatch(line -> line.contains("other counts"));
    }
  }

  @Test
  void everyKey_isRefusedForItsWindow_unlessTheBackupIsTrusted() throws Exception {
    Policy second =
        Policy.builder(Quota.of(5, Duration.ofSeconds(3)))
            .algorithm(Algorithm.SLIDING_WINDOW_LOG)
            .build();
    try (Servers servers = new Servers(folder, 2, "a", "x")) {
      servers.start("a");
      servers.admits(1, "a", "rule", second, "k0", 1);
      servers.admits(1, "a", "hour", FIVE, "k0", 1);
      ClusterBackup backup = take(servers, "a", folder.resolve("backup"));
      Await.until("the limit", () -> !admits(servers, "a", "rule", second, "k0"));
      long last = Ticker.system().nanos();
      servers.end("a");

      restore(servers, backup, "x", false);
      servers.start("x");
      long first = Ticker.system().nanos();
      // Keys outside the backup, and a rule that is not in it.
      for (String rule : List.of("rule", "another")) {
        for (String key : List.of("k0", "new")) {
          Await.until("a permit", () -> admits(servers, "x", rule, second, key));
          assertThat(Ticker.system().nanos() - last).isGreaterThan(3_000_000_000L);
        }
      }
      List<ClusterStore> x = List.of(servers.store("x"));
      int more = servers.asker().admitted(x, "rule", second, "new", 9);
      long windows = (Ticker.system().nanos() - first) / 3_000_000_000L; // None, unless it is slow.
      int undecided = servers.asker().undecided("rule", "new");
      assertThat((long) more).isBetween(4L - undecided, 4 + 5 * windows);
      for (String rule : List.of("hour", "another hour")) {
        servers.admits(0, "x", rule, FIVE, "k0", 9);
        servers.admits(0, "x", rule, FIVE, "new", 9);
      }
      servers.end("x"); // A restart does not change that.
      servers.start("x");
      servers.admits(0, "x", "hour", FIVE, "k0", 9);
      servers.admits(0, "x", "third hour", FIVE, "k0", 9);
    }
  }

  private static boolean admits(
      Servers servers, String name, String rule, Policy policy, String key) throws Exception {
    return servers.asker().admitted(List.of(servers.store(name)), rule, policy, key, 1) == 1;
  }

  @Test
  void calendarThatWasStepped_opensNoWindowAgainAfterARestore() throws Exception {
    long year = Duration.ofDays(365).toNanos();
    Policy yearly =
        Policy.builder(Quota.of(5, Duration.ofDays(365))).algorithm(Algorithm.FIXED_WINDOW).build();
    long wall = Ticker.wall().nanos();
    long middle = (Math.floorDiv(wall, year) + 1) * year + year / 2; // In the next such year.
    try (Servers servers = new Servers(folder, 2, "a", "x", "y")) {
      servers.start("a");
      servers.wallAheadNanos.set(middle - wall);
      Await.until("calendars that are set", () -> setCalendar(servers, "a"));
      servers.admits(3, "a", "rule", yearly, "k", 3);
      ClusterBackup backup = take(servers, "a", folder.resolve("backup"));
      servers.admits(2, "a", "rule", yearly, "k", 9);
      servers.end("a");

      // The machine's clock is behind: it shows a window that was over.
      servers.wallAheadNanos.set(0);
      restore(servers, backup, "x", false);
      servers.start("x");
      servers.admits(0, "x", "rule", yearly, "k", 9);
      assertThat(calendars(servers, "x")).allMatch(each -> each >= middle);
      servers.end("x");

      restore(servers, backup, "y", true);
      servers.start("y");
      assertThat(calendars(servers, "y")).allMatch(each -> each >= middle && each < middle + year);
      servers.admits(2, "y", "rule", yearly, "k", 9);
    }
  }

  /** Sets the calendars; returns false while the groups are below the level that has them. */
  private static boolean setCalendar(Servers servers, String member) {
    try {
      servers.cluster(member).setCalendar();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the times of all groups' calendars. */
  private static List<Long> calendars(Servers servers, String member) {
    return servers.cluster(member).status().members().stream()
        .flatMap(each -> each.groups().stream())
        .map(each -> each.timeNanos() + each.offsetNanos())
        .toList();
  }

  @Test
  void folderThatIsInUse_isRefused_andSoIsAFileThatExists() throws Exception {
    try (Servers servers = new Servers(folder, 1, "a")) {
      servers.start("a");
      Path file = folder.resolve("backup");
      ClusterBackup backup = take(servers, "a", file);
      byte[] before = Files.readAllBytes(file);
      assertThatThrownBy(() -> take(servers, "a", file))
          .hasMessage(file + ": exists (expected: a file that does not)");
      assertThat(Files.readAllBytes(file)).isEqualTo(before);
      assertThatThrownBy(() -> restore(servers, backup, "a", true))
          .hasMessage(servers.folder("a") + ": is not empty (expected: an empty folder)");
    }
  }

  @Test
  void backupThatFails_leavesNothing() throws Exception {
    try (Servers servers = new Servers(folder, 1, "a")) {
      servers.start("a");
      Path files = Files.createDirectory(folder.resolve("files"));
      ClusterBackup.BackupSource whole = asked(servers, "a");
      for (int verb : new int[] {Backups.CHARTER, Backups.LOOK, Backups.READ, Backups.DONE}) {
        ClusterBackup.BackupSource cut =
            question -> {
              if (question[0] == verb) {
                throw new IOException("cut");
              }
              return whole.call(question);
            };
        assertThatThrownBy(
                () ->
                    ClusterBackup.take(
                        files.resolve("backup"), cut, "1", Ticker.system(), (a, b, c, d) -> {}))
            .hasMessageContaining("cut");
      }
      ClusterBackup.BackupSource wrong =
          question -> {
            byte[] answer = whole.call(question);
            if (question[0] == Backups.READ) {
              answer[answer.length / 2] ^= 1;
            }
            return answer;
          };
      assertThatThrownBy(
              () ->
                  ClusterBackup.take(
                      files.resolve("backup"), wrong, "1", Ticker.system(), (a, b, c, d) -> {}))
          .hasMessageContaining("was received (expected: ");
      assertThat(files).isEmptyDirectory();
    }
  }
}
