package dev.weir.siege;

import dev.weir.siege.guests.Protocol;
import dev.weir.siege.soak.Resources;
import dev.weir.siege.soak.Tally;
import java.util.List;
import java.util.Map;

/**
 * The measurements of a part of a soak.
 *
 * @param seconds the seconds from the beginning of the soak to the end of this part
 * @param length the length of this part in seconds
 * @param heard the answers to the ordinary clients
 * @param resources the resources of each server at the end; those of the part before if it did not
 *     answer
 * @param events the events in this part
 */
public record Interval(
    double seconds,
    double length,
    Map<Protocol, Tally.Heard> heard,
    List<Resources> resources,
    List<String> events) {
  public Tally.Heard answers(Protocol protocol) {
    Tally.Heard each = heard.get(protocol);
    if (each == null) {
      throw new IllegalStateException("protocol: " + protocol + " (expected: all are asked)");
    }
    return each;
  }

  /** Returns answers per second. */
  public double rate(Protocol protocol) {
    return answers(protocol).answers() / length;
  }
}
