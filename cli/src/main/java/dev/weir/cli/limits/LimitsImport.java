package dev.weir.cli.limits;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.Text;
import dev.weir.rules.ShownText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An import of records: it splits them into pieces and adds up the outcomes. */
final class LimitsImport {
  static final int MAX_LINES = 10_000;
  static final int MAX_BYTES = 8 << 20;

  private final ImportLines from;
  private final Target target;
  private final boolean dryRun;
  private final PrintWriter err;

  /** The results to show of the lines since the last piece. */
  private final List<Problem> problems = new ArrayList<>();

  /** The lines since the last piece that are refused before it is sent. */
  private int unsent;

  private long lines;

  /** The line that was read last. */
  private long readLine;

  /** The line up to which all are done. */
  private long doneLine;

  private long written;
  private long unchanged;
  private long refused;

  /**
   * @param err the writer to which refused lines are shown
   */
  LimitsImport(ImportLines from, Target target, boolean dryRun, PrintWriter err) {
    this.from = from;
    this.target = target;
    this.dryRun = dryRun;
    this.err = err;
  }

  private record Problem(long line, String text) {}

  /** A receiver of pieces, which returns their outcomes. */
  interface Target {
    JsonObject take(Piece piece) throws InterruptedException;
  }

  /** A receiver of the progress: the bytes and lines that are done. */
  interface Watcher {
    void at(long bytes, long lines);
  }

  /** Records that are sent together. */
  static final class Piece {
    private final byte[] body;
    private final List<Long> numbers;

    private Piece(byte[] body, List<Long> numbers) {
      this.body = body;
      this.numbers = numbers;
    }

    /** Returns the records, one line of JSON each. */
    byte[] body() {
      return body;
    }

    /** Returns the number of the input's line from which the record of a result comes. */
    private long line(JsonObject result) {
      return numbers.get((int) result.number("line") - 1);
    }
  }

  /** Imports everything, piece by piece. */
  void run(Watcher watcher) throws InterruptedException, IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    List<Long> numbers = new ArrayList<>();
    for (ImportLines.Line line = from.next(); line != null; line = from.next()) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      byte[] json = (line.json() + "\n").getBytes(UTF_8);
      if (numbers.size() + unsent == MAX_LINES || body.size() + json.length > MAX_BYTES) {
        send(body, numbers, watcher);
      }
      if (line.problem().isEmpty()) {
        body.write(json, 0, json.length);
        numbers.add(line.number());
      } else {
        unsent++;
        refuse(line.number(), line.problem());
      }
      readLine = line.number();
    }
    send(body, numbers, watcher);
  }

  /** Sends what there is, and shows the problems of all lines that are done with it. */
  private void send(ByteArrayOutputStream body, List<Long> numbers, Watcher watcher)
      throws InterruptedException {
    long more = numbers.isEmpty() ? 0 : take(new Piece(body.toByteArray(), List.copyOf(numbers)));
    problems.sort(Comparator.comparingLong(Problem::line));
    problems.forEach(each -> err.println("line " + each.line() + ": " + each.text()));
    if (more > 0) {
      err.println(
          Text.count(more, "more line")
              + " refused among lines "
              + numbers.get(0)
              + " to "
              + numbers.get(numbers.size() - 1));
    }
    lines += numbers.size() + unsent;
    refused += unsent;
    doneLine = readLine;
    body.reset();
    numbers.clear();
    problems.clear();
    unsent = 0;
    watcher.at(from.bytes(), lines);
  }

  /** Sends a piece, and returns the number of lines that were refused without a message. */
  private long take(Piece piece) throws InterruptedException {
    JsonObject result = target.take(piece);
    written += result.number("written");
    unchanged += result.number("unchanged");
    refused += result.number("refused");
    List<JsonObject> listed = result.objects("refused_lines");
    for (JsonObject each : listed) {
      refuse(piece.line(each), each.text("problem"));
    }
    for (JsonObject each : result.objects("problems")) {
      problems.add(
          new Problem(
              piece.line(each), "has no effect now: " + ShownText.plain(each.text("problem"))));
    }
    return result.number("refused") - listed.size();
  }

  private void refuse(long number, String problem) {
    problems.add(new Problem(number, ShownText.plain(problem)));
  }

  long refused() {
    return refused;
  }

  Map<String, Object> counts() {
    Map<String, Object> counts = new LinkedHashMap<>();
    counts.put("dry_run", dryRun);
    counts.put("records", lines);
    counts.put("written", written);
    counts.put("unchanged", unchanged);
    counts.put("refused", refused);
    counts.put("last_line", doneLine);
    return counts;
  }

  @Override
  public String toString() {
    return Text.count(lines, "record")
        + ", "
        + written
        + (dryRun ? " would be written, " : " written, ")
        + unchanged
        + " there already, "
        + refused
        + " refused; done up to line "
        + doneLine;
  }
}
