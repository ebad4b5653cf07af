package dev.weir.config.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.weir.Ticker;
import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.RecordWrite;
import dev.weir.config.StoreAddress;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.etcd.FakeEtcd.Fault;
import dev.weir.config.follow.DateClock;
import dev.weir.config.rows.Items;
import dev.weir.config.rows.Items.State;
import dev.weir.testkit.Ports;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The effects of a failing etcd on a store, and error messages of one line. */
class EtcdFailureTest {
  private static final String PATIENT = "?timeout=60s";

  private static final Cause CAUSE = Cause.of("test", "a test");

  private final FakeEtcd etcd = FakeEtcd.start();

  @AfterEach
  void stop() {
    etcd.close();
  }

  private ConfigStore open() {
    return ConfigStores.open("etcd://" + etcd.host() + PATIENT);
  }

  /** Opens a store with a timeout of one second, which a busy machine may exceed. */
  private ConfigStore openHasty() {
    for (int left = 7; ; left--) {
      try {
        return ConfigStores.open("etcd://" + etcd.host() + "?timeout=1s");
      } catch (ConfigException e) {
        if (left == 0) {
          throw e;
        }
      }
    }
  }

  private static long write(ConfigStore store, String value) {
    SubjectRecord record = SubjectRecord.ofPlan(new Subject("shop", "user", value), "gold");
    List<Change> changes = store.write(List.of(RecordWrite.put(record, RecordWrite.ABSENT)), CAUSE);
    return changes.get(0).number();
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertFails(
      Kind kind, ThrowingCallable call) {
    AbstractThrowableAssert<?, ? extends Throwable> thrown =
        assertThatThrownBy(call)
            .isInstanceOfSatisfying(
                ConfigException.class, e -> assertThat(e.kind()).as(e.getMessage()).isEqualTo(kind))
            .hasMessageStartingWith("etcd://")
            .hasMessageContaining("(expected: ");
    thrown.message().hasLineCount(1);
    return thrown;
  }

  private static String unusedHost() {
    return "127.0.0.1:" + Ports.free();
  }

  @Test
  void faults_areTheKindsThatTheyAre() {
    try (ConfigStore store = open();
        ConfigStore hasty = openHasty()) {
      write(store, "a");
      etcd.fault = Fault.NO_SPACE;
      assertThat(store.head().position()).isEqualTo(1);
      assertFails(Kind.FULL, () -> write(store, "b"))
          .hasMessageContaining("database space exceeded (expected: room in etcd's quota");
      etcd.fault = Fault.NO_LEADER;
      assertFails(Kind.UNAVAILABLE, store::head).hasMessageContaining("etcdserver: no leader");
      etcd.fault = Fault.NOT_ETCD;
      assertFails(Kind.UNAVAILABLE, store::head)
          .hasMessageContaining("(expected: etcd 3.4 or newer)");
      etcd.fault = Fault.NO_BODY;
      assertFails(Kind.UNAVAILABLE, store::head)
          .hasMessageContaining("HTTP 503, no object (expected: etcd 3.4 or newer)");
      etcd.fault = Fault.NOT_FOUND_TEXT;
      assertFails(Kind.UNAVAILABLE, store::head)
          .hasMessageContaining("HTTP 404, ")
          .hasMessageContaining("(expected: etcd 3.4 or newer)");
      etcd.fault = Fault.SILENT;
      assertFails(Kind.UNAVAILABLE, hasty::head).hasMessageContaining("no answer within 1 s");
      etcd.fault = Fault.CUT;
      assertFails(Kind.UNAVAILABLE, () -> write(store, "c"));
      etcd.fault = Fault.NONE;
      assertThat(write(store, "d")).isEqualTo(2);
      assertThat(ChangeLog.verify(store).ok()).isTrue();
    }
  }

  @Test
  void closedStore_isUnavailable() {
    ConfigStore store = open();
    store.close();
    assertFails(Kind.UNAVAILABLE, store::head).hasMessageContaining("closed");
  }

  @Test
  void severalHosts_oneThatAnswersIsUsed() throws Exception {
    String address = "etcd://" + unusedHost() + "," + etcd.host() + PATIENT;
    try (ConfigStore store = ConfigStores.open(address)) {
      assertThat(write(store, "a")).isEqualTo(1);
    }
    assertFails(Kind.UNAVAILABLE, () -> ConfigStores.open("etcd://" + unusedHost() + PATIENT))
        .hasMessageContaining("connection refused (expected: etcd that listens there)");
    assertFails(Kind.UNAVAILABLE, () -> ConfigStores.open("etcd://no-such-host.invalid"))
        .hasMessageContaining("no such host");
  }

  @Test
  void memberWithoutLeader_isPassedOverByReadsOnly() {
    StoreAddress address = StoreAddress.parse("etcd://" + etcd.host() + PATIENT, "");
    try (FakeEtcd other = FakeEtcd.start()) {
      other.fault = Fault.NO_LEADER;
      StoreAddress both =
          StoreAddress.parse("etcd://" + other.host() + "," + etcd.host() + PATIENT, "");
      State one = new State(1, "");
      try (Items items = items(both)) {
        assertFails(Kind.UNAVAILABLE, () -> items.transact(State.NONE, one, List.of()))
            .hasMessageContaining("etcdserver: no leader");
        assertThat(items.state()).isEqualTo(State.NONE);
        // The second member has answered, and is called first from now on.
        assertThat(items.transact(State.NONE, one, List.of())).isTrue();
      }
      try (Items items = items(address)) {
        assertThat(items.state()).isEqualTo(one);
      }
    }
  }

  private static Items items(StoreAddress address) {
    return new EtcdItems(EtcdSettings.of(address), Ticker.system(), Ticker.wall());
  }

  @Test
  void user_isAskedForAndTokensAreRenewed() {
    etcd.password = "right";
    assertFails(Kind.UNAVAILABLE, () -> open())
        .hasMessageContaining("user name is empty (expected: a user and password");
    String address = "etcd://root@" + etcd.host() + PATIENT;
    assertFails(Kind.UNAVAILABLE, () -> ConfigStores.open(address, "wrong"))
        .hasMessageContaining("authentication failed")
        .hasMessageNotContaining("wrong");
    try (ConfigStore store = ConfigStores.open(address, "right")) {
      assertThat(write(store, "a")).isEqualTo(1);
      etcd.forget();
      assertThat(write(store, "b")).isEqualTo(2);
    }
  }

  @Test
  void marksOfDeletedRecords_goWithTheirLease() {
    try (ConfigStore store = open()) {
      List<RecordWrite> deletions =
          IntStream.range(0, 150)
              .mapToObj(i -> RecordWrite.delete(new Subject("shop", "user", "u" + i), 0))
              .toList();
      for (int i = 0; i < 150; i++) {
        write(store, "u" + i);
      }
      long before = etcd.count();
      List<Change> changes =
          store.write(
              deletions.stream()
                  .map(each -> RecordWrite.delete(each.subject(), RecordWrite.ANY))
                  .toList(),
              CAUSE);
      assertThat(changes).hasSize(150);
      assertThat(etcd.count()).isEqualTo(before + 150); // The changes; each mark replaces its row.
      etcd.forget();
      assertThat(etcd.count()).isEqualTo(before);
      assertThat(store.list("shop", "user", "", null, 10).found()).isEmpty();
      // The lease that was used before is gone; the store must get another one.
      write(store, "v");
      RecordWrite again = RecordWrite.delete(new Subject("shop", "user", "v"), RecordWrite.ANY);
      assertFails(Kind.UNAVAILABLE, () -> store.write(List.of(again), CAUSE));
      assertThat(store.write(List.of(again), CAUSE)).hasSize(1);
    }
  }

  @Test
  void keysOfAnotherProgram_areDamaged() {
    try (ConfigStore store = open()) {
      write(store, "a");
    }
    StoreAddress address = StoreAddress.parse("etcd://" + etcd.host() + PATIENT, "");
    Gateway gateway = new Gateway(EtcdSettings.of(address), new DateClock(Ticker.wall()));
    JsonNode unused =
        gateway.write(
            "/v3/kv/put",
            Map.of("key", "/weir/state".getBytes(UTF_8), "value", "x".getBytes(UTF_8)));
    assertFails(
            Kind.DAMAGED,
            () -> {
              try (ConfigStore store = open()) {
                write(store, "b");
              }
            })
        .hasMessageContaining("state that cannot be read");
  }

  @Test
  void badAddresses_areRefusedWithoutWhatMayBeAPassword() {
    for (String address :
        List.of(
            "etcd:",
            "etcd://",
            "etcd://user:secret@host",
            "etcd://user@host",
            "etcd://host,",
            "etcd://host:0",
            "etcd://host:65536",
            "etcd://host?prefix=weir",
            "etcd://host?tls=yes",
            "etcd://host?tls=off&cafile=a",
            "etcd://host?cafile=/no/such/file",
            "etcd://host?timeout=0s",
            "etcd://host?timeout=61s",
            "etcd://host?x=1")) {
      assertThatIllegalArgumentException()
          .as(address)
          .isThrownBy(() -> ConfigStores.open(address))
          .withMessageContaining("(expected: ")
          .satisfies(e -> assertThat(e).hasMessageNotContaining("secret"));
    }
    EtcdSettings settings =
        EtcdSettings.of(StoreAddress.parse("etcd://u@[::1],b:1?prefix=/a/&tls=on", "secret"));
    assertThat(settings.hosts()).containsExactly("[::1]:2379", "b:1");
    assertThat(settings.toString()).isEqualTo("etcd://[::1]:2379,b:1/a/");
  }
}
