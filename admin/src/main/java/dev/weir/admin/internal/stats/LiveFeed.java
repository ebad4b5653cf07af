package dev.weir.admin.internal.stats;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.Ticker;
import dev.weir.admin.EventStream;
import dev.weir.admin.Observations;
import dev.weir.admin.internal.access.Actor;
import dev.weir.admin.internal.access.Authenticator;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.config.ConfigException;
import dev.weir.config.Json;
import dev.weir.insight.Insight;
import dev.weir.insight.Refusal;
import dev.weir.insight.Second;
import dev.weir.insight.Series;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The sender of each second, as it ends, to the open streams. Safe for use by many threads. */
public final class LiveFeed {
  /*
   * How is LiveFeed designed, and why? An event is written once for all streams that want the same.
   * A stream has room for one event. If its client is slow, the next event takes the place of the
   * last, so the client skips seconds and the server keeps nothing more for it. A client that comes
   * back with the time of its last second first gets the seconds since then, which are in memory
   * for ten minutes.
   *
   * Every second each stream's token is checked again, and its session counts as used. So a revoked
   * token ends its streams as soon as it ends anything else.
   */
  static final int MAX_STREAMS = 50;

  private static final int MAX_REFUSALS = 20;
  private static final long SILENT_NANOS = 15_000_000_000L;
  private static final byte[] NOTHING = {};
  private static final byte[] COMMENT = ": keep-alive\n\n".getBytes(UTF_8);
  private static final byte[] FIRST = "retry: 2000\n\n".getBytes(UTF_8);

  private final Observations observed;
  private final RefusalsResource refusals;
  private final Authenticator authenticator;
  private final Ticker ticker;
  private final Set<Stream> streams = ConcurrentHashMap.newKeySet();
  private long lastRefusal;
  private boolean stopped;

  public LiveFeed(
      Observations observed,
      RefusalsResource refusals,
      Authenticator authenticator,
      Ticker ticker) {
    this.observed = observed;
    this.refusals = refusals;
    this.authenticator = authenticator;
    this.ticker = ticker;
    Insight insight = observed.insight();
    insight.listen(second -> observed.executor().execute(() -> tick(second)));
  }

  /**
   * Opens a stream.
   *
   * @param after the time of the last second that the client has; -1 if it has none
   * @throws RequestException with 503 if there are too many
   */
  synchronized EventStream open(Actor actor, boolean rules, boolean withRefusals, long after) {
    if (streams.size() >= MAX_STREAMS || stopped) {
      throw new RequestException(
              503, "streams: " + streams.size() + " (expected: at most " + MAX_STREAMS + ")")
          .field("Retry-After", "5");
    }
    Stream stream = new Stream(actor, rules, withRefusals, after);
    streams.add(stream);
    return stream;
  }

  /** Sends a second that has ended, or checks the streams if none has. */
  private synchronized void tick(@Nullable Second second) {
    if (streams.isEmpty()) {
      lastRefusal = observed.insight().refusals().newest();
      return;
    }
    List<Map<String, Object>> shown = second == null ? List.of() : newRefusals();
    Map<String, byte[]> events = new LinkedHashMap<>();
    for (Stream stream : streams) {
      String why = ended(stream.actor);
      if (!why.isEmpty()) {
        stream.finish(why);
      } else if (second != null) {
        byte[] event =
            events.computeIfAbsent(
                stream.rules + "," + stream.withRefusals,
                kind -> event(second, stream.rules, stream.withRefusals ? shown : null));
        stream.offer(event, second.time());
      } else {
        stream.keepAlive();
      }
    }
  }

  private List<Map<String, Object>> newRefusals() {
    List<Refusal> kept = observed.insight().refusals().after(lastRefusal);
    lastRefusal = kept.isEmpty() ? lastRefusal : kept.get(0).number();
    List<Map<String, Object>> shown = new ArrayList<>();
    try {
      for (Refusal each : kept.subList(0, Math.min(MAX_REFUSALS, kept.size()))) {
        shown.add(refusals.members(each));
      }
    } catch (ConfigException e) {
      return List.of(); // Without the store's secret, keys cannot be masked.
    }
    return shown;
  }

  private String ended(Actor actor) {
    try {
      return authenticator.goesOn(actor) ? "" : "session ended";
    } catch (ConfigException e) {
      return "the store does not answer";
    }
  }

  private byte[] event(
      Second second, boolean withRules, @Nullable List<Map<String, Object>> shown) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("time", second.time());
    data.put("millis", second.millis());
    data.put("node", observed.node());
    data.put("revision", observed.revision().getAsLong());
    Map<String, @Nullable Long> global = new LinkedHashMap<>();
    for (int i = 0; i < Series.GLOBAL.size(); i++) {
      long value = second.global(i);
      global.put(Series.GLOBAL.get(i), value == Series.UNKNOWN ? null : Long.valueOf(value));
    }
    data.put("global", global);
    if (withRules) {
      List<List<Object>> rules = new ArrayList<>();
      for (int i = 0; i < second.rules().size(); i++) {
        List<Object> rule = new ArrayList<>();
        rule.add(second.rules().get(i));
        rule.addAll(second.counts(i));
        rules.add(rule);
      }
      data.put("rules", rules);
      data.put("other", second.other());
    }
    if (shown != null) {
      data.put("refusals", shown);
      data.put("refusals_came", observed.insight().refusals().came());
    }
    String text = "id: " + second.time() + "\nevent: tick\ndata: " + Json.writeAsIs(data) + "\n\n";
    return text.getBytes(UTF_8);
  }

  private static byte[] last(String why) {
    return ("event: end\ndata: " + Json.writeAsIs(Map.of("why", why)) + "\n\n").getBytes(UTF_8);
  }

  /** Ends all streams, and refuses new ones. */
  public synchronized void stop() {
    stopped = true;
    streams.forEach(stream -> stream.finish("the server stops"));
  }

  int streams() {
    return streams.size();
  }

  private final class Stream implements EventStream {
    private final Actor actor;
    private final boolean rules;
    private final boolean withRefusals;
    private final List<Second> missed;
    private Runnable wake = () -> {};
    private byte @Nullable [] offered = FIRST;
    private byte @Nullable [] end;
    private long sentTime;
    private long sentNanos;
    private boolean over;

    Stream(Actor actor, boolean rules, boolean withRefusals, long after) {
      this.actor = actor;
      this.rules = rules;
      this.withRefusals = withRefusals;
      missed = new ArrayList<>(after < 0 ? List.of() : observed.insight().history().after(after));
      sentTime = after;
      sentNanos = ticker.nanos();
    }

    @Override
    public void begin(Runnable newWake) {
      synchronized (this) {
        wake = newWake;
      }
      newWake.run();
    }

    void offer(byte[] event, long time) {
      Runnable told;
      synchronized (this) {
        if (time <= sentTime && !missed.isEmpty()) {
          return; // The second is among those that are sent first.
        }
        offered = offered == FIRST ? joined(FIRST, event) : event;
        told = wake;
      }
      told.run();
    }

    void keepAlive() {
      Runnable told;
      synchronized (this) {
        if (offered != null || ticker.nanos() - sentNanos < SILENT_NANOS) {
          return;
        }
        offered = COMMENT;
        told = wake;
      }
      told.run();
    }

    void finish(String why) {
      Runnable told;
      synchronized (this) {
        end = last(why);
        told = wake;
      }
      streams.remove(this);
      told.run();
    }

    @Override
    public synchronized byte @Nullable [] next() {
      if (over) {
        return null;
      }
      byte[] event = end;
      if (event != null) {
        over = true;
        return event;
      }
      if (!missed.isEmpty()) {
        sentNanos = ticker.nanos();
        Second second = missed.remove(0);
        sentTime = second.time();
        return event(second, rules, null);
      }
      event = offered;
      offered = null;
      if (event == null) {
        return NOTHING;
      }
      sentNanos = ticker.nanos();
      return event;
    }

    @Override
    public void end() {
      streams.remove(this);
      synchronized (this) {
        over = true;
      }
    }
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] both = new byte[first.length + second.length];
    System.arraycopy(first, 0, both, 0, first.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }
}
