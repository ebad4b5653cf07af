package dev.weir.client.internal.wire;

/** The log lines about a service that goes away or is back, one for each change. Thread-safe. */
public final class ServiceLog {
  private static final System.Logger LOG = System.getLogger("dev.weir.client");

  private final String target;
  private boolean away;

  public ServiceLog(String target) {
    this.target = target;
  }

  synchronized void unavailable(String why) {
    if (!away) {
      away = true;
      LOG.log(System.Logger.Level.WARNING, "{0}: away: {1}", target, why);
    }
  }

  synchronized void back() {
    if (away) {
      away = false;
      LOG.log(System.Logger.Level.INFO, "{0}: back", target);
    }
  }
}
