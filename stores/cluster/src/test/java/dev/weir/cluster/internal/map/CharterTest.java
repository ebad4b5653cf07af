package dev.weir.cluster.internal.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerSelf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CharterTest {
  private static final String FILE = "cluster.properties";

  @TempDir private Path folder;

  private Charter saved() throws IOException {
    Charter charter =
        new Charter(
            PeerSelf.FORMING, List.of(new Member("a", "a.internal", 7946)), 1, 3, 1L, 2L, true);
    charter.save(folder);
    return charter;
  }

  @Test
  void whatWasSaved_isLoaded() throws IOException {
    Charter charter = saved();
    assertThat(Charter.load(folder)).isEqualTo(charter);
  }

  /**
   * With another secret, a member would count keys under fingerprints that the others do not have.
   */
  @Test
  void anyBitThatIsFlipped_isNoticedOrMeansNothing() throws IOException {
    Charter charter = saved();
    byte[] good = Files.readAllBytes(folder.resolve(FILE));
    int noticed = 0;
    for (int bit = 0; bit < good.length * Byte.SIZE; bit++) {
      byte[] bad = good.clone();
      bad[bit / Byte.SIZE] = (byte) (good[bit / Byte.SIZE] ^ 1 << bit % Byte.SIZE);
      Files.write(folder.resolve(FILE), bad);
      try {
        assertThat(Charter.load(folder)).as("bit %d", bit).isEqualTo(charter);
      } catch (IOException damaged) {
        noticed++;
      }
    }
    assertThat(noticed).isPositive();
  }

  @Test
  void fileThatIsCutShort_isNoticed() throws IOException {
    Charter unused = saved();
    byte[] good = Files.readAllBytes(folder.resolve(FILE));
    for (int length = 0; length < good.length - 1; length++) {
      Files.write(folder.resolve(FILE), Arrays.copyOf(good, length));
      assertThatThrownBy(() -> Charter.load(folder))
          .as("%d bytes", length)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("damaged");
    }
  }
}
