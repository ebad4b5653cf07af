package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.config.rows.Tree;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ranges of values, and error messages with the value and what was expected. */
class ValuesTest {
  private static void refused(Runnable making, String message) {
    assertThatIllegalArgumentException().isThrownBy(making::run).withMessage(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rules.txt",
        ".yaml",
        ".hidden.yaml",
        "../a.yaml",
        "a/b.yaml",
        "a\\b.yaml",
        "a",
        "a\n.yaml"
      })
  void namesThatAreNoRuleFile_areRefused(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tree.of(Map.of(name, "")))
        .withMessageStartingWith("file: ");
  }

  @Test
  void treeOfSameFiles_hasSameHash() {
    Tree one = Tree.of(Map.of("a.yaml", "1", "b.yml", "2"));
    assertThat(one.hash()).isEqualTo(Tree.of(Map.of("b.yml", "2", "a.yaml", "1")).hash());
    assertThat(one.hash()).isNotEqualTo(Tree.of(Map.of("a.yaml", "2", "b.yml", "1")).hash());
  }

  @Test
  void subjectsOutOfRange_areRefused() {
    refused(() -> new Subject("", "k", "v"), "domain: 0 bytes (expected: 1..1024 bytes in UTF-8)");
    refused(() -> new Subject("a\0b", "k", "v"), "domain: a?b (expected: no control characters)");
    refused(
        () -> new Subject("d", "k", "\ud800"), "value: half a surrogate pair (expected: Unicode)");
    refused(
        () -> new Subject("d", "k", "é".repeat(2_049)),
        "value: 4098 bytes (expected: 0..4096 bytes in UTF-8)");
  }

  @Test
  void limitsOutOfRange_areRefused() {
    refused(() -> OwnLimit.of("r", -1), "requests_per_unit: -1 (expected: 0..4294967295)");
    refused(
        () -> new OwnLimit("r", 1, Duration.ofNanos(5), null, null),
        "window: PT0.000000005S (expected: whole milliseconds, more than none, at most 366 days)");
    refused(
        () -> new OwnLimit("r", 1, null, null, Instant.ofEpochSecond(1, 1)),
        "until: 1970-01-01T00:00:01.000000001Z (expected: whole seconds, from 1970 to 9999)");
    refused(
        () ->
            SubjectRecord.ofLimits(
                new Subject("d", "k", "v"), OwnLimit.of("r", 1), OwnLimit.of("r", 2)),
        "limits: r twice (expected: each rule once)");
  }

  @Test
  void changeWithoutReason_isRefused() {
    refused(() -> Cause.of("ops", ""), "reason: 0 bytes (expected: 3..500 bytes in UTF-8)");
  }

  @Test
  void addresses_haveSchemePlaceAndOptions() {
    StoreAddress address = StoreAddress.parse("RocksDB:/var/a b?cache=64MB&x=", "secret");
    assertThat(address.scheme()).isEqualTo("rocksdb");
    assertThat(address.place()).isEqualTo("/var/a b");
    assertThat(address.options()).isEqualTo(Map.of("cache", "64MB", "x", ""));
    assertThat(address.toString()).isEqualTo("rocksdb:/var/a b");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> address.requireOptions(Set.of("cache", "min-free")))
        .withMessage("option: x (expected: cache, min-free)");
    assertThatIllegalArgumentException().isThrownBy(() -> StoreAddress.parse("data", ""));
    assertThatIllegalArgumentException().isThrownBy(() -> StoreAddress.parse("a:b?c", ""));
  }

  @Test
  void addressOfNoProvider_isRefusedWithThoseThatAreThere() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ConfigStores.open("mongodb://h"))
        .withMessage(
            "configuration store: mongodb://h (expected: memory:; others need their module on the"
                + " class path)");
    assertThatIllegalArgumentException().isThrownBy(() -> ConfigStores.open("memory:x"));
    try (ConfigStore store = ConfigStores.open("memory:")) {
      assertThat(store.head().revision()).isZero();
      assertThat(store.list("d", "k", "", null, 1).found()).isEqualTo(Map.of());
      assertThat(store.write(List.of(), Cause.of("a", "none"))).isEmpty();
    }
  }

  @Test
  void addressWithAPassword_isRefusedWithoutIt() {
    for (String address :
        new String[] {
          "mongodb://user:secret@host/db",
          "mongodb://user:sec/ret:secret@host/db",
          "mongodb://user@host/db?password=secret",
          "postgresql://user:secret@host/db?x",
          "postgresql://user@host/db?password=secret&x"
        }) {
      assertThatIllegalArgumentException()
          .as(address)
          .isThrownBy(() -> ConfigStores.open(address))
          .satisfies(e -> assertThat(e).hasMessageNotContaining("secret"))
          .withMessageContaining("(expected: ");
    }
  }
}
