package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProvidersTest {
  /** The name of a provider that is not on the class path of tests. */
  private static final String NAME = "nowhere";

  @TempDir private Path folder;
  private final ClassLoader before = Thread.currentThread().getContextClassLoader();

  @BeforeEach
  void setFolder() {
    System.setProperty(Providers.FOLDER, folder.resolve("providers").toString());
  }

  @AfterEach
  void clear() {
    System.clearProperty(Providers.FOLDER);
    System.clearProperty(Providers.COMMAND);
    Thread.currentThread().setContextClassLoader(before);
  }

  private Path own() {
    return folder.resolve("providers").resolve(NAME);
  }

  private static void writeJar(Path file, String text) throws IOException {
    try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file))) {
      jar.putNextEntry(new JarEntry("nowhere.txt"));
      jar.write(text.getBytes(StandardCharsets.UTF_8));
      jar.closeEntry();
    }
  }

  private static String found() throws IOException {
    try (var in =
        Thread.currentThread().getContextClassLoader().getResourceAsStream("nowhere.txt")) {
      return in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void setCommand(String script) throws IOException {
    Path command = Files.writeString(folder.resolve("command"), "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(command, PosixFilePermissions.fromString("rwx------"));
    System.setProperty(Providers.COMMAND, command.toString());
  }

  @Test
  void jarsInItsFolder_areVisibleToThisThreadAndThoseThatItStarts() throws Exception {
    Files.createDirectories(own());
    writeJar(own().resolve("a.jar"), "here");
    Providers.need(NAME);
    assertThat(found()).isEqualTo("here");
    ClassLoader[] inherited = new ClassLoader[1];
    Thread later = new Thread(() -> inherited[0] = Thread.currentThread().getContextClassLoader());
    later.start();
    later.join();
    assertThat(inherited[0]).isSameAs(Thread.currentThread().getContextClassLoader());
  }

  @Test
  void providerOnTheClassPath_needsNoFolder() {
    Providers.need("rocksdb");
    Providers.need(Providers.CLUSTER);
    Providers.forStore("memory:");
    assertThat(Providers.cluster()).isNotNull();
    assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(before);
  }

  @Test
  void missingFolder_isNamed_andTheCommandCannotDoItsWork() {
    assertThatThrownBy(() -> Providers.need(NAME))
        .isInstanceOfSatisfying(
            CommandFailure.class, e -> assertThat(e.status()).isEqualTo(Main.FAILED))
        .hasMessage("nowhere: " + own() + " is missing (expected: the folder with its jars)");
  }

  @Test
  void missingFolder_isMadeByTheLauncher() throws Exception {
    writeJar(folder.resolve("made.jar"), "made");
    setCommand(
        "[ \"$*\" = '--provide nowhere' ] && mkdir -p '%s' && cp '%s' '%s'"
            .formatted(own(), folder.resolve("made.jar"), own()));
    Providers.need(NAME);
    assertThat(found()).isEqualTo("made");
  }

  @Test
  void launcherThatFails_isSaid_andTheCommandCannotDoItsWork() throws Exception {
    setCommand("exit 4");
    assertThatThrownBy(() -> Providers.need(NAME))
        .isInstanceOfSatisfying(
            CommandFailure.class, e -> assertThat(e.status()).isEqualTo(Main.FAILED))
        .hasMessageEndingWith(
            "command --provide nowhere' ended with status 4 (expected: 0, and its jars in "
                + own()
                + ")");
    setCommand("exit 0");
    assertThatThrownBy(() -> Providers.need(NAME)).hasMessageContaining("ended with status 0");
    System.setProperty(Providers.COMMAND, folder.resolve("none").toString());
    assertThatThrownBy(() -> Providers.need(NAME))
        .hasMessageStartingWith("nowhere: cannot be provided: ");
  }
}
