package dev.weir.cluster.internal.state;

import dev.weir.Charges.Role;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.state.OperationReader.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Entries for tests, and their content. */
public final class Entries {
  private static final Kind[] KINDS = Kind.values();
  private static final Role[] ROLES = Role.values();

  /** A charge, as it was written or read. */
  public record Charge(ClusterPolicy policy, long fingerprint, long permits, Role role) {}

  /** An operation, as it was written or read; numbers that its kind does not have are 0. */
  public record Op(
      Kind kind,
      List<Charge> charges,
      boolean peeking,
      boolean queued,
      long maxWaitNanos,
      long count,
      long atNanos,
      long resetNanos) {

    void write(EntryWriter out) {
      Charge first = charges.get(0);
      ClusterPolicy policy = first.policy;
      long fingerprint = first.fingerprint;
      switch (kind) {
        case DECIDE_MANY -> {
          out.decideMany(charges.size(), peeking, queued, maxWaitNanos);
          for (Charge each : charges) {
            out.charge(each.policy, each.fingerprint, each.permits, each.role);
          }
        }
        case DECIDE_ONE -> out.decideOne(policy, fingerprint, first.permits, count);
        case RECORD -> out.record(policy, fingerprint, first.permits);
        case REFUND -> out.refund(policy, fingerprint, first.permits, atNanos, resetNanos);
        case RESET -> out.reset(policy, fingerprint);
        case RENEW -> out.renew(policy, fingerprint, atNanos);
      }
    }
  }

  private Entries() {}

  public static Op decideOne(ClusterPolicy policy, long fingerprint, long permits, long count) {
    return one(Kind.DECIDE_ONE, policy, fingerprint, permits, count, 0, 0);
  }

  public static Op decideMany(boolean peeking, Charge... charges) {
    return new Op(Kind.DECIDE_MANY, List.of(charges), peeking, false, 0, 0, 0, 0);
  }

  public static Op queued(long maxWaitNanos, Charge charge) {
    return new Op(Kind.DECIDE_MANY, List.of(charge), false, true, maxWaitNanos, 0, 0, 0);
  }

  public static Op record(ClusterPolicy policy, long fingerprint, long permits) {
    return one(Kind.RECORD, policy, fingerprint, permits, 0, 0, 0);
  }

  public static Op refund(
      ClusterPolicy policy, long fingerprint, long permits, long atNanos, long resetNanos) {
    return one(Kind.REFUND, policy, fingerprint, permits, 0, atNanos, resetNanos);
  }

  public static Op reset(ClusterPolicy policy, long fingerprint) {
    return one(Kind.RESET, policy, fingerprint, 0, 0, 0, 0);
  }

  public static Op renew(ClusterPolicy policy, long fingerprint, long atNanos) {
    return one(Kind.RENEW, policy, fingerprint, 0, 0, atNanos, 0);
  }

  private static Op one(
      Kind kind,
      ClusterPolicy policy,
      long fingerprint,
      long permits,
      long count,
      long atNanos,
      long resetNanos) {
    Charge charge = new Charge(policy, fingerprint, permits, Role.REQUIRED);
    return new Op(kind, List.of(charge), false, false, 0, count, atNanos, resetNanos);
  }

  public static byte[] entry(List<Op> operations) {
    EntryWriter out = new EntryWriter();
    operations.forEach(each -> each.write(out));
    return out.toEntry();
  }

  public static byte[] entry(Op... operations) {
    return entry(List.of(operations));
  }

  /** Reads all operations of an entry. */
  public static List<Op> read(byte[] entry) {
    OperationReader in = new OperationReader(entry);
    List<ClusterPolicy> policies = in.policies().stream().map(ClusterPolicy::read).toList();
    List<Op> operations = new ArrayList<>();
    while (in.next()) {
      boolean many = in.kind() == Kind.DECIDE_MANY;
      boolean refund = in.kind() == Kind.REFUND;
      boolean noPermits = in.kind() == Kind.RESET || in.kind() == Kind.RENEW;
      List<Charge> charges = new ArrayList<>();
      for (int i = 0; i < in.charges(); i++) {
        charges.add(
            new Charge(
                policies.get(in.policy(i)),
                in.fingerprint(i),
                noPermits ? 0 : in.permits(i),
                many ? in.role(i) : Role.REQUIRED));
      }
      operations.add(
          new Op(
              in.kind(),
              charges,
              many && in.peeking(),
              many && in.queued(),
              many ? in.maxWaitNanos() : 0,
              in.kind() == Kind.DECIDE_ONE ? in.count() : 0,
              refund || in.kind() == Kind.RENEW ? in.atNanos() : 0,
              refund ? in.resetNanos() : 0));
    }
    return operations;
  }

  /** Returns random operations, of at least one policy. */
  static List<Op> random(SplittableRandom random, int count) {
    List<ClusterPolicy> policies = new ArrayList<>();
    for (int i = random.nextInt(4); i >= 0; i--) {
      policies.add(ClusterPolicy.of("rule-" + i, Policies.any(random)));
    }
    List<Op> operations = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      operations.add(random(random, policies));
    }
    return operations;
  }

  private static Op random(SplittableRandom random, List<ClusterPolicy> policies) {
    ClusterPolicy policy = policies.get(random.nextInt(policies.size()));
    long fingerprint = random.nextLong();
    long permits = permits(random);
    Kind kind = KINDS[random.nextInt(KINDS.length)];
    boolean noPermits = kind == Kind.RESET || kind == Kind.RENEW;
    if (kind != Kind.DECIDE_MANY) {
      return one(
          kind,
          policy,
          fingerprint,
          noPermits ? 0 : permits,
          kind == Kind.DECIDE_ONE ? random.nextLong(1, 1_000) : 0,
          kind == Kind.REFUND || kind == Kind.RENEW ? random.nextLong() >> 4 : 0,
          kind == Kind.REFUND ? random.nextLong() >> 4 : 0);
    }
    boolean queued = random.nextInt(4) == 0;
    List<Charge> charges = new ArrayList<>();
    for (int i = queued ? 0 : random.nextInt(4); i >= 0; i--) {
      Role any = ROLES[random.nextInt(ROLES.length)];
      Role role = queued && any.isReport() ? Role.REQUIRED : any;
      ClusterPolicy each = policies.get(random.nextInt(policies.size()));
      charges.add(new Charge(each, random.nextLong(), permits(random), role));
    }
    long wait = queued ? random.nextLong(Policies.SECOND) : 0;
    return new Op(kind, charges, random.nextBoolean(), queued, wait, 0, 0, 0);
  }

  private static long permits(SplittableRandom random) {
    return random.nextInt(10) == 0 ? Long.MAX_VALUE : random.nextLong(5);
  }
}
