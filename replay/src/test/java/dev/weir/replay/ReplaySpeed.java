package dev.weir.replay;

import com.sun.management.OperatingSystemMXBean;
import dev.weir.traffic.Format;
import dev.weir.traffic.Progress;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/**
 * A measurement of records per second, end to end: reading, times, templates, decisions, counting.
 * It is run by hand, see {@code docs/replay.md}; arguments: records, rounds.
 */
final class ReplaySpeed {
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  /** The formats of which {@link #line} writes lines. */
  private static final List<Format> WRITTEN =
      List.of(Format.COMBINED, Format.CSV, Format.TSV, Format.JSONL);

  private ReplaySpeed() {}

  /**
   * Generates one input a format and replays each several times.
   *
   * @param args the number of records (default 1 million) and the number of rounds (default 5)
   */
  public static void main(String[] args) throws IOException, TrafficException {
    int records = args.length > 0 ? Integer.parseInt(args[0]) : 1_000_000;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    Path folder = Files.createTempDirectory("weir-replay-speed");
    Path rules = Files.writeString(folder.resolve("rules.yaml"), Trial.rules("", 100, "minute"));
    for (Format format : WRITTEN) {
      measure(folder, rules, format, records, rounds);
    }
    try (var files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }

  private static void measure(Path folder, Path rules, Format format, int records, int rounds)
      throws IOException, TrafficException {
    Path input = folder.resolve("input");
    write(input, format, records);
    StringBuilder line = new StringBuilder();
    for (boolean decisions : new boolean[] {false, true}) {
      line.append(decisions ? "; with --decisions" : format.text() + ":");
      for (int i = 0; i < rounds; i++) {
        ReplayOptions options =
            ReplayOptions.builder(
                    Traffic.builder(input.toString()).format(format).descriptor("key={ip}").build(),
                    "d")
                .rules(rules)
                .decisions(decisions ? folder.resolve("decisions.csv") : null)
                .build();
        long cpuNanos = PROCESS.getProcessCpuTime();
        ReplaySummary summary = Replay.run(options, Progress.NONE);
        cpuNanos = PROCESS.getProcessCpuTime() - cpuNanos;
        line.append(' ').append(records * 1_000_000L / cpuNanos).append("k/");
        line.append(summary.recordsPerSecond() / 1000).append("k");
      }
    }
    System.out.println(
        line + " records/s (of processor time, collector and compiler included / of time)");
  }

  /** Writes requests of 10 thousand addresses, a few hundred a second, some very busy. */
  private static void write(Path file, Format format, int records) throws IOException {
    Random random = new Random(42);
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 16)) {
      out.write(header(format).getBytes(StandardCharsets.UTF_8));
      for (int i = 0; i < records; i++) {
        int host = (int) (10_000 * Math.pow(random.nextDouble(), 3));
        String ip = "10.0." + host / 100 + "." + host % 100;
        out.write(line(format, ip, 1_700_000_000L + i / 300, i).getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  private static String header(Format format) {
    return switch (format) {
      case CSV -> "time,ip,path,status\n";
      case TSV -> "time\tip\tpath\tstatus\n";
      default -> "";
    };
  }

  private static String line(Format format, String ip, long second, int i) {
    String path = "/catalogue/items/" + i;
    return switch (format) {
      case CSV -> second + "," + ip + "," + path + ",200\n";
      case TSV -> second + "\t" + ip + "\t" + path + "\t200\n";
      case JSONL ->
          "{\"time\":"
              + second
              + ",\"ip\":\""
              + ip
              + "\",\"path\":\""
              + path
              + "\",\"status\":200}\n";
      default ->
          ip
              + " - - ["
              + Trial.accessLogTime(second)
              + "] \"GET "
              + path
              + " HTTP/1.1\" 200 5120 \"-\" \"Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101\"\n";
    };
  }
}
