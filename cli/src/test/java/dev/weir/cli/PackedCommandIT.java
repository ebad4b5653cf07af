package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Ports;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
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
  private static final Path TARGET = Path.of("target").toAbsolutePath();
  private static final Path LIBRARIES = TARGET.resolve("lib");
  private static final String PACKED =
      TARGET.resolve("weir.jar") + File.pathSeparator + LIBRARIES.resolve("*");

  /** The options of the virtual machine, as in the script {@code ./weir}. */
  private static final List<String> OPTIONS = List.of("--enable-native-access=ALL-UNNAMED");

  /** The modules of the providers, by the providers' names. */
  private static final Map<String, String> MODULES =
      Map.of(
          "cluster", "stores/cluster-server",
          "dynamodb", "contrib/dynamodb",
          "etcd", "config/etcd",
          "mongodb", "contrib/mongo",
          "postgresql", "config/postgres",
          "rocksdb", "config/rocksdb");

  @TempDir private static Path installed;
  @TempDir private Path folder;

  /**
   * Copies the jars of all providers to their places in an installation, in the way of {@code
   * dist}.
   */
  @BeforeAll
  static void install() throws Exception {
    for (Map.Entry<String, String> each : MODULES.entrySet()) {
      Path made = Path.of("..", each.getValue(), "target", "provider").toAbsolutePath();
      Path provider = Files.createDirectories(installed.resolve(each.getKey()));
      for (Path jar : jars(made)) {
        if (!Files.exists(LIBRARIES.resolve(jar.getFileName()))) {
          Files.createSymbolicLink(provider.resolve(jar.getFileName()), jar);
        }
      }
    }
  }

  private static List<Path> jars(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
  }

  private static List<String> options(Path providers) {
    return List.of(OPTIONS.get(0), "-D" + Providers.FOLDER + "=" + providers);
  }

  /** Runs the packed command to its end. */
  private static Ran weir(Path providers, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(options(providers));
    command.addAll(List.of("-cp", PACKED, Main.class.getName()));
    command.addAll(List.of(arguments));
    Path errors = Files.createTempFile(installed, "err", ".txt");
    Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Ran(process.exitValue(), out, Files.readString(errors));
  }

  @Test
  void packedServer_decidesOnEveryPortAndStops() throws Exception {
    try (Served served = Served.servePacked(PACKED, OPTIONS)) {
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
        weir(
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
    Ran read = weir(installed, "audit", "--data-dir", data, "--verify");
    assertThat(read.status()).as(read.err()).isZero();
    assertThat(read.err()).isEmpty();
    try (Served served =
        Served.servePacked(PACKED, options(installed), "--data-dir", data, "--admin-port", "0")) {
      assertThat(served.adminPort()).isPositive();
    }
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
            PACKED,
            options(installed),
            "--rules",
            rules,
            "--store",
            "weir://" + members,
            "--store-timeout",
            "20s",
            "--request-timeout",
            "1m")) {
      String url = "http://127.0.0.1:" + all.get(0).httpPort();
      Ran status = weir(installed, "cluster", "status", "--url", url, "--wait-healthy", "1m");
      assertThat(status.status()).as(status.out() + status.err()).isZero();
      int admitted = 0;
      for (Served each : List.of(all.get(0), all.get(1), all.get(2), client, client)) {
        admitted += each.check(HttpClient.Version.HTTP_2).statusCode() == 200 ? 1 : 0;
      }
      assertThat(admitted).isEqualTo(3);
      String file = folder.resolve("backup").toString();
      Ran backup = weir(installed, "cluster", "backup", "--url", url, "--to", file);
      assertThat(backup.status()).as(backup.err()).isZero();
      assertThat(backup.out()).contains("group 0: up to index ");
      Ran restored =
          weir(
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
          PACKED,
          options(installed),
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

  /** Tests that each message is that of the same command with everything on one class path. */
  @Test
  void packedStores_areAskedWhereTheyAre() throws Exception {
    String place = "127.0.0.1:" + Ports.free();
    for (String address :
        List.of(
            "etcd://" + place,
            "mongodb://" + place + "/weir?timeout=2s",
            "postgresql://weir@" + place + "/weir")) {
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
    Ran packed = weir(installed, list);
    Ran expected = Ran.weir(list);
    assertThat(packed.status()).isEqualTo(expected.status()).isEqualTo(Main.FAILED);
    List<String> said = packed.err().lines().filter(line -> line.startsWith("weir: ")).toList();
    assertThat(said).isEqualTo(expected.err().lines().toList());
    return said;
  }

  @Test
  void addressOfNoStore_isRefusedWithTheFormsOfAll() throws Exception {
    Ran ran = weir(installed, "tokens", "list", "--config-store", "nothing:here");
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
      Ran ran = weir(folder, Arrays.copyOfRange(each, 1, each.length));
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
    for (Path jar : jars(LIBRARIES)) {
      own.add(library(jar));
    }
    assertThat(own).hasSizeBetween(50, 110);
    assertThat(own).anyMatch(each -> each.contains("/weir-server/"));
    for (String name : MODULES.keySet()) {
      List<String> libraries = new ArrayList<>();
      for (Path jar : jars(installed.resolve(name))) {
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
