package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The requests of a log that writes a request and its answer as two records, as Fastify does: each
 * request with the columns of its answer. Both have the same {@code reqId}. Requests come in the
 * order in which they were written.
 */
final class AnsweredRequests implements RecordReader {
  private static final String ID = "reqId";
  private static final String TARGET = "req.url";
  private static final String STATUS = "res.statusCode";

  /** The prefix of an answer's columns, besides the names here. */
  private static final String ANSWER = "res.";

  private static final String DURATION = "responseTime";

  /** The most requests that wait for an answer; beyond, the first of them gets none. */
  private static final int MOST = 1_000;

  /** A request, and whether it has its answer. */
  private static final class WaitingRequest {
    private final long line;
    private final String id;
    private final RecordValues values;
    private boolean answered;

    WaitingRequest(long line, String id, RecordValues values, boolean answered) {
      this.line = line;
      this.id = id;
      this.values = values;
      this.answered = answered;
    }
  }

  private final RecordReader reader;
  private final Deque<WaitingRequest> waiting = new ArrayDeque<>();
  private final Map<String, WaitingRequest> byId = new HashMap<>();
  private List<String> wanted = List.of();
  private boolean[] required = new boolean[0];

  /** The columns of the reader below: the wanted ones, and behind them id, target and status. */
  private List<String> below = List.of();

  private boolean answersWanted;
  private boolean ended;
  private long line;

  private AnsweredRequests(RecordReader reader) {
    this.reader = reader;
  }

  /** Returns a reader of the requests, if the log has two records for each. */
  static RecordReader of(RecordReader reader) {
    return areApart(reader) ? new AnsweredRequests(reader) : reader;
  }

  /** Returns whether the log has two records for each request. */
  static boolean areApart(RecordReader reader) {
    return reader.columns().contains(ID)
        && reader.columns().contains(STATUS)
        && reader.share(TARGET) + reader.share(STATUS) <= 1;
  }

  @Override
  public List<String> columns() {
    return reader.columns();
  }

  @Override
  public void select(List<String> columns) throws TrafficException {
    wanted = List.copyOf(columns);
    required = new boolean[wanted.size()];
    Arrays.fill(required, true);
    List<String> all = new ArrayList<>(wanted);
    for (String own : List.of(ID, TARGET, STATUS)) {
      if (!all.contains(own)) {
        all.add(own);
      }
    }
    below = List.copyOf(all);
    answersWanted = wanted.stream().anyMatch(AnsweredRequests::isAnswers);
    reader.select(below);
    reader.require(Set.of());
  }

  private static boolean isAnswers(String column) {
    return column.startsWith(ANSWER) || column.equals(DURATION);
  }

  @Override
  public void require(Set<String> columns) {
    for (int slot = 0; slot < required.length; slot++) {
      required[slot] = columns.contains(wanted.get(slot));
    }
  }

  @Override
  public double share(String column) {
    return reader.share(column);
  }

  @Override
  public long line() {
    return line;
  }

  @Override
  public boolean next(RecordValues values) throws IOException, UnreadableException {
    while (!ended && !isReady()) {
      RecordValues record = new RecordValues(below.size());
      try {
        ended = !reader.next(record);
      } finally {
        line = reader.line();
      }
      if (!ended) {
        take(record);
      }
    }
    WaitingRequest next = waiting.pollFirst();
    if (next == null) {
      return false;
    }
    byId.remove(next.id, next);
    line = next.line;
    for (int slot = 0; slot < wanted.size(); slot++) {
      RecordValues found = next.values;
      if (required[slot] && found.from(slot) == found.to(slot)) {
        throw new UnreadableException("column " + ShownText.quoted(wanted.get(slot)) + ": missing");
      }
      values.set(slot, found.data(slot), found.from(slot), found.to(slot));
    }
    return true;
  }

  private boolean isReady() {
    WaitingRequest first = waiting.peekFirst();
    return first != null && (first.answered || waiting.size() >= MOST);
  }

  private void take(RecordValues record) throws UnreadableException {
    String id = record.text(below.indexOf(ID));
    if (!record.text(below.indexOf(TARGET)).isEmpty()) {
      WaitingRequest request = new WaitingRequest(line, id, record, !answersWanted);
      waiting.addLast(request);
      byId.put(id, request);
    } else if (record.text(below.indexOf(STATUS)).isEmpty()) {
      throw new UnreadableException("neither a request nor an answer");
    } else {
      WaitingRequest request = byId.remove(id);
      if (request != null) {
        answer(request, record);
      }
    }
  }

  private void answer(WaitingRequest request, RecordValues answer) {
    request.answered = true;
    for (int slot = 0; slot < wanted.size(); slot++) {
      if (isAnswers(wanted.get(slot))) {
        request.values.set(slot, answer.data(slot), answer.from(slot), answer.to(slot));
      }
    }
  }
}
