package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import dev.weir.config.internal.follow.RowFormat;
import dev.weir.config.rows.Counts;
import dev.weir.internal.Choice;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A revision of the rules that some servers put in force before the others do. It is kept as the
 * entry of kind {@link #KIND} and name {@link #NAME}, so there is one at a time.
 *
 * <p>Until it has ended, a key may be counted under both revisions: on each server under one, and
 * no window of the key admits more there than the larger limit. [{@code docs/guarantees.md}]
 *
 * @param revision of the rules, the store's newest while the rollout runs
 * @param before the revision that the other servers keep
 * @param nodes the ids of the servers that are first, at least one
 * @param since the time of its begin, by the store's clock
 * @param time for which the first servers are watched, 1 s to 1 day
 * @param maxRise the highest rise of the share of refused requests, in hundredths of a percent, 0
 *     to 10,000
 * @param counts the counts of each live server when it began, by its id
 * @param state its state
 * @param outcome the reason why it ended, in words; empty while it runs
 */
public record Rollout(
    long revision,
    long before,
    List<String> nodes,
    Instant since,
    Duration time,
    int maxRise,
    Map<String, Counts> counts,
    State state,
    String outcome) {
  /** The kind of the entry. */
  public static final String KIND = "rollout";

  /** The name of the entry. */
  public static final String NAME = "rules";

  private static final Duration LONGEST = Duration.ofDays(1);
  private static final int WHOLE = 10_000;

  /** The state of a rollout. */
  public enum State {
    /** The first servers have the revision, the others have the one before. */
    RUNNING,
    /** Every server has the revision. */
    DONE,
    /** Every server is back at the rules before, as a newer revision. */
    UNDONE
  }

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if one is out of its range
   */
  public Rollout {
    Check.range("revision", revision, 2, Long.MAX_VALUE);
    Check.range("before", before, 1, revision - 1);
    nodes = List.copyOf(nodes);
    Check.range("nodes", nodes.size(), 1, ConfigStore.MAX_BATCH);
    if (time.compareTo(Duration.ofSeconds(1)) < 0 || time.compareTo(LONGEST) > 0) {
      throw Check.wrong("time", time, "1 s to 1 day");
    }
    Check.range("maxRise", maxRise, 0, WHOLE);
    counts = Map.copyOf(counts);
    Check.text("outcome", outcome, 0, 1_000);
  }

  /** Returns whether a server must not put the head's revision in force yet. */
  public boolean holdsBack(String node, Head head) {
    return state == State.RUNNING && head.revision() == revision && !nodes.contains(node);
  }

  Rollout ended(State newState, String newOutcome) {
    return new Rollout(revision, before, nodes, since, time, maxRise, counts, newState, newOutcome);
  }

  /** Returns the rollout as the entry's JSON. */
  public String json() {
    Map<String, Object> counted = new TreeMap<>();
    counts.forEach(
        (node, each) ->
            counted.put(node, Map.of("asked", each.asked(), "refused", each.refused())));
    Map<String, Object> members = new TreeMap<>();
    members.put("revision", revision);
    members.put("before", before);
    members.put("nodes", nodes);
    members.put("since", since.toString());
    members.put("seconds", time.toSeconds());
    members.put("max_refused_rise", (long) maxRise);
    members.put("counts", counted);
    members.put("state", Choice.name(state));
    members.put("outcome", outcome);
    return Json.write(members);
  }

  /**
   * Reads an entry.
   *
   * @throws ConfigException if it is not that of a rollout
   */
  public static Rollout read(Entry entry) {
    try {
      Json.Members members = Json.read(entry.json());
      Map<String, Counts> counts = new TreeMap<>();
      Json.Members counted = members.object("counts");
      for (String node : counted.names()) {
        Json.Members each = counted.object(node);
        counts.put(node, new Counts(each.number("asked"), each.number("refused")));
      }
      return new Rollout(
          members.number("revision"),
          members.number("before"),
          members.list("nodes"),
          Instant.parse(members.text("since")),
          Duration.ofSeconds(members.number("seconds")),
          Math.toIntExact(members.number("max_refused_rise")),
          counts,
          State.valueOf(members.text("state").toUpperCase(Locale.ROOT)),
          members.text("outcome"));
    } catch (IOException | DateTimeException | ArithmeticException | IllegalArgumentException e) {
      throw RowFormat.damaged("rollout", "unreadable, " + e.getMessage(), e);
    }
  }
}
