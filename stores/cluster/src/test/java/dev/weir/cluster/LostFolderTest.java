package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.cluster.internal.log.GroupMarks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A folder that has lost a part, or is an older copy. The member does not know all of its promises
 * any more, so it must not vote again under the incarnation that has made them.
 */
@Tag("live")
class LostFolderTest {
  private static final Policy POLICY = Policy.builder(Quota.of(5, Duration.ofHours(1))).build();

  /** Longer than it takes until the others know how far a member is. */
  private static final Duration REPORTED = Duration.ofSeconds(4);

  @TempDir private Path folder;

  private static void delete(Path path) throws IOException {
    try (Stream<Path> files = Files.walk(path)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  private static List<Path> groups(Path member) throws IOException {
    try (Stream<Path> files = Files.list(member.resolve("groups"))) {
      return files.filter(Files::isDirectory).sorted().toList();
    }
  }

  private static void isRefused(Servers servers, String name, Path lost) {
    for (int twice = 0; twice < 2; twice++) { // The refusal changes nothing.
      assertThatThrownBy(() -> servers.open(name, "a", "b", "c"))
          .hasMessageContaining(lost + " is lost")
          .hasMessageContaining("expected");
    }
  }

  @Test
  void founderThatHasLostAGroup_isRefused_andJoinsWithAnEmptyFolder() throws Exception {
    try (Servers servers = new Servers(folder, 2, "a", "b", "c")) {
      servers.start("a", "b", "c");
      servers.admits(5, "a", "rule", POLICY, "key", 9);
      servers.end("c");
      Path lost = groups(servers.folder("c")).get(1);

      delete(lost);
      isRefused(servers, "c", lost);
      Files.createDirectories(lost.resolve("sm")); // A part of it is not enough.
      isRefused(servers, "c", lost);
      delete(servers.folder("c").resolve("groups"));
      isRefused(servers, "c", servers.folder("c").resolve("groups").resolve(name(lost, 0)));

      delete(servers.folder("c"));
      servers.open("c", "a", "b", "c");
      servers.healthy();
      servers.admits(0, "c", "rule", POLICY, "key", 9);
    }
  }

  private static String name(Path group, int number) {
    String name = group.getFileName().toString();
    return name.substring(0, name.length() - 1) + (number + 1);
  }

  @Test
  void memberThatJoined_andHasLostAGroup_isRefused() throws Exception {
    try (Servers servers = new Servers(folder, 1, "a", "b", "c")) {
      servers.start("a");
      servers.open("b", "a", "b", "c");
      servers.open("c", "a", "b", "c");
      servers.healthy();
      servers.end("c");
      Path lost = groups(servers.folder("c")).get(0);
      delete(lost);
      isRefused(servers, "c", lost);
    }
  }

  @Test
  void memberThatWasKilledBeforeItsGroupsBegan_beginsThem() throws Exception {
    try (Servers servers = new Servers(folder, 2, "a")) {
      servers.start("a");
      servers.end("a");
      // The state of its disk when the charter is complete and nothing else was done.
      delete(servers.folder("a").resolve("groups"));
      Files.delete(servers.folder("a").resolve(GroupMarks.FILE));
      servers.start("a");
      servers.admits(5, "a", "rule", POLICY, "key", 9);
    }
  }

  @Test
  void marksThatAreDamaged_areRefused() throws Exception {
    try (Servers servers = new Servers(folder, 2, "a")) {
      servers.start("a");
      servers.end("a");
      Path marks = servers.folder("a").resolve(GroupMarks.FILE);
      String text = Files.readString(marks);
      Files.writeString(marks, text.replace("begun=0,1", "begun=0"));
      assertThatThrownBy(() -> servers.open("a", "a"))
          .hasMessageContaining(marks + ": damaged (expected: as a member wrote it)");
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path each : files.toList()) {
        Files.copy(each, to.resolve(from.relativize(each)));
      }
    }
  }

  /**
   * Starts a member with an older copy, and returns the line about it. The member does not start,
   * or logs the line soon if the others answer late.
   */
  private static String problem(Servers servers, String name, String... list) throws Exception {
    servers.log.clear();
    try {
      servers.open(name, list);
    } catch (UncheckedIOException e) {
      return String.valueOf(e.getMessage());
    }
    Await.until(() -> "a line; " + servers.log, () -> line(servers, name).isPresent());
    servers.end(name);
    return line(servers, name).orElseThrow();
  }

  private static Optional<String> line(Servers servers, String name) {
    return servers.log.stream()
        .filter(line -> line.startsWith(name + ": cluster: the folder is"))
        .findFirst();
  }

  @Test
  void olderCopyOfAFolder_isRefused_whileAnOtherRemembers_andANewOneJoins() throws Exception {
    Path older = folder.resolve("older");
    try (Servers servers = new Servers(folder, 2, "a", "b", "c")) {
      servers.start("a", "b", "c");
      servers.end("c");
      copy(servers.folder("c"), older);
      servers.open("c", "a", "b", "c");
      servers.deciding();
      servers.admits(5, "a", "rule", POLICY, "key", 9);
      long begun = System.nanoTime();
      for (int i = 0; System.nanoTime() - begun < REPORTED.toNanos(); i++) {
        servers.admits(1, "a", "rule", POLICY, "more " + i, 1);
      }
      servers.end("c");

      delete(servers.folder("c"));
      copy(older, servers.folder("c"));
      for (int twice = 0; twice < 2; twice++) { // The first attempt makes nobody forget.
        assertThat(problem(servers, "c", "a", "b", "c"))
            .contains("the folder is an older copy: group ")
            .contains("remembers term ")
            .contains(
                "(expected: the folder as this member left it; or empty "
                    + servers.folder("c").toAbsolutePath());
      }
      servers.admits(0, "a", "rule", POLICY, "key", 9);

      delete(servers.folder("c"));
      servers.open("c", "a", "b", "c");
      servers.healthy();
      servers.admits(0, "c", "rule", POLICY, "key", 9);
    }
  }

  @Test
  void folderAsItWasLeft_isTaken() throws Exception {
    try (Servers servers = new Servers(folder, 2, "a", "b", "c")) {
      servers.start("a", "b", "c");
      for (int round = 0; round < 3; round++) {
        servers.end("c");
        servers.admits(5, "a", "rule", POLICY, "key " + round, 9);
        servers.open("c", "a", "b", "c");
        servers.healthy();
      }
    }
  }
}
