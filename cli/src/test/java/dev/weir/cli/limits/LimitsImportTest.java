package dev.weir.cli.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cli.AdminServer;
import dev.weir.cli.Ran;
import dev.weir.cli.SharedStores;
import dev.weir.config.OwnLimit;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of {@code weir limits import}. */
class LimitsImportTest {
  @TempDir private Path folder;
  private AdminServer server;

  @BeforeEach
  void start() throws IOException {
    server = new AdminServer(folder);
    server.commit("shop.yaml", AdminServer.RULES);
    assertThat(server.requests()).isEmpty();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private Ran read(Path file, String... more) {
    List<String> all = new ArrayList<>(List.of("limits", "import", file.toString()));
    all.addAll(List.of(more));
    return server.weir(all.toArray(new String[0]));
  }

  private static String line(int i) {
    return "{\"domain\":\"shop\",\"key\":\"user\",\"value\":\"u%d\",\"plan\":\"gold\"}"
        .formatted(i);
  }

  private static String lines(int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(LimitsImportTest::line)
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private SubjectRecord stored(String value) {
    Subject subject = new Subject("shop", "user", value);
    return Objects.requireNonNull(server.store.records(List.of(subject)).found().get(subject));
  }

  @Test
  void manyLines_areCutIntoPieces_andCanBeRepeated() throws Exception {
    Path file = file("all.ndjson", lines(0, 25_000));
    Ran dry = read(file, "--dry-run");
    assertThat(dry.status()).as(dry.err()).isZero();
    assertThat(dry.err())
        .isEqualTo(
            "25000 records, 25000 would be written, 0 there already, 0 refused; done up to line"
                + " 25000\n");
    assertThat(server.store.list("shop", "user", "", null, 1).found()).isEmpty();
    assertThat(server.requests()).hasSize(3).allMatch("POST /admin/v1/limits/import"::equals);

    Ran first = read(file, "--reason", "a test");
    assertThat(first.status()).isZero();
    assertThat(first.err()).contains("25000 records, 25000 written, 0 there already, 0 refused");
    assertThat(stored("u24999").plan()).isEqualTo("gold");
    Ran second = read(file, "--reason", "a test", "--json");
    assertThat(second.out())
        .isEqualTo(
            "{\"dry_run\":false,\"last_line\":25000,\"records\":25000,\"refused\":0,"
                + "\"unchanged\":25000,\"written\":0}\n");
  }

  @Test
  void longLines_areCutByBytes() throws Exception {
    String note = "n".repeat(490);
    String all =
        IntStream.range(0, 9_000)
            .mapToObj(
                i ->
                    line(i).replace("}", ",\"note\":\"" + note + "\",\"limits\":" + limits() + "}"))
            .collect(Collectors.joining("\n"));
    assertThat(all.length()).isGreaterThan(LimitsImport.MAX_BYTES);
    assertThat(read(file("all.ndjson", all), "--dry-run").status()).isZero();
    assertThat(server.requests()).hasSize(2);
  }

  private static String limits() {
    return IntStream.range(0, 8)
        .mapToObj(i -> "{\"rule\":\"user-minute-%d\",\"requests_per_unit\":%d}".formatted(i, i))
        .collect(Collectors.joining(",", "[", "]"));
  }

  @Test
  void refusedLines_areShownWithTheirNumbers_andTheOthersAreWritten() throws Exception {
    Path file =
        file(
            "all.ndjson",
            line(1)
                + "\n\n"
                + "{\"domain\":\"shop\"}\n"
                + "no json\n"
                + line(2)
                + "\r\n\n"
                + lines(3, 10_003)
                + "{\"domain\":\"shop\",\"key\":\"user\",\"value\":\"x\",\"plam\":1}\n"
                + line(4).replace("gold", "silver"));
    Ran ran = read(file, "--reason", "a test");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err())
        .contains(
            "line 3: key: missing (expected: a text)\n",
            "line 4: ",
            "line 10007: plam: unknown (expected: plan, limits, note)\n",
            "line 10008: has no effect now: plan: silver (expected: ",
            "10006 records, 10003 written, 0 there already, 3 refused; done up to line 10008\n");
    assertThat(stored("u4").plan()).isEqualTo("silver");
    assertThat(stored("u2").plan()).isEqualTo("gold");
  }

  @Test
  void manyRefusedLines_areCounted() throws Exception {
    Ran ran = read(file("all.ndjson", "{}\n".repeat(1_500)), "--reason", "a test");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err().lines().filter(line -> line.startsWith("line "))).hasSize(1_000);
    assertThat(ran.err())
        .contains("500 more lines refused among lines 1 to 1500\n", "1500 refused");
  }

  @Test
  void csv_hasARowForEachLimit() throws Exception {
    Path file =
        file(
            "all.csv",
            """
            \ufeffdomain,key,value,plan,rule,requests_per_unit,window,burst,until,note
            shop,user,alice,gold,user-minute,500,1m,20,2030-01-31T00:00:00Z,"a ""quoted"", note"
            shop,user,alice,,other,7,,,,

            shop,user,bert,silver,,,,,,
            shop,user,carl,gold,user-minute,many,,,,
            shop,user,dora,gold,,5,,,,
            shop,user,"emil,gold
            shop,user,fritz,gold
            shop,user,gerd,gold,,,,,,
            shop,user,gerd,silver,,,,,,
            shop,user,"hans"x,gold,,,,,,
            shop,user,ivan,gold,,,,,,,
            shop,user,,gold,,,,,,
            shop,user,"karl",gold,,,,,,\rshop,user,lena,gold,,,,,,
            shop,user,mara,gold,user-minute,few,,,,
            """);
    Ran ran = read(file, "--reason", "a test");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err())
        .contains(
            "line 6: requests_per_unit: \"many\" (expected: a whole number)\n",
            "line 7: requests_per_unit: without a rule",
            "line 8: Missing closing quote for value (expected: a row of CSV on one line)\n",
            "line 9: cells: 4 (expected: 10, as many as the header has)\n",
            "line 11: plan: another one than above (expected: one a customer)\n",
            "line 12: Unexpected character ('x' (code 120)): Expected column separator",
            "line 13: cells: 11 (expected: 10, as many as the header has)\n",
            "line 14: value: empty (expected: a value; JSON can have an empty one)\n",
            "line 15: a carriage return in it (expected: lines that end with LF or CRLF)\n",
            "line 16: requests_per_unit: \"few\" (expected: a whole number)\n",
            "12 records, 2 written, 0 there already, 10 refused; done up to line 16\n");
    assertThat(ran.err().lines().filter(line -> line.startsWith("line ")))
        .extracting(line -> Integer.parseInt(line.substring(5, line.indexOf(':'))))
        .isSorted();
    assertThat(stored("alice"))
        .usingRecursiveComparison()
        .ignoringFields("version")
        .isEqualTo(
            new SubjectRecord(
                new Subject("shop", "user", "alice"),
                "gold",
                List.of(
                    new OwnLimit(
                        "user-minute",
                        500,
                        Duration.ofMinutes(1),
                        20L,
                        Instant.parse("2030-01-31T00:00:00Z")),
                    OwnLimit.of("other", 7)),
                "a \"quoted\", note",
                0));
  }

  @Test
  void csvHeader_thatIsNone_isSaid() throws Exception {
    assertThat(read(file("a.csv", ""), "--dry-run").err()).contains("input: empty");
    Ran typo = read(file("a.csv", "domain,key,value,plann\n"), "--dry-run");
    assertThat(typo.status()).isEqualTo(1);
    assertThat(typo.err()).contains("header: \"plann\"", "did you mean \"plan\"?");
    assertThat(read(file("a.csv", "domain,key\n"), "--dry-run").err())
        .contains("header: no column value");
    Ran open = read(file("a.csv", "domain,\"key\n"), "--dry-run");
    assertThat(open.status()).isEqualTo(1);
    assertThat(open.err())
        .isEqualTo(
            "weir: header: Missing closing quote for value (expected: a row of CSV on one line)\n");
    assertThat(read(file("a.csv", "domain,key,\"value\"\n"), "--dry-run").status()).isZero();
    assertThat(read(file("a.csv", lines(0, 1)), "--dry-run", "--format", "ndjson").status())
        .isZero();
    assertThat(read(file("a.csv", ""), "--dry-run", "--format", "xml").status()).isEqualTo(2);
  }

  @Test
  void linesThatAreNoText_areRefused() throws Exception {
    byte[] good = lines(0, 1).getBytes(StandardCharsets.UTF_8);
    byte[] all = new byte[good.length + 3 + 2_000_001];
    System.arraycopy(good, 0, all, 0, good.length);
    all[good.length] = (byte) 0xc3;
    all[good.length + 1] = (byte) 0x28;
    all[good.length + 2] = '\n';
    Arrays.fill(all, good.length + 3, all.length, (byte) 'x');
    Path file = Files.write(folder.resolve("all.ndjson"), all);
    Ran ran = read(file, "--reason", "a test");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err())
        .contains(
            "line 2: no text (expected: UTF-8)\n",
            "line 3: too long (expected: at most 1048576 bytes)\n",
            "3 records, 1 written, 0 there already, 2 refused");
  }

  @Test
  void wrongUsage_isSaid() throws Exception {
    assertThat(read(file("a.ndjson", "")).err()).contains("--reason: none");
    Ran gone = read(folder.resolve("nowhere"), "--reason", "a test");
    assertThat(gone.status()).isEqualTo(3);
    assertThat(gone.err()).contains("nowhere: not there, or not to be read");
  }

  @Test
  void serverThatGoesAway_leavesAWord() throws Exception {
    Path file = file("all.ndjson", lines(0, 25_000));
    int[] posts = new int[1];
    Runnable[] again = new Runnable[1];
    again[0] =
        () -> {
          if (++posts[0] == 2) {
            throw new IllegalStateException("away");
          }
          server.before("POST", again[0]);
        };
    server.before("POST", again[0]);
    Ran ran = read(file, "--reason", "a test");
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.err())
        .contains(
            "weir: http://127.0.0.1:",
            "ended early, can be repeated: 10000 records, 10000 written, 0 there already,"
                + " 0 refused; done up to line 10000\n");
  }

  @Test
  void interrupt_saysHowFarItCame() throws Exception {
    Path file = file("all.ndjson", lines(0, 15_000));
    Thread reader = Thread.currentThread();
    server.before("POST", () -> server.before("POST", reader::interrupt));
    Ran ran = read(file, "--reason", "a test");
    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.err())
        .startsWith("stopped, can be repeated: 10000 records, 10000 written, ")
        .endsWith("done up to line 10000\n");
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void storeWithoutServer_takesTheSame() throws Exception {
    Path file = file("all.ndjson", lines(0, 1_200) + "{}\n");
    Ran ran =
        Ran.weir(
            "limits",
            "import",
            file.toString(),
            "--reason",
            "a test",
            "--config-store",
            "shared:import");
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.err())
        .contains("line 1201: domain: ", "1201 records, 1200 written, 0 there already, 1 refused");
    assertThat(SharedStores.of("import").list("shop", "user", "", null, 1_000).found())
        .hasSize(1_000);
    assertThat(SharedStores.of("import").changes(0, 1).get(0).details().cause().author())
        .startsWith("user ");
  }

  @Test
  void store_withoutAServer_isExported() throws Exception {
    String records = file("export.ndjson", lines(0, 1_200)).toString();
    String[] store = {"--config-store", "shared:export"};
    assertThat(weir(store, "limits", "import", records, "--reason", "a test").status()).isZero();
    Path whole = folder.resolve("whole.ndjson");
    Ran export = weir(store, "limits", "export", whole.toString());
    assertThat(export.status()).as(export.err()).isZero();
    assertThat(export.err()).isEqualTo("1200 records in " + whole + "\n");
    assertThat(Files.readAllLines(whole)).hasSize(1_200).allMatch(each -> each.contains("gold"));
    Ran none = weir(store, "limits", "export", whole.toString(), "--domain", "shop", "--key", "ip");
    assertThat(none.err()).isEqualTo("0 records in " + whole + "\n");
    Path nowhere = folder.resolve("nowhere").resolve("x");
    Ran failed = weir(store, "limits", "export", nowhere.toString());
    assertThat(failed.status()).isEqualTo(3);
    assertThat(failed.err())
        .isEqualTo(
            "weir: FILE: "
                + nowhere
                + ": its folder is not there (expected: a file that can be written)\n");
  }

  private static Ran weir(String[] store, String... command) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of(store));
    return Ran.weir(all.toArray(new String[0]));
  }
}
