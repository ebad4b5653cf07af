package dev.weir.cluster.internal.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GroupMarksTest {
  @TempDir private Path folder;

  /** A member that continued without the mark would not notice what it has lost. */
  @Test
  void markThatCouldNotBeWritten_isWrittenTheNextTime() throws Exception {
    Path file = folder.resolve(GroupMarks.FILE);
    GroupMarks marks = new GroupMarks(file);
    marks.begin(1);
    Path inTheWay = folder.resolve(GroupMarks.FILE + ".next");
    Files.createDirectories(inTheWay.resolve("full"));
    assertThatThrownBy(() -> marks.begin(2)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> marks.leave(1)).isInstanceOf(IOException.class);
    assertThat(marks.startedGroups()).containsExactly(1);
    assertThat(marks.left(1)).isFalse();

    Files.delete(inTheWay.resolve("full"));
    Files.delete(inTheWay);
    marks.begin(2);
    marks.leave(1);
    GroupMarks read = new GroupMarks(file);
    assertThat(read.startedGroups()).containsExactly(2);
    assertThat(read.left(1)).isTrue();
  }
}
