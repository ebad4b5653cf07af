package dev.weir.siege.soak;

import dev.weir.siege.Complaints;
import dev.weir.siege.Target;
import dev.weir.siege.cluster.Errand;
import dev.weir.siege.cluster.Ration;
import dev.weir.siege.guests.Protocol;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The ordinary clients of every protocol, and the results of their requests. */
public final class Visitors implements AutoCloseable {
  /** The time for the first answer of all, from a server that is not warm. */
  private static final Duration COLD = Duration.ofMinutes(1);

  private final Map<Protocol, Tally> tallies = new EnumMap<>(Protocol.class);
  private final Complaints complaints;
  private final List<Visitor> visitors = new ArrayList<>();

  public Visitors(Complaints complaints) {
    this.complaints = complaints;
    for (Protocol protocol : Protocol.values()) {
      tallies.put(protocol, new Tally());
    }
  }

  /** Starts one client of every protocol that sends {@link Ration rations}. */
  public static Visitors start(Target target, Duration every) {
    Visitors visitors = new Visitors(new Complaints());
    for (Protocol protocol : Protocol.values()) {
      Ration ration = new Ration(false);
      visitors.add(protocol, () -> target, Visitor.Pace.every(every), () -> ration);
    }
    return visitors;
  }

  /**
   * Adds a client.
   *
   * @param server returns the server's ports; null while the server is not there
   */
  public void add(
      Protocol protocol,
      Supplier<@Nullable Target> server,
      Visitor.Pace pace,
      Supplier<? extends Errand> errands) {
    Tally tally = tallies.get(protocol);
    if (tally != null) {
      visitors.add(new Visitor(protocol, server, pace, errands, tally, complaints));
    }
  }

  /** Waits until every client has an answer; returns whether all have one. */
  public boolean awaitAnswers() {
    return visitors.stream().allMatch(each -> each.awaitAnswer(COLD));
  }

  public Complaints complaints() {
    return complaints;
  }

  /** Returns the answers since the last call. */
  public Map<Protocol, Tally.Heard> next() {
    Map<Protocol, Tally.Heard> heard = new EnumMap<>(Protocol.class);
    tallies.forEach((protocol, tally) -> heard.put(protocol, tally.next()));
    return heard;
  }

  /** Returns answers and latencies, a line for each protocol. */
  public static String text(Map<Protocol, Tally.Heard> heard) {
    StringBuilder text = new StringBuilder();
    heard.forEach(
        (protocol, each) ->
            text.append(
                String.format(
                    Locale.ROOT,
                    "%-12s %,7d answers, p50 %.1f ms, p99 %.1f ms, max %.1f ms %s%n",
                    protocol,
                    each.answers(),
                    each.millisAt(50),
                    each.millisAt(99),
                    each.worstMillis(),
                    each.reasons())));
    return text.toString();
  }

  /** Ends the clients when the last answers have arrived. */
  @Override
  public void close() {
    visitors.forEach(Visitor::close);
  }
}
