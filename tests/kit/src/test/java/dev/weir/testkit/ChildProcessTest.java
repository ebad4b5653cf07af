package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildProcessTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  @TempDir private Path folder;

  private static ChildProcess.Builder shell(String script) {
    return ChildProcess.of("sh", "-c", script);
  }

  @Test
  void line_isWaitedForAfterTheOneBefore() throws Exception {
    try (ChildProcess process = shell("echo a 1; echo b; echo a 2 >&2; exec cat").start()) {
      Matcher first = process.await(Pattern.compile("a (\\d)"));
      assertThat(first.group(1)).isEqualTo("1");
      assertThat(process.await("a")).isEqualTo("a 2");
      process.write("back\n");
      assertThat(process.await("back")).isEqualTo("back");
      assertThat(process.output()).isEqualTo("a 1\nb\na 2\nback\n");
      assertThat(process.find(Pattern.compile("^b$"))).isNotNull();
      assertThat(process.find(Pattern.compile("^c$"))).isNull();
    }
  }

  @Test
  void programThatEndsInsteadOfALine_isShownWithItsOutput() throws Exception {
    try (ChildProcess process = shell("echo 'no port' >&2; exit 3").start()) {
      assertThatThrownBy(() -> process.await("ready"))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("has ended (expected: a line with ")
          .hasMessageEndingWith("no port\n");
      assertThat(process.endsWithin(LONG)).isTrue();
      assertThat(process.exitStatus()).isEqualTo(3);
    }
  }

  @Test
  void lineThatDoesNotCome_isWaitedForNoLongerThanSaid() throws Exception {
    Duration moment = Duration.ofMillis(50);
    try (ChildProcess process = shell("echo starting; exec sleep 1000").patience(moment).start()) {
      assertThatThrownBy(() -> process.await("ready"))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("no such line within PT0.05S");
      assertThatThrownBy(process::finish).hasMessageContaining("has not ended within PT0.05S");
    }
  }

  @Test
  void run_returnsTheOutput_orFailsByTheStatus() throws Exception {
    assertThat(shell("cat; echo out; echo error >&2").run()).isEqualTo("out\nerror\n");
    assertThatThrownBy(() -> shell("echo why; exit 4").run())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("exit status 4 (expected: 0)\nwhy\n");
    assertThatThrownBy(() -> ChildProcess.of("/no/such/program").run())
        .isInstanceOf(IOException.class);
  }

  @Test
  void folderEnvironmentAndWrapper_areTheProgramsOwn() throws Exception {
    ChildProcess.Builder program =
        shell("pwd; echo $A $B")
            .folder(folder.toRealPath())
            .environment(Map.of("A", "a"))
            .within(List.of("env", "B=b"));
    assertThat(program.run()).isEqualTo(folder.toRealPath() + "\na b\n");
  }

  @Test
  void errors_goElsewhereOrAreAllThatIsRead() throws Exception {
    Path errors = folder.resolve("errors");
    String both = "echo out; echo error >&2";
    assertThat(shell(both).errors(Redirect.to(errors.toFile())).run()).isEqualTo("out\n");
    assertThat(errors).hasContent("error");
    assertThat(shell(both).errorsOnly().run()).isEqualTo("error\n");
    Path log = folder.resolve("log");
    assertThat(shell(both).log(log).run()).isEqualTo(Files.readString(log));
  }

  @Test
  void whatItSaidLast_isReadAfterItsEnd() throws Exception {
    String script = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done";
    try (ChildProcess process = shell(script).start()) {
      process.await("up");
      process.terminate();
      assertThat(process.endsWithin(LONG)).isTrue();
      assertThat(process.exitStatus()).isZero();
      assertThat(process.await("bye")).isEqualTo("bye");
    }
  }

  @Test
  void kill_endsWhatTheProgramHasStarted() throws Exception {
    try (ChildProcess process = shell("sleep 1000 & echo $!; wait").start()) {
      long below = Long.parseLong(process.await(Pattern.compile("\\d+")).group());
      ProcessHandle started = ProcessHandle.of(below).orElseThrow();
      process.kill();
      assertThat(process.running()).isFalse();
      started.onExit().get(1, TimeUnit.MINUTES);
    }
  }

  @Test
  void signal_stopsTheProgramUntilItGoesOn() throws Exception {
    try (ChildProcess process = shell("exec cat").start()) {
      process.signal("STOP");
      process.write("word\n");
      assertThat(process.find(Pattern.compile("word"))).isNull();
      process.signal("CONT");
      assertThat(process.await("word")).isEqualTo("word");
    }
  }

  /** A program that starts another one, prints which, and leaves without closing it. */
  static final class Careless {
    private Careless() {}

    public static void main(String[] none) throws IOException {
      System.out.println(shell("exec cat").start().handle().pid());
    }
  }

  @Test
  void programThatEnds_takesItsProcessesAlong() throws Exception {
    long below = Long.parseLong(ChildProcess.java(Careless.class).run().strip());
    ProcessHandle left = ProcessHandle.of(below).orElse(null);
    if (left != null) {
      Objects.requireNonNull(left.onExit().get(1, TimeUnit.MINUTES));
    }
  }
}
