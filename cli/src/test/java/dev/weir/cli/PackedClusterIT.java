package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A test of the packed command as the members of a cluster. */
@Timeout(300)
class PackedClusterIT {
  @TempDir private static Path installed;
  @TempDir private Path folder;

  @BeforeAll
  static void install() throws Exception {
    PackedCommand.install(installed);
  }

  @Test
  void packedServers_areTheMembersOfACluster_andBackedUp() throws Exception {
    String rules =
        Files.writeString(
                folder.resolve("rules.yaml"),
                """
                domain: demo
                descriptors:
                  - key: user
                    rate_limit: {unit: day, requests_per_unit: 3}
                """)
            .toString();
    List<String> names = List.of("a", "b", "c");
    String members =
        String.join(",", names.stream().map(name -> name + "=127.0.0.1:" + Ports.free()).toList());
    List<CompletableFuture<Served>> starting = new ArrayList<>();
    for (String name : names) {
      starting.add(
          CompletableFuture.supplyAsync(
              () -> member(members, name, rules), task -> new Thread(task).start()));
    }
    List<Served> all = starting.stream().map(CompletableFuture::join).toList();
    try (Served client =
        Served.servePacked(
            PackedCommand.PACKED,
            PackedCommand.options(installed),
            "--rules",
            rules,
            "--store",
            "weir://" + members,
            "--store-timeout",
            "20s",
            "--request-timeout",
            "1m")) {
      String url = "http://127.0.0.1:" + all.get(0).httpPort();
      Ran status =
          PackedCommand.weir(installed, "cluster", "status", "--url", url, "--wait-healthy", "1m");
      assertThat(status.status()).as(status.out() + status.err()).isZero();
      int admitted = 0;
      for (Served each : List.of(all.get(0), all.get(1), all.get(2), client, client)) {
        admitted += each.check(HttpClient.Version.HTTP_2).statusCode() == 200 ? 1 : 0;
      }
      assertThat(admitted).isEqualTo(3);
      String file = folder.resolve("backup").toString();
      Ran backup = PackedCommand.weir(installed, "cluster", "backup", "--url", url, "--to", file);
      assertThat(backup.status()).as(backup.err()).isZero();
      assertThat(backup.out()).contains("group 0: up to index ");
      Ran restored =
          PackedCommand.weir(
              installed,
              "cluster",
              "restore",
              "--from",
              file,
              "--cluster-dir",
              folder.resolve("restored").toString(),
              "--cluster-name",
              "a",
              "--cluster-advertise",
              "127.0.0.1:" + Ports.free());
      assertThat(restored.status()).as(restored.err()).isZero();
      assertThat(restored.out()).contains(", from the backup of cluster ", "group 0: begins ");
    } finally {
      all.forEach(Served::close);
    }
  }

  private Served member(String members, String name, String rules) {
    try {
      return Served.servePacked(
          PackedCommand.PACKED,
          PackedCommand.options(installed),
          "--cluster",
          members,
          "--cluster-name",
          name,
          "--cluster-dir",
          folder.resolve(name).toString(),
          "--rules",
          rules,
          "--store-timeout",
          "20s",
          "--request-timeout",
          "1m");
    } catch (IOException e) {
      throw new UncheckedIOException(name, e);
    }
  }
}
