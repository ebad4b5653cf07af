package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A test of the packed command: its jar, the jars beside it, and those of its providers. The other
 * tests run with the classes that Maven finds for tests, which may be more.
 */
@Timeout(300)
class PackedCommandIT {
  @TempDir private static Path installed;
  @TempDir private Path folder;

  @BeforeAll
  static void install() throws Exception {
    PackedCommand.install(installed);
  }

  @Test
  void packedServer_decidesOnEveryPortAndStops() throws Exception {
    try (Served served = Served.servePacked(PackedCommand.PACKED, PackedCommand.OPTIONS)) {
      HttpResponse<String> answer = served.check(HttpClient.Version.HTTP_2);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(answer.body()).contains("\"reason\":\"WITHIN_LIMIT\"");
      assertThat(served.checkOverGrpc()).isEqualTo(RateLimitResponse.Code.OK);

      ChildProcess process = served.process();
      Path mapped = Path.of("/proc/" + process.handle().pid() + "/maps");
      if (Files.exists(mapped)) {
        // Without a folder for data, no part of RocksDB is loaded.
        assertThat(Files.readString(mapped)).contains("libjvm").doesNotContain("librocksdbjni");
      }
      assertThat(process.running()).isTrue();
      process.terminate();
      assertThat(process.endsWithin(Duration.ofMinutes(1))).isTrue();
    }
  }

  @Test
  void packedStore_opensInAFolder() throws Exception {
    String data = folder.resolve("data").toString();
    Ran made =
        PackedCommand.weir(
            installed,
            "tokens",
            "create",
            "--data-dir",
            data,
            "--name",
            "me",
            "--role",
            "operator");
    assertThat(made.status()).as(made.err()).isZero();
    // There is no warning either.
    assertThat(made.err().lines())
        .satisfiesExactly(
            first ->
                assertThat(first).isEqualTo("weir: --data-dir: " + data + " was not there, made"),
            second -> assertThat(second).startsWith("token "));
    Ran read = PackedCommand.weir(installed, "audit", "--data-dir", data, "--verify");
    assertThat(read.status()).as(read.err()).isZero();
    assertThat(read.err()).isEmpty();
    try (Served served =
        Served.servePacked(
            PackedCommand.PACKED,
            PackedCommand.options(installed),
            "--data-dir",
            data,
            "--admin-port",
            "0")) {
      assertThat(served.adminPort()).isPositive();
    }
  }

  /** Tests that each message is that of the same command with everything on one class path. */
  @Test
  void packedStores_areAskedWhereTheyAre() throws Exception {
    String place = "127.0.0.1:" + Ports.free();
    List<String> addresses =
        List.of(
            "etcd://" + place,
            "mongodb://" + place + "/weir?timeout=2s",
            "postgresql://weir@" + place + "/weir");
    for (String address : addresses) {
      assertThat(refusal(address)).hasSize(1).first().asString().contains(place);
    }
    // Without credentials no request is sent, so this message has only the expectation.
    assertThat(refusal("dynamodb:table?endpoint=http://" + place + "&region=eu-west-1"))
        .hasSize(1)
        .first()
        .asString()
        .contains("weir: --config-store: dynamodb:table: ", "(expected: DynamoDB that answers");
  }

  /** Returns the command's own messages: MongoDB's driver writes further lines. */
  private static List<String> refusal(String address) throws Exception {
    String[] list = {"tokens", "list", "--config-store", address};
    Ran packed = PackedCommand.weir(installed, list);
    Ran expected = Ran.weir(list);
    assertThat(packed.status()).isEqualTo(expected.status()).isEqualTo(Main.FAILED);
    List<String> said = packed.err().lines().filter(line -> line.startsWith("weir: ")).toList();
    assertThat(said).isEqualTo(expected.err().lines().toList());
    return said;
  }

  @Test
  void addressOfNoStore_isRefusedWithTheFormsOfAll() throws Exception {
    Ran ran = PackedCommand.weir(installed, "tokens", "list", "--config-store", "nothing:here");
    assertThat(ran.status()).isEqualTo(Main.USAGE);
    assertThat(ran.err())
        .contains("nothing:here (expected: dynamodb:", " or etcd:", " or mongodb:")
        .contains(" or memory: or ", " or postgresql:", " or rocksdb:");
  }

  @Test
  void providerThatIsNotInstalled_isSaidInOneLine() throws Exception {
    for (String[] each :
        new String[][] {
          {"rocksdb", "serve", "--data-dir", folder.toString()},
          {"etcd", "tokens", "list", "--config-store", "etcd://127.0.0.1:1"},
          {"cluster", "serve", "--store", "weir://127.0.0.1:1"},
          {"cluster", "cluster", "demo"}
        }) {
      Ran ran = PackedCommand.weir(folder, Arrays.copyOfRange(each, 1, each.length));
      assertThat(ran.status()).isEqualTo(Main.FAILED);
      assertThat(ran.err())
          .isEqualTo(
              "weir: %1$s: %2$s is missing (expected: the folder with its jars)%n"
                  .formatted(each[0], folder.resolve(each[0])));
    }
  }

  /**
   * Tests that no library is in both, because a class would be found in the command's jar, which
   * may have another version.
   */
  @Test
  void noLibrary_isInTheCommandAndInAProvider() throws Exception {
    Set<String> own = new TreeSet<>();
    for (Path jar : PackedCommand.jars(PackedCommand.LIBRARIES)) {
      own.add(library(jar));
    }
    assertThat(own).hasSizeBetween(50, 110);
    assertThat(own).anyMatch(each -> each.contains("/weir-server/"));
    for (String name : PackedCommand.MODULES.keySet()) {
      List<String> libraries = new ArrayList<>();
      for (Path jar : PackedCommand.jars(installed.resolve(name))) {
        libraries.add(library(jar));
      }
      assertThat(libraries).as(name).isNotEmpty().doesNotContainAnyElementsOf(own);
    }
  }

  /**
   * Returns a library's name, after its group if the jar names it: two groups have an artifact
   * called annotations.
   */
  private static String library(Path jar) throws IOException {
    String name = jar.getFileName().toString().replaceFirst("-\\d.*", "");
    try (ZipFile file = new ZipFile(jar.toFile())) {
      return file.stream()
          .map(ZipEntry::getName)
          .filter(entry -> entry.endsWith("/" + name + "/pom.properties"))
          .findFirst()
          .orElse(name);
    }
  }

  @Test
  void packedRocksDb_isForSevenKindsOfMachines() throws Exception {
    List<Path> jars = new ArrayList<>();
    try (var files = Files.newDirectoryStream(installed.resolve("rocksdb"), "rocksdbjni*.jar")) {
      files.forEach(jars::add);
    }
    assertThat(jars).hasSize(1);
    assertThat(Files.size(jars.get(0))).isLessThan(40L << 20);
    try (ZipFile jar = new ZipFile(jars.get(0).toFile())) {
      assertThat(jar.stream().map(ZipEntry::getName).filter(name -> name.startsWith("lib")))
          .containsExactlyInAnyOrder(
              "librocksdbjni-linux64.so",
              "librocksdbjni-linux64-musl.so",
              "librocksdbjni-linux-aarch64.so",
              "librocksdbjni-linux-aarch64-musl.so",
              "librocksdbjni-osx-x86_64.jnilib",
              "librocksdbjni-osx-arm64.jnilib",
              "librocksdbjni-win64.dll");
    }
  }
}
