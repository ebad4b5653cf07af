package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.testkit.ChildProcess;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.io.File;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The command as it is packed: its jar, and the jars beside it. The other tests run with the
 * classes that Maven finds for tests, which may be more.
 */
@Timeout(300)
class PackedCommandIT {
  private static final Path TARGET = Path.of("target").toAbsolutePath();
  private static final Path LIBRARIES = TARGET.resolve("lib");
  private static final String PACKED =
      TARGET.resolve("weir.jar") + File.pathSeparator + LIBRARIES.resolve("*");

  /** As in the script {@code ./weir}. */
  private static final List<String> OPTIONS = List.of("--enable-native-access=ALL-UNNAMED");

  /** Opens a configuration store in a folder. */
  static final class StoreInFolder {
    private StoreInFolder() {}

    public static void main(String[] arguments) {
      try (ConfigStore store = ConfigStores.open("rocksdb:" + arguments[0] + "?min-free=1MB")) {
        System.out.println("position " + store.head().position());
      }
    }
  }

  @Test
  void packedServer_decidesOnEveryPortAndStops() throws Exception {
    try (Served served = Served.servePacked(PACKED, OPTIONS)) {
      HttpResponse<String> answer =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(
                          URI.create("http://127.0.0.1:" + served.httpPort() + "/v1/check"))
                      .timeout(Duration.ofSeconds(60))
                      .POST(
                          HttpRequest.BodyPublishers.ofString(
                              "{\"domain\":\"demo\",\"descriptor\":{\"user\":\"a\"}}"))
                      .build(),
                  HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(answer.body()).contains("\"reason\":\"WITHIN_LIMIT\"");
      assertThat(grpc(served.grpcPort())).isEqualTo(RateLimitResponse.Code.OK);

      ChildProcess process = served.process();
      Path mapped = Path.of("/proc/" + process.handle().pid() + "/maps");
      if (Files.exists(mapped)) {
        // Nothing of RocksDB where there is no folder for data.
        assertThat(Files.readString(mapped)).contains("libjvm").doesNotContain("librocksdbjni");
      }
      assertThat(process.running()).isTrue();
      process.terminate();
      assertThat(process.endsWithin(Duration.ofMinutes(1))).isTrue();
    }
  }

  private static RateLimitResponse.Code grpc(int port) {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress("127.0.0.1", port, InsecureChannelCredentials.create())
            .build();
    try {
      return RateLimitServiceGrpc.newBlockingStub(channel)
          .withDeadlineAfter(60, TimeUnit.SECONDS)
          .shouldRateLimit(
              RateLimitRequest.newBuilder()
                  .setDomain("demo")
                  .addDescriptors(
                      RateLimitDescriptor.newBuilder()
                          .addEntries(
                              RateLimitDescriptor.Entry.newBuilder().setKey("user").setValue("b")))
                  .build())
          .getOverallCode();
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void packedStore_opensInAFolder(@TempDir Path folder) throws Exception {
    String said =
        ChildProcess.java(StoreInFolder.class, folder.toString())
            .classPath(PACKED + File.pathSeparator + TARGET.resolve("test-classes"))
            .options(OPTIONS.get(0))
            .run();
    // Not a word of a warning either.
    assertThat(said).isEqualTo("position 0\n");
  }

  @Test
  void packedRocksDb_isForSevenKindsOfMachines() throws Exception {
    List<Path> jars = new ArrayList<>();
    try (var files = Files.newDirectoryStream(LIBRARIES, "rocksdbjni*.jar")) {
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
