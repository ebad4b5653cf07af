package dev.weir;

import dev.weir.Replica.Entry;
import dev.weir.Replica.Handle;
import dev.weir.Replica.Touched;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A generator of random entries of a log, each with the answers of a first replica to those before.
 */
final class Operations {
  static final long WINDOW = 1_000_000;
  private static final String[] NAMES = {"a", "b", "c"};
  private static final Algorithm[] ALGORITHMS = Algorithm.values();
  private static final List<Charges.Role> ROLES =
      List.of(
          Charges.Role.REQUIRED, Charges.Role.REQUIRED, Charges.Role.ANY, Charges.Role.OPTIONAL);

  private static final List<Charges.Role> REPORTS =
      List.of(Charges.Role.REPORTED, Charges.Role.REPORTED_SHADOW);

  /** A charge that was made, to be refunded. */
  private record Made(Handle handle, long fingerprint, long permits, Decision decision) {}

  private final SplittableRandom random;
  private final boolean manyKeys;

  /** True if there is one name, two keys and buckets only, so that refunds often meet. */
  private final boolean buckets;

  /** True if there is one name, two keys and seats only, so that renewals often meet. */
  private final boolean seats;

  /** True if costs are reported too. Debts refuse so much that refunds seldom meet among them. */
  private final boolean reports;

  private final int names;
  private final int keys;

  /** The pace of time: one of so many entries comes a window or so after the one before. */
  private final int pace;

  private final List<Policy> policies = new ArrayList<>();
  private final List<Handle> handles = new ArrayList<>();
  private final List<Made> made = new ArrayList<>();
  private long now;

  Operations(SplittableRandom random, boolean manyKeys) {
    this.random = random;
    this.manyKeys = manyKeys;
    this.buckets = random.nextInt(3) == 0;
    this.seats = !buckets && random.nextInt(5) == 0;
    this.reports = random.nextBoolean();
    boolean few = buckets || seats;
    this.names = few ? 1 : random.nextInt(1, NAMES.length + 1);
    this.keys = few ? 2 : random.nextInt(1, 6);
    this.pace = random.nextInt(8, 60);
    this.now = random.nextLong(-1_000_000, 1_000_000) * WINDOW + random.nextLong(WINDOW);
    int count = random.nextInt(2, 9);
    for (int i = 0; i < count; i++) {
      policies.add(policy());
    }
    policies.add(policies.get(0).withPermits(random.nextInt(1, 40)));
  }

  long now() {
    return now;
  }

  private Policy policy() {
    Algorithm algorithm =
        buckets
            ? Algorithm.TOKEN_BUCKET
            : seats ? Algorithm.CONCURRENCY : ALGORITHMS[random.nextInt(ALGORITHMS.length)];
    long permits = random.nextInt(8) == 0 ? random.nextInt(90, 200) : random.nextInt(0, 15);
    long window = WINDOW * (random.nextInt(3) == 0 ? random.nextInt(1, 5) : 1);
    if (manyKeys) {
      window *= 50;
    }
    Policy.Builder builder = Policy.builder(new Quota(permits, window)).algorithm(algorithm);
    if (algorithm.bucket() && random.nextInt(3) == 0) {
      builder.burst(random.nextInt(0, 20));
    }
    if (algorithm.granular() && random.nextBoolean()) {
      builder.granularity(Duration.ofNanos(random.nextLong(window / 100 + 1, window + 1)));
    }
    return builder.late(random.nextInt(4) == 0 ? random.nextLong(WINDOW) : 0).build();
  }

  private long key() {
    return random.nextLong(1, keys + 1) * 0x9e3779b97f4a7c15L;
  }

  private long permits() {
    return random.nextInt(12) == 0 ? random.nextInt(40) : random.nextInt(4);
  }

  private void passTime() {
    switch (random.nextInt(pace)) {
      case 0 -> now += random.nextInt(4) * WINDOW;
      case 1 -> now += random.nextLong(3 * WINDOW);
      case 2, 3, 4 -> now += random.nextLong(WINDOW / 5);
      case 5, 6, 7 -> now += random.nextLong(5);
      default -> {}
    }
  }

  Entry next() {
    passTime();
    int kind = handles.isEmpty() ? 0 : random.nextInt(100);
    if (kind < 5) {
      return bind();
    } else if (kind < 8) {
      return variant();
    } else if (kind < 10) {
      long at = now;
      String name = NAMES[random.nextInt(names)];
      return entry(
          List.of(),
          "retire " + name,
          replica -> {
            replica.store.retire(name, at);
            return "";
          });
    } else if (kind < 14) {
      long at = now;
      return entry(
          List.of(),
          "expire",
          replica -> {
            replica.store.expire(at);
            return "";
          });
    }
    return onKeys(kind);
  }

  private Entry onKeys(int kind) {
    Handle handle = handles.get(random.nextInt(handles.size()));
    long key = key();
    long permits = permits();
    List<Touched> touched = List.of(new Touched(handle, key));
    long at = now;
    if (kind < 17) {
      return entry(
          touched, "reset", replica -> "" + replica.store.reset(replica.binding(handle), key, at));
    } else if (kind < 24) {
      return entry(
          touched,
          "record " + permits,
          replica -> "" + replica.store.record(replica.binding(handle), key, permits, at));
    } else if (kind < 42 && !made.isEmpty()) {
      int back = Math.min(made.size(), random.nextInt(3) == 0 ? 60 : 4);
      Made from = made.get(made.size() - 1 - random.nextInt(back));
      long some = random.nextBoolean() ? from.permits() : random.nextInt(4);
      return entry(
          List.of(new Touched(from.handle(), from.fingerprint())),
          "refund " + some + " of " + from,
          replica ->
              ""
                  + replica.store.refund(
                      replica.binding(from.handle()),
                      from.fingerprint(),
                      some,
                      from.decision(),
                      at));
    } else if (kind < 46) {
      return entry(
          touched,
          "one",
          replica -> "" + replica.store.decide(replica.binding(handle), key, permits, at));
    } else if (kind < 48 && manyKeys) {
      return flood(handle);
    } else if (kind < 58 && !made.isEmpty()) {
      return renew();
    }
    return request();
  }

  /** Renews a recent charge; one that is no seat is not renewed. */
  private Entry renew() {
    Made from = made.get(made.size() - 1 - random.nextInt(Math.min(made.size(), 8)));
    long at = now;
    return entry(
        List.of(new Touched(from.handle(), from.fingerprint())),
        "renew " + from,
        replica ->
            ""
                + replica.store.renew(
                    replica.binding(from.handle()), from.fingerprint(), from.decision(), at));
  }

  private Entry bind() {
    String name = NAMES[random.nextInt(names)];
    Policy policy = policies.get(random.nextInt(policies.size())).named(name);
    Handle handle = new Handle(name, policy, null);
    handles.add(handle);
    long at = now;
    return entry(List.of(), "bind " + handle, replica -> replica.bind(handle, at));
  }

  private Entry variant() {
    Handle base = handles.get(random.nextInt(handles.size()));
    Policy inForce = base.inForce();
    boolean free =
        inForce.algorithm() == Algorithm.TOKEN_BUCKET
            && base.variant() == null
            && random.nextBoolean();
    Policy other =
        free
            ? Policy.builder(new Quota(random.nextInt(1, 9), WINDOW * random.nextInt(1, 4)))
                .name(base.name())
                .algorithm(Algorithm.TOKEN_BUCKET)
                .burst(random.nextInt(1, 9))
                .build()
            : inForce.withPermits(random.nextInt(1, 90));
    if (!free && !other.shape().equals(inForce.shape())) {
      return bind();
    }
    Handle handle = new Handle(base.name(), inForce, other);
    handles.add(handle);
    return entry(List.of(), "variant " + handle, replica -> replica.bind(handle, 0));
  }

  private Entry flood(Handle handle) {
    long first = random.nextLong(1, 20_000);
    List<Touched> touched = new ArrayList<>();
    for (int i = 0; i < 2_500; i++) {
      long mixed = (first + i) * 0x9e3779b97f4a7c15L;
      touched.add(new Touched(handle, 0x5L << 60 | mixed >>> 4));
    }
    long at = now;
    return entry(
        touched,
        "flood " + handle,
        replica -> {
          Batch batch = new Batch(16).detailed();
          for (Touched each : touched) {
            batch.add(replica.binding(handle), each.fingerprint(), 1);
          }
          replica.store.decide(batch, at);
          StringBuilder text = new StringBuilder();
          for (int i = 0; i < batch.size(); i++) {
            text.append(batch.decision(i)).append('/').append(batch.remaining(i)).append('/');
            text.append(batch.resetAfterNanos(i)).append(' ');
          }
          return text.toString();
        });
  }

  private Entry request() {
    int size = random.nextInt(3) > 0 ? 1 : random.nextInt(2, 5);
    List<Touched> touched = new ArrayList<>();
    long[] permits = new long[size];
    Charges.Role[] roles = new Charges.Role[size];
    for (int i = 0; i < size; i++) {
      touched.add(new Touched(handles.get(random.nextInt(handles.size())), key()));
      permits[i] = random.nextInt(50) == 0 ? -1 : permits();
      List<Charges.Role> some = reports && random.nextInt(3) == 0 ? REPORTS : ROLES;
      roles[i] = some.get(random.nextInt(some.size()));
    }
    boolean peek = random.nextInt(6) == 0;
    boolean waits = size == 1 && !roles[0].isReport() && random.nextInt(4) == 0;
    long wait = waits ? random.nextLong(2 * WINDOW) : -1;
    long at = now;
    return entry(
        peek ? List.of() : touched,
        (peek ? "peek " : "request ") + touched,
        replica -> {
          Charges charges = new Charges();
          for (int i = 0; i < size; i++) {
            Touched each = touched.get(i);
            Binding binding = replica.binding(each.handle());
            charges.add(binding, each.fingerprint(), permits[i], roles[i]);
          }
          if (peek) {
            charges.peek();
          }
          if (wait >= 0) {
            charges.maxWait(wait);
          }
          replica.store.decide(charges, at);
          StringBuilder text = new StringBuilder().append(charges.allowed());
          for (int i = 0; i < size; i++) {
            text.append(charges.retryAfterNanos(i)).append(charges.decision(i));
          }
          remember(charges, touched, at);
          return text.toString();
        });
  }

  /** Records charges once: by the replica that applies an entry first. */
  private void remember(Charges charges, List<Touched> touched, long at) {
    if (at != now || !charges.allowed() || charges.peeking()) {
      return;
    }
    for (int i = 0; i < charges.size(); i++) {
      if (charges.counted(i)) {
        Touched each = touched.get(i);
        made.add(
            new Made(each.handle(), each.fingerprint(), charges.permits(i), charges.decision(i)));
      }
    }
  }

  private Entry entry(List<Touched> touched, String what, Replica.Step step) {
    return new Entry(now, touched, what + " at " + now, step);
  }
}
