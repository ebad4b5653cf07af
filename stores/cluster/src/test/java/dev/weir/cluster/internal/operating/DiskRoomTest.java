package dev.weir.cluster.internal.operating;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskRoomTest {
  private static final long MIB = 1L << 20;

  @TempDir private Path folder;
  private final List<String> log = new ArrayList<>();
  private long bytes;

  private DiskRoom room(int groups) {
    return new DiskRoom(() -> bytes, folder, () -> groups, log::add);
  }

  @Test
  void start_needsAFileOfEachLog_andAdvisesMore() throws Exception {
    bytes = 68 * MIB - 1;
    assertThatThrownBy(() -> room(2).begin())
        .isInstanceOf(IOException.class)
        .hasMessage(
            folder
                + " has room for 67 MiB (expected: at least 68 MiB, for a file of each group's log"
                + " and a snapshot)");
    bytes = 68 * MIB;
    room(2).begin();
    assertThat(log)
        .containsExactly("cluster: " + folder + " has room for 68 MiB; 4 GiB are advised");
    log.clear();
    bytes = 4_096 * MIB;
    room(2).begin();
    assertThat(log).isEmpty();
  }

  @Test
  void start_needsRoomForAnotherSnapshot() throws Exception {
    Path snapshots = Files.createDirectories(folder.resolve("groups/0/sm"));
    Files.write(snapshots.resolve("snapshot.1_2"), new byte[3 * (int) MIB]);
    bytes = 36 * MIB;
    assertThatThrownBy(() -> room(1).begin()).hasMessageContaining("at least 37 MiB");
    bytes = 37 * MIB;
    room(1).begin();
  }

  @Test
  void full_isSaidOnce_andEndsWhenThereIsTwiceAsMuch() {
    DiskRoom room = room(1);
    for (long[] step : // MiB, whether it is low then, how many lines were logged by then
        new long[][] {
          {100, 0, 0},
          {34, 0, 0},
          {33, 1, 1},
          {2, 1, 1},
          {40, 1, 1},
          {67, 1, 1},
          {68, 0, 2},
          {40, 0, 2}
        }) {
      bytes = step[0] * MIB;
      room.check();
      assertThat(room.low()).as("%d MiB", step[0]).isEqualTo(step[1] == 1);
      assertThat(log).as("%d MiB", step[0]).hasSize((int) step[2]);
    }
    assertThat(log.get(0)).contains("hands over what it leads").contains("33 MiB");
  }

  @Test
  void groupsComeAndGo_whatIsNeededFollows() {
    int[] groups = {0};
    bytes = 100 * MIB;
    DiskRoom room = new DiskRoom(() -> bytes, folder, () -> groups[0], log::add);
    room.check();
    assertThat(room.low()).isFalse();

    groups[0] = 3;
    room.check();
    assertThat(room.low()).isTrue();

    groups[0] = 1;
    room.check();
    assertThat(room.low()).isFalse();
  }
}
