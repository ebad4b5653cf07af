package dev.weir.siege;

import java.util.List;
import java.util.Map;

/**
 * The measurements of a part of a soak.
 *
 * @param seconds from the beginning of the soak to the end of this part
 * @param length in seconds
 * @param heard answers to the ordinary clients
 * @param resources of each server, at the end; those of the part before where it did not answer
 * @param events in this part
 */
record Interval(
    double seconds,
    double length,
    Map<Protocol, Tally.Heard> heard,
    List<Resources> resources,
    List<String> events) {
  Tally.Heard heard(Protocol protocol) {
    Tally.Heard each = heard.get(protocol);
    if (each == null) {
      throw new IllegalStateException("protocol: " + protocol + " (expected: all are asked)");
    }
    return each;
  }

  /** Returns answers per second. */
  double rate(Protocol protocol) {
    return heard(protocol).answers() / length;
  }
}
