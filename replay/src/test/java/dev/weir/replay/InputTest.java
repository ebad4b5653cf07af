package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import dev.weir.testkit.Trials;
import dev.weir.traffic.Format;
import dev.weir.traffic.InputRead;
import dev.weir.traffic.Progress;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of the inputs of a replay: several inputs, compressed ones, damaged ones, none at all. */
class InputTest {
  @TempDir Path folder;
  private Trial trial;

  @BeforeEach
  void makeTrial() throws IOException {
    trial = new Trial(folder);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] gzip(String text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(bytes(text));
    }
    return bytes.toByteArray();
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  private static String many(int from, int to) {
    StringBuilder text = new StringBuilder();
    for (int i = from; i < to; i++) {
      text.append(i).append(',').append(Integer.toHexString(31 * i * i)).append('\n');
    }
    return text.toString();
  }

  private static String timeAndOutcome(String row) {
    String[] cells = row.split(",", -1);
    return cells[1] + cells[2];
  }

  @Test
  void zstandard_isToldByItsContent() throws Exception {
    byte[] skippable = {0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
    byte[] frame = Zstd.compress(bytes("time,k\n1,a\n2,a\n"));
    byte[] second = Zstd.compress(bytes("3,a\n"));
    for (String name : List.of("in.csv", "in.csv.zst", "log.zst", Traffic.STANDARD_INPUT)) {
      for (byte[] content :
          List.of(joined(frame, second), joined(skippable, frame, skippable, second))) {
        trial.input(name, content).run();
        assertThat(trial.outcomes()).as(name).containsExactly("2 ALLOWED", "3 ALLOWED", "4 DENIED");
      }
    }
  }

  @Test
  void gzipOfSeveralMembers_isReadToTheEndAlsoFromASlowPipe() throws Exception {
    byte[] content = joined(gzip("time,k\n" + many(0, 5_000)), gzip(many(5_000, 6_000)));
    assertThat(trial.input("in.csv.gz", content).run().counts().requests()).isEqualTo(6_000);
    try (InputStream slow =
        new InputStream() {
          private int at;

          @Override
          public int read() {
            return at < content.length ? content[at++] & 0xff : -1;
          }

          @Override
          public int read(byte[] target, int offset, int length) {
            int one = length == 0 ? 0 : read();
            if (one < 0 || length == 0) {
              return one;
            }
            target[offset] = (byte) one;
            return 1;
          }

          @Override
          public int available() {
            return 0;
          }
        }) {
      trial.input(Traffic.STANDARD_INPUT, "");
      assertThat(trial.run(Progress.NONE, slow).counts().requests()).isEqualTo(6_000);
    }
  }

  @Test
  void zstandardThatBreaksOffOrIsDamaged_givesWhatCameBefore() throws Exception {
    byte[] whole = Zstd.compress(bytes("time,k\n" + many(0, 200_000)));
    ReplaySummary cut = trial.input("in.csv.zst", Arrays.copyOf(whole, whole.length / 2)).run();
    assertThat(cut.counts().requests()).isBetween(40_000L, 160_000L);
    assertThat(cut.unreadableLines().get(cut.unreadableLines().size() - 1).reason())
        .isEqualTo("the compressed input ends early or is damaged from here on");
    byte[] damaged = whole.clone();
    Arrays.fill(damaged, whole.length / 2, whole.length / 2 + 1000, (byte) 0x55);
    ReplaySummary summary = trial.input("in.csv.zst", damaged).run();
    assertThat(summary.counts().unreadable()).isPositive();
    assertThat(summary.counts().requests()).isLessThan(200_000);
  }

  @Test
  void severalInputs_areOneStreamByTimeWhateverTheirOrder() throws Exception {
    byte[] newer = bytes("time,k\n40,a\n50,b\n");
    byte[] older = gzip("time,k\n10,a\n20,a\nx,a\n");
    byte[] beside = bytes("k\ttime\na\t15\na\t45\n");
    trial.input("log", newer).andInput("log.1.gz", older).andInput("other.tsv", beside);
    ReplaySummary summary = trial.run();
    String at = folder + "/";
    assertThat(Files.readString(trial.decisionsFile()).replace(at, ""))
        .isEqualTo(
            """
            line,timestamp_ms,outcome,reason,policy,limit,remaining,retry_after_ms,input
            2,10000,ALLOWED,WITHIN_LIMIT,lim,2,1,0,log.1.gz
            2,15000,ALLOWED,WITHIN_LIMIT,lim,2,0,0,other.tsv
            3,20000,DENIED,OVER_LIMIT,lim,2,0,50000,log.1.gz
            2,40000,DENIED,OVER_LIMIT,lim,2,0,30000,log
            3,45000,DENIED,OVER_LIMIT,lim,2,0,25000,other.tsv
            3,50000,ALLOWED,WITHIN_LIMIT,lim,2,1,0,log
            """);
    assertThat(summary.counts().outOfOrder()).isZero();
    assertThat(summary.text()).contains("log.1.gz line 4: time: \"x\"");
    CRC32C checksum = new CRC32C();
    checksum.update(older);
    assertThat(summary.source().inputs().get(1))
        .isEqualTo(new InputRead(at + "log.1.gz", older.length, checksum.getValue()));

    trial.input("other.tsv", beside).andInput("log.1.gz", older).andInput("log", newer);
    assertThat(trial.run().counts()).isEqualTo(summary.counts());
  }

  @Test
  void severalInputs_agreeWithAllInOne() throws Exception {
    long seed = Trials.random("several inputs").nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    StringBuilder one = new StringBuilder("time,k\n");
    StringBuilder[] parts = new StringBuilder[5];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = new StringBuilder("time,k\n");
    }
    long nanos = 0;
    for (int i = 0; i < 20_000; i++) {
      nanos += 1 + random.nextInt(400_000_000);
      String row = nanos + ",k" + random.nextInt(30) + "\n";
      one.append(row);
      parts[random.nextInt(parts.length)].append(row);
    }
    trial.traffic(traffic -> traffic.time("time:ns"));
    ReplaySummary.Counts expected = trial.input("in.csv", one.toString()).run().counts();
    List<String> rows =
        trial.rows().stream().map(row -> row.timestampMs() + row.outcome()).toList();
    trial.input("part0.csv", parts[0].toString());
    for (int i = 1; i < parts.length; i++) {
      trial.andInput("part" + i + ".csv", bytes(parts[i].toString()));
    }
    assertThat(trial.run().counts()).as("seed %s", seed).isEqualTo(expected);
    assertThat(
            Files.readAllLines(trial.decisionsFile()).stream()
                .skip(1)
                .map(InputTest::timeAndOutcome))
        .as("seed %s", seed)
        .isEqualTo(rows);
  }

  @Test
  void emptyInput_isRefusedAloneAndSkippedBesideOthers() throws Exception {
    assertThatThrownBy(() -> trial.input("access.log", "").run())
        .isInstanceOf(TrafficException.class)
        .hasMessageEndingWith("access.log is empty (expected: records)");
    assertThatThrownBy(() -> trial.input("in.csv", "").run())
        .hasMessageContaining("input: empty (expected: a header with the columns' names)");
    trial.input("access.log", "").andInput("in.csv", bytes("time,k\n1,a\n"));
    assertThat(trial.run().counts().requests()).isEqualTo(1);
    trial.input("access.log", "").andInput("in.csv", new byte[0]);
    assertThatThrownBy(trial::run)
        .hasMessage("input: all empty (expected: records in one at least)");
  }

  @Test
  void whatIsWrongWithSeveralInputs_isSaidAtOnce() throws Exception {
    trial.input("a.csv", "time,k\n1,a\n").andInput("b.csv", bytes("time,who\n1,a\n"));
    assertThatThrownBy(trial::run)
        .hasMessage(
            "column \"k\" of "
                + folder.resolve("b.csv")
                + ": unknown (expected: one of time, who)");
    trial.inputFile(folder.resolve("no")).andInputFile(folder.resolve("nor"));
    assertThatThrownBy(trial::run).hasMessageContainingAll("no (expected", "nor (expected");
    trial.input(Traffic.STANDARD_INPUT, "").andInput(Traffic.STANDARD_INPUT, new byte[0]);
    assertThatThrownBy(trial::run)
        .hasMessage("input: - several times (expected: standard input once)");
  }

  @Test
  void binaryData_isRefusedOrCountedAsUnreadable() throws Exception {
    long seed = Trials.random("binary data").nextLong();
    byte[] noise = new byte[3 << 20];
    new SplittableRandom(seed).nextBytes(noise);
    noise[0] = 7; // Noise does not compress.
    trial.input("noise.bin", noise).traffic(traffic -> traffic.descriptor("key={ip}"));
    assertThatThrownBy(trial::run).as("seed %s", seed).isInstanceOf(TrafficException.class);
    ReplaySummary summary =
        trial // With a unit that is asked for, a digit in brackets would be a time of 1970.
            .traffic(t -> t.descriptor("key={ip}").format(Format.COMBINED).timeUnit(null))
            .run();
    assertThat(summary.counts().requests()).as("seed %s", seed).isZero();
    assertThat(summary.counts().unreadable()).as("seed %s", seed).isPositive();
    assertThat(summary.text()).doesNotContain("\u0000").doesNotContain("\u001b");
  }

  @Test
  void hugeLine_costsItselfAndNoMemory() throws Exception {
    try (OutputStream file = Files.newOutputStream(folder.resolve("huge.csv"))) {
      file.write(bytes("time,k\n1,a\n"));
      byte[] block = new byte[1 << 20];
      Arrays.fill(block, (byte) 'x');
      for (int i = 0; i < 64; i++) {
        file.write(block);
      }
      file.write(bytes("\n2,a\n"));
    }
    ReplaySummary summary = trial.inputFile(folder.resolve("huge.csv")).run();
    assertThat(summary.counts().requests()).isEqualTo(2);
    assertThat(summary.unreadableLines().get(0).line()).isEqualTo(3);
    assertThat(summary.unreadableLines().get(0).reason()).startsWith("longer than 1048576 bytes");
  }

  @Test
  void interrupt_endsTheReadingAndGivesWhatWasRead() throws Exception {
    trial.input("in.csv", "time,k\n" + many(0, 100_000));
    AtomicBoolean done = new AtomicBoolean();
    ReplaySummary summary =
        trial.run(
            (bytes, total, records) -> {
              if (records == 8_192 && !done.getAndSet(true)) {
                Thread.currentThread().interrupt();
              }
            });
    assertThat(Thread.interrupted()).as("cleared").isFalse();
    assertThat(summary.stopped()).isTrue();
    assertThat(summary.counts().requests()).isEqualTo(8_192);
    assertThat(trial.rows()).hasSize(8_192);
    assertThat(summary.text()).contains("stopped before the end of the input");
  }

  @Test
  void interrupt_endsAReadThatWaits() throws Exception {
    Pipe pipe = Pipe.open();
    Thread reader = Thread.currentThread();
    byte[] text = bytes("time,k\n" + many(0, 50_000) + "50000,");
    Thread writer =
        new Thread(
            () -> {
              try {
                ByteBuffer left = ByteBuffer.wrap(text);
                while (left.hasRemaining()) {
                  pipe.sink().write(left);
                }
                reader.interrupt(); // The pipe stays open: only this can end the reading.
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    writer.start();
    trial.input(Traffic.STANDARD_INPUT, "");
    ReplaySummary summary = trial.run(Progress.NONE, Channels.newInputStream(pipe.source()));
    writer.join();
    pipe.sink().close();
    assertThat(summary.stopped()).isTrue();
    assertThat(Thread.interrupted()).as("cleared").isFalse();
    // The reading may have ended before the last bytes that were written; half a line does not
    // count.
    assertThat(summary.counts().requests()).isBetween(1L, 50_000L);
    assertThat(summary.counts().unreadable()).isZero();
  }
}
