package dev.weir.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cli.Ran;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of {@code weir import}. */
class ImportCommandTest {
  private static final String NGINX =
      """
      http {
        limit_req_zone $remote_addr zone=z:1m rate=1r/s;
        server { limit_req zone=z; }
      }
      """;

  @TempDir private Path folder;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  @Test
  void rulesGoToTheOutput_orToANewFile() throws IOException {
    Path file = file("nginx.conf", NGINX);
    Ran ran = Ran.weir("import", file.toString());
    assertThat(ran.status()).isZero();
    assertThat(ran.out()).startsWith("# Limits of nginx, from " + file).contains("domain: nginx\n");
    assertThat(ran.err()).isEqualTo("weir: 1 rule" + System.lineSeparator());

    Path out = folder.resolve("rules.yaml");
    assertThat(
            Ran.weir("import", file.toString(), "-o", out.toString(), "--domain", "shop").status())
        .isZero();
    assertThat(out).content().isEqualTo(ran.out().replace("domain: nginx", "domain: shop"));
    assertThat(Ran.weir("lint", "--strict", out.toString()).status()).isZero();

    Ran again = Ran.weir("import", file.toString(), "-o", out.toString());
    assertThat(again.status()).isEqualTo(3);
    assertThat(again.err()).isEqualTo("weir: %s: exists (expected: a new file)%n".formatted(out));
  }

  @Test
  void partThatIsNotCarriedOver_isStatusOne() throws IOException {
    Path file = file("site.conf", NGINX.replace("zone=z; }", "zone=z; limit_rate 1k; }"));
    Ran ran = Ran.weir("import", file.toString());
    assertThat(ran.status()).isOne();
    assertThat(ran.err()).contains("limit_rate 1k: bandwidth (no rule is made of it)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a.conf | limit_req_zone $remote_addr zone=z:1m rate=1r/s; limit_req zone=z; | nginx",
        "a.yaml | resilience4j.bulkhead.instances.a.maxConcurrentCalls: 3 | spring",
        "a.properties | resilience4j.bulkhead.instances.a.maxConcurrentCalls=3 | spring",
        "a.json | {\"token_bucket\": {\"max_tokens\": 1, \"fill_interval\": \"1s\"}, \"filter_enabled\":"
            + " {\"default_value\": {\"numerator\": 100}}} | envoy",
        "a.yaml | routes: [{plugins: {limit-count: {count: 2, time_window: 60}}}] | apisix",
        "a.yaml | plugins: [{name: rate-limiting, config: {minute: 5}}] | kong",
        "a.yml | http: {middlewares: {m: {rateLimit: {average: 3}}}} | traefik",
      })
  void kind_isFoundByTheNamesInTheFile(String name, String text, String domain) throws IOException {
    Ran ran = Ran.weir("import", file(name, text).toString());
    assertThat(ran.out()).contains("domain: " + domain + "\n").contains("  - key: ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nginx.conf | http { } | no limit of nginx (expected: one; --from names the kind)",
        "nginx.conf | http { | 1: the end (expected: } of a block)",
        "a.yaml | 'bucket4j: [' | (expected: YAML or JSON)",
      })
  void fileThatCannotBeImported_isOneError(String name, String text, String message)
      throws IOException {
    Ran ran = Ran.weir("import", file(name, text).toString());
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.out()).isEmpty();
    assertThat(ran.err()).startsWith("weir: " + folder).contains(message);
    assertThat(ran.err().lines()).hasSize(1);
  }

  @Test
  void fileThatIsNotThere_isOneError() {
    Ran ran = Ran.weir("import", folder.resolve("none.conf").toString());
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.err()).contains("none.conf: ").endsWith(System.lineSeparator());
  }
}
