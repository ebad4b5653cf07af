package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.testkit.Trials;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Durations of all logs that have them. Each line below was written for one request, which began at
 * 09:44:49 UTC on 27 November 2026 and took 1.5 s, as far as the format's digits go.
 */
class DurationsTest {
  private static final Instant BEGIN = Instant.parse("2026-11-27T09:44:49Z");

  /** The logs that show which instant their time is. */
  enum TimedLog {
    INGRESS(
        "192.0.2.1 - - [27/Nov/2026:09:44:51 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\" 512 2.000"
            + " [shop-web-80] [] 10.0.0.7:8080 5 0.003 200 5f1d",
        "request_time in seconds, time is the end",
        2_000),
    TRAEFIK(
        "192.0.2.1 - - [27/Nov/2026:09:44:49 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\" 17"
            + " \"shop@docker\" \"http://10.0.0.7:80\" 1500ms",
        "duration in milliseconds, time is the begin",
        1_500),
    TRAEFIK_JSON(
        "{\"ClientHost\":\"192.0.2.1\",\"DownstreamStatus\":200,\"Duration\":1500000000,"
            + "\"RequestMethod\":\"GET\",\"RequestPath\":\"/a\",\"StartUTC\":"
            + "\"2026-11-27T09:44:49Z\",\"time\":\"2026-11-27T09:44:50Z\"}",
        "Duration in nanoseconds, time is the begin",
        1_500),
    CADDY(
        "{\"ts\":1795772690.5,\"request\":{\"client_ip\":\"192.0.2.1\",\"proto\":\"HTTP/1.1\","
            + "\"method\":\"GET\",\"uri\":\"/a\"},\"duration\":1.5,\"status\":200}",
        "duration in seconds, time is the end",
        1_500),
    CLOUDFLARE(
        "{\"ClientIP\":\"192.0.2.1\",\"ClientRequestMethod\":\"GET\",\"ClientRequestURI\":\"/a\","
            + "\"EdgeEndTimestamp\":\"2026-11-27T09:44:50.5Z\",\"EdgeResponseStatus\":200,"
            + "\"EdgeStartTimestamp\":\"2026-11-27T09:44:49Z\"}",
        "EdgeEndTimestamp, time is the begin",
        1_500),
    AZURE(
        "{\"time\":\"2026-11-27T09:44:50.5Z\",\"properties\":{\"httpMethod\":\"GET\",\"requestUri\":"
            + "\"https://h:443/a\",\"clientIp\":\"192.0.2.1\",\"httpStatusCode\":\"200\","
            + "\"timeTaken\":\"1.500\"}}",
        "properties.timeTaken in seconds, time is the end",
        1_500),
    IIS(
        "#Fields: date time s-ip cs-method cs-uri-stem c-ip sc-status sc-win32-status time-taken\n"
            + "2026-11-27 09:44:51 10.0.0.5 GET /a 192.0.2.1 200 0 2000",
        "time-taken in milliseconds, time is the end",
        2_000),
    CLOUDFRONT(
        "#Fields: date time x-edge-location c-ip cs-method cs-uri-stem sc-status time-taken\n"
            + "2026-11-27\t09:44:51\tFRA2-C1\t192.0.2.1\tGET\t/a\t200\t2.000",
        "time-taken in seconds, time is the end",
        2_000),
    ALB(
        "https 2026-11-27T09:44:50.5Z app/shop/50d 192.0.2.1:5000 10.0.0.1:80 0.200 1.000 0.300 200"
            + " 200 34 5 \"GET https://h:443/a HTTP/1.1\" \"x\" - - arn \"Root=1\" \"h\" \"s\" 0"
            + " 2026-11-27T09:44:49Z \"forward\" \"-\" \"-\"",
        "request_processing_time+target_processing_time+response_processing_time in seconds, time"
            + " is the end",
        1_500),
    ELB(
        "2026-11-27T09:44:49Z shop-lb 192.0.2.1:5000 10.0.0.1:80 0.2 1.0 0.3 200 200 0 5"
            + " \"GET http://h:80/a HTTP/1.1\" \"x\" - -",
        "request_processing_time+backend_processing_time+response_processing_time in seconds, time"
            + " is the begin",
        1_500),
    S3(
        "79a59 shop [27/Nov/2026:09:44:49 +0000] 192.0.2.1 79a5 3E57 REST.GET.OBJECT a.jpg"
            + " \"GET /a HTTP/1.1\" 200 - 5 5 1500 10 \"-\" \"x\" -",
        "total_time in milliseconds, time is the begin",
        1_500),
    ENVOY(
        "[2026-11-27T09:44:49.000Z] \"GET /a HTTP/1.1\" 200 - 154 5 1500 100 \"192.0.2.1\" \"x\""
            + " \"cc21\" \"h\" \"10.0.2.1:80\"",
        "duration in milliseconds, time is the begin",
        1_500),
    ISTIO(
        "[2026-11-27T09:44:49.000Z] \"GET /a HTTP/1.1\" 200 - via_upstream - \"-\" 0 5 1500 4 \"-\""
            + " \"x\" \"8496\" \"h\" \"10.44.1.27:80\" outbound|8000||shop 10.44.1.23:37652"
            + " 10.0.45.184:8000 192.0.2.1:5000 - default",
        "duration in milliseconds, time is the begin",
        1_500),
    HAPROXY(
        "Nov 27 09:44:50 lb1 haproxy[14389]: 192.0.2.1:5000 [27/Nov/2026:09:44:49.000] http-in"
            + " static/srv1 10/0/30/69/1500 200 5 - - ---- 1/1/1/1/0 0/0 {h} {} \"GET /a HTTP/1.1\"",
        "duration in milliseconds, time is the begin",
        1_500),
    SQUID(
        "1795772690.500   1500 192.0.2.1 TCP_MISS/200 5 GET http://h/a - HIER_DIRECT/10.0.0.9 text",
        "elapsed in milliseconds, time is the end",
        1_500),
    FASTIFY(
        "{\"time\":1795772689000,\"reqId\":\"req-1\",\"req\":{\"method\":\"GET\",\"url\":\"/a\","
            + "\"remoteAddress\":\"192.0.2.1\"}}\n"
            + "{\"time\":1795772690500,\"reqId\":\"req-1\",\"res\":{\"statusCode\":200},"
            + "\"responseTime\":1500}",
        "responseTime in milliseconds, time is the begin",
        1_500),
    PINO_HTTP(
        "{\"time\":1795772690500,\"req\":{\"id\":1,\"method\":\"GET\",\"url\":\"/a\","
            + "\"remoteAddress\":\"192.0.2.1\"},\"res\":{\"statusCode\":200},\"responseTime\":1500}",
        "responseTime in milliseconds, time is the end",
        1_500),
    ENVOY_JSON(
        "{\"start_time\":\"2026-11-27T09:44:49.000Z\",\"duration\":1500,\"response_flags\":\"-\","
            + "\"path\":\"/a\",\"ip\":\"192.0.2.1\"}",
        "duration in milliseconds, time is the begin",
        1_500),
    NGINX_JSON(
        "{\"time_iso8601\":\"2026-11-27T09:44:51+00:00\",\"request_time\":\"2.000\",\"ip\":"
            + "\"192.0.2.1\"}",
        "request_time in seconds, time is the end",
        2_000),
    NGINX_LTSV(
        "time_local:27/Nov/2026:09:44:51 +0000\tip:192.0.2.1\turi:/a\trequest_time:2.000",
        "request_time in seconds, time is the end",
        2_000);

    private final String lines;
    private final String column;
    private final long millis;

    TimedLog(String lines, String column, long millis) {
      this.lines = lines;
      this.column = column;
      this.millis = millis;
    }
  }

  /** A request as it was read. */
  private record Timed(long line, Instant begin, long nanos) {}

  private final List<String> warnings = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private String described = "";
  private String absent = "";

  private List<Timed> read(String text, UnaryOperator<Traffic.Builder> options)
      throws IOException, TrafficException {
    List<Timed> all = new ArrayList<>();
    Traffic traffic = options.apply(Traffic.builder("-")).build();
    RequestTemplate template = RequestTemplate.of("d", List.of("k=v"), "1");
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try (TrafficReader reader =
        TrafficReader.openTimed(traffic, template, new ByteArrayInputStream(bytes))) {
      reader.each(
          (input, line, nanos, request, load, took) ->
              all.add(new Timed(line, Instant.EPOCH.plusNanos(nanos), took)),
          (input, line, reason) -> {},
          Progress.NONE);
      warnings.addAll(reader.warnings());
      notes.addAll(reader.notes());
      RequestDurations durations = reader.durations();
      described = durations == null ? "" : durations.text();
      absent = reader.noDurations();
    }
    return all;
  }

  @ParameterizedTest
  @EnumSource(TimedLog.class)
  void eachFormat_hasItsUnitAndTheMeaningOfItsTime(TimedLog log) throws Exception {
    List<Timed> read = read(log.lines + "\n", traffic -> traffic);
    assertThat(read).hasSize(1);
    assertThat(read.get(0).begin()).isEqualTo(BEGIN);
    assertThat(read.get(0).nanos()).isEqualTo(log.millis * 1_000_000);
    assertThat(described).isEqualTo("duration in column " + log.column);
    assertThat(warnings).noneMatch(each -> each.startsWith("duration"));
  }

  private static UnaryOperator<Traffic.Builder> layout(String layout, String duration) {
    return traffic -> traffic.layout(layout).duration(duration);
  }

  @Test
  void apacheWithItsDuration_beginsAtItsTime() throws Exception {
    String line = "192.0.2.1 - - [27/Nov/2026:09:44:49 +0000] \"GET /a HTTP/1.1\" 200 5 ";
    String layout = "ip ident user [time] \"request\" status bytes taken";
    for (String[] each :
        new String[][] {
          {"1500000", "taken:us"},
          {"1500", "taken:ms"},
          {"1.5", "taken:s"},
          {"1500000000", "taken:ns"}
        }) {
      List<Timed> read =
          read(
              line + each[0] + "\n",
              t -> layout(layout, each[1]).apply(t).timeIs(TimeMeaning.BEGIN));
      assertThat(read).containsExactly(new Timed(1, BEGIN, 1_500_000_000L));
    }
  }

  @Test
  void nginxWithALayout_endsAtItsTime() throws Exception {
    String line = "192.0.2.1 [27/Nov/2026:09:44:51 +0000] \"GET /a HTTP/1.1\" 200 2.000\n";
    assertThat(read(line, t -> t.layout("ip [time] \"request\" status request_time")))
        .containsExactly(new Timed(1, BEGIN, 2_000_000_000L));
    assertThat(
            read(
                "1795772690.500 192.0.2.1 200 1.500\n",
                t -> t.layout("time ip status request_time")))
        .containsExactly(new Timed(1, BEGIN, 1_500_000_000L));
  }

  @Test
  void nginxWithMilliseconds_isExact() throws Exception {
    String ltsv = "msec:1795772690.500\tip:192.0.2.1\turi:/a\trequest_time:1.500\n";
    assertThat(read(ltsv, t -> t.time("msec")))
        .containsExactly(new Timed(1, BEGIN, 1_500_000_000L));
  }

  @Test
  void namedColumnsOfTables_needTheirUnitAndTheMeaningOfTheirTime() throws Exception {
    String csv = "time,ip,took\n2026-11-27T09:44:50.5Z,192.0.2.1,1500\n";
    assertThat(read(csv, t -> t.duration("took:ms").timeIs(TimeMeaning.END)))
        .containsExactly(new Timed(2, BEGIN, 1_500_000_000L));
    String json =
        "{\"time\":\"2026-11-27T09:44:49Z\",\"ip\":\"192.0.2.1\",\"rt\":{\"us\":1.5e6}}\n";
    assertThat(read(json, t -> t.duration("rt.us:us").timeIs(TimeMeaning.BEGIN)))
        .containsExactly(new Timed(1, BEGIN, 1_500_000_000L));
    assertThatThrownBy(() -> read(csv, t -> t.duration("took:ms")))
        .hasMessage(
            "time-is: not known of column \"time\" (expected: --time-is begin or end, whether a"
                + " record's time is that of the request's begin or of its end)");
    assertThatThrownBy(() -> read(csv, t -> t.duration("took").timeIs(TimeMeaning.END)))
        .hasMessage(
            "duration: \"took\" without a unit (expected: s, ms, us or ns behind it, such as"
                + " took:ms)");
    assertThatThrownBy(() -> read(csv, t -> t.duration("take:ms").timeIs(TimeMeaning.END)))
        .hasMessageContaining("column \"take\": unknown (expected: one of time, ip, took)");
  }

  @Test
  void logsWithoutDurations_sayWhatWouldHelp() throws Exception {
    String line =
        "192.0.2.1 - - [27/Nov/2026:09:44:49 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\"\n";
    assertThat(read(line, t -> t)).containsExactly(new Timed(1, BEGIN, -1));
    assertThat(described).isEmpty();
    assertThat(absent)
        .isEqualTo(
            "duration: the records do not have it (expected: a log with $request_time of nginx, %D"
                + " of Apache or the like, and --duration COLUMN:UNIT unless the format is known to"
                + " have it)");
    read("time,ip,latency_ms\n2026-11-27T09:44:49Z,192.0.2.1,1500\n", t -> t);
    assertThat(absent)
        .isEqualTo(
            "duration: column latency_ms may have it (expected: --duration latency_ms:s, :ms, :us"
                + " or :ns, and --time-is begin or end)");
  }

  @Test
  void formatWhoseTimeIsNotDocumented_hasNoDurationsUntilItIsGiven() throws Exception {
    String gcp =
        "{\"httpRequest\":{\"latency\":\"1.500s\",\"remoteIp\":\"192.0.2.1\",\"requestMethod\":\"GET\","
            + "\"requestUrl\":\"https://h/a\",\"status\":200},\"timestamp\":\"2026-11-27T09:44:49Z\"}\n";
    assertThat(read(gcp, t -> t)).containsExactly(new Timed(1, BEGIN, -1));
    assertThat(absent).startsWith("time-is: not known of column \"timestamp\"");
    assertThat(absent).endsWith("; column httpRequest.latency has durations");
    assertThat(read(gcp, t -> t.timeIs(TimeMeaning.BEGIN)))
        .containsExactly(new Timed(1, BEGIN, 1_500_000_000L));
  }

  @Test
  void missingAndNegativeDurations_areCounted_andEndWhenTheyBegin() throws Exception {
    String csv =
        """
        time,ip,took
        10,a,1
        20,a,
        30,a,-
        40,a,-1
        50,a,-5
        60,a,soon
        70,a,99999999999
        80,a,+3
        """;
    List<Timed> read = read(csv, t -> t.time("time:s").duration("took:s").timeIs(TimeMeaning.END));
    assertThat(read)
        .extracting(each -> each.begin().getEpochSecond())
        .containsExactly(9L, 20L, 30L, 40L, 50L, 60L, 70L, 80L);
    assertThat(read)
        .extracting(Timed::nanos)
        .containsExactly(1_000_000_000L, -1L, -1L, -1L, -1L, -1L, -1L, -1L);
    assertThat(warnings)
        .contains(
            "duration: not known of 7 of 8 records (4 without one, 1 with a negative one, 2 with"
                + " another text); each of these ends when it begins");
  }

  @Test
  void haproxyThatLogsBeforeTheEnd_hasNoDuration() throws Exception {
    String asap = TimedLog.HAPROXY.lines.replace("/69/1500 200 5 ", "/69/+1500 200 +5 ");
    assertThat(read(asap + "\n", t -> t)).containsExactly(new Timed(1, BEGIN, -1));
    assertThat(warnings).anyMatch(each -> each.contains("1 of 1 records (1 without one)"));
  }

  @Test
  void albThatReachedNoTarget_hasNoDuration() throws Exception {
    String lost = TimedLog.ALB.lines.replace("0.200 1.000 0.300 200", "-1 -1 -1 502");
    assertThat(read(lost + "\n", t -> t))
        .containsExactly(new Timed(1, BEGIN.plusMillis(1_500), -1));
  }

  @Test
  void timesInWholeSeconds_areNoted() throws Exception {
    read(
        "time,ip,took\n10,a,0.5\n11,a,0.5\n",
        t -> t.time("time:s").duration("took:s").timeIs(TimeMeaning.END));
    assertThat(notes)
        .anyMatch(each -> each.startsWith("time: in whole seconds, so a begin or end"));
    notes.clear();
    read(
        "time,ip,took\n10.1,a,0.5\n11,a,0.5\n",
        t -> t.time("time:s").duration("took:s").timeIs(TimeMeaning.END));
    assertThat(notes).noneMatch(each -> each.contains("whole seconds"));
  }

  @Test
  void recordsInTheOrderOfTheirEnds_comeInTheOrderOfTheirBegins(@TempDir Path folder)
      throws Exception {
    SplittableRandom random = Trials.random("logs in the order of ends");
    for (int run = 0; run < 20; run++) {
      int count = 1 + random.nextInt(400);
      long[] ends = random.longs(count, 1_000_000, 2_000_000).sorted().toArray();
      StringBuilder csv = new StringBuilder("time,ip,took\n");
      List<Long> begins = new ArrayList<>();
      for (long end : ends) {
        long took = random.nextInt(10) == 0 ? random.nextInt(900_000) : random.nextInt(1_000);
        csv.append(end).append(",a,").append(took).append('\n');
        begins.add((end - took) * 1_000_000);
      }
      Path file = Files.writeString(folder.resolve("in.csv"), csv);
      Traffic traffic =
          Traffic.builder(file.toString())
              .time("time:ms")
              .duration("took:ms")
              .timeIs(TimeMeaning.END)
              .build();
      List<Long> read = new ArrayList<>();
      RequestTemplate template = RequestTemplate.of("d", List.of("k=v"), "1");
      try (TrafficReader reader = // Memory for a few records only: the rest goes to files.
          TrafficReader.open(
              traffic, template, new ByteArrayInputStream(new byte[0]), true, 1_000)) {
        reader.each(
            (input, line, nanos, request, load, took) -> read.add(nanos),
            (input, line, reason) -> {},
            Progress.NONE);
      }
      assertThat(read).isEqualTo(begins.stream().sorted().toList());
    }
  }

  private List<Timed> readFiles(Traffic.Builder traffic, Path... files) throws Exception {
    for (Path file : files) {
      traffic.input(file.toString());
    }
    RequestTemplate template = RequestTemplate.of("d", List.of("k=v"), "1");
    List<Timed> all = new ArrayList<>();
    try (TrafficReader reader =
        TrafficReader.openTimed(traffic.build(), template, InputStream.nullInputStream())) {
      reader.each(
          (input, line, nanos, request, load, took) ->
              all.add(new Timed(10L * input + line, Instant.EPOCH.plusNanos(nanos), took)),
          (input, line, reason) -> {},
          Progress.NONE);
      absent = reader.noDurations();
    }
    return all;
  }

  @Test
  void severalInputs_areSortedByBegins_ifAllHaveTheSameDurations(@TempDir Path folder)
      throws Exception {
    Path first = Files.writeString(folder.resolve("a.csv"), "time,took\n10,1\n20,15\n");
    Path second = Files.writeString(folder.resolve("b.csv"), "time,took\n4,1\n21,9\n");
    Path third = Files.writeString(folder.resolve("c.csv"), "time,bytes\n4,1\n");
    UnaryOperator<Traffic.Builder> options =
        t -> t.time("time:s").duration("took:s").timeIs(TimeMeaning.END);
    assertThat(readFiles(options.apply(Traffic.builder()), first, second))
        .extracting(Timed::line)
        .containsExactly(12L, 3L, 2L, 13L); // They begin at 3, 5, 9 and 12.
    assertThatThrownBy(() -> readFiles(options.apply(Traffic.builder()), first, third))
        .hasMessageContaining("column \"took\" of " + third + ": unknown");
    String caddy = TimedLog.CADDY.lines + "\n";
    Path known = Files.writeString(folder.resolve("d.log"), caddy);
    Path unknown = Files.writeString(folder.resolve("e.jsonl"), "{\"ts\":1795772690.5}\n");
    assertThat(readFiles(Traffic.builder(), known, unknown))
        .extracting(Timed::nanos)
        .containsExactly(-1L, -1L);
    assertThat(absent)
        .isEqualTo(
            "duration: not read, since \""
                + unknown
                + "\" has none like those of \""
                + known
                + "\"");
  }

  @Test
  void requestsThatBeganBefore1970_areRead() throws Exception {
    assertThat(
            read(
                "time,ip,took\n1,a,5\n",
                t -> t.time("time:s").duration("took:s").timeIs(TimeMeaning.END)))
        .containsExactly(new Timed(2, Instant.ofEpochSecond(-4), 5_000_000_000L));
  }

  @Test
  void inspection_saysWhereDurationsAre() throws Exception {
    byte[] bytes = (TimedLog.SQUID.lines + "\n").getBytes(StandardCharsets.UTF_8);
    Inspection found =
        Inspector.inspect(
            Traffic.builder("-").build(), Progress.NONE, new ByteArrayInputStream(bytes));
    assertThat(found.text())
        .contains("\n  duration in column elapsed in milliseconds, time is the end\n");
    assertThat(found.json())
        .contains("\"duration_column\" : \"elapsed\"")
        .contains("\"duration_unit\" : \"milliseconds\"")
        .contains("\"time_is\" : \"end\"");
    byte[] none = "time,ip,n\n10.5,a,1\n".getBytes(StandardCharsets.UTF_8);
    Inspection without =
        Inspector.inspect(
            Traffic.builder("-").time("time:s").build(),
            Progress.NONE,
            new ByteArrayInputStream(none));
    assertThat(without.text()).contains("duration: the records do not have it");
    assertThat(without.json()).contains("\"duration_column\" : null");
  }
}
