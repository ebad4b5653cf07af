package dev.weir.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IoCausesTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          bind(..) failed with error(-98): Address already in use | in use
          bind(..) failed: Address already in use | in use
          finishConnect(..) failed with error(-111): Connection refused | connection refused
          finishConnect(..) failed with error(-111): Connection refused: /127.0.0.1:1 | connection refused
          recvAddress(..) failed with error(-104): Connection reset by peer | connection reset
          accept(..) failed with error(-99999): Something new | Something new
          Connection refused | connection refused
          Connection refused by a rule | Connection refused by a rule
          """)
  void wordsOfTransports_arePlain(String message, String plain) {
    assertThat(IoCauses.of(new ConnectException(message))).isEqualTo(plain);
    assertThat(IoCauses.plain(message)).isEqualTo(plain);
  }

  @Test
  void unknownHost_isNamed() {
    assertThat(IoCauses.of(new UnknownHostException("far: Name or service not known")))
        .isEqualTo("no such host: far");
  }

  @Test
  void failuresOfFiles_areTheCauseWithoutThePath() {
    assertThat(IoCauses.of(new NoSuchFileException("/a"))).isEqualTo("not there");
    assertThat(IoCauses.of(new AccessDeniedException("/a"))).isEqualTo("no permission");
    assertThat(IoCauses.of(new FileAlreadyExistsException("/a"))).isEqualTo("there already");
    assertThat(IoCauses.of(new FileSystemException("/a", null, "Read-only file system")))
        .isEqualTo("the disk is read-only");
    assertThat(IoCauses.of(new FileNotFoundException("/a (b) (Permission denied)")))
        .isEqualTo("no permission");
    assertThat(IoCauses.of(new IOException("No space left on device")))
        .isEqualTo("no space left on the disk");
    assertThat(IoCauses.of(new IOException("odd"))).isEqualTo("odd");
    assertThat(IoCauses.of(new IOException())).isEqualTo("IOException");
  }

  @Test
  void failureThatNamesAPath_isShownWithIt() {
    assertThat(IoCauses.named(new AccessDeniedException("/a"))).isEqualTo("/a: no permission");
    assertThat(IoCauses.named(new FileNotFoundException("/a (b) (Permission denied)")))
        .isEqualTo("/a (b): no permission");
    assertThat(IoCauses.named(new FileNotFoundException("odd"))).isEqualTo("odd");
    assertThat(IoCauses.named(new IOException("Connection refused")))
        .isEqualTo("connection refused");
  }

  @Test
  void unwritablePath_isNamedOnceWithItsCause(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    assertThat(IoCauses.folder(file, new FileAlreadyExistsException(file.toString())))
        .isEqualTo(
            file + ": a file, or a link to nothing (expected: a folder that can be written)");
    Path refused = folder.resolve("refused");
    assertThat(IoCauses.folder(refused, new NoSuchFileException(refused.toString())))
        .as("a folder of the system that refuses new files as if they were not there")
        .isEqualTo(refused + ": no permission (expected: a folder that can be written)");
    Path nowhere = folder.resolve("nowhere").resolve("page");
    assertThat(IoCauses.file(nowhere, new NoSuchFileException(nowhere.toString())))
        .isEqualTo(nowhere + ": its folder is not there (expected: a file that can be written)");
  }
}
