package dev.weir.siege.guests;

import dev.weir.siege.Target;
import dev.weir.siege.cluster.Ration;
import dev.weir.siege.soak.SoakRules;
import dev.weir.wire.testkit.RespClient;
import java.io.IOException;
import java.util.List;

/**
 * A client that sends requests by {@code WEIR.CHECK}, or by {@code CL.THROTTLE} with the numbers
 * for the rule's name.
 */
public final class RespGuest implements Guest {
  /** The seconds until one permit of a ration is back: longer than any test. */
  private static final String RATION_PERIOD = "1000000";

  /** The reasons that these protocols report by an error. */
  private static final List<String> UNDECIDED = List.of("OVERLOADED", "UNCERTAIN");

  private final RespClient client;
  private final boolean throttle;

  /**
   * Connects.
   *
   * @param throttle true to send {@code CL.THROTTLE}
   */
  public RespGuest(Target target, boolean throttle) throws IOException {
    this.throttle = throttle;
    client = new RespClient(target.host(), target.resp());
    client.timeout(PATIENCE);
    if (target.token() != null) {
      String reply = client.exchange("AUTH", target.token());
      if (!reply.equals("+OK|")) {
        client.close();
        throw new IOException("AUTH: " + reply);
      }
    }
  }

  @Override
  public Answer request(String rule, String key, int permits) throws IOException {
    String reply =
        throttle
            ? throttle(rule, key, permits + "")
            : client.exchange("WEIR.CHECK", DOMAIN, permits + "", rule, key);
    String[] lines = reply.split("[|]", -1);
    if (throttle && lines[0].equals("*5")) {
      boolean allowed = lines[1].equals(":0");
      return new Answer(allowed, allowed ? Answer.WITHIN_LIMIT : Answer.OVER_LIMIT);
    }
    if (!throttle && lines[0].equals("*7")) {
      return new Answer(lines[1].equals(":1"), lines[lines.length - 2]);
    }
    for (String reason : UNDECIDED) {
      if (reply.startsWith("-" + reason + " ")) {
        return new Answer(false, reason);
      }
    }
    throw new IOException("reply " + reply);
  }

  /**
   * Returns the permits of a key that are left, according to the member that leads.
   *
   * @throws IOException if it is not known
   */
  public long remaining(String rule, String key) throws IOException {
    String reply = client.exchange("WEIR.CHECK", DOMAIN, "0", rule, key);
    String[] lines = reply.split("[|]", -1);
    if (!lines[0].equals("*7") || !lines[lines.length - 2].equals(Answer.WITHIN_LIMIT)) {
      throw new IOException("reply " + reply);
    }
    return Long.parseLong(lines[3].substring(1));
  }

  private String throttle(String rule, String key, String permits) throws IOException {
    if (rule.equals(Ration.RULE)) {
      return client.exchange(
          "CL.THROTTLE", key, (Ration.PERMITS - 1) + "", "1", RATION_PERIOD, permits);
    }
    String burst = SoakRules.THROTTLE_BURST - 1 + "";
    String count = SoakRules.THROTTLE_BURST + "";
    String period = SoakRules.THROTTLE.window().toSeconds() + "";
    return client.exchange("CL.THROTTLE", key, burst, count, period, permits);
  }

  @Override
  public void close() throws IOException {
    client.close();
  }
}
