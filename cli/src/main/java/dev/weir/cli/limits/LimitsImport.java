package dev.weir.cli.limits;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.Text;
import dev.weir.rules.ShownText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
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

  private long lines;
  private long lastLine;
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

    /** Returns the numbers of the input's lines from which the records come. */
    List<Long> numbers() {
      return numbers;
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
      if (!line.problem().isEmpty()) {
        lines++;
        refuse(line.number(), line.problem());
        continue;
      }
      byte[] json = (line.json() + "\n").getBytes(UTF_8);
      if (numbers.size() == MAX_LINES || body.size() + json.length > MAX_BYTES) {
        send(body, numbers, watcher);
      }
      body.write(json, 0, json.length);
      numbers.add(line.number());
    }
    send(body, numbers, watcher);
  }

  private void send(ByteArrayOutputStream body, List<Long> numbers, Watcher watcher)
      throws InterruptedException {
    if (numbers.isEmpty()) {
      return;
    }
    Piece piece = new Piece(body.toByteArray(), List.copyOf(numbers));
    JsonObject result = target.take(piece);
    lines += numbers.size();
    lastLine = numbers.get(numbers.size() - 1);
    written += result.number("written");
    unchanged += result.number("unchanged");
    List<JsonObject> listed = result.objects("refused_lines");
    for (JsonObject each : listed) {
      refuse(piece.numbers().get((int) each.number("line") - 1), each.text("problem"));
    }
    for (JsonObject each : result.objects("problems")) {
      err.println(
          "line "
              + piece.numbers().get((int) each.number("line") - 1)
              + ": has no effect now: "
              + ShownText.plain(each.text("problem")));
    }
    long more = result.number("refused") - listed.size();
    if (more > 0) {
      refused += more;
      err.println(
          Text.count(more, "more line")
              + " refused among lines "
              + numbers.get(0)
              + " to "
              + lastLine);
    }
    body.reset();
    numbers.clear();
    watcher.at(from.bytes(), lines);
  }

  private void refuse(long number, String problem) {
    refused++;
    err.println("line " + number + ": " + ShownText.plain(problem));
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
    counts.put("last_line", lastLine);
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
        + lastLine;
  }
}
