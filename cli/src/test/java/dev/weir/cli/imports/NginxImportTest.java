package dev.weir.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.cli.command.CommandFailure;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the import of nginx's limits. */
class NginxImportTest {
  private static final long MILLI = 1_000_000;

  /** Rates whose permits come back after whole nanoseconds; the others do up to one later. */
  private static final long[] RATES = {1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100};

  private static String one(String rate, String limit) {
    return "http {\nlimit_req_zone $remote_addr zone=z:1m rate="
        + rate
        + ";\nserver { location / { limit_req zone=z "
        + limit
        + "; } }\n}\n";
  }

  @Test
  void limits_areRulesWithCommentsOnEach() {
    ImportedRules rules =
        Imports.nginx(
            """
            http {
              limit_req_zone $binary_remote_addr zone=login:10m rate=30r/m;
              limit_conn_zone $http_x_api_key zone=streams:10m;
              limit_req_status 429;
              server {
                server_name shop.example;
                limit_req zone=login burst=4 nodelay;
                location /static { limit_req zone=login burst=20 nodelay; }
                location /live { limit_conn streams 3; }
              }
            }
            """);
    assertThat(rules.text("shop"))
        .isEqualTo(
            """
            # Limits of nginx, from nginx.conf.
            domain: shop
            descriptors:
              # nginx.conf:2: limit_req_zone $binary_remote_addr zone=login:10m rate=30r/m
              # nginx.conf:7: limit_req zone=login burst=4 nodelay; server shop.example, but not in location /static
              # nginx.conf:8: limit_req zone=login burst=20 nodelay; server shop.example, location /static
              # Descriptor of a request there: login={ip}
              # Stricter: the burst is the least of all uses; nginx.conf:8 has more
              # Same: 5 at once, then the rate, as there
              - key: login
                rate_limit:
                  requests_per_unit: 1
                  window: 2s
                  algorithm: token-bucket
                  burst: 5
              # nginx.conf:3: limit_conn_zone $http_x_api_key zone=streams:10m
              # nginx.conf:9: limit_conn streams 3; server shop.example, location /live
              # Descriptor of a request there: streams={header:x-api-key}
              # Clients choose the key; there, who changes it or leaves it out is not limited.
              # Same: at most 3 requests at the same time
              # Weir answers a refusal by 429, nginx by 503.
              - key: streams
                rate_limit:
                  concurrency: 3
                  hold: 60s
            """);
    assertThat(rules.isComplete()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "10r/s | | 10 | 1s | 1 |",
        "10 | burst=5 nodelay | 10 | 1s | 6 |",
        "1r/m | burst=2 nodelay | 2 | 125s | 3 |",
        "100r/m | nodelay | 833 | 500s | 1 |",
        "10r/s | burst=9 | 10 | 1s | 1 | {queue: {requests: 9, wait: 1s}}",
        "10r/s | burst=25 delay=4 | 30 | 3s | 5 | {queue: {requests: 21, wait: 3s}}",
        "1r/s | burst=100 | 60 | 60s | 1 | {queue: {requests: 60, wait: 60s}}",
      })
  void rate_isABucket(
      String rate, String limit, long permits, String window, long burst, String queue) {
    String expected =
        "      requests_per_unit: %d\n      window: %s\n      algorithm: token-bucket\n      burst: %d\n"
            .formatted(permits, window, burst);
    String text = Imports.bare(Imports.nginx(one(rate, Objects.requireNonNullElse(limit, ""))));
    assertThat(text).contains(expected);
    assertThat(text.contains("on_limit")).isEqualTo(queue != null);
    if (queue != null) {
      assertThat(text).contains("      on_limit: " + queue + "\n");
    }
  }

  /** The arithmetic of nginx, in thousandths of a request and milliseconds. */
  private static final class Model {
    private final long thousandths;
    private final long burst;
    private long excess;
    private long lastMillis = -1;

    Model(long perSecond, long burst) {
      this.thousandths = perSecond * 1_000;
      this.burst = burst * 1_000;
    }

    boolean passes(long millis) {
      long now =
          lastMillis < 0
              ? 0
              : Math.max(0, excess - thousandths * (millis - lastMillis) / 1_000 + 1_000);
      if (now > burst) {
        return false;
      }
      excess = now;
      lastMillis = millis;
      return true;
    }
  }

  @Test
  void importedRule_decidesAsNginxDoes() {
    int runs = 50;
    SplittableRandom random = Trials.random("NginxImportTest.decides", runs);
    for (int run = 0; run < runs; run++) {
      long rate = RATES[random.nextInt(RATES.length)];
      long burst = random.nextLong(0, 20);
      String text = one(rate + "r/s", "burst=" + burst + " nodelay");
      String rules = Imports.nginx(text).text("imported");
      FakeTicker ticker = new FakeTicker(1_700_000_000_000L * MILLI);
      try (Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS)) {
        engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", rules).ruleSet()));
        compare(random, ticker, engine, new Model(rate, burst), 2_000 / rate);
      }
    }
  }

  private static void compare(
      SplittableRandom random, FakeTicker ticker, Engine engine, Model model, long mostPause) {
    for (int i = 0; i < 300; i++) {
      ticker.advance(random.nextLong(mostPause) * random.nextInt(2) * MILLI);
      boolean passes = engine.decide(Request.of("imported", "z", "192.0.2.1")).allowed();
      assertThat(passes).as("request " + i).isEqualTo(model.passes(ticker.nanos() / MILLI));
    }
  }

  @Test
  void limitWithoutEffect_isNamedAndNoRule() {
    ImportedRules rules =
        Imports.nginx(
            """
            http {
              limit_req_zone $remote_addr zone=unused:1m rate=1r/s;
              limit_req_zone $remote_addr zone=ok:1m rate=1r/s;
              server {
                location /a { limit_req zone=ok; return 200; }
                location /b { limit_req zone=none; limit_rate 10k; }
              }
            }
            """);
    assertThat(rules.size()).isZero();
    assertThat(rules.isComplete()).isFalse();
    assertThat(rules.remarks())
        .containsExactlyInAnyOrder(
            "nginx.conf:2: zone unused: limits nothing, so no rule is made of it",
            "nginx.conf:5: limit_req zone=ok: limits nothing, since the block answers by return"
                + " before it",
            "nginx.conf:3: zone ok: limits nothing, so no rule is made of it",
            "nginx.conf:6: limit_req zone=none: its zone is not defined here",
            "nginx.conf:6: limit_rate 10k: bandwidth (no rule is made of it)");
  }

  @Test
  void keyOfAMap_isNamedWithItsPlace() {
    ImportedRules rules =
        Imports.nginx(
            """
            http {
              geo $inside { default 0; 10.0.0.0/8 1; }
              map $inside $key { 0 $binary_remote_addr; 1 ""; }
              limit_req_zone ${key} zone=z:1m rate=1r/s;
              limit_req zone=z burst=3 nodelay;
              limit_req_dry_run on;
            }
            """);
    assertThat(rules.text("d"))
        .contains(
            "Not carried over: the key is made of $key, which nginx.conf:3 makes: send its value as z,",
            "limit_req_dry_run is on, so the rule refuses nothing.\n",
            "every server and location without one of its own\n",
            "    shadow_mode: true\n    rate_limit:\n");
    assertThat(rules.isComplete()).isFalse();
  }

  @Test
  void words_areReadAsNginxDoes() {
    NginxDirective main =
        NginxReader.read(
            "nginx.conf",
            """
            a "x; {y}" 'it''s' b#c ${d}e; # a comment; {
            f { rewrite_by_lua_block { local s = "}" -- }
              local t = [[ } ]] if s then return { } end }
              g; }
            """);
    assertThat(main.block()).hasSize(2);
    assertThat(main.block().get(0).words()).containsExactly("a", "x; {y}", "it", "s", "b#c", "$de");
    assertThat(main.block().get(1).block()).hasSize(2);
    assertThat(main.block().get(1).block().get(1).place()).hasToString("nginx.conf:4");
  }

  @Test
  void includesAndDumps_haveThePlacesOfTheirFiles(@TempDir Path folder) throws Exception {
    Path parts = Files.createDirectory(folder.resolve("parts"));
    Files.writeString(parts.resolve("b.conf"), "\nb;\n");
    Files.writeString(parts.resolve("a.conf"), "a;\n");
    Path file = Files.writeString(folder.resolve("nginx.conf"), "http { include parts/*.conf; }");
    NginxDirective http = NginxReader.read(file).block().get(0);
    assertThat(http.block()).extracting(NginxDirective::toString).containsExactly("a", "b");
    assertThat(http.block().get(1).place()).hasToString(parts.resolve("b.conf") + ":2");

    NginxDirective dump =
        NginxReader.read(
            "stdin",
            """
            # configuration file /etc/nginx/nginx.conf:
            include conf.d/*.conf;

            # configuration file /etc/nginx/conf.d/x.conf:
            x;
            """);
    assertThat(dump.block().get(1).place()).hasToString("/etc/nginx/conf.d/x.conf:1");
  }

  @Test
  void nestingBeyondTheBound_isOneError() {
    assertThatThrownBy(() -> NginxReader.read("nginx.conf", "a{".repeat(100_000)))
        .isInstanceOf(CommandFailure.class)
        .hasMessage("nginx.conf:1: too many blocks in each other (expected: at most 100)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http { a; | nginx.conf:1: the end (expected: } of a block)",
        "http | nginx.conf:1: the end (expected: ; or { behind http)",
        "; | nginx.conf:1: ; (expected: ; or { behind a directive)",
        "a; } | nginx.conf:1: } (expected: a directive)",
        "a ${b; | nginx.conf:1: ${ (expected: } behind the name of a variable)",
        "a \"b; | nginx.conf:1: the end (expected: \" of a word)",
      })
  void textThatIsNone_isOneError(String text, String message) {
    assertThatThrownBy(() -> NginxReader.read("nginx.conf", text))
        .isInstanceOf(CommandFailure.class)
        .hasMessage(message);
  }
}
