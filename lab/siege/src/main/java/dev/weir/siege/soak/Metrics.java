package dev.weir.siege.soak;

import dev.weir.siege.Target;
import dev.weir.siege.guests.HttpGuest;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server's metrics page, read once. */
public record Metrics(String text) {
  public static Metrics of(Target target) throws IOException {
    try (HttpGuest client = new HttpGuest(target)) {
      return new Metrics(client.get("/metrics"));
    }
  }

  /**
   * Returns a whole number.
   *
   * @param sample the name of the number with its label, if it has one
   * @return the number; 0 if the page does not have it
   */
  public long value(String sample) {
    Matcher matcher =
        Pattern.compile("^" + Pattern.quote(sample) + " (\\S+)$", Pattern.MULTILINE).matcher(text);
    return matcher.find() ? (long) Double.parseDouble(matcher.group(1)) : 0;
  }
}
