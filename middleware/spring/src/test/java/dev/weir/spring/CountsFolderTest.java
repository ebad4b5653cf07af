package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.StateFolder;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Tests of applications that keep their counts in a folder, started one after the other. */
class CountsFolderTest {
  @TempDir private Path folder;

  private ApplicationContextRunner application() {
    return Contexts.weir()
        .withPropertyValues(
            "weir.state.dir=" + folder.resolve("counts"),
            "weir.limits.api.requests=3",
            "weir.limits.api.per=day",
            "weir.limits.api.by=ip");
  }

  /** Returns whether each of some requests of one address was admitted. */
  private static List<Boolean> requests(Decider decider, int count) {
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      decider.decide(Request.of("app", "limit", "api", "ip", "203.0.113.7"), answers::add);
    }
    return answers.stream().map(Answer::allowed).toList();
  }

  private Path counts() {
    return folder.resolve("counts");
  }

  @Test
  void dailyLimit_goesOnOverARestart() {
    application()
        .run(
            context ->
                assertThat(requests(context.getBean(Decider.class), 2))
                    .containsExactly(true, true));
    assertThat(counts().resolve("running")).doesNotExist();
    assertThat(counts().resolve("limits.image")).exists();
    application()
        .run(
            context ->
                assertThat(requests(context.getBean(Decider.class), 2))
                    .containsExactly(true, false));
  }

  /** A copy of the folder of a running application is what its death would leave. */
  @Test
  void dailyLimit_goesOnAfterTheDeathOfTheProcess() throws IOException {
    Path left = Files.createDirectory(folder.resolve("left"));
    application()
        .run(
            context -> {
              assertThat(requests(context.getBean(Decider.class), 2)).containsExactly(true, true);
              try (var files = Files.list(counts())) {
                for (Path each : files.toList()) {
                  Files.copy(each, left.resolve(each.getFileName()));
                }
              }
            });
    assertThat(left.resolve("running")).exists();
    application()
        .withPropertyValues("weir.state.dir=" + left)
        .run(
            context ->
                assertThat(requests(context.getBean(Decider.class), 2))
                    .containsExactly(true, false));
  }

  @Test
  void afterCrash_decidesAboutAnEndThatIsNotKnown() throws IOException {
    Files.createDirectories(counts());
    Files.writeString(counts().resolve("running"), "");
    application()
        .withPropertyValues("weir.state.after-crash=amnesty")
        .run(
            context ->
                assertThat(requests(context.getBean(Decider.class), 1)).containsExactly(true));
    Files.writeString(counts().resolve("running"), "");
    application()
        .run(
            context ->
                assertThat(requests(context.getBean(Decider.class), 1)).containsExactly(false));
  }

  /** The mark says what the folder outlives; that answers wait for the disk is the core's test. */
  @Test
  void durabilityOfTheMachine_answersAndGoesOnOverARestart() {
    for (boolean[] expected : new boolean[][] {{true, true}, {true, false}}) {
      application()
          .withPropertyValues("weir.state.durability=machine")
          .run(
              context -> {
                Decider decider = context.getBean(Decider.class);
                assertThat(counts().resolve("limits.kept"))
                    .content()
                    .contains("end of the machine");
                for (boolean each : expected) {
                  CompletableFuture<Answer> answer = new CompletableFuture<>();
                  decider.decide(
                      Request.of("app", "limit", "api", "ip", "203.0.113.7"), answer::complete);
                  assertThat(answer.get(1, TimeUnit.MINUTES).allowed()).isEqualTo(each);
                }
              });
      assertThat(counts().resolve("running")).doesNotExist();
    }
  }

  @Test
  void folderInUse_failsTheStartWithTheReason() throws IOException {
    try (StateFolder other = StateFolder.builder(counts()).open()) {
      assertThat(other.isComplete()).isTrue();
      assertThat(problems())
          .isEqualTo(
              "weir.state.dir: \"%s\" (expected: a folder to write, of this process alone: %s: in"
                      .formatted(counts(), counts())
                  + " use by another server or store (expected: a folder for each))");
    }
    application().run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void folderThatIsAFile_failsTheStartWithTheReason() throws IOException {
    Files.writeString(counts(), "text");
    assertThat(problems()).startsWith("weir.state.dir: \"" + counts() + "\" (expected: a folder");
  }

  @Test
  void startThatFailsLater_leavesTheFolderToTheNextOne() throws IOException {
    application()
        .withBean(
            "broken",
            Store.class,
            () -> {
              throw new IllegalStateException("pretended");
            },
            bean -> bean.setDependsOn("weirEngine"))
        .run(context -> assertThat(context).hasFailed());
    assertThat(counts().resolve("running")).doesNotExist();
    application()
        .run(
            context ->
                assertThat(requests(context.getBean(Decider.class), 1)).containsExactly(true));
  }

  @Test
  void ownClockOrStoreWithOtherFingerprints_isRefusedBesideAFolder() {
    application()
        .withBean(Ticker.class, FakeTicker::new)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("(expected: no bean of the type Ticker beside it)"));
    application()
        .withBean(WeirAutoConfiguration.SHARED_STORE, Store.class, MemoryStore::new)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("a shared store with Fingerprint.shared(), or none"));
  }

  @Test
  void disabled_opensNoFolder() {
    application()
        .withPropertyValues("weir.enabled=false")
        .run(context -> assertThat(context).hasNotFailed());
    assertThat(counts()).doesNotExist();
  }

  @Test
  void valuesThatCannotBe_areTold() {
    assertThat(Contexts.problems("weir.state.dir=").replaceFirst(", from .*", ""))
        .isEqualTo("weir.state.dir: \"\" (expected: a folder)");
    assertThat(Contexts.problems("weir.state.after-crash=hope").replaceFirst(", from .*", ""))
        .isEqualTo("weir.state.after-crash: \"hope\" (expected: deny, amnesty)");
    assertThat(Contexts.problems("weir.state.durability=hope").replaceFirst(", from .*", ""))
        .isEqualTo("weir.state.durability: \"hope\" (expected: none, process, machine)");
  }

  private String problems() {
    String[] message = new String[1];
    application()
        .run(
            context -> {
              Throwable cause = context.getStartupFailure();
              assertThat(cause).isNotNull();
              while (cause != null && !(cause instanceof WeirPropertiesException)) {
                cause = cause.getCause();
              }
              assertThat(cause).isNotNull();
              message[0] = String.valueOf(cause == null ? "" : cause.getMessage());
            });
    return String.valueOf(message[0]);
  }
}
