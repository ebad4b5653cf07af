package dev.weir.config.internal.follow;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.Node;
import dev.weir.config.rows.Counts;
import dev.weir.rules.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The reports of a server to the store: that it is alive, and which revision it has in force. Used
 * by one thread at a time.
 */
public final class Heart {
  /**
   * The interval of reports: a server without one for 10 s counts as gone, so one or two may be
   * lost.
   */
  static final long BEAT_NANOS = 3_000_000_000L;

  private final ConfigStore store;
  private final Ticker ticker;
  private final ShownServer server;
  private final @Nullable StoreClock clock;

  private boolean beaten;
  private long beatAtNanos;
  private long beatPosition;
  private long revision;
  private List<String> problems = List.of();

  /**
   * Creates the reports.
   *
   * @param clock is measured with some of the beats, if there is one
   */
  public Heart(ConfigStore store, Ticker ticker, ShownServer server, @Nullable StoreClock clock) {
    this.store = store;
    this.ticker = ticker;
    this.server = server;
    this.clock = clock;
    Node unused = node(0, Counts.NONE);
  }

  private Node node(long position, Counts decided) {
    return Node.builder(server.id())
        .address(server.address())
        .admin(server.admin().get())
        .version(server.version())
        .revision(revision)
        .position(position)
        .problems(problems)
        .counts(decided)
        .build();
  }

  /** Notes the revision in force, to be reported with the next beat, which is then due at once. */
  public void applied(long newRevision) {
    revision = newRevision;
    problems = List.of();
    beaten = false;
  }

  /** Notes the reasons why another revision is not in force. */
  public void refused(List<String> why) {
    problems = why.stream().limit(Node.MAX_PROBLEMS).map(Heart::shortened).toList();
    beaten = false;
  }

  public static List<String> lines(List<Problem> problems) {
    return problems.stream().map(Problem::toString).toList();
  }

  public long revision() {
    return revision;
  }

  public List<String> problems() {
    return problems;
  }

  /** Reports to the store if it is time, or if there is news; returns whether it did. */
  public boolean beat(Head head) {
    long now = ticker.nanos();
    StoreClock measured = clock != null && clock.due() ? clock : null;
    boolean news = !beaten || head.position() != beatPosition;
    boolean due = measured != null || news || now - beatAtNanos >= BEAT_NANOS;
    if (due) {
      store.beat(node(head.position(), server.counts().get()));
      beaten = true;
      beatPosition = head.position();
      beatAtNanos = now;
    }
    if (measured != null) {
      measure(measured, now, ticker.nanos());
    }
    return due;
  }

  /**
   * Measures the store's clock: the store has just written down its own time, in milliseconds,
   * between these instants.
   */
  private void measure(StoreClock of, long fromNanos, long toNanos) {
    for (Node node : store.nodes()) {
      if (node.id().equals(server.id())) {
        of.measured(fromNanos, node.at(), toNanos);
      }
    }
  }

  private static String shortened(String text) {
    String line = new String(text.getBytes(UTF_8), UTF_8); // Half a character becomes a "?".
    int end = Math.min(line.length(), Node.MAX_PROBLEM_BYTES);
    while (line.substring(0, end).getBytes(UTF_8).length > Node.MAX_PROBLEM_BYTES) {
      end = line.offsetByCodePoints(end, -1);
    }
    if (end > 0 && end < line.length() && Character.isHighSurrogate(line.charAt(end - 1))) {
      end--;
    }
    return line.substring(0, end);
  }
}
