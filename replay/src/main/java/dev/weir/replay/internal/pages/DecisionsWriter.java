package dev.weir.replay.internal.pages;

import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A writer of one row of CSV for each decision, in the order of the decisions. */
public final class DecisionsWriter implements Closeable {
  public static final String HEADER =
      "line,timestamp_ms,outcome,reason,policy,limit,remaining,retry_after_ms";

  /** The rest of the header if rules have queues. */
  static final String WAITED = ",waited_ms";

  private static final int BUFFER_BYTES = 1 << 16;
  private static final long MILLI = 1_000_000;

  private final OutputStream out;
  private final List<String> inputs;
  private final boolean queues;
  private final StringBuilder row = new StringBuilder();

  /**
   * @param inputs the inputs' names: if there are several, each row names its own in a last column
   * @param queues true if rules have queues: then each row has the time that its request waited
   */
  public DecisionsWriter(OutputStream out, List<String> inputs, boolean queues) throws IOException {
    this.queues = queues;
    this.out = new BufferedOutputStream(out, BUFFER_BYTES);
    this.inputs = inputs.size() > 1 ? List.copyOf(inputs) : List.of();
    row.append(HEADER)
        .append(queues ? WAITED : "")
        .append(this.inputs.isEmpty() ? "" : ",input")
        .append('\n');
    flushRow();
  }

  /**
   * Writes a row.
   *
   * @param input the input's number
   * @param line the line of the record in the input
   * @param timeNanos the record's own time
   * @param deciding the answer's deciding status
   * @param waitedNanos the time that it waited for the answer, 0 if it did not wait
   */
  public void write(
      int input,
      long line,
      long timeNanos,
      Answer answer,
      @Nullable Status deciding,
      long waitedNanos)
      throws IOException {
    row.append(line).append(',').append(Math.floorDiv(timeNanos, MILLI)).append(',');
    row.append(answer.allowed() ? "ALLOWED" : "DENIED").append(',');
    Decision decision = deciding == null ? null : deciding.decision();
    if (decision == null) {
      row.append(Reason.WITHIN_LIMIT).append(",,,,");
    } else {
      row.append(decision.reason()).append(',');
      appendQuoted(decision.policy());
      row.append(',').append(decision.limit()).append(',').append(decision.remaining());
      row.append(',').append(retryAfterMillis(answer, decision));
    }
    if (queues) {
      row.append(',').append(-Math.floorDiv(-waitedNanos, MILLI)); // The time is rounded up.
    }
    if (!inputs.isEmpty()) {
      row.append(',');
      appendQuoted(inputs.get(input));
    }
    row.append('\n');
    flushRow();
  }

  /** Returns the milliseconds until a retry; a row has no room for words, so never is -1. */
  private static long retryAfterMillis(Answer answer, Decision decision) {
    if (answer.allowed()) {
      return 0;
    }
    return decision.retryAfterNanos() == Decision.NEVER ? -1 : decision.retryAfterMillis();
  }

  private void appendQuoted(String value) {
    boolean special = false;
    for (int i = 0; i < value.length() && !special; i++) {
      special = ",\"\r\n".indexOf(value.charAt(i)) >= 0;
    }
    row.append(special ? '"' + value.replace("\"", "\"\"") + '"' : value);
  }

  private void flushRow() throws IOException {
    out.write(row.toString().getBytes(StandardCharsets.UTF_8));
    row.setLength(0);
  }

  @Override
  public void close() throws IOException {
    out.close();
  }
}
