package dev.weir.engine.internal.subjects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.FakeRecords;
import dev.weir.engine.Fixture;
import dev.weir.engine.LimitOrigin;
import dev.weir.engine.OneNumberStore;
import dev.weir.engine.RulesException;
import dev.weir.engine.Status;
import dev.weir.engine.SubjectLimits;
import dev.weir.engine.SubjectMetrics;
import dev.weir.engine.SubjectSettings;
import dev.weir.engine.internal.matching.RuleNumbers;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rules whose number depends on a subject. */
class SubjectsTest {
  private static final String RULES =
      """
      domain: shop
      plans:
        gold:
          user-minute: {requests_per_unit: 50}
          user-hour: {unlimited: true}
        other: {}
      descriptors:
        - key: user
          rate_limit: {name: user-minute, unit: minute, requests_per_unit: 3, by: user}
          descriptors:
            - key: path
              rate_limit: {name: user-hour, unit: hour, requests_per_unit: 2, by: user}
        - key: pass
          rate_limit: {unit: minute, requests_per_unit: 3, by: pass, on_failure: allow}
        - key: local
          rate_limit: {unit: minute, requests_per_unit: 3, by: local, on_failure: deny}
        - key: quick
          rate_limit: {unit: minute, requests_per_unit: 3, by: quick, unknown: rule}
        - key: strict
          rate_limit: {unit: minute, requests_per_unit: 3, by: strict, unknown: deny}
        - key: closed
          rate_limit:
            {unit: minute, requests_per_unit: 3, by: closed, unknown: deny, on_failure: allow}
        - key: closed-quota
          quota_mode: true
          rate_limit:
            unit: minute
            requests_per_unit: 3
            by: closed-quota
            unknown: deny
            on_failure: allow
        - key: shadow
          shadow_mode: true
          rate_limit: {unit: minute, requests_per_unit: 3, by: shadow}
        - key: quota
          quota_mode: true
          rate_limit: {unit: minute, requests_per_unit: 3, by: quota}
        - key: free
          quota_mode: true
          rate_limit: {unit: minute, requests_per_unit: 1}
        - key: ip
          rate_limit: {unit: minute, requests_per_unit: 2}
      """;

  private static final Request ALICE = Request.of("shop", "user", "alice");
  private static final Duration WAIT = Duration.ofMillis(50);

  private final FakeTicker ticker = new FakeTicker(1_000_000_000_000L);
  private final FakeRecords records = new FakeRecords();
  private Engine engine = engine(SubjectSettings.DEFAULTS);
  private final List<Answer> heard = Collections.synchronizedList(new ArrayList<>());

  private Engine engine(SubjectSettings settings) {
    MemoryStore store = new MemoryStore(10_000);
    Engine made = Engine.builder(store).ticker(ticker).subjects(records, settings).build();
    made.apply(Fixture.rules(RULES));
    return made;
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private int admitted(Request request, int asks) {
    int admitted = 0;
    for (int i = 0; i < asks; i++) {
      admitted += engine.decide(request).allowed() ? 1 : 0;
    }
    return admitted;
  }

  private static CurrentLimit limit(Answer answer) {
    return Objects.requireNonNull(answer.statuses().get(0).currentLimit());
  }

  private static Request both(String... keysAndValues) {
    List<Descriptor> descriptors = new ArrayList<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      descriptors.add(Descriptor.of(keysAndValues[i], keysAndValues[i + 1]));
    }
    return new Request("shop", descriptors, 1);
  }

  private void request(Request request) {
    engine.decide(request, heard::add);
  }

  private Answer only() {
    assertThat(heard).hasSize(1);
    return heard.get(0);
  }

  // The number that counts.

  @Test
  void subjectWithoutRecord_hasTheRulesNumber() {
    records.put("alice", SubjectLimits.NONE);
    Answer answer = engine.decide(ALICE);
    assertThat(limit(answer).requestsPerUnit()).isEqualTo(3);
    assertThat(limit(answer).origin()).isEqualTo(LimitOrigin.RULE);
    assertThat(admitted(ALICE, 9)).isEqualTo(2);
  }

  @Test
  void subjectWithAPlan_hasThePlansNumber_andTheAnswerSaysSo() {
    records.put("alice", FakeRecords.plan("gold"));
    Answer answer = engine.decide(ALICE);
    assertThat(limit(answer).requestsPerUnit()).isEqualTo(50);
    assertThat(limit(answer).origin()).hasToString("plan gold");
    assertThat(limit(answer).name()).isEqualTo("user-minute");
    assertThat(limit(answer).unit()).isEqualTo(RateLimitUnit.MINUTE);
    assertThat(answer.statuses().get(0).limitRemaining()).isEqualTo(49);
    assertThat(admitted(ALICE, 99)).isEqualTo(49);
  }

  @Test
  void ownLimit_comesBeforeThePlan_andTheRequestsLimitBeforeBoth() {
    records.put(
        "alice", new SubjectLimits("gold", Map.of("user-minute", new SubjectLimits.OwnLimit(7))));
    Answer own = engine.decide(ALICE);
    assertThat(limit(own).requestsPerUnit()).isEqualTo(7);
    assertThat(limit(own).origin()).isEqualTo(LimitOrigin.OWN);
    assertThat(admitted(ALICE, 99)).isEqualTo(6);

    Descriptor bringing =
        new Descriptor(
            List.of(new Entry("user", "alice")), new LimitOverride(5, RateLimitUnit.MINUTE), null);
    Answer brought = engine.decide(new Request("shop", List.of(bringing), 1));
    assertThat(limit(brought).requestsPerUnit()).isEqualTo(5);
    assertThat(limit(brought).origin()).isEqualTo(LimitOrigin.REQUEST);
  }

  @Test
  void planThatIsUnlimitedForARule_neverRefuses() {
    records.put("alice", FakeRecords.plan("gold"));
    Request hour = Request.of("shop", "user", "alice", "path", "/");
    assertThat(admitted(hour, 100)).isEqualTo(100);
    Status status = engine.decide(hour).statuses().get(0);
    assertThat(status.limitRemaining()).isEqualTo(Status.UNLIMITED);
    assertThat(status.currentLimit()).isNull();
    assertThat(Objects.requireNonNull(status.rule()).name()).isEqualTo("user-hour");
  }

  @Test
  void planThatSaysNothingForTheRule_leavesTheRulesNumber_andAMissingPlanIsCounted() {
    records.put("alice", FakeRecords.plan("other"));
    assertThat(limit(engine.decide(ALICE)).requestsPerUnit()).isEqualTo(3);
    assertThat(engine.subjectMetrics().plansMissing()).isZero();
    records.put("alice", FakeRecords.plan("silver"));
    assertThat(limit(engine.decide(ALICE)).requestsPerUnit()).isEqualTo(3);
    assertThat(engine.subjectMetrics().plansMissing()).isEqualTo(1);
  }

  @Test
  void ownLimitOfZero_refusesAll_andLeavesOthersAlone() {
    records.put("alice", FakeRecords.own("user-minute", 0));
    records.put("bob", SubjectLimits.NONE);
    assertThat(admitted(ALICE, 5)).isZero();
    assertThat(admitted(Request.of("shop", "user", "bob"), 5)).isEqualTo(3);
  }

  @Test
  void ownLimitThatTheRuleCannotHave_isCountedAndPassedOver() {
    engine.apply(
        Fixture.rules(
            """
            domain: shop
            descriptors:
              - key: user
                rate_limit: {unit: minute, requests_per_unit: 100, by: user, throttle: {soft: 5%}}
            """));
    records.put(
        "alice",
        new SubjectLimits(null, Map.of("shop.user", new SubjectLimits.OwnLimit((1L << 32) - 1))));
    assertThat(limit(engine.decide(ALICE)).requestsPerUnit()).isEqualTo(100);
    assertThat(engine.subjectMetrics().limitsRefused()).isEqualTo(1);
  }

  @Test
  void raise_endsByItself_atItsInstant() {
    long until = ticker.nanos() + Duration.ofSeconds(10).toNanos();
    records.put(
        "alice",
        new SubjectLimits(null, Map.of("user-minute", new SubjectLimits.OwnLimit(10, until))));
    assertThat(admitted(ALICE, 5)).isEqualTo(5);
    ticker.set(until - 1);
    assertThat(limit(engine.decide(ALICE)).requestsPerUnit()).isEqualTo(10);
    ticker.set(until);
    Answer after = engine.decide(ALICE);
    assertThat(after.allowed()).as("6 of 3 are used").isFalse();
    assertThat(limit(after).requestsPerUnit()).isEqualTo(3);
    assertThat(records.asked).isEmpty();
  }

  @Test
  void moreOwnNumbersThanAreRemembered_areStillRight() {
    for (int i = 1; i <= RuleNumbers.MAX_REMEMBERED + 100; i++) {
      records.put("u" + i, FakeRecords.own("user-minute", i));
      Answer answer = engine.decide(Request.of("shop", "user", "u" + i));
      assertThat(limit(answer).requestsPerUnit()).isEqualTo(i);
      assertThat(answer.statuses().get(0).limitRemaining()).isEqualTo(i - 1);
    }
  }

  @Test
  void oneSubjectInSeveralDescriptors_isLookedUpOnce() {
    records.put("alice", FakeRecords.plan("gold"));
    Request request =
        new Request(
            "shop",
            List.of(
                Descriptor.of("user", "alice"),
                Descriptor.of("user", "alice", "path", "/a"),
                Descriptor.of("user", "alice", "path", "/b")),
            1);
    assertThat(engine.decide(request).allowed()).isTrue();
    assertThat(records.finds).hasValue(1);
  }

  @Test
  void ruleWithoutBy_looksNothingUp() {
    assertThat(admitted(Request.of("shop", "ip", "1.2.3.4"), 9)).isEqualTo(2);
    assertThat(records.finds).hasValue(0);
  }

  @Test
  void engineWithoutRecords_hasTheRulesNumberForAll() {
    Fixture plain = new Fixture(RULES);
    assertThat(plain.engine.decide(ALICE).statuses().get(0).limitRemaining()).isEqualTo(2);
  }

  // The number is not known yet.

  @Test
  void unknownSubject_waits_andIsDecidedByWhatIsLoaded() {
    request(ALICE);
    assertThat(heard).isEmpty();
    assertThat(engine.subjectMetrics().waiting()).isEqualTo(1);
    ticker.advance(WAIT.minusNanos(1));
    assertThat(heard).isEmpty();
    records.answer(FakeRecords.plan("gold"));
    assertThat(limit(only()).requestsPerUnit()).isEqualTo(50);
    assertThat(only().allowed()).isTrue();
    ticker.advance(WAIT);
    assertThat(heard).hasSize(1);
    assertThat(engine.subjectMetrics().waiting()).isZero();
    assertThat(engine.metrics().requests()).isEqualTo(1);
  }

  @Test
  void sourceThatKeepsNothing_isBelievedAllTheSame() {
    request(ALICE);
    Objects.requireNonNull(records.asked.poll()).done().accept(FakeRecords.plan("gold"));
    assertThat(limit(only()).requestsPerUnit()).isEqualTo(50);
  }

  @Test
  void sourceThatNeverAnswers_isAnsweredForAfterTheStatedTime() {
    request(ALICE);
    request(Request.of("shop", "pass", "p"));
    ticker.advance(WAIT.minusNanos(1));
    assertThat(heard).isEmpty();
    ticker.advance(1);
    assertThat(heard).hasSize(2);
    assertThat(heard.get(0).allowed()).isFalse();
    assertThat(heard.get(0).reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(heard.get(1).allowed()).as("on_failure: allow").isTrue();
    assertThat(heard.get(1).reason()).isEqualTo(Reason.UNCERTAIN);
    SubjectMetrics metrics = engine.subjectMetrics();
    assertThat(metrics.loads()).isEqualTo(2);
    assertThat(metrics.late()).isEqualTo(2);
    assertThat(metrics.uncertain()).isEqualTo(2);
    assertThat(metrics.waiting()).isZero();
  }

  @Test
  void unknownDeny_refusesAtOnce_alsoIfOnFailureAllows() {
    request(Request.of("shop", "closed", "c"));
    assertThat(only().allowed()).isFalse();
    assertThat(only().reason()).isEqualTo(Reason.UNCERTAIN);
    request(both("closed", "d", "ip", "1.2.3.4"));
    assertThat(heard.get(1).allowed()).isFalse();
    request(both("closed-quota", "q"));
    assertThat(heard.get(2).allowed()).isFalse();
    request(both("closed-quota", "r", "free", "f"));
    assertThat(heard.get(3).allowed()).as("another rule in quota mode").isTrue();
    assertThat(heard.get(3).reason()).isEqualTo(Reason.WITHIN_LIMIT);
    assertThat(admitted(Request.of("shop", "ip", "1.2.3.4"), 9))
        .as("none was charged")
        .isEqualTo(2);
  }

  @Test
  void answerThatComesTooLate_isDropped_andServesTheNextRequest() {
    request(ALICE);
    ticker.advance(WAIT);
    assertThat(only().allowed()).isFalse();
    records.answer(FakeRecords.plan("gold"));
    assertThat(heard).hasSize(1);
    request(ALICE);
    assertThat(limit(heard.get(1)).requestsPerUnit()).isEqualTo(50);
    assertThat(heard.get(1).statuses().get(0).limitRemaining())
        .as("none was charged")
        .isEqualTo(49);
  }

  @Test
  void sourceThatDidNotAnswer_isAskedAgainByTheNextRequest() {
    request(ALICE);
    ticker.advance(WAIT);
    request(ALICE);
    assertThat(records.asked).hasSize(2);
    records.asked.remove();
    records.answer(SubjectLimits.NONE);
    assertThat(heard.get(1).allowed()).isTrue();
  }

  @Test
  void sourceThatFailsOrCannotKnow_isAnsweredForAtOnce() {
    request(ALICE);
    records.answer(null);
    assertThat(only().reason()).isEqualTo(Reason.UNCERTAIN);
    records.fail();
    request(ALICE);
    assertThat(heard.get(1).reason()).isEqualTo(Reason.UNCERTAIN);
  }

  @Test
  void crowdOfOneSubject_asksOnce_andAllAreDecided() {
    for (int i = 0; i < 10; i++) {
      request(ALICE);
    }
    assertThat(records.asked).hasSize(1);
    records.answer(SubjectLimits.NONE);
    assertThat(heard).hasSize(10);
    assertThat(heard.stream().filter(Answer::allowed)).hasSize(3);
  }

  @Test
  void requestOfSeveralSubjects_waitsForAllOfThem() {
    request(both("user", "alice", "user", "bob", "ip", "1"));
    assertThat(records.asked).hasSize(2);
    records.answer(FakeRecords.plan("gold"));
    assertThat(heard).isEmpty();
    records.answer(SubjectLimits.NONE);
    assertThat(only().statuses())
        .extracting(each -> Objects.requireNonNull(each.currentLimit()).requestsPerUnit())
        .containsExactly(50L, 3L, 2L);
  }

  @Test
  void moreThanMayWait_areAnsweredAtOnce() {
    engine.close();
    engine = engine(new SubjectSettings(WAIT.toNanos(), 3));
    for (int i = 0; i < 3; i++) {
      request(Request.of("shop", "user", "u" + i));
    }
    assertThat(heard).isEmpty();
    request(Request.of("shop", "user", "u3"));
    request(Request.of("shop", "pass", "p"));
    assertThat(heard).extracting(Answer::allowed).containsExactly(false, true);
    assertThat(heard).extracting(Answer::reason).containsOnly(Reason.OVERLOADED);
    assertThat(records.asked).hasSize(3);
    assertThat(engine.subjectMetrics().overloaded()).isEqualTo(2);
    assertThat(engine.subjectMetrics().uncertain()).isZero();
    records.answer(SubjectLimits.NONE);
    request(Request.of("shop", "user", "u4"));
    assertThat(heard).as("there is a place again").hasSize(3);
    assertThat(heard.get(2).allowed()).isTrue();
  }

  /** Uses subjects of the longest kind: callers choose them, and a source may take its time. */
  @Test
  void subjectsThatAreLookedUp_areBoundedInCharacters() {
    engine.close();
    engine = engine(new SubjectSettings(WAIT.toNanos(), 100));
    int length = EngineSettings.DEFAULTS.maxKeyLength();
    int asked = 0;
    while (heard.isEmpty()) {
      request(Request.of("shop", "user", String.format("%0" + length + "d", asked++)));
    }
    assertThat(only().reason()).isEqualTo(Reason.OVERLOADED);
    assertThat(records.asked).hasSize(asked - 1);
    assertThat((asked - 1) * length).isLessThan(100 * Lookups.MEAN_CHARACTERS + length);
    request(Request.of("shop", "quick", "q"));
    assertThat(records.asked).as("nor is anything looked up behind").hasSize(asked - 1);
    ticker.advance(WAIT);
    assertThat(heard).hasSize(asked + 1);
    request(Request.of("shop", "user", "u"));
    assertThat(heard).as("there is room again").hasSize(asked + 1);
  }

  /** Uses a source that fails: a failed load is kept only if there is room. */
  @Test
  void subjectsThatFailed_areBoundedInCharacters() {
    engine.close();
    engine = engine(new SubjectSettings(WAIT.toNanos(), 100));
    records.fail();
    int length = EngineSettings.DEFAULTS.maxKeyLength();
    for (int i = 0; i < 1_000; i++) {
      request(Request.of("shop", "user", String.format("%0" + length + "d", i)));
    }
    assertThat(heard).extracting(Answer::reason).containsOnly(Reason.UNCERTAIN);
    for (int i = 0; i < 1_000; i++) {
      request(Request.of("shop", "user", String.format("%0" + length + "d", i)));
    }
    int kept = 2_000 - records.loads.get();
    assertThat(kept).isPositive();
    assertThat(kept * length).isLessThan(100 * Lookups.MEAN_CHARACTERS);
  }

  @Test
  void unknownRule_decidesByTheRulesNumber_andLoadsBehind() {
    Request quick = Request.of("shop", "quick", "q");
    assertThat(limit(engine.decide(quick)).requestsPerUnit()).isEqualTo(3);
    assertThat(admitted(quick, 9)).isEqualTo(2);
    assertThat(records.asked).as("one load, however many requests").hasSize(1);
    records.answer(FakeRecords.own("shop.quick", 9));
    Answer answer = engine.decide(quick);
    assertThat(limit(answer).requestsPerUnit()).isEqualTo(9);
    assertThat(answer.statuses().get(0).limitRemaining()).isEqualTo(5);
  }

  @Test
  void unknownDeny_refusesAtOnce_andLoadsBehind() {
    Request strict = Request.of("shop", "strict", "s");
    Answer answer = engine.decide(strict);
    assertThat(answer.allowed()).isFalse();
    assertThat(answer.reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(records.asked).hasSize(1);
    records.answer(SubjectLimits.NONE);
    assertThat(admitted(strict, 9)).isEqualTo(3);
  }

  @Test
  void uncertainLimitThatRefuses_chargesNothingElsewhere() {
    request(both("user", "alice", "ip", "1"));
    ticker.advance(WAIT);
    assertThat(only().allowed()).isFalse();
    assertThat(only().statuses()).extracting(Status::allowed).containsExactly(false, true);
    assertThat(admitted(Request.of("shop", "ip", "1"), 9)).isEqualTo(2);
  }

  @Test
  void uncertainLimitThatPasses_leavesTheOthersToDecide() {
    Request request = both("pass", "p", "ip", "1");
    for (int i = 0; i < 3; i++) {
      request(request);
      ticker.advance(WAIT);
    }
    assertThat(heard).extracting(Answer::allowed).containsExactly(true, true, false);
    assertThat(heard.get(2).statuses()).extracting(Status::allowed).containsExactly(true, false);
  }

  @Test
  void uncertainShadow_refusesNothing() {
    request(both("shadow", "s", "ip", "1"));
    ticker.advance(WAIT);
    assertThat(only().allowed()).isTrue();
    assertThat(only().statuses()).extracting(Status::allowed).containsExactly(true, true);
  }

  @Test
  void uncertainQuota_leavesItToTheOtherQuotas() {
    request(both("quota", "q", "free", "f"));
    request(both("quota", "q", "free", "f"));
    request(Request.of("shop", "quota", "q"));
    ticker.advance(WAIT);
    assertThat(heard).extracting(Answer::allowed).containsExactly(true, false, false);
  }

  @Test
  void requestThatWaits_isDecidedByTheRulesInForceThen() {
    request(ALICE);
    engine.apply(Fixture.rules(RULES.replace("requests_per_unit: 50", "requests_per_unit: 60")));
    records.answer(FakeRecords.plan("gold"));
    assertThat(limit(only()).requestsPerUnit()).isEqualTo(60);
    assertThat(only().revision()).isEqualTo(2);
  }

  @Test
  void requestThatWaits_isDecidedAtItsLaterTime() {
    records.put("bob", SubjectLimits.NONE);
    request(ALICE);
    ticker.advance(Duration.ofMillis(40));
    records.answer(SubjectLimits.NONE);
    assertThat(Objects.requireNonNull(only().statuses().get(0).decision()).atNanos())
        .isEqualTo(ticker.nanos());
  }

  /** A server that stops ends all waiting while it can still send the answers. */
  @Test
  void endOfTheQueues_answersThoseWhoWait_whenTheTimeIsOver() {
    engine.close();
    engine = engine(new SubjectSettings(Duration.ofSeconds(10).toNanos(), 10));
    request(ALICE);
    engine.endQueues(WAIT);
    assertThat(heard).isEmpty();
    ticker.advance(WAIT);
    assertThat(only().reason()).isEqualTo(Reason.UNCERTAIN);
    engine.endQueues(Duration.ZERO);
    request(ALICE);
    assertThat(heard).hasSize(2);
  }

  @Test
  void close_answersThoseWhoWait_andThoseWhoComeLater() {
    request(ALICE);
    engine.close();
    assertThat(only().reason()).isEqualTo(Reason.UNCERTAIN);
    request(ALICE);
    assertThat(heard).hasSize(2);
  }

  @Test
  void callbackThatFails_doesNotKeepTheOthersFromTheirAnswers() {
    engine.decide(
        ALICE,
        answer -> {
          throw new IllegalStateException("callback");
        });
    request(ALICE);
    assertThatThrownBy(() -> records.answer(SubjectLimits.NONE)).hasMessage("callback");
    assertThat(only().allowed()).isTrue();
  }

  // The other entry points.

  @Test
  void decideOnTheCallersThread_needsLimitsAtHand() {
    assertThatThrownBy(() -> engine.decide(ALICE))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("not at hand (expected: known at once, or a callback)");
    records.answer(SubjectLimits.NONE);
    assertThat(admitted(ALICE, 9)).as("what was not answered is not charged").isEqualTo(3);
    records.answerAtOnce();
    assertThat(engine.decide(Request.of("shop", "user", "carol")).allowed()).isTrue();
    assertThat(engine.decideAt(Request.of("shop", "user", "dora"), 5).allowed()).isTrue();
  }

  @Test
  void batch_waitsForItsUnknownSubjectsOnly_andKeepsItsOrder() {
    records.put("bob", FakeRecords.plan("gold"));
    List<List<Answer>> batches = new ArrayList<>();
    engine.decideAll(
        List.of(ALICE, Request.of("shop", "user", "bob"), Request.of("shop", "ip", "1")),
        batches::add);
    assertThat(batches).isEmpty();
    records.answer(FakeRecords.own("user-minute", 8));
    assertThat(batches).hasSize(1);
    assertThat(batches.get(0))
        .extracting(answer -> limit(answer).requestsPerUnit())
        .containsExactly(8L, 50L, 2L);
  }

  @Test
  void peek_waitsToo_andChargesNothing() {
    engine.peek(ALICE, heard::add);
    assertThat(heard).isEmpty();
    records.answer(FakeRecords.plan("gold"));
    assertThat(only().statuses().get(0).limitRemaining()).isEqualTo(50);
    assertThat(admitted(ALICE, 99)).isEqualTo(50);
  }

  @Test
  void refund_givesBackUnderTheNumberOfTheAnswer_alsoIfTheRecordIsNotAtHandAnyMore() {
    records.put("alice", FakeRecords.plan("gold"));
    Answer charged = engine.decide(ALICE);
    records.atHand.clear();
    List<Long> given = new ArrayList<>();
    engine.refund(ALICE, charged, given::add);
    records.put("alice", FakeRecords.own("user-minute", 20));
    Answer own = engine.decide(ALICE);
    assertThat(own.statuses().get(0).limitRemaining()).isEqualTo(19);
    records.atHand.clear();
    engine.refund(ALICE, own, given::add);
    assertThat(given).containsExactly(1L, 1L);
    assertThat(records.asked).isEmpty();
  }

  @Test
  void refundOfWhatWasUnlimited_givesNothingBack() {
    records.put("alice", FakeRecords.plan("gold"));
    Request hour = Request.of("shop", "user", "alice", "path", "/");
    List<Long> given = new ArrayList<>();
    engine.refund(hour, engine.decide(hour), given::add);
    assertThat(given).containsExactly(0L);
  }

  @Test
  void overloadedRequest_isAnsweredWithoutLookingUp() {
    engine.refuse(ALICE, heard::add);
    assertThat(only().reason()).isEqualTo(Reason.OVERLOADED);
    assertThat(records.asked).isEmpty();
  }

  @Test
  void failedRuleSet_leavesTheNumbersOfSubjectsAsTheyWere() {
    records.put("alice", FakeRecords.plan("gold"));
    records.put("bob", FakeRecords.own("user-minute", 30));
    assertThat(admitted(ALICE, 20)).isEqualTo(20);
    assertThat(admitted(Request.of("shop", "user", "bob"), 20)).isEqualTo(20);
    String ip = "- key: ip\n    rate_limit: {unit: minute, ";
    assertThatThrownBy(
            () -> {
              for (int i = 2; i < 100; i++) {
                String other = ip + "unit_multiplier: " + i + ", ";
                engine.apply(Fixture.rules(RULES.replace(ip, other)));
              }
            })
        .isInstanceOf(RulesException.class)
        .hasMessageContaining("changed its algorithm or window");
    assertThat(admitted(ALICE, 99)).isEqualTo(30);
    assertThat(admitted(Request.of("shop", "user", "bob"), 99)).isEqualTo(10);
  }

  @Test
  void storeWithoutVariants_refusesARuleWithBy() {
    MemoryStore memory = new MemoryStore(100);
    Engine bare = Engine.create(new OneNumberStore(memory), ticker, EngineSettings.DEFAULTS);
    assertThatThrownBy(() -> bare.apply(Fixture.rules(RULES)))
        .isInstanceOf(RulesException.class)
        .hasMessageContaining("by: the store counts a key under one number only (expected: none)");
  }

  @Test
  void settings_haveRanges() {
    assertThatThrownBy(() -> new SubjectSettings(0, 1))
        .hasMessageContaining("waitNanos: 0 (expected: 1..");
    assertThatThrownBy(() -> new SubjectSettings(1, -1))
        .hasMessage("maxWaiting: -1 (expected: at least 1)");
    assertThat(SubjectSettings.DEFAULTS.waitNanos()).isEqualTo(WAIT.toNanos());
    assertThat(SubjectSettings.DEFAULTS.maxWaiting()).isEqualTo(10_000);
  }

  @Test
  void thousandsThatWait_areAllAnsweredAtTheirTime() {
    IntStream.range(0, 10_001).forEach(i -> request(Request.of("shop", "user", "u" + i)));
    assertThat(heard).extracting(Answer::reason).containsExactly(Reason.OVERLOADED);
    ticker.advance(WAIT);
    assertThat(heard).hasSize(10_001);
    assertThat(engine.subjectMetrics().waiting()).isZero();
  }
}
