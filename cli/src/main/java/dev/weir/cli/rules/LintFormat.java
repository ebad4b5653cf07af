package dev.weir.cli.rules;

import dev.weir.cli.command.Text;
import dev.weir.cli.command.Version;
import dev.weir.config.Json;
import dev.weir.internal.Choice;
import dev.weir.rules.Position;
import dev.weir.rules.Problem;
import dev.weir.rules.Severity;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The formats in which {@code weir lint} shows its findings. */
enum LintFormat {
  /** One line for each problem, and a line with their number. */
  TEXT {
    @Override
    void write(Found found, PrintWriter out) {
      found.problems().stream().map(Problem::shown).forEach(out::println);
      String warnings = Text.count(found.count(Severity.WARNING), "warning");
      long errors = found.count(Severity.ERROR);
      out.println(
          (errors > 0 ? Text.count(errors, "error") : Text.count(found.rules(), "rule"))
              + ", "
              + warnings);
    }
  },

  /** One JSON object. */
  JSON {
    @Override
    void write(Found found, PrintWriter out) {
      List<Map<String, Object>> problems = new ArrayList<>();
      for (Problem problem : found.problems()) {
        Map<String, Object> each = new LinkedHashMap<>();
        each.put("severity", level(problem));
        each.put("file", problem.position().file());
        each.put("line", (long) problem.position().line());
        each.put("column", (long) problem.position().column());
        each.put("message", problem.message());
        problems.add(each);
      }
      Map<String, Object> whole = new LinkedHashMap<>();
      whole.put("rules", (long) found.rules());
      whole.put("errors", found.count(Severity.ERROR));
      whole.put("warnings", found.count(Severity.WARNING));
      whole.put("problems", problems);
      out.println(Json.writeAsIs(whole));
    }
  },

  /** SARIF 2.1.0 [OASIS standard, 2020], which code hosts show beside the lines of files. */
  SARIF {
    @Override
    void write(Found found, PrintWriter out) {
      List<Map<String, Object>> results = new ArrayList<>();
      for (Problem problem : found.problems()) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("ruleId", RULE);
        result.put("level", level(problem));
        result.put("message", Map.of("text", problem.message()));
        result.put("locations", List.of(Map.of("physicalLocation", place(problem.position()))));
        results.add(result);
      }
      Map<String, Object> driver = new LinkedHashMap<>();
      driver.put("name", "weir");
      driver.put("version", Version.number());
      driver.put("rules", List.of(Map.of("id", RULE)));
      Map<String, Object> run = new LinkedHashMap<>();
      run.put("tool", Map.of("driver", driver));
      run.put("results", results);
      Map<String, Object> whole = new LinkedHashMap<>();
      whole.put("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
      whole.put("version", "2.1.0");
      whole.put("runs", List.of(run));
      out.println(Json.writeAsIs(whole));
    }

    private Map<String, Object> place(Position position) {
      Map<String, Object> place = new LinkedHashMap<>();
      place.put("artifactLocation", Map.of("uri", uri(position.file())));
      if (position.line() > 0) {
        Map<String, Object> region = new LinkedHashMap<>();
        region.put("startLine", (long) position.line());
        region.put("startColumn", (long) position.column());
        place.put("region", region);
      }
      return place;
    }

    private String uri(String file) {
      try {
        String path = file.replace('\\', '/');
        return new URI(null, null, path, null).toASCIIString();
      } catch (URISyntaxException e) {
        return file;
      }
    }
  },

  /** Commands by which GitHub's workflows show a problem beside its line. */
  GITHUB {
    @Override
    void write(Found found, PrintWriter out) {
      for (Problem problem : found.problems()) {
        Position position = problem.position();
        String line =
            position.line() == 0 ? "" : ",line=" + position.line() + ",col=" + position.column();
        out.println(
            "::%s file=%s%s::%s"
                .formatted(
                    level(problem),
                    escaped(position.file()).replace(":", "%3A").replace(",", "%2C"),
                    line,
                    escaped(problem.message())));
      }
      if (!found.problems().isEmpty()) {
        return;
      }
      out.println(Text.count(found.rules(), "rule") + ", 0 warnings");
    }

    private String escaped(String text) {
      return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A");
    }
  };

  private static final String RULE = "weir-rules";

  /**
   * The findings.
   *
   * @param rules the number of rules; 0 if there is an error
   */
  record Found(int rules, List<Problem> problems) {
    long count(Severity severity) {
      return problems.stream().filter(each -> each.severity() == severity).count();
    }
  }

  abstract void write(Found found, PrintWriter out);

  /** Returns the text that a flag has. */
  @Override
  public String toString() {
    return Choice.text(this);
  }

  private static String level(Problem problem) {
    return Choice.text(problem.severity());
  }
}
