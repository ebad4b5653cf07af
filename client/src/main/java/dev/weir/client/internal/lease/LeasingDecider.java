package dev.weir.client.internal.lease;

import dev.weir.FailureMode;
import dev.weir.Fingerprint;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.client.internal.wire.Answers;
import dev.weir.client.internal.wire.Endings;
import dev.weir.client.internal.wire.Messages;
import dev.weir.client.internal.wire.Service;
import dev.weir.client.internal.wire.ServiceCall;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Status;
import dev.weir.engine.Ticket;
import dev.weir.protocol.v1.WeirProto.DescriptorLease;
import dev.weir.protocol.v1.WeirProto.Grant;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.shared.Clocks;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A decider that uses leases and remembered denials, and calls the service for all other requests.
 * Safe for use by many threads.
 */
public final class LeasingDecider implements Decider, Flight.Desk, AutoCloseable {
  /*
   * A request of one descriptor, the usual case, is decided by its Key alone. If the key cannot
   * decide it, the request joins the key's Flight. A request of several descriptors is decided here
   * if each of its keys can pay, or if one refuses; otherwise one lease request decides the whole.
   * If a key cannot be kept, because its limit comes with the request or there is no room, the
   * service decides each time.
   *
   * Requests are counted in bytes until they are answered (AskedBytes), because their sender
   * chooses their size. Beyond that bound a request is answered as if the service were away.
   *
   * All answers of the service take the same path, through learn: it answers the requests, and
   * passes leases, denials and the rule's failure mode to the keys. While no service can be
   * reached, OutageDecider answers from the state of the keys.
   */
  private static final long EXPIRE_NANOS = 1_000_000_000L;

  private final Clocks clocks;
  private final long deadlineNanos;
  private final Counters counters;
  private final List<Service> services;
  private final Keys keys;
  private final Endings endings;
  private final Answers answers = new Answers();
  private final OutageDecider away;
  private final Refunds refunds = new Refunds();
  private final AskedBytes askedBytes;
  private volatile boolean closed;

  /**
   * The bounds of a client's memory.
   *
   * @param keys the most keys that are kept
   * @param bytes the most bytes of requests that are not answered yet
   */
  public record Bounds(int keys, long bytes) {}

  /**
   * @param services services that share their counts; the first that answers is called
   * @param onFailure the answer to requests for unknown keys while no service can be reached
   */
  public LeasingDecider(
      List<Service> services,
      Clocks clocks,
      long deadlineNanos,
      FailureMode onFailure,
      Counters counters,
      Bounds bounds) {
    this.services = List.copyOf(services);
    this.clocks = clocks;
    this.deadlineNanos = deadlineNanos;
    this.counters = counters;
    keys = new Keys(Fingerprint.random(), Fingerprint.random(), bounds.keys());
    askedBytes = new AskedBytes(bounds.bytes());
    endings = new Endings(clocks);
    away = new OutageDecider(clocks, onFailure);
  }

  public void start() {
    services.forEach(Service::start);
    expire();
  }

  private void expire() {
    if (!closed) {
      away.expire();
      Ticker.ScheduledTask unused = clocks.monotonic().schedule(EXPIRE_NANOS, this::expire);
    }
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    List<Descriptor> descriptors = request.descriptors();
    if (request.charge()) {
      report(request, done);
      return;
    }
    if (descriptors.size() != 1) {
      decideSeveral(request, done);
      return;
    }
    Descriptor descriptor = descriptors.get(0);
    long permits = Messages.permits(request, descriptor);
    boolean keyed = permits > 0 && descriptor.limitOverride() == null;
    Key key = keyed ? keys.find(request.domain(), descriptor) : null;
    Answer known = key == null ? null : key.local(permits, clocks, counters);
    if (known != null) {
      done.accept(known);
    } else {
      request(request, descriptor, permits, keyed, done);
    }
  }

  /** Sends a report of costs: only the service counts it. */
  private void report(Request request, Consumer<? super Answer> done) {
    String problem = Messages.problem(request);
    Consumer<Answer> last = problem == null ? askedBytes.until(request, done) : null;
    if (problem != null) {
      done.accept(Answer.of(false, List.of(), problem, revision()));
    } else if (last == null) {
      done.accept(answerUnavailable(request, Reason.OVERLOADED));
    } else {
      sendWhole(request, new @Nullable Key[request.descriptors().size()], last);
    }
  }

  private void request(
      Request request,
      Descriptor descriptor,
      long permits,
      boolean keyed,
      Consumer<? super Answer> done) {
    String problem = Messages.problem(request);
    if (problem != null) {
      done.accept(Answer.of(false, List.of(), problem, revision()));
      return;
    }
    if (service() == null) {
      done.accept(answerUnavailable(request, Reason.UNCERTAIN));
      return;
    }
    Consumer<Answer> last = askedBytes.until(request, done);
    if (last == null) {
      done.accept(answerUnavailable(request, Reason.OVERLOADED));
      return;
    }
    Key key = keyed ? keys.obtain(request.domain(), descriptor, this) : null;
    LastAnswer told = key == null ? null : key.lastAnswer();
    boolean apart = refunds() && told != null && !told.leased();
    if (key == null || apart) {
      sendWhole(request, new @Nullable Key[] {key}, last);
    } else {
      key.flight.join(new Flight.Waiter(request, permits, clocks.nanos(), last));
    }
  }

  private void decideSeveral(Request request, Consumer<? super Answer> done) {
    int size = request.descriptors().size();
    @Nullable Key[] found = new Key[size];
    for (int i = 0; i < size; i++) {
      found[i] = find(request, i);
    }
    Answer known = refused(request, found);
    if (known == null) {
      known = spent(request, found);
    }
    if (known != null) {
      done.accept(known);
      return;
    }
    String problem = Messages.problem(request);
    if (problem != null) {
      done.accept(Answer.of(false, List.of(), problem, revision()));
      return;
    }
    if (service() == null) {
      done.accept(answerUnavailable(request, Reason.UNCERTAIN));
      return;
    }
    Consumer<Answer> last = askedBytes.until(request, done);
    if (last == null) {
      done.accept(answerUnavailable(request, Reason.OVERLOADED));
      return;
    }
    for (int i = 0; i < size; i++) {
      found[i] = obtain(request, i);
    }
    sendWhole(request, found, last);
  }

  private @Nullable Key find(Request request, int i) {
    Descriptor descriptor = request.descriptors().get(i);
    return descriptor.limitOverride() == null ? keys.find(request.domain(), descriptor) : null;
  }

  private @Nullable Key obtain(Request request, int i) {
    Descriptor descriptor = request.descriptors().get(i);
    return descriptor.limitOverride() == null
        ? keys.obtain(request.domain(), descriptor, this)
        : null;
  }

  private static long permits(Request request, int i) {
    return Messages.permits(request, request.descriptors().get(i));
  }

  /** Refuses a request if a denial holds for one of its descriptors; returns null if none does. */
  private @Nullable Answer refused(Request request, @Nullable Key[] found) {
    for (int i = 0; i < found.length; i++) {
      Key key = found[i];
      Denial denial = key == null ? null : key.denial(permits(request, i), clocks);
      if (denial != null) {
        List<Status> statuses = new ArrayList<>();
        for (int j = 0; j < found.length; j++) {
          // The other descriptors are not decided: the whole request is refused without them.
          statuses.add(i == j ? denial.status(clocks) : new Status(true, null, null, null, 0, 0));
        }
        counters.refusedLocally.increment();
        return Answer.of(false, List.copyOf(statuses), null, revision());
      }
    }
    return null;
  }

  /** Admits a request if every key can pay; else returns null and takes nothing. */
  private @Nullable Answer spent(Request request, @Nullable Key[] found) {
    Lease[] held = new Lease[found.length];
    for (int i = 0; i < found.length; i++) {
      Key key = found[i];
      long permits = permits(request, i);
      Lease lease = key == null || permits == 0 ? null : key.spend(permits, clocks);
      if (lease == null) {
        for (int j = 0; j < i; j++) {
          boolean unused = held[j].put(permits(request, j));
        }
        return null;
      }
      held[i] = lease;
    }
    if (held.length == 0) {
      return null; // A request without descriptors is malformed; the service words the error.
    }
    List<Status> statuses = new ArrayList<>(held.length);
    for (Lease lease : held) {
      statuses.add(lease.status());
    }
    counters.admittedLocally.increment();
    return Answer.of(true, List.copyOf(statuses), null, held[0].answer().revision());
  }

  /** Sends a request to the service by itself. */
  private void sendWhole(Request request, @Nullable Key[] asked, Consumer<? super Answer> done) {
    Service service = service();
    if (service == null) {
      done.accept(answerUnavailable(request, Reason.UNCERTAIN));
      return;
    }
    long[] ahead = new long[asked.length];
    boolean[] planned = new boolean[asked.length];
    for (int i = 0; i < asked.length; i++) {
      Key key = asked[i];
      ahead[i] = key == null || permits(request, i) == 0 ? 0 : key.plan(clocks);
      planned[i] = ahead[i] > 0;
    }
    ServiceCall.Reply reply =
        new ServiceCall.Reply() {
          @Override
          public void granted(Grant grant, Service by, long revision, Clocks.Instant sentAt) {
            over();
            counters.asked.increment();
            done.accept(learn(request, asked, grant, by, revision, sentAt));
          }

          @Override
          public void failed(Reason reason) {
            over();
            done.accept(answerUnavailable(request, reason));
          }

          private void over() {
            for (int i = 0; i < asked.length; i++) {
              Key key = asked[i];
              if (key != null && planned[i]) {
                key.answered();
              }
            }
          }
        };
    service.send(new ServiceCall(Messages.check(request), ahead, refunds(), deadlineNanos, reply));
  }

  @Override
  public Answer learn(
      Request request,
      @Nullable Key[] asked,
      Grant grant,
      Service by,
      long revision,
      Clocks.Instant sentAt) {
    Answer answer = answers.of(grant.getResult(), revision, clocks.nanos());
    if (grant.getCharge() != 0) {
      refunds.add(answer, by, grant.getCharge());
    }
    for (int i = 0; i < grant.getLeasesCount(); i++) {
      DescriptorLease lease = grant.getLeases(i);
      Key key = i < asked.length ? asked[i] : null;
      if (key == null || i >= answer.statuses().size()) {
        by.giveBack(lease.getLease(), lease.getPermits());
      } else {
        Status status = answer.statuses().get(i);
        LastAnswer told =
            away.lastAnswer(lease, grant.getResult().getStatuses(i), status.currentLimit());
        key.learn(lease, status, told, by, revision, sentAt, this);
      }
    }
    return answer;
  }

  @Override
  public Answer answerUnavailable(Request request, Reason reason) {
    counters.answeredAway.increment();
    @Nullable Key[] found = new Key[request.descriptors().size()];
    int usable = request.charge() ? 0 : found.length; // What is held here pays no costs.
    for (int i = 0; i < usable; i++) {
      found[i] = find(request, i);
    }
    return away.answer(request, found, reason, revision());
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    Service service = service();
    String problem = Messages.problem(request);
    if (problem != null) {
      done.accept(Answer.of(false, List.of(), problem, revision()));
      return;
    }
    Consumer<Answer> last = service == null ? null : askedBytes.until(request, done);
    if (service == null || last == null) {
      done.accept(unknown(request));
      return;
    }
    long[] permits = new long[request.descriptors().size()];
    for (int i = 0; i < permits.length; i++) {
      permits[i] = permits(request, i);
    }
    ServiceCall.Reply reply =
        new ServiceCall.Reply() {
          @Override
          public void granted(Grant grant, Service by, long revision, Clocks.Instant sentAt) {
            Answer looked = answers.of(grant.getResult(), revision, clocks.nanos());
            last.accept(Answers.peeked(looked, permits));
          }

          @Override
          public void failed(Reason reason) {
            last.accept(unknown(request));
          }
        };
    service.send(
        new ServiceCall(
            Messages.peek(request), new long[permits.length], false, deadlineNanos, reply));
  }

  private Answer unknown(Request request) {
    List<Status> statuses = new ArrayList<>();
    for (int i = 0; i < request.descriptors().size(); i++) {
      statuses.add(Answers.unknown(false, Reason.UNCERTAIN, null, clocks.nanos()));
    }
    return Answer.of(false, List.copyOf(statuses), null, revision());
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    long back = 0;
    long charged = 0;
    for (int i = 0; i < request.descriptors().size() && i < answer.statuses().size(); i++) {
      Key key = find(request, i);
      long permits = permits(request, i);
      charged += permits;
      if (key != null) {
        key.forgetDenial();
        back += key.takeBack(answer.statuses().get(i), permits, clocks) ? permits : 0;
      }
    }
    if (!answer.allowed()) {
      done.accept(0);
      return;
    }
    refunds.enable();
    Refunds.Charge charge = refunds.take(answer);
    if (charge == null) {
      done.accept(back);
    } else {
      charge.by().refund(charge.charge());
      done.accept(charged);
    }
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    done.accept(refused);
    return Ticket.USED;
  }

  @Override
  public @Nullable Service service() {
    for (int i = 0; i < services.size(); i++) {
      if (services.get(i).answers()) {
        return services.get(i);
      }
    }
    for (int i = 0; i < services.size(); i++) {
      if (services.get(i).available()) {
        return services.get(i);
      }
    }
    return null;
  }

  /** Returns whether a service has answered, and still does. */
  public boolean answers() {
    return services.stream().anyMatch(Service::answers);
  }

  private long revision() {
    Service service = service();
    return service == null ? services.get(0).revision() : service.revision();
  }

  @Override
  public Clocks clocks() {
    return clocks;
  }

  @Override
  public Counters counters() {
    return counters;
  }

  @Override
  public Endings endings() {
    return endings;
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public boolean refunds() {
    return refunds.wanted();
  }

  /** Ends all leases now and gives them back. */
  public void giveBackAll() {
    endings.endAll();
  }

  @Override
  public void close() {
    closed = true;
    endings.close();
    services.forEach(Service::close);
  }
}
