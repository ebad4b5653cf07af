package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SupervisorTest {
  private static final Map<String, String> SUPERVISED = Map.of("NOTIFY_SOCKET", "/run/notify");

  @TempDir private Path folder;
  private Path program;
  private Path told;

  @BeforeEach
  void writeProgram() throws Exception {
    program = folder.resolve("notify");
    told = folder.resolve("told");
    Files.writeString(program, "#!/bin/sh\necho \"$@\" >> \"" + told + "\"\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void supervisor_isToldWhenTheServerAnswersAndWhenItStops() throws Exception {
    Supervisor supervisor = new Supervisor(SUPERVISED, program.toString());
    supervisor.ready();
    assertThat(told).hasContent("--ready");
    supervisor.stopping();
    assertThat(told).hasContent("--ready\nSTOPPING=1");
  }

  @Test
  void withoutOne_nothingIsStarted() {
    new Supervisor(Map.of(), program.toString()).ready();
    new Supervisor(Map.of("NOTIFY_SOCKET", ""), program.toString()).stopping();
    assertThat(told).doesNotExist();
  }

  @SuppressWarnings("NullAway") // A failure that is no IOException, as when there is no memory.
  @Test
  void notificationThatFails_throwsNothing() {
    String none = null;
    assertThatCode(() -> new Supervisor(SUPERVISED, none).stopping()).doesNotThrowAnyException();
  }

  @Test
  void supervisorThatCannotBeTold_holdsUpNothing() {
    new Supervisor(SUPERVISED, folder.resolve("missing").toString()).ready();
    assertThat(told).doesNotExist();
  }
}
