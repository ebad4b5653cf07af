package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.weir.MemoryStore;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The allocation of a decision if the store is in this process: the answer, and nothing else. */
class EngineAllocationTest {
  private static final int WARM_UP = 3_000;
  private static final int ROUNDS = 3_000;

  /** The bytes of the answer to one descriptor; with compressed pointers. */
  private static final long MOST_BYTES_OF_ANSWER = 64;

  /**
   * The bytes of answer, list, status and decision of one descriptor; 176 with compressed pointers.
   */
  private static final long MOST_BYTES = 256;

  /** The bytes that each further descriptor adds. */
  private static final long MOST_BYTES_MORE = 192;

  /** The bytes for each request of a batch. */
  private static final long MOST_BYTES_OF_BATCH = 64;

  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: many
          rate_limit: {unit: hour, requests_per_unit: 1000000, algorithm: token-bucket}
        - key: one
          rate_limit: {window: 365d, requests_per_unit: 1, algorithm: token-bucket}
        - key: free
          rate_limit: {unlimited: true}
        - key: path
          value: /login
          descriptors:
            - key: user
              rate_limit: {unit: hour, requests_per_unit: 1000000}
      """;

  private final Fixture fixture =
      new Fixture(RULES, EngineSettings.DEFAULTS, new MemoryStore(10_000));

  private static long allocatedBytes() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return threads.getCurrentThreadAllocatedBytes();
  }

  private static long bytesEach(Runnable task) {
    for (int i = 0; i < WARM_UP; i++) {
      task.run();
    }
    long before = allocatedBytes();
    for (int i = 0; i < ROUNDS; i++) {
      task.run();
    }
    return (allocatedBytes() - before) / ROUNDS;
  }

  private long bytesEach(Request request) {
    return bytesEach(() -> fixture.engine.decide(request));
  }

  @Test
  void oneDescriptor_allocatesItsAnswer() {
    List<Request> requests =
        List.of(
            Request.of("d", "many", "a"),
            Request.of("d", "one", "a"),
            Request.of("d", "path", "/login", "user", "a"));
    for (Request request : requests) {
      // If a hash is not compiled in one piece, its state takes 48 bytes for each text.
      assertThat(bytesEach(request)).isBetween(1L, MOST_BYTES_OF_ANSWER + 2 * 48);
    }
  }

  @Test
  void statusOfOneDescriptor_isMadeOnce() {
    Request request = Request.of("d", "many", "a");
    Answer answer = fixture.engine.decide(request);
    assertThat(answer.statuses()).isSameAs(answer.statuses());
    assertThat(bytesEach(() -> fixture.engine.decide(request).statuses()))
        .isBetween(1L, MOST_BYTES);
  }

  @Test
  void subjectWhoseLimitsAreAtHand_allocatesTheAnswerOnly() {
    FakeRecords records = new FakeRecords();
    records.put("a", SubjectLimits.NONE);
    records.put("b", FakeRecords.plan("gold"));
    records.put("c", FakeRecords.own("d.user", 2_000_000));
    MemoryStore store = new MemoryStore(10_000);
    Engine engine =
        Engine.builder(store)
            .ticker(fixture.ticker)
            .subjects(records, SubjectSettings.DEFAULTS)
            .build();
    engine.apply(
        Fixture.rules(
            """
            domain: d
            plans: {gold: {d.user: {requests_per_unit: 3000000}}}
            descriptors:
              - key: user
                rate_limit:
                  unit: hour
                  requests_per_unit: 1000000
                  algorithm: token-bucket
                  by: user
            """));
    for (String user : List.of("a", "b", "c")) {
      Request request = Request.of("d", "user", user);
      assertThat(bytesEach(() -> engine.decide(request))).as(user).isBetween(1L, MOST_BYTES);
    }
  }

  @Test
  void noLimit_allocatesLess() {
    assertThat(bytesEach(Request.of("d", "free", "a"))).isBetween(1L, MOST_BYTES / 2);
    assertThat(bytesEach(Request.of("d", "unknown", "a"))).isBetween(1L, MOST_BYTES / 2);
    assertThat(bytesEach(Request.of("elsewhere", "many", "a"))).isBetween(1L, MOST_BYTES / 2);
  }

  @Test
  void severalDescriptors_allocateTheirStatuses() {
    Request request =
        new Request(
            "d",
            List.of(
                Descriptor.of("many", "a"),
                Descriptor.of("path", "/login", "user", "a"),
                Descriptor.of("many", "b")),
            1);
    assertThat(bytesEach(request)).isBetween(1L, MOST_BYTES + 2 * MOST_BYTES_MORE);
  }

  @Test
  void callback_allocatesNothingMore() {
    Request request = Request.of("d", "many", "a");
    long[] allowed = {0};
    long bytes =
        bytesEach(
            () -> fixture.engine.decide(request, answer -> allowed[0] += answer.allowed() ? 1 : 0));
    assertThat(bytes).isBetween(0L, MOST_BYTES + 32); // The callback is an object, too.
    assertThat(allowed[0]).isPositive();
  }

  @Test
  void manyRequestsAtOnce_allocateTheirAnswers() {
    List<Request> requests =
        IntStream.range(0, 50).mapToObj(i -> Request.of("d", "many", "user " + i)).toList();
    List<Answer> answers = new ArrayList<>(requests.size());
    long[] times = new long[requests.size()];
    double[] loads = new double[requests.size()];
    long bytes =
        bytesEach(
            () -> {
              answers.clear();
              fixture.engine.decideAllAt(requests, times, loads, answers::add);
            });
    assertThat(bytes / requests.size()).isBetween(1L, MOST_BYTES);
  }

  @Test
  void batch_allocatesNeitherRequestsNorAnswers() {
    assertBatchAllocatesNothing();
  }

  @Test
  void observerThatNeedsNoStatus_hasNoneMade() {
    long[] heard = new long[2];
    fixture.engine.observe(
        decided -> {
          heard[0]++;
          heard[1] ^= decided.fingerprint() + Objects.hashCode(decided.rule());
        });
    assertBatchAllocatesNothing();
    assertThat(heard[0]).isEqualTo(50 * (WARM_UP + ROUNDS));
  }

  private void assertBatchAllocatesNothing() {
    RequestBatch batch = fixture.engine.batch(50);
    String[][] texts =
        IntStream.range(0, 50)
            .mapToObj(i -> new String[] {i % 2 == 0 ? "many" : "one", "user " + i})
            .toArray(String[][]::new);
    long[] allowed = {0};
    long bytes =
        bytesEach(
            () -> {
              for (String[] each : texts) {
                boolean unused = batch.add("d", each, 2, 1);
              }
              batch.decide();
              allowed[0] += batch.allowed(0) ? 1 : 0;
              batch.clear();
            });
    // If a hash is not compiled in one piece, its state takes 48 bytes.
    assertThat(bytes).as("of 50 requests").isLessThanOrEqualTo(50 * MOST_BYTES_OF_BATCH);
    assertThat(allowed[0]).isEqualTo(WARM_UP + ROUNDS);
  }

  @Test
  void requestWithinACallback_isDecidedForItself() {
    List<Answer> answers = new ArrayList<>();
    assertThat(fixture.engine.decide(Request.of("d", "one", "a")).allowed()).isTrue();
    fixture.engine.decide(
        Request.of("d", "one", "a"),
        outer -> {
          answers.add(fixture.engine.decide(Request.of("d", "many", "b")));
          answers.add(outer);
        });
    assertThat(answers).extracting(Answer::allowed).containsExactly(true, false);
  }
}
