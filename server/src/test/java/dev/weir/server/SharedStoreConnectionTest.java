package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.server.internal.log.FewLines;
import dev.weir.server.internal.log.Logs;
import dev.weir.shared.SharedMetrics;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the log lines about a store that comes and goes. */
class SharedStoreConnectionTest {
  private static final RuleSet RULES =
      Objects.requireNonNull(
          Rules.parse(
                  "rules.yaml",
                  """
                  domain: test
                  descriptors:
                    - key: a
                      rate_limit: {unit: minute, requests_per_unit: 3}
                    - key: b
                      rate_limit: {unit: minute, requests_per_unit: 3, store: redis}
                    - key: c
                      rate_limit: {unit: minute, requests_per_unit: 3, on_failure: allow}
                    - key: d
                      rate_limit:
                        {unit: minute, requests_per_unit: 3, on_failure: local, local_share: 50%}
                    - key: e
                      rate_limit: {unit: minute, requests_per_unit: 3, store: local}
                    - key: f
                  """)
              .ruleSet());

  private final FakeTicker ticker = new FakeTicker();
  private final List<String> lines = new ArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord event) {
          lines.add(event.getLevel() + " " + event.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  private final SharedStoreConnection.Warnings warnings =
      new SharedStoreConnection.Warnings(new FewLines(ticker));
  private String problem = "";
  private boolean available;
  private final SharedStoreConnection store =
      new SharedStoreConnection(
          new MemoryStore(),
          new StoreProbe(
              () ->
                  new SharedMetrics(
                      "redis", available, 0, 0, 0, 0, 0, Map.of(), 0, 0, 0, 0, Map.of()),
              () -> problem),
          "redis://h",
          "shared",
          new FewLines(ticker),
          warnings);

  @BeforeEach
  void listen() {
    Logs.LOG.addHandler(handler);
  }

  @AfterEach
  void stopListening() {
    Logs.LOG.removeHandler(handler);
  }

  private void check(boolean now) {
    available = now;
    store.check(RULES);
  }

  @Test
  void everyChange_isSaidOnce() {
    check(false);
    check(false);
    check(true);
    check(true);
    check(false);
    assertThat(lines)
        .containsExactly(
            "WARNING store: redis://h does not decide;"
                + " until it does, rules answer by their on_failure: 2 deny, 1 allow, 1 local",
            "INFO store: redis://h decides",
            lines.get(0));
  }

  @Test
  void whatIsAnsweredWithoutIt_isSaidAtTheStart() {
    store.announce(RULES);
    assertThat(lines)
        .containsExactly(
            "INFO store: while redis://h does not decide, rules answer: 2 deny, 1 allow,"
                + " 1 local; rules without on_failure, and limits that requests bring: deny"
                + " (--on-failure). With envoyproxy/ratelimit, Envoy lets such requests"
                + " pass by default");
  }

  @Test
  void causeIsNamed() {
    problem = "noperm: NOPERM this user has no permissions to run the 'evalsha' command";
    check(false);
    assertThat(lines).hasSize(1);
    assertThat(lines.get(0))
        .startsWith("WARNING store: redis://h does not decide (" + problem + "); until it does, ");
  }

  @Test
  void warnings_haveTheirOwnVoice_andAreKeptUntilTheyCanBeSaid() {
    for (int second = 0; second < 100; second++) {
      check(second % 2 == 0);
    }
    lines.clear();
    for (int i = 0; i < 10; i++) {
      warnings.accept("warning " + i);
    }
    warnings.accept("warning 9");
    assertThat(lines).contains("WARNING store: warning 0").hasSizeLessThan(10);
    for (int minute = 0; minute < 10; minute++) {
      ticker.advance(Duration.ofMinutes(1));
      store.check(RULES);
    }
    for (int i = 0; i < 10; i++) {
      assertThat(lines).contains("WARNING store: warning " + i);
    }
    assertThat(lines).doesNotHaveDuplicates();
  }

  @Test
  void storeThatIsThereFromTheStart_isSaidToo() {
    check(true);
    check(true);
    assertThat(lines).containsExactly("INFO store: redis://h decides");
  }

  @Test
  void storeThatComesAndGoes_doesNotFillTheLog() {
    for (int second = 0; second < 3_600; second++) {
      check(second % 2 == 0);
      ticker.advance(Duration.ofSeconds(1));
    }
    assertThat(lines).hasSizeBetween(100, 130);
    String last = lines.get(lines.size() - 1);
    check(last.startsWith("WARNING"));
    ticker.advance(Duration.ofMinutes(1));
    check(available);
    assertThat(lines.get(lines.size() - 1))
        .as("what it is at last is said")
        .contains(available ? " decides" : "does not decide");
  }

  @Test
  void linesLeftOut_areCounted() {
    FewLines few = new FewLines(ticker);
    int written = 0;
    for (int i = 0; i < 1_000; i++) {
      written += few.write(Level.INFO, "line") ? 1 : 0;
    }
    ticker.advance(Duration.ofMinutes(1));
    few.write(Level.INFO, "next");
    assertThat(written).isBetween(1, 10);
    assertThat(lines).hasSize(written + 1);
    assertThat(lines.get(written))
        .isEqualTo("INFO next (" + (1_000 - written) + " earlier lines left out)");
  }
}
