package dev.weir.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.FailureMode;
import dev.weir.Fingerprint;
import dev.weir.Reason;
import dev.weir.client.internal.lease.Counters;
import dev.weir.client.internal.lease.Flight;
import dev.weir.client.internal.lease.Key;
import dev.weir.client.internal.lease.Keys;
import dev.weir.client.internal.lease.LeasingDecider;
import dev.weir.client.internal.lease.Refunds;
import dev.weir.client.internal.wire.Service;
import dev.weir.client.internal.wire.ServiceLog;
import dev.weir.client.internal.wire.Wire;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.Code;
import dev.weir.protocol.v1.WeirProto.DescriptorLease;
import dev.weir.protocol.v1.WeirProto.DescriptorStatus;
import dev.weir.protocol.v1.WeirProto.Grant;
import dev.weir.protocol.v1.WeirProto.LeaseAsk;
import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.shared.Clocks;
import dev.weir.testkit.FakeTicker;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Tests of the bytes that a client keeps of requests, whose texts and number their senders choose.
 */
class KeptBytesTest {
  /** The most garbage collections in which weak references must be cleared. */
  private static final int COLLECTIONS = 20;

  /** The length of the longest text, twice that which a server takes. */
  private static final int LONGEST = 8_192;

  private static final int MOST_KEYS = 1_000;

  private final FakeTicker time = new FakeTicker(1_800_000_000_000_000_000L);
  private final Clocks clocks = new Clocks(time, time);
  private final Counters counters = new Counters();
  private final HeldWire wire = new HeldWire();

  /** A service that answers at the test's command. */
  private static final class HeldWire implements Wire {
    private final List<LeaseRequest> requests = new ArrayList<>();
    private final List<Reply> replies = new ArrayList<>();

    @Override
    public void send(LeaseRequest message, Reply reply) {
      requests.add(message);
      replies.add(reply);
    }

    @Override
    public void reset() {}

    @Override
    public void close() {}

    /**
     * Answers all messages, also those that are sent meanwhile: each lease request with the given
     * answer.
     */
    void answer(CheckResult result, @Nullable DescriptorLease lease) {
      while (!requests.isEmpty()) {
        LeaseResponse.Builder response = LeaseResponse.newBuilder().setRevision(1);
        for (LeaseAsk ask : requests.remove(0).getAsksList()) {
          Grant.Builder grant = Grant.newBuilder().setId(ask.getId()).setResult(result);
          response.addGrants(lease == null ? grant : grant.addLeases(lease));
        }
        replies.remove(0).answered(response.build());
      }
    }
  }

  private static CheckResult result(boolean allowed) {
    return CheckResult.newBuilder()
        .setAllowed(allowed)
        .addStatuses(
            DescriptorStatus.newBuilder()
                .setCode(allowed ? Code.CODE_OK : Code.CODE_OVER_LIMIT)
                .setReason(
                    allowed
                        ? dev.weir.protocol.v1.WeirProto.Reason.REASON_WITHIN_LIMIT
                        : dev.weir.protocol.v1.WeirProto.Reason.REASON_OVER_LIMIT)
                .setPolicy("per-user")
                .setLimit(1)
                .setWindowMs(60_000)
                .setAlgorithm("sliding-window")
                .setRetryAfterMs(60_000))
        .build();
  }

  private LeasingDecider client(long mostBytes) {
    Service service = new Service(wire, clocks, 1_000_000_000L, counters, new ServiceLog("test"));
    LeasingDecider client =
        new LeasingDecider(
            List.of(service),
            clocks,
            1_000_000_000L,
            FailureMode.DENY,
            counters,
            new LeasingDecider.Bounds(MOST_KEYS, mostBytes));
    client.start();
    wire.answer(result(true), null); // The first message is a probe without lease requests.
    return client;
  }

  private static String longest(int i) {
    return String.format("%0" + LONGEST + "d", i);
  }

  private static Request request(int i) {
    return Request.of("test", "user", longest(i));
  }

  private WeakReference<String> refused(LeasingDecider client, int i) {
    String value = longest(i);
    List<Answer> answers = new ArrayList<>();
    client.decide(Request.of("test", "user", value), answers::add);
    wire.answer(
        result(false),
        DescriptorLease.newBuilder().setRefuseForMs(30_000).setRefusePermits(1).build());
    assertThat(answers).hasSize(1).noneMatch(Answer::allowed);
    return new WeakReference<>(value);
  }

  @Test
  void rememberedDenials_keepNoTexts() {
    LeasingDecider client = client(Long.MAX_VALUE);
    List<WeakReference<String>> texts = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      texts.add(refused(client, i));
    }
    for (int i = 0; i < COLLECTIONS && !texts.isEmpty(); i++) {
      System.gc();
      texts.removeIf(text -> text.get() == null);
    }
    assertThat(texts.size()).as("texts still in memory").isZero();
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      client.decide(request(i), answers::add);
    }
    assertThat(answers).as("without a call").hasSize(200).noneMatch(Answer::allowed);
    assertThat(counters.refusedLocally.sum()).isEqualTo(200);
    client.close();
  }

  @Test
  void keysWithTheSamePartsElsewhere_areOthers() {
    Keys keys = new Keys(Fingerprint.random(), Fingerprint.random(), MOST_KEYS);
    Flight.Desk desk = client(Long.MAX_VALUE);
    Descriptor[] descriptors = {
      new Descriptor(List.of(), null, null),
      Descriptor.of("a", "b"),
      Descriptor.of("a", "bc"),
      Descriptor.of("ab", "c"),
      Descriptor.of("a", "b", "c", "d"),
      Descriptor.of("a", "b", "d", "c"),
      Descriptor.of("", "")
    };
    List<@Nullable Key> made = new ArrayList<>();
    for (String domain : new String[] {"one", "two", "x".repeat(100)}) {
      for (Descriptor descriptor : descriptors) {
        assertThat(keys.find(domain, descriptor)).isNull();
        Key key = keys.obtain(domain, descriptor, desk);
        assertThat(keys.find(domain, descriptor)).isNotNull().isSameAs(key);
        made.add(key);
      }
    }
    assertThat(made).doesNotHaveDuplicates().doesNotContainNull();
  }

  @Test
  void keysThatShareTheFirstFingerprint_areToldApartByTheSecond() {
    Fingerprint same = Fingerprint.seeded(1, 2);
    Keys keys = new Keys(same, Fingerprint.random(), MOST_KEYS);
    Keys others = new Keys(same, Fingerprint.random(), MOST_KEYS);
    Flight.Desk desk = client(Long.MAX_VALUE);
    Descriptor descriptor = Descriptor.of("user", "a");
    Key one = Objects.requireNonNull(keys.obtain("test", descriptor, desk));
    Key two = Objects.requireNonNull(others.obtain("test", descriptor, desk));
    assertThat(one.hash).isEqualTo(two.hash);
    assertThat(one.check).isNotEqualTo(two.check);
  }

  @Test
  void keys_areBounded() {
    LeasingDecider client = client(Long.MAX_VALUE);
    for (int i = 0; i < 3 * MOST_KEYS; i++) {
      WeakReference<String> unused = refused(client, i);
    }
    int known = 0;
    for (int i = 0; i < 3 * MOST_KEYS; i++) {
      long before = counters.refusedLocally.sum();
      client.decide(request(i), answer -> {});
      known += (int) (counters.refusedLocally.sum() - before);
    }
    assertThat(known).isBetween(1, MOST_KEYS);
    client.close();
  }

  @Test
  void leasesThatAreSpent_keepNothingWhenTheirKeysAreForgotten() {
    LeasingDecider client = client(Long.MAX_VALUE);
    for (int i = 0; i < 5 * MOST_KEYS; i++) {
      List<Answer> answers = new ArrayList<>();
      client.decide(request(i), answers::add);
      wire.answer(
          result(true),
          DescriptorLease.newBuilder()
              .setLease(i + 1)
              .setPermits(1)
              .setLifeUs(3_600_000_000L)
              .setLeased(true)
              .build());
      client.decide(request(i), answers::add);
      assertThat(answers).hasSize(2).allMatch(Answer::allowed);
    }
    assertThat(counters.admittedLocally.sum()).isEqualTo(5 * MOST_KEYS);
    assertThat(client.endings().size()).isLessThanOrEqualTo(MOST_KEYS);
    client.close();
  }

  @Test
  void requestsThatAreAsked_areBoundedInBytes() {
    long most = 100 * request(0).memoryBytes();
    LeasingDecider client = client(most);
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      client.decide(request(i), answers::add);
    }
    assertThat(answers).isEmpty();
    client.decide(request(100), answers::add);
    assertThat(answers).hasSize(1).noneMatch(Answer::allowed);
    assertThat(answers.get(0).reason()).isEqualTo(Reason.OVERLOADED);
    wire.answer(result(true), null);
    assertThat(answers).hasSize(101);
    client.decide(request(100), answers::add);
    wire.answer(result(true), null);
    assertThat(answers).hasSize(102);
    assertThat(answers.get(101).allowed()).isTrue();
    client.close();
  }

  @Test
  void message_isSmallerThanAServerTakes() {
    LeasingDecider client = client(Long.MAX_VALUE);
    for (int i = 0; i < 1_000; i++) {
      client.decide(request(i), answer -> {});
    }
    assertThat(wire.requests).isNotEmpty();
    while (!wire.requests.isEmpty()) {
      assertThat(wire.requests.get(0).getSerializedSize()).isLessThan(1 << 19);
      LeaseRequest first = wire.requests.get(0);
      assertThat(first.getAsksCount()).isPositive();
      wire.answer(result(true), null);
    }
    assertThat(counters.asked.sum()).isEqualTo(1_000);
    client.close();
  }

  @Test
  void answersThatMayBeRefunded_areBoundedByTheirStatuses() {
    Refunds refunds = new Refunds();
    int each = 128;
    Service service = new Service(wire, clocks, 1_000_000_000L, counters, new ServiceLog("test"));
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      Status status = new Status(true, null, null, null, i, 0);
      Answer answer = Answer.of(true, Collections.nCopies(each, status), null, 1);
      answers.add(answer);
      refunds.add(answer, service, i + 1);
    }
    int kept = Refunds.MOST / each;
    assertThat(refunds.take(answers.get(1_000 - kept - 1))).isNull();
    for (int i = 1_000 - kept; i < 1_000; i++) {
      assertThat(refunds.take(answers.get(i))).isEqualTo(new Refunds.Charge(service, i + 1));
      assertThat(refunds.take(answers.get(i))).isNull();
    }
    Answer last = answers.get(0);
    refunds.add(last, service, 7);
    assertThat(refunds.take(last)).isEqualTo(new Refunds.Charge(service, 7));
    time.advance(Duration.ofSeconds(1));
    service.close();
  }
}
