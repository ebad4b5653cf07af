package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.rules.ShownText;
import dev.weir.testkit.Trials;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrafficReaderTest {
  @TempDir Path folder;

  private static Traffic traffic(Path file, boolean sort) {
    return Traffic.builder(file.toString())
        .timeUnit(TimeUnit.SECONDS)
        .descriptor("key={k}")
        .sort(sort)
        .build();
  }

  /** Returns {@code line time key} of each request. */
  private static List<String> read(Traffic traffic, int sortBytes) throws Exception {
    List<String> read = new ArrayList<>();
    RequestTemplate template = RequestTemplate.of("d", traffic.descriptors(), "1");
    try (TrafficReader reader =
        TrafficReader.open(traffic, template, InputStream.nullInputStream(), false, sortBytes)) {
      reader.each(
          (input, line, nanos, request, load, took) ->
              read.add(
                  line
                      + " "
                      + nanos / 1_000_000_000L
                      + " "
                      + request.descriptors().get(0).entries().get(0).value()),
          (input, line, why) -> read.add(line + "! " + why),
          Progress.NONE);
    }
    return read;
  }

  @Test
  void sortingMoreThanMemoryHolds_isSortedAllTheSame() throws Exception {
    long seed = Trials.random("records to sort").nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    StringBuilder text = new StringBuilder("time,k\n");
    List<long[]> records = new ArrayList<>();
    for (int line = 2; line < 60_002; line++) {
      long time = random.nextInt(1_000); // Many have the same time: their order is kept.
      records.add(new long[] {line, time});
      text.append(time).append(",k").append(line).append('\n');
    }
    records.sort(Comparator.comparingLong(record -> record[1]));
    List<String> expected = records.stream().map(r -> r[0] + " " + r[1] + " k" + r[0]).toList();
    Path file = Files.writeString(folder.resolve("in.csv"), text);
    // 60,000 records of some 35 bytes: 2,000 runs in the smallest memory, one in the largest.
    for (int bytes : new int[] {1_000, 50_000, 16 << 20}) {
      assertThat(read(traffic(file, true), bytes)).as("seed %s", seed).isEqualTo(expected);
    }
  }

  @Test
  void moreThanOneInAHundredOutOfOrder_isRefusedAndNamesTheFlag() throws Exception {
    String good = "time,k\n" + "5,a\n".repeat(198);
    Path file = Files.writeString(folder.resolve("in.csv"), good + "4,a\n5,a\n");
    assertThat(read(traffic(file, false), 1 << 20)).hasSize(200);
    Files.writeString(file, good + "4,a\n1,a\n2,a\n5,a\n");
    assertThatThrownBy(() -> read(traffic(file, false), 1 << 20))
        .isInstanceOf(TrafficException.class)
        .hasMessage(
            "order: 3 of 202 records are earlier than a record before them, by up to 4 s; the first"
                + " is line 200 of \""
                + ShownText.brief(file.toString())
                + "\", behind line 199 (expected: at most 1 % of them; --sort puts all in order, in"
                + " bounded memory)");
    assertThat(read(traffic(file, true), 1 << 20)).hasSize(202).first().isEqualTo("201 1 a");
  }

  /** Writes a file of one record per minute, sixty an hour, over the end of summer time. */
  private Path summersEnd() throws Exception {
    DateTimeFormatter bracket =
        DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss.SSS", Locale.ROOT).withZone(RealLog.ZONE);
    StringBuilder text = new StringBuilder();
    Instant time = Instant.parse("2026-10-25T00:00:00Z");
    for (int i = 0; i < 36_000; i++) {
      text.append("Oct 31 00:00:00 lb1 haproxy[1]: 192.0.2.").append(i % 5).append(":80 [");
      text.append(bracket.format(time.plusSeconds(60L * i))).append("] web b/s1 0/0/0/0/0 200 1");
      text.append(" - - ---- 1/1/0/0/0 0/0 \"GET / HTTP/1.1\"\n");
    }
    return Files.writeString(folder.resolve("summer.log"), text);
  }

  @Test
  void clockThatWasSetBack_isRefusedAndReadWithItsZone() throws Exception {
    Traffic.Builder traffic = Traffic.builder(summersEnd().toString()).descriptor("key={ip}");
    for (boolean sort : new boolean[] {false, true}) {
      assertThatThrownBy(() -> read(traffic.sort(sort).build(), 1 << 20))
          .hasMessageStartingWith("time: line 10351 of ")
          .hasMessageEndingWith(
              "is 59 min earlier than the line before it, as where summer time ends, and the times"
                  + " have no zone (expected: --zone with the writer's, such as Europe/Berlin, or"
                  + " UTC)");
    }
    long first = Instant.parse("2026-10-25T00:00:00Z").getEpochSecond();
    List<String> read = read(traffic.sort(false).zone(RealLog.ZONE).build(), 1 << 20);
    assertThat(read).hasSize(36_000);
    for (int i = 0; i < read.size(); i++) {
      assertThat(read.get(i)).isEqualTo((i + 1) + " " + (first + 60L * i) + " 192.0.2." + i % 5);
    }
  }

  @Test
  void slowRequests_areNoClockThatWasSetBack() throws Exception {
    StringBuilder text = new StringBuilder("time,k\n");
    for (int i = 0; i < 1_000; i++) {
      int minute = i % 200 == 199 ? i - 40 : i;
      text.append("2026-11-27 ").append(String.format(Locale.ROOT, "%02d", minute / 60));
      text.append(String.format(Locale.ROOT, ":%02d:00,a%n", minute % 60));
    }
    Path file = Files.writeString(folder.resolve("in.csv"), text);
    assertThat(read(Traffic.builder(file.toString()).descriptor("key={k}").build(), 1 << 20))
        .hasSize(1_000);
  }

  @Test
  void logOutOfOrder_isExplainedByItsWriter() throws Exception {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 60; i++) {
      int second = i % 10 == 9 ? i - 2 : i;
      text.append("192.0.2.1 - - [27/Nov/2026:06:14:");
      text.append(String.format(Locale.ROOT, "%02d +0000] \"GET / HTTP/1.1\" 200 1%n", second));
    }
    Path file = Files.writeString(folder.resolve("access.log"), text);
    Traffic traffic = Traffic.builder(file.toString()).descriptor("key={ip}").build();
    assertThatThrownBy(() -> read(traffic, 1 << 20))
        .hasMessageContaining("many servers write a request's start when it ends (expected: ");
  }

  @Test
  void doubtfulKeys_areWarnedAbout() throws Exception {
    assertThat(warnings("time,ip\n1,Nov\n2,Dec\n3,\n", "ip={ip}"))
        .containsExactly(
            "descriptor ip={ip}: nothing in 1 of 3 records; they share one key",
            "descriptor ip={ip}: no address in 2 of 2 values, such as \"Nov\" (expected:"
                + " addresses; 'weir inspect' shows the columns)");
    assertThat(warnings("time,user\n1,a\n2,a\n", "user={user}"))
        .containsExactly(
            "descriptor user={user}: all 2 records have the same key, \"a\" (expected: a column"
                + " that tells clients apart; 'weir inspect' shows them)");
    assertThat(warnings("time,ip\n1,192.0.2.1\n2,2001:db8::1\n", "ip={ip}")).isEmpty();
    assertThat(warnings("time,ip\n1,192.0.2.1\n2,192.0.2.2\n", "door=front")).isEmpty();
  }

  @Test
  void inputThatBreaksOff_isWarnedAbout() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      for (int i = 0; i < 20_000; i++) {
        out.write(
            ((i == 0 ? "time,k\n" : i + ",k" + Integer.toHexString(31 * i * i)) + "\n")
                .getBytes(StandardCharsets.UTF_8));
      }
    }
    byte[] half = Arrays.copyOf(bytes.toByteArray(), bytes.size() / 2);
    Path file = Files.write(folder.resolve("in.csv.gz"), half);
    assertThat(warnings(file, "key={k}").get(0))
        .matches(
            "input: .*in.csv.gz ends early or is damaged behind "
                + half.length
                + " bytes of compressed data; what is read ends at line \\d{4,5}, and the rest is"
                + " missing");
  }

  private List<String> warnings(String text, String descriptor) throws Exception {
    return warnings(Files.writeString(folder.resolve("in.csv"), text), descriptor);
  }

  private static List<String> warnings(Path file, String descriptor) throws Exception {
    RequestTemplate template = RequestTemplate.of("d", List.of(descriptor), "1");
    try (TrafficReader reader =
        TrafficReader.open(traffic(file, false), template, InputStream.nullInputStream())) {
      reader.each((i, line, nanos, request, load, took) -> {}, (i, line, why) -> {}, Progress.NONE);
      return reader.warnings();
    }
  }

  @Test
  void recordWithoutAnAlternative_isReadAndWithoutARequiredColumnIsNot() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("in.jsonl"),
            """
            {"time": 1, "login": "alice", "ip": "192.0.2.1"}
            {"time": 2, "ip": "192.0.2.2"}
            {"time": 3, "login": null}
            {"login": "bob", "ip": "192.0.2.3"}
            """);
    Traffic traffic = Traffic.builder(file.toString()).timeUnit(TimeUnit.SECONDS).build();
    RequestTemplate template = RequestTemplate.of("d", List.of("key={login|ip}"), "1");
    List<String> keys = new ArrayList<>();
    List<String> unreadable = new ArrayList<>();
    try (TrafficReader reader =
        TrafficReader.open(traffic, template, InputStream.nullInputStream())) {
      reader.each(
          (input, line, nanos, request, load, took) ->
              keys.add(request.descriptors().get(0).entries().get(0).value()),
          (input, line, why) -> unreadable.add(line + ": " + why),
          Progress.NONE);
    }
    assertThat(keys).containsExactly("login:alice", "ip:192.0.2.2", "");
    assertThat(unreadable).containsExactly("4: column \"time\": missing");
  }

  @Test
  void alternativeThatIsNoColumn_isRefused() throws Exception {
    Path file = Files.writeString(folder.resolve("in.csv"), "time,ip\n1,192.0.2.1\n");
    Traffic traffic = Traffic.builder(file.toString()).build();
    RequestTemplate template = RequestTemplate.of("d", List.of("key={login|ip}"), "1");
    assertThatThrownBy(() -> TrafficReader.open(traffic, template, InputStream.nullInputStream()))
        .hasMessage("column \"login\": unknown (expected: one of time, ip)");
  }
}
