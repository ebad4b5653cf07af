package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Every field that can grow is in {@code tests/checks/kept.txt}, with its bound: a client must not
 * be able to choose how much a process keeps. A new one is found by its initializer.
 */
class KeptTest {
  private static final Path KEPT = Module.ROOT.resolve("tests/checks/kept.txt");

  /** Tools, tests, generated code, and code for an operator's input: no client feeds them. */
  private static final Set<String> OF_NO_CLIENT =
      Set.of(
          "lab/bench",
          "tests/checks",
          "cli",
          "config/etcd",
          "config/postgres",
          "config/rocksdb",
          "contrib/dynamodb",
          "contrib/mongo",
          "lab/load",
          "lab/siege",
          "lab/stress",
          "protocol/grpc",
          "replay",
          "rules",
          "tests/kit",
          "tests/wire-kit",
          "traffic");

  /** The parts of those modules that a server uses. */
  private static final Set<String> OF_A_SERVER =
      Set.of("DryRuns", "RecordedTraffic", "TrafficSegment", "TrafficStripe");

  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\\n]*", Pattern.DOTALL);

  /** A field with an initializer, over one line or several. */
  private static final Pattern FIELD =
      Pattern.compile(
          "^ +(?:(?:private|protected|public|static|final|volatile|transient) +)+"
              + "[\\w.@<>?,\\[\\] ]+? (\\w+)\\s*=\\s*([^;]*?);",
          Pattern.MULTILINE | Pattern.DOTALL);

  /** A field that a constructor fills. */
  private static final Pattern DECLARED =
      Pattern.compile(
          "^ +(?:(?:private|protected|public|static|final|volatile|transient) +)+"
              + "[\\w.@<>?,\\[\\] ]+? (\\w+);",
          Pattern.MULTILINE);

  private static final Pattern ASSIGNED =
      Pattern.compile(
          "^ +(?:this\\.)?(\\w+)\\s*=\\s*((?:new|Concurrent)[^;]*?);",
          Pattern.MULTILINE | Pattern.DOTALL);

  /** A collection, or an array of objects. */
  private static final Pattern GROWS =
      Pattern.compile(
          "^new \\w*(?:Map|Deque|Queue|Set|List|Array)\\s*<|newKeySet\\(|^new [A-Z]\\w*\\s*\\[(?!\\])");

  private static final Pattern BYTES =
      Pattern.compile(
          "^ +private (?:volatile )?byte(?: @Nullable)?(?: )?\\[\\] (\\w+)(?=\\s*[;=])",
          Pattern.MULTILINE);

  /** A line about a field that grows; the bound is empty if its section gives it. */
  private record Line(String name, String section, String bound, String test) {}

  private final List<String> problems = new ArrayList<>();

  @Test
  void everyFieldThatGrows_hasABound() {
    Map<String, Line> lines = lines();
    Set<String> fields = new TreeSet<>();
    Set<String> tests = new TreeSet<>();
    for (Module module : Module.all()) {
      for (Path source : module.sources("main")) {
        String type = source.getFileName().toString().replace(".java", "");
        if (!isOfNoClient(module) || OF_A_SERVER.contains(type)) {
          fields.addAll(fields(type, Module.read(source)));
        }
      }
      for (Path source : module.sources("test")) {
        tests.add(source.getFileName().toString().replace(".java", ""));
      }
    }
    for (String field : fields) {
      if (!lines.containsKey(field)) {
        problems.add(field + ": not in tests/checks/kept.txt (expected: with its bound)");
      }
    }
    for (Line line : lines.values()) {
      if (!fields.contains(line.name)) {
        problems.add(line.name + ": no such field (expected: one that grows)");
      }
      if (!line.test.isEmpty() && !tests.contains(line.test)) {
        problems.add(line.name + ": no " + line.test + " (expected: a test)");
      }
    }
    if (!problems.isEmpty()) {
      fail("%s", String.join(System.lineSeparator(), problems));
    }
  }

  @Test
  void fieldThatGrows_isFound() {
    String source =
        """
        final class A {
          private final Map<String, List<byte[]>> one = new HashMap<>();
          private static final Set<String> TWO = Set.of("a");
          private final @Nullable Known[] three = new Known[3];
          private final Set<Account> four =
              ConcurrentHashMap.newKeySet();
          private byte[] five = {};
          private volatile byte @Nullable [] six;
          private final List<Entry> copied;
          private final Window[] nine;
          // private final List<Entry> seven = new ArrayList<>();

          A(List<Entry> entries) {
            copied = List.copyOf(entries);
            nine = new Window[entries.size()];
          }

          private byte[] read() {
            return five;
          }

          void local() {
            List<String> local = new ArrayList<>();
            for (String each : local) {}
          }

          static List<String> method() {
            return new ArrayList<>();
          }

          private static final class B {
            final Deque<String> eight = new ArrayDeque<>(1);
          }
        }
        """;
    assertThat(fields("A", source))
        .containsExactlyInAnyOrder(
            "A.one", "A.three", "A.four", "A.five", "A.six", "A.eight", "A.nine");
  }

  private static boolean isOfNoClient(Module module) {
    return OF_NO_CLIENT.contains(module.name()) || module.name().startsWith("examples");
  }

  private static Set<String> fields(String type, String source) {
    String code = COMMENT.matcher(source).replaceAll("");
    Set<String> fields = new TreeSet<>();
    Matcher field = FIELD.matcher(code);
    while (field.find()) {
      if (GROWS.matcher(field.group(2)).find()) {
        fields.add(type + "." + field.group(1));
      }
    }
    Set<String> declared = new TreeSet<>();
    Matcher name = DECLARED.matcher(code);
    while (name.find()) {
      declared.add(name.group(1));
    }
    Matcher assigned = ASSIGNED.matcher(code);
    while (assigned.find()) {
      if (declared.contains(assigned.group(1)) && GROWS.matcher(assigned.group(2)).find()) {
        fields.add(type + "." + assigned.group(1));
      }
    }
    Matcher bytes = BYTES.matcher(code);
    while (bytes.find()) {
      fields.add(type + "." + bytes.group(1));
    }
    return fields;
  }

  /** Returns the lines by the names of their fields. */
  private Map<String, Line> lines() {
    Map<String, Line> lines = new TreeMap<>();
    String section = "";
    for (String text : Module.read(KEPT).lines().toList()) {
      if (text.startsWith("[")) {
        section = text;
      } else if (!text.isBlank() && !text.startsWith("#")) {
        String[] parts = text.split(" \\| ", -1);
        boolean ofClients = section.startsWith("[clients]");
        if (parts.length != (ofClients ? 3 : 1) || section.isEmpty()) {
          problems.add(text + " (expected: a name in a section; for clients | bound | test)");
          continue;
        }
        Line line =
            new Line(
                parts[0].strip(),
                section,
                ofClients ? parts[1].strip() : "",
                ofClients ? parts[2].strip() : "");
        if (ofClients && (line.bound.isEmpty() || line.test.isEmpty())) {
          problems.add(line.name + ": no bound, or no test (expected: both)");
        }
        if (lines.put(line.name, line) != null) {
          problems.add(line.name + ": twice (expected: once)");
        }
      }
    }
    return lines;
  }
}
