package dev.weir.replay.internal.pages;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageTest {
  @Test
  void fileThatCannotBeWritten_isNamedOnceWithItsOption(@TempDir Path folder) throws IOException {
    Path below = Files.writeString(folder.resolve("file"), "").resolve("report.html");
    assertThatThrownBy(() -> Page.write(below, ""))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "report: "
                + below
                + ": a part of the path is a file (expected: a file that can be written)");
  }
}
