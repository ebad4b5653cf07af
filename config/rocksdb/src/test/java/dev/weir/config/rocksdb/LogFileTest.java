package dev.weir.config.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.rocksdb.LogFile.Sound;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files written by the description of RocksDB's format; other tests read files of RocksDB. */
class LogFileTest {
  private static final int BLOCK = 32 << 10;
  private static final int HEADER = 7;
  private static final int FULL = 1;

  @TempDir Path folder;

  private final ByteArrayOutputStream written = new ByteArrayOutputStream();

  private LogFileTest part(int type, int length) {
    ByteBuffer part = ByteBuffer.allocate(HEADER + length).order(ByteOrder.LITTLE_ENDIAN);
    part.putShort(4, (short) length).put(6, (byte) type);
    CRC32C crc = new CRC32C();
    crc.update(part.array(), 6, 1 + length);
    long sum = crc.getValue();
    part.putInt(0, (int) ((sum >>> 15 | sum << 17) + 0xa282ead8L));
    written.writeBytes(part.array());
    return this;
  }

  private LogFileTest bytes(int count, int value) {
    byte[] bytes = new byte[count];
    Arrays.fill(bytes, (byte) value);
    written.writeBytes(bytes);
    return this;
  }

  private Path file() throws IOException {
    return Files.write(folder.resolve("log"), written.toByteArray());
  }

  private void assertSound(long bytes, boolean damaged) throws IOException {
    assertThat(LogFile.read(file())).isEqualTo(new Sound(bytes, damaged));
    assertThat(file()).hasBinaryContent(written.toByteArray());
  }

  @Test
  void wholeFiles_areSoundToTheirEnd() throws IOException {
    assertSound(0, false);
    part(FULL, 10).part(FULL, 0);
    assertSound(24, false);
    part(FULL, BLOCK - 24 - HEADER - 6).bytes(6, 0).part(FULL, 5);
    assertSound(BLOCK + 12, false);
    part(130, 5);
    assertSound(BLOCK + 24, false);
  }

  @Test
  void writesThatWereBrokenOff_endWhatIsSound() throws IOException {
    part(FULL, 10).bytes(3, 1);
    assertSound(17, false);
    written.reset();
    part(FULL, 10).bytes(4, 1).bytes(1, 9).bytes(1, 0).bytes(1, FULL).bytes(8, 1);
    assertSound(17, false);
    written.reset();
    part(FULL, 10).bytes(2 * BLOCK, 0);
    assertSound(17, false);
  }

  @Test
  void contentThatIsNotAsWritten_isDamage() throws IOException {
    part(FULL, 10).part(FULL, 10).part(FULL, 10);
    byte[] whole = written.toByteArray();
    for (int at = 0; at < whole.length; at++) {
      byte[] flipped = whole.clone();
      flipped[at] ^= 1;
      Sound sound = LogFile.read(Files.write(folder.resolve("log"), flipped));
      assertThat(sound.bytes()).as("byte %d", at).isEqualTo(at / 17 * 17L);
      // A length beyond the file's end could be that of a write that was broken off.
      assertThat(sound.damaged()).isEqualTo(at % 17 != 5 && at != 34 + 4);
    }
    written.reset();
    part(FULL, 10).bytes(4, 1).bytes(2, 0xff).bytes(1, FULL);
    assertSound(17, true); // Beyond the end of a block.
  }

  @Test
  void zerosBeforeARecord_areDamageAndAreMarked() throws IOException {
    part(FULL, 10).bytes(BLOCK - 17, 0).part(FULL, 10);
    assertSound(17, true);
    Path file = file();
    assertThat(LogFile.disarm(file)).isEqualTo(new Sound(17, true));
    assertChanged(file, 17 + 6);
  }

  @Test
  void typesOfFilesThatAreUsedAgain_areDamageAndAreReplacedWhereverRocksDbMeetsThem()
      throws IOException {
    for (int type : new int[] {5, 6, 7, 8, 11, 131}) {
      written.reset();
      part(FULL, 10).part(type, 10).bytes(BLOCK - 34, 0).part(FULL, 10).part(type, 10);
      assertSound(17, true);
      Path file = file();
      assertThat(LogFile.disarm(file)).isEqualTo(new Sound(17, true));
      assertChanged(file, 17 + 6, BLOCK + 17 + 6);
      assertThat(LogFile.disarm(file)).isEqualTo(new Sound(17, true));
      assertChanged(file, 17 + 6, BLOCK + 17 + 6);
    }
  }

  @Test
  void endsOfWritesThatWereBrokenOff_areLeftAsTheyAre() throws IOException {
    part(FULL, 10).bytes(100, 0);
    Path file = file();
    assertThat(LogFile.disarm(file)).isEqualTo(new Sound(17, false));
    assertChanged(file);
  }

  private void assertChanged(Path file, int... places) throws IOException {
    byte[] expected = written.toByteArray();
    for (int place : places) {
      expected[place] = 0x7f;
    }
    assertThat(file).hasBinaryContent(expected);
  }
}
