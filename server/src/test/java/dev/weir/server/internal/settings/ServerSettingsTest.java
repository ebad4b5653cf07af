package dev.weir.server.internal.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.weir.FailureMode;
import dev.weir.rules.RuleDefaults;
import dev.weir.server.settings.SettingsException;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerSettingsTest {
  @TempDir private Path folder;

  @Test
  void table_listsEverySetting() throws IllegalAccessException {
    List<Setting<?>> constants = new ArrayList<>();
    for (Field field : Settings.class.getFields()) {
      constants.add((Setting<?>) field.get(null));
    }
    assertThat(Settings.all()).containsExactlyInAnyOrderElementsOf(constants);
  }

  @Test
  void durationsAndShares_areReadAsInRuleFiles() {
    ServerSettings settings =
        ServerSettings.of(
            Map.of(
                "idle-timeout",
                "1w",
                "near-limit-ratio",
                "85%",
                "local-share",
                "0.25",
                "on-failure",
                "local"));
    assertThat(settings.value(Settings.IDLE_TIMEOUT)).isEqualTo(Duration.ofDays(7));
    assertThat(settings.value(Settings.NEAR_LIMIT_RATIO)).isEqualTo(85);
    assertThat(settings.value(Settings.LOCAL_SHARE)).contains(0.25);
    assertThat(problems(Map.of("idle-timeout", "30m1h")))
        .containsExactly(
            "--idle-timeout: 30m1h (expected: 1s..30d, for example 500ms, 10s, 1h30m)");
  }

  @Test
  void defaults_areThoseThatHelpShows() {
    ServerSettings settings = ServerSettings.defaults();
    assertThat(settings.value(Settings.HOST)).isEqualTo("127.0.0.1");
    assertThat(settings.value(Settings.PORT)).contains(8080);
    assertThat(settings.value(Settings.GRPC_PORT)).contains(8081);
    assertThat(settings.value(Settings.NEAR_LIMIT_RATIO)).isEqualTo(80);
    assertThat(settings.value(Settings.RULES)).isEmpty();
    assertThat(settings.value(Settings.GRPC_TLS_CERT)).isEmpty();
    for (Setting<?> setting : Settings.all()) {
      assertThat(setting.description()).as(setting.name()).endsWith(".");
      if (!setting.defaultText().isEmpty()) {
        assertThat(setting.kind().reader().read(setting.defaultText()))
            .as(setting.name())
            .isEqualTo(settings.value(setting));
      }
    }
  }

  @Test
  void flagThenEnvironmentThenFileThenFallback_winsInThisOrder() throws IOException {
    Path file = file("port: 3\n");
    Map<String, String> flags = Map.of("config", file.toString(), "port", "1");
    Map<String, String> environment = Map.of("WEIR_PORT", "2", "PORT", "4");
    assertThat(port(flags, environment)).isEqualTo("1 by --port");
    assertThat(port(Map.of("config", file.toString()), environment)).isEqualTo("2 by WEIR_PORT");
    assertThat(port(Map.of("config", file.toString()), Map.of("PORT", "4")))
        .isEqualTo("3 by " + file + ":1:7 port");
    assertThat(port(Map.of(), Map.of("PORT", "4"))).isEqualTo("4 by PORT");
    assertThat(port(Map.of(), Map.of())).isEqualTo("8080 by default");
    assertThat(port(Map.of(), Map.of("WEIR_CONFIG", file.toString())))
        .isEqualTo("3 by " + file + ":1:7 port");
  }

  @Test
  void localFailureAnswer_needsAShare() {
    assertThat(ServerSettings.of(Map.of("on-failure", "allow")).ruleDefaults())
        .isEqualTo(new RuleDefaults(FailureMode.ALLOW, 1));
    ServerSettings settings =
        ServerSettings.of(
            Map.of("local-share", "12.5%"),
            Map.of("WEIR_ON_FAILURE", "LOCAL", "WEIR_STORE", "redis://127.0.0.1:1"));
    assertThat(settings.ruleDefaults()).isEqualTo(new RuleDefaults(FailureMode.LOCAL, 0.125));
    assertThat(settings.warnings()).isEmpty();
    assertThat(problems(Map.of("on-failure", "local")))
        .containsExactly(
            "--on-failure: local (expected: --local-share too, above 0% and at most 100%, for"
                + " example 25% or 0.25)");
    for (String wrong : List.of("0", "0%", "101%", "1.01", "-1", "x", "%")) {
      assertThat(problems(Map.of("on-failure", "local", "local-share", wrong)))
          .as(wrong)
          .containsExactly(
              "--local-share: "
                  + wrong
                  + " (expected: above 0% and at most 100%, for example 25% or 0.25)");
    }
    assertThat(problems(Map.of("on-failure", "open")))
        .containsExactly("--on-failure: open (expected: deny, allow, local)");
    assertThat(ServerSettings.of(Map.of("on-failure", "local", "local-share", "1")).warnings())
        .containsExactly("--on-failure: local means deny without --store");
    assertThat(ServerSettings.of(Map.of("local-share", "50%")).warnings())
        .containsExactly("--local-share: has no effect without --on-failure local");
  }

  private static List<String> problems(Map<String, String> flags) {
    return Objects.requireNonNull(
            catchThrowableOfType(SettingsException.class, () -> ServerSettings.of(flags)))
        .problems();
  }

  private static String port(Map<String, String> flags, Map<String, String> environment) {
    ServerSettings settings = ServerSettings.of(flags, environment);
    return settings.value(Settings.PORT).orElse(-1) + " by " + settings.source(Settings.PORT);
  }

  @Test
  void everyProblem_isNamedAtOnceWithItsPlace() throws IOException {
    Path file =
        file(
            "grpc-port: many\nshadow-mode: perhaps\nprot: 1\nhost: {a: b}\nmax-keys:"
                + " 1\nmax-keys: 2\n");
    assertThat(
            problems(
                Map.of("port", "99999", "colour", "blue", "config", file.toString()),
                Map.of("WEIR_NEAR_LIMIT_RATIO", "0.805", "WEIR_DRAIN_TIMEOUT", "soon")))
        .containsExactlyInAnyOrder(
            "--colour: unknown (expected: a setting's name)",
            "--port: 99999 (expected: 0..65535, or off)",
            file + ":1:12 grpc-port: many (expected: a whole number, 0..65535, or off)",
            file + ":2:14 shadow-mode: perhaps (expected: true or false)",
            file + ":3:1 prot: unknown (expected: a setting's name)",
            file + ":4:7 host: a collection (expected: one value)",
            file + ":6:1 max-keys: given twice (expected: each setting once)",
            "WEIR_NEAR_LIMIT_RATIO: 0.805 (expected: 0..1 or 0%..100%, in whole percent)",
            "WEIR_DRAIN_TIMEOUT: soon (expected: 0s..1h, for example 500ms, 10s, 1h30m)");
  }

  @Test
  void fileThatIsNoMapping_isRefusedWithItsPlace() throws IOException {
    Path list = file("- port\n");
    assertThat(problems(Map.of("config", list.toString()), Map.of()))
        .containsExactly(list + ":1:1 not a mapping (expected: name: value)");
    Path broken = file("port: [1\nhost: x");
    assertThat(problems(Map.of("config", broken.toString()), Map.of()))
        .singleElement()
        .asString()
        .startsWith(broken + ":2:")
        .endsWith("(expected: valid YAML)");
    assertThat(problems(Map.of("config", folder.resolve("none").toString()), Map.of()))
        .singleElement()
        .asString()
        .endsWith("no such file (expected: a readable file)");
  }

  @Test
  void numberThatIsNotWhole_isExpectedToBe() {
    assertThat(problems(Map.of("port", "1.5", "resp-port", "on", "admin-port", "-1"), Map.of()))
        .containsExactlyInAnyOrder(
            "--port: 1.5 (expected: a whole number, 0..65535, or off)",
            "--resp-port: on (expected: a whole number, 0..65535, or off)",
            "--admin-port: -1 (expected: 0..65535, or off)");
    assertThat(problems(Map.of("cluster-name", "a b"), Map.of()))
        .singleElement()
        .asString()
        .doesNotContain("whole number");
  }

  @Test
  void portsThatAreAllOff_areOneError() {
    assertThat(problems(Map.of("port", "off", "grpc-port", "off"), Map.of("WEIR_RESP_PORT", "off")))
        .containsExactly(
            "--port: off, as --grpc-port and WEIR_RESP_PORT (expected: at least one of them with a"
                + " port for requests)");
    ServerSettings resp = ServerSettings.of(Map.of("port", "off", "grpc-port", "off"));
    assertThat(resp.value(Settings.PORT)).isEmpty();
    assertThat(problems(Map.of("port", "off", "resp-port", "8081"), Map.of()))
        .containsExactly("--resp-port: 8081 (expected: a port that neither HTTP nor gRPC uses)");
  }

  @Test
  void settingsThatContradictEachOther_areRefused() throws IOException {
    assertThat(problems(Map.of("port", "9000", "grpc-port", "9000"), Map.of()))
        .containsExactly("--grpc-port: 9000 (expected: a port other than HTTP's)");
    Path cert = file("x");
    assertThat(problems(Map.of("grpc-tls-cert", cert.toString()), Map.of()))
        .containsExactly("--grpc-tls-cert: only one of certificate and key (expected: both)");
    assertThat(problems(Map.of("grpc-tls-client-ca", cert.toString()), Map.of()))
        .containsExactly(
            "--grpc-tls-client-ca: client CA without a certificate"
                + " (expected: a certificate too)");
  }

  @Test
  void variablesOfTheOriginal_areReadBelowAllOthers() throws IOException {
    ServerSettings settings =
        ServerSettings.of(
            Map.of(),
            Map.of(
                "GRPC_PORT", "9081",
                "SHADOW_MODE", "TRUE",
                "NEAR_LIMIT_RATIO", "0.75",
                "LIMIT_RESPONSE_HEADERS_ENABLED", "1",
                "LIMIT_RESET_HEADER", "X-Reset",
                "LOG_LEVEL", "WARN",
                "LOG_FORMAT", "json",
                "GRPC_MAX_CONNECTION_AGE", "24h",
                "GRPC_SERVER_TLS_CERT", "/nowhere",
                "HOST", "0.0.0.0"));
    assertThat(settings.value(Settings.GRPC_PORT)).contains(9081);
    assertThat(settings.value(Settings.SHADOW_MODE)).isTrue();
    assertThat(settings.value(Settings.NEAR_LIMIT_RATIO)).isEqualTo(75);
    assertThat(settings.value(Settings.RESPONSE_HEADERS)).isTrue();
    assertThat(settings.value(Settings.RESET_HEADER)).isEqualTo("X-Reset");
    assertThat(settings.value(Settings.LOG_LEVEL)).isEqualTo(LogLevel.WARN);
    assertThat(settings.value(Settings.LOG_FORMAT)).isEqualTo(LogFormat.JSON);
    assertThat(settings.value(Settings.MAX_CONNECTION_AGE)).isEqualTo(Duration.ofHours(24));
    assertThat(settings.value(Settings.GRPC_TLS_CERT)).as("only with USE_TLS").isEmpty();
    assertThat(settings.value(Settings.HOST)).as("too common a name").isEqualTo("127.0.0.1");
  }

  @Test
  void runtimeRoot_leadsToTheRules() throws IOException {
    Path config = Files.createDirectories(folder.resolve("current/rl/config"));
    Map<String, String> environment =
        Map.of("RUNTIME_ROOT", folder.resolve("current").toString(), "RUNTIME_SUBDIRECTORY", "rl");
    assertThat(ServerSettings.of(Map.of(), environment).value(Settings.RULES))
        .containsExactly(config);
    Files.delete(config);
    assertThat(ServerSettings.of(Map.of(), environment).value(Settings.RULES))
        .containsExactly(config.getParent());
  }

  @Test
  void variablesOfAServiceNamedWeir_areNoSettings() {
    ServerSettings settings =
        ServerSettings.of(
            Map.of(),
            Map.of(
                "WEIR_PORT", "tcp://10.0.0.1:8080",
                "WEIR_SERVICE_HOST", "10.0.0.1",
                "WEIR_PORT_8080_TCP", "tcp://10.0.0.1:8080",
                "WEIR_PROT", "1"));
    assertThat(settings.value(Settings.PORT)).contains(8080);
    assertThat(settings.warnings()).containsExactly("WEIR_PROT: not a setting, ignored");
  }

  @Test
  void listsAndTimes_areReadAsWritten() throws IOException {
    Path file = file("rules: [a.yaml, b]\nidle-timeout: 1h30m\nrequest-timeout: 250ms\n");
    ServerSettings settings = ServerSettings.of(Map.of("config", file.toString()));
    assertThat(settings.value(Settings.RULES)).containsExactly(Path.of("a.yaml"), Path.of("b"));
    assertThat(settings.value(Settings.IDLE_TIMEOUT)).isEqualTo(Duration.ofMinutes(90));
    assertThat(settings.value(Settings.REQUEST_TIMEOUT)).isEqualTo(Duration.ofMillis(250));
  }

  @Test
  void store_isReadWithItsOptions() throws IOException {
    Path password = Files.writeString(folder.resolve("password"), "secret\n");
    Path file =
        file(
            "store: redis://ann@h:7000/1\nstore-prefix: shop\nstore-timeout: 250ms\n"
                + "store-replicas: 2\nstore-password-file: "
                + password);
    ServerSettings settings = ServerSettings.of(Map.of("config", file.toString()));
    assertThat(settings.value(Settings.STORE)).get().hasToString("redis://***@h:7000/1");
    assertThat(settings.value(Settings.STORE_PREFIX)).isEqualTo("shop");
    assertThat(settings.value(Settings.STORE_TIMEOUT)).isEqualTo(Duration.ofMillis(250));
    assertThat(settings.value(Settings.STORE_REPLICAS)).isEqualTo(2);
    assertThat(settings.warnings()).isEmpty();
    assertThat(ServerSettings.of(Map.of("store", "Local")).value(Settings.STORE)).isEmpty();
    assertThat(ServerSettings.of(Map.of(), Map.of("WEIR_STORE", "redis://h")).value(Settings.STORE))
        .isPresent();
  }

  @Test
  void throttleStore_followsTheStoreUnlessItIsSaid() {
    ServerSettings shared = ServerSettings.of(Map.of("store", "redis://h"));
    assertThat(shared.sharesThrottle(true)).isTrue();
    assertThat(ServerSettings.defaults().sharesThrottle(false)).isFalse();
    ServerSettings local =
        ServerSettings.of(Map.of("store", "redis://h"), Map.of("WEIR_THROTTLE_STORE", "Local"));
    assertThat(local.sharesThrottle(true)).isFalse();
    assertThat(local.warnings()).isEmpty();
    assertThat(problems(Map.of("throttle-store", "shared"), Map.of()))
        .containsExactly("--throttle-store: shared (expected: local, or --store too)");
    assertThat(problems(Map.of("throttle-store", "redis"), Map.of()))
        .containsExactly("--throttle-store: redis (expected: shared, local)");
    assertThat(ServerSettings.of(Map.of("store", "redis://h", "throttle-max-keys", "7")).warnings())
        .containsExactly("--throttle-max-keys: of no effect without --throttle-store local");
  }

  @Test
  void optionsOfAStoreThatIsNotThere_areWarnedOf() {
    ServerSettings settings =
        ServerSettings.of(Map.of("store-timeout", "1s"), Map.of("WEIR_STORE_PREFIX", "p"));
    assertThat(settings.warnings())
        .containsExactly(
            "WEIR_STORE_PREFIX: has no effect without --store",
            "--store-timeout: has no effect without --store");
  }

  @Test
  void optionsOfAStore_areHeldToTheirBounds() throws IOException {
    assertThat(
            problems(
                Map.of(
                    "store", "redis://h",
                    "store-prefix", "a b",
                    "store-timeout", "2m",
                    "store-replicas", "17"),
                Map.of()))
        .containsExactlyInAnyOrder(
            "--store-prefix: a b (expected: 1..64 of letters, digits, . _ - and :)",
            "--store-timeout: 2m (expected: 1ms..1m, for example 500ms, 10s, 1h30m)",
            "--store-replicas: 17 (expected: 0..16)");
    assertThat(
            problems(
                Map.of(
                    "store", "redis-cluster://h",
                    "store-replicas", "1",
                    "store-timeout", "5s",
                    "idle-timeout", "3s"),
                Map.of()))
        .containsExactly(
            "--store-replicas: 1 (expected: 0 for a cluster)",
            "--store-timeout: 5s (expected: less than --request-timeout, 5s)",
            "--store-timeout: 5s (expected: less than --idle-timeout, 3s)");
    assertThat(problems(Map.of("store", "redis://h", "store-password-file", "nowhere"), Map.of()))
        .containsExactly("--store-password-file: nowhere (expected: a readable file)");
  }

  @Test
  void passwordOfAStore_isNeverShown() throws IOException {
    Path file = file("store: {redis: secret}\nhost: redis://ann:secret@h x\n");
    assertThat(
            problems(
                Map.of("config", file.toString(), "port", "redis://:secret@h"),
                Map.of("WEIR_GRPC_PORT", "redis://:secret", "WEIR_STORE", "http://:secret@h")))
        .hasSize(5)
        .noneMatch(problem -> problem.contains("secret"))
        .contains("--port: redis://***@h (expected: a whole number, 0..65535, or off)");
  }

  @Test
  void storeThatIsNone_isRefused() {
    for (String uri :
        new String[] {"redis", "http://h", "redis://", "redis://h:99999", "redis-sentinel://h"}) {
      assertThat(problems(Map.of("store", uri), Map.of()))
          .singleElement()
          .asString()
          .startsWith("--store: " + uri + " (expected: local, redis://")
          .contains("redis-cluster://host[:port][,host...], or weir://[name=]host:port[,...");
    }
  }

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("weir.yaml"), text);
  }

  private static List<String> problems(Map<String, String> flags, Map<String, String> environment) {
    return catchThrowableOfType(
            SettingsException.class, () -> ServerSettings.of(flags, environment))
        .problems();
  }
}
