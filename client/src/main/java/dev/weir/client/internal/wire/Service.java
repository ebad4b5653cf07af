package dev.weir.client.internal.wire;

import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.client.internal.lease.Counters;
import dev.weir.client.internal.lease.Lease;
import dev.weir.protocol.v1.WeirProto.DescriptorLease;
import dev.weir.protocol.v1.WeirProto.Grant;
import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;
import dev.weir.protocol.v1.WeirProto.LeaseReturn;
import dev.weir.protocol.v1.WeirProto.Refund;
import dev.weir.shared.Breaker;
import dev.weir.shared.Clocks;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The calls to one service: few messages at a time, each with all lease requests and returns that
 * wait. Safe for use by many threads.
 */
public final class Service implements AutoCloseable {
  /*
   * How is Service designed, and why? Few messages are in flight at a time. Further lease requests
   * wait for the next message, so under more load each message carries more, and a service that
   * hangs has little to do when it continues. A lease request that is not answered in time has
   * failed, and counts for the breaker. Its message is not sent again, and leases that come late
   * are given back.
   *
   * When the breaker opens, everything that waits fails at once. Later requests fail at once too,
   * until a probe, a message without lease requests, is answered. The connection is kept for late
   * answers, and given up when a probe is not answered on it either.
   */
  /** The most messages in flight. */
  private static final int WINDOW = 4;

  /** The most lease requests that the service takes in one message. */
  private static final int MOST_ASKS = 1_000;

  private static final int MOST_DESCRIPTORS = 10_000;

  /**
   * The most bytes of a message, half of a service's default bound: more would end the connection.
   */
  private static final int MOST_BYTES = 512 << 10;

  private static final int MOST_RETURNS = 10_000;

  /** The most returns that wait; further leases are left to end by themselves. */
  private static final int MOST_KEPT_RETURNS = 65_536;

  /**
   * The most lease requests that wait to be sent; a further one is answered as if the service were
   * away.
   */
  private static final int MOST_WAITING = 65_536;

  /** The time for which a return waits for a lease request that it can go with. */
  private static final long RETURN_NANOS = 10_000_000L;

  private static final long PROBE_NANOS = 500_000_000L;
  private static final long PROBE_TICK_NANOS = 20_000_000L;

  private final Wire wire;
  private final Clocks clocks;
  private final Ticker ticker;
  private final long deadlineNanos;
  private final Counters counters;
  private final ServiceLog log;
  private final Breaker breaker;

  private final Deque<ServiceCall> waiting = new ArrayDeque<>();
  private final Deque<LeaseReturn> returns = new ArrayDeque<>();
  private final Deque<Refund> refunds = new ArrayDeque<>();
  private int out;
  private long ids;
  private boolean flushing;
  private boolean ticking;

  /** True until it is known whether the service is there; requests wait for that. */
  private volatile boolean starting = true;

  private volatile boolean closed;
  private volatile long revision;

  public Service(Wire wire, Clocks clocks, long deadlineNanos, Counters counters, ServiceLog log) {
    this.wire = wire;
    this.clocks = clocks;
    this.ticker = clocks.monotonic();
    this.deadlineNanos = deadlineNanos;
    this.counters = counters;
    this.log = log;
    breaker = new Breaker(ticker);
  }

  /** Checks whether the service is there. */
  public void start() {
    tick();
  }

  /** Returns whether the service can be called, or may turn out to be there. */
  public boolean available() {
    return !closed && (starting || !breaker.isOpen());
  }

  /** Returns whether it has answered, and still does. */
  public boolean answers() {
    return !closed && !breaker.isOpen();
  }

  /** Returns the revision of the rules of its last answer. */
  public long revision() {
    return revision;
  }

  /**
   * Sends a lease request once. The lease request fails when its time is over, or at once if the
   * service is away.
   */
  public void send(ServiceCall ask) {
    boolean room = available();
    if (room) {
      synchronized (this) {
        room = waiting.size() < MOST_WAITING;
        if (room) {
          waiting.add(ask);
        }
      }
    }
    if (!room) {
      boolean unused = ask.fail(available() ? Reason.OVERLOADED : Reason.UNCERTAIN);
      return;
    }
    ask.startTimer(ticker, () -> expired(ask));
    send(false);
  }

  /**
   * Gives a lease back to this service.
   *
   * @param permits the permits that are left
   */
  public void giveBack(long lease, long permits) {
    if (lease == 0 || permits == Lease.CLOSED) {
      return;
    }
    counters.returned.add(permits);
    synchronized (this) {
      if (!answers() || returns.size() >= MOST_KEPT_RETURNS) {
        return; // The lease ends by itself.
      }
      returns.add(LeaseReturn.newBuilder().setLease(lease).setPermits(permits).build());
    }
    flushSoon();
  }

  public void refund(long charge) {
    synchronized (this) {
      if (!answers() || refunds.size() >= MOST_KEPT_RETURNS) {
        return;
      }
      refunds.add(Refund.newBuilder().setCharge(charge).build());
    }
    flushSoon();
  }

  private void flushSoon() {
    synchronized (this) {
      if (flushing || closed) {
        return;
      }
      flushing = true;
    }
    Ticker.ScheduledTask unused = ticker.schedule(RETURN_NANOS, this::flush);
  }

  private void flush() {
    synchronized (this) {
      flushing = false;
    }
    send(true);
  }

  private void send(boolean returnsAlone) {
    Message message;
    while ((message = next(returnsAlone)) != null) {
      counters.messages.increment();
      message.go();
    }
  }

  private synchronized @Nullable Message next(boolean returnsAlone) {
    while (!waiting.isEmpty() && waiting.element().isSettled()) {
      waiting.remove();
    }
    boolean more = !returns.isEmpty() || !refunds.isEmpty();
    boolean something = !waiting.isEmpty() || (returnsAlone && more);
    if (closed || !something || out >= WINDOW || breaker.isOpen()) {
      return null;
    }
    Message message = new Message();
    fill(message.request);
    int descriptors = 0;
    int bytes = 0;
    while (!waiting.isEmpty() && message.asks.size() < MOST_ASKS) {
      descriptors += waiting.element().descriptors();
      bytes += waiting.element().bytes();
      boolean full = descriptors > MOST_DESCRIPTORS || bytes > MOST_BYTES;
      if (!message.asks.isEmpty() && full) {
        break;
      }
      ServiceCall ask = waiting.remove();
      if (!ask.isSettled()) {
        message.add(ask, ++ids);
      }
    }
    out++;
    return message;
  }

  private void fill(LeaseRequest.Builder request) {
    for (int i = 0; i < MOST_RETURNS && !returns.isEmpty(); i++) {
      request.addReturns(returns.remove());
    }
    for (int i = 0; i < MOST_RETURNS && !refunds.isEmpty(); i++) {
      request.addRefunds(refunds.remove());
    }
  }

  /** A message in flight, and the lease requests that wait for its answer. */
  private final class Message implements Wire.Reply {
    private final LeaseRequest.Builder request = LeaseRequest.newBuilder();
    private final List<ServiceCall> asks = new ArrayList<>();
    private Clocks.Instant sentAt = clocks.now();
    private boolean counted = true;
    private volatile Ticker.ScheduledTask late = () -> {};

    void add(ServiceCall ask, long id) {
      asks.add(ask);
      request.addAsks(ask.message(id));
    }

    void go() {
      sentAt = clocks.now();
      // After this time the message makes room for others; its answer is still used.
      late = ticker.schedule(deadlineNanos, this::isLate);
      wire.send(request.build(), this);
    }

    private void isLate() {
      if (uncount()) {
        if (breaker.failed()) {
          failWaiting("no answer within " + deadlineNanos / 1_000_000 + " ms");
        }
        send(false);
      }
    }

    private boolean uncount() {
      late.cancel(); // The timer would keep the message, with its texts, until it fires.
      synchronized (Service.this) {
        boolean was = counted;
        counted = false;
        out -= was ? 1 : 0;
        return was;
      }
    }

    private boolean fits(LeaseResponse response) {
      if (response.getGrantsCount() != asks.size()) {
        return false;
      }
      for (int i = 0; i < asks.size(); i++) {
        if (response.getGrants(i).getId() != request.getAsks(i).getId()) {
          return false;
        }
      }
      return true;
    }

    @Override
    public void answered(LeaseResponse response) {
      if (!fits(response)) {
        wire.reset();
        failed("an answer to another message", true);
        return;
      }
      if (uncount()) {
        breaker.succeeded();
      }
      long by = response.getRevision();
      revision = by;
      for (int i = 0; i < asks.size(); i++) {
        Grant grant = response.getGrants(i);
        if (!asks.get(i).granted(grant, Service.this, by, sentAt)) {
          for (DescriptorLease late : grant.getLeasesList()) {
            giveBack(late.getLease(), late.getPermits());
          }
        }
      }
      send(false);
    }

    @Override
    public void failed(String why, boolean lost) {
      boolean unused = uncount();
      if (lost ? breaker.open() : breaker.failed()) {
        failWaiting(why);
      }
      asks.forEach(ask -> ask.fail(Reason.UNCERTAIN));
      send(false);
    }
  }

  private void expired(ServiceCall ask) {
    boolean unused = ask.fail(Reason.UNCERTAIN);
  }

  /** Fails everything that waits after the breaker has opened, and starts to probe the service. */
  private void failWaiting(String why) {
    log.unavailable(why);
    starting = false;
    failAll();
    tick();
  }

  private void failAll() {
    List<ServiceCall> all;
    synchronized (this) {
      all = new ArrayList<>(waiting);
      waiting.clear();
      returns.clear();
      refunds.clear();
    }
    all.forEach(ask -> ask.fail(Reason.UNCERTAIN));
  }

  /** Probes the service while it is away. */
  private void tick() {
    synchronized (this) {
      if (ticking || closed || !breaker.isOpen()) {
        return;
      }
      ticking = true;
    }
    Ticker.ScheduledTask unused =
        ticker.schedule(
            PROBE_TICK_NANOS,
            () -> {
              synchronized (this) {
                ticking = false;
              }
              tick();
            });
    if (breaker.takeProbe()) {
      new Probe().go();
    }
  }

  /** A message without lease requests: a service that answers it can be called. */
  private final class Probe implements Wire.Reply {
    private boolean over;

    void go() {
      Ticker.ScheduledTask unused =
          ticker.schedule(
              PROBE_NANOS,
              () -> {
                if (end(false, "no answer to a probe")) {
                  wire.reset();
                }
              });
      wire.send(LeaseRequest.getDefaultInstance(), this);
    }

    private boolean end(boolean success, String why) {
      synchronized (this) {
        if (over) {
          return false;
        }
        over = true;
      }
      breaker.probed(success);
      starting = false;
      if (success) {
        log.back();
        send(false);
      } else {
        log.unavailable(why);
        failAll();
      }
      return true;
    }

    @Override
    public void answered(LeaseResponse response) {
      revision = response.getRevision();
      boolean unused = end(true, "");
    }

    @Override
    public void failed(String why, boolean lost) {
      boolean unused = end(false, why);
    }
  }

  /** Sends the last returns, and closes. Nothing else is sent after that. */
  @Override
  public void close() {
    LeaseRequest.Builder last = LeaseRequest.newBuilder();
    boolean there = answers();
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      fill(last);
    }
    if (there && last.getReturnsCount() + last.getRefundsCount() > 0) {
      counters.messages.increment();
      wire.send(last.build(), new NullReceiver());
    }
    failAll();
    wire.close();
  }

  /** The receiver of an answer that nothing waits for. */
  private static final class NullReceiver implements Wire.Reply {
    @Override
    public void answered(LeaseResponse response) {}

    @Override
    public void failed(String why, boolean lost) {}
  }
}
