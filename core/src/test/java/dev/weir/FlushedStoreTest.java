package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of answers that wait for a flush, which the test lets happen. */
class FlushedStoreTest {
  private static final long NOW = 1_000_000_000_000L;
  private static final long PATIENCE_SECONDS = 60;

  private final Semaphore begun = new Semaphore(0);
  private final Semaphore flushes = new Semaphore(0);
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final GroupCommit commit =
      new GroupCommit(
          () -> {
            begun.release();
            flushes.acquireUninterruptibly();
          });
  private final MemoryStore memory = new MemoryStore();
  private final Store store = new FlushedStore(memory, commit);
  private final Binding binding =
      store.bind("p", Policy.builder(Quota.perDay(10)).name("p").build(), NOW);

  @AfterEach
  void end() {
    flushes.release(1_000);
    commit.close();
  }

  private void request(String name, long permits) {
    store.decide(
        new Charges().add(binding, 7, permits),
        NOW,
        charges -> answers.add(name + (charges.allowed() ? " admitted" : " refused")));
  }

  private void awaitFlush() throws InterruptedException {
    assertThat(begun.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  private String answer() throws InterruptedException {
    return String.valueOf(answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
  }

  @Test
  void answers_followOneFlushTogether() throws Exception {
    request("first", 1);
    awaitFlush();
    request("second", 1); // Changed after that flush has begun: it waits for the next one.
    request("third", 1);
    assertThat(answers).isEmpty();
    flushes.release();
    assertThat(answer()).isEqualTo("first admitted");
    awaitFlush();
    assertThat(answers).isEmpty();
    flushes.release();
    assertThat(List.of(answer(), answer())).containsExactly("second admitted", "third admitted");
    assertThat(begun.tryAcquire()).isFalse();
  }

  @Test
  void refusals_waitForNothing() {
    request("first", 10);
    request("second", 1);
    assertThat(answers).containsExactly("second refused");
  }

  @Test
  void otherChanges_waitToo() throws Exception {
    Batch batch = new Batch(2).add(binding, 7, 1).add(binding, 8, 1);
    store.decide(batch, NOW, done -> answers.add("batch"));
    Decision charged = memory.decision(binding, 9, 2, NOW);
    store.refund(binding, 9, 2, charged, NOW, given -> answers.add("refunded " + given));
    store.reset(binding, 8, NOW, used -> answers.add("reset " + used));
    store.reset(binding, 99, NOW, used -> answers.add("reset " + used));
    assertThat(answer()).isEqualTo("reset false");
    assertThat(answers).isEmpty();
    flushes.release(3);
    assertThat(List.of(answer(), answer(), answer()))
        .containsExactly("batch", "refunded 2", "reset true");
  }

  @Test
  void answerThatFails_harmsNoOther() throws Exception {
    CountDownLatch reported = new CountDownLatch(1);
    commit.after(
        () -> {
          Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> reported.countDown());
          throw new IllegalStateException("pretended");
        });
    request("next", 1);
    flushes.release(2);
    assertThat(answer()).isEqualTo("next admitted");
    assertThat(reported.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void answersAtTheEnd_followOneMoreFlush() throws Exception {
    request("first", 1);
    awaitFlush();
    request("second", 1);
    commit.close();
    request("third", 1); // Nothing is kept any more.
    assertThat(answer()).isEqualTo("third admitted");
    flushes.release(2);
    assertThat(List.of(answer(), answer())).containsExactly("first admitted", "second admitted");
  }
}
