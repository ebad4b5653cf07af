package dev.weir.siege;

import dev.weir.server.RespClient;
import java.io.IOException;

/** Asks by {@code WEIR.CHECK}, or by {@code CL.THROTTLE} with a bucket of its own. */
final class RespGuest implements Guest {
  /** In so many seconds one permit of {@code CL.THROTTLE} comes back: not in a test's time. */
  private static final String PERIOD = "1000000";

  private final RespClient client;
  private final boolean throttle;

  /**
   * Connects.
   *
   * @param throttle whether to ask by {@code CL.THROTTLE}, for {@link Ration#PERMITS} at once
   */
  RespGuest(Target target, boolean throttle) throws IOException {
    this.throttle = throttle;
    client = new RespClient(target.resp());
    client.socket.setSoTimeout((int) PATIENCE.toMillis());
    if (target.token() != null) {
      String reply = client.ask("AUTH", target.token());
      if (!reply.equals("+OK|")) {
        client.close();
        throw new IOException("AUTH: " + reply);
      }
    }
  }

  @Override
  public Answer ask(String rule, String key) throws IOException {
    String reply =
        throttle
            ? client.ask("CL.THROTTLE", key, (Ration.PERMITS - 1) + "", "1", PERIOD)
            : client.ask("WEIR.CHECK", DOMAIN, "1", rule, key);
    String[] lines = reply.split("[|]", -1);
    if (throttle && lines[0].equals("*5")) {
      boolean allowed = lines[1].equals(":0");
      return new Answer(allowed, allowed ? Answer.WITHIN_LIMIT : Answer.OVER_LIMIT);
    }
    if (!throttle && lines[0].equals("*7")) {
      return new Answer(lines[1].equals(":1"), lines[lines.length - 2]);
    }
    if (reply.startsWith("-OVERLOADED ")) {
      return new Answer(false, "OVERLOADED");
    }
    throw new IOException("reply " + reply);
  }

  @Override
  public void close() throws IOException {
    client.close();
  }
}
