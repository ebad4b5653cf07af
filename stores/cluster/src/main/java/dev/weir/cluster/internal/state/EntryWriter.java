package dev.weir.cluster.internal.state;

import dev.weir.Charges.Role;
import dev.weir.cluster.internal.peer.ByteWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A writer of an entry: its operations in the order in which they are decided. Not safe for use by
 * several threads at once.
 *
 * <p>Its layout: 8 bytes for the stamp; a byte for the kind of the entry; the number of policies,
 * and each after its length; then the operations up to the end, each beginning with its {@link
 * OperationReader.Kind}.
 */
public final class EntryWriter {
  private final Map<ClusterPolicy, Integer> numbers = new HashMap<>();
  private final List<ClusterPolicy> policies = new ArrayList<>();
  private final ByteWriter operations = new ByteWriter();

  private int number(ClusterPolicy policy) {
    Integer known = numbers.get(policy);
    if (known != null) {
      return known;
    }
    policies.add(policy);
    numbers.put(policy, policies.size() - 1);
    return policies.size() - 1;
  }

  private ByteWriter begin(OperationReader.Kind kind) {
    return operations.writeByte(kind.code());
  }

  public void decideMany(int charges, boolean peeking, boolean queued, long maxWaitNanos) {
    begin(OperationReader.Kind.DECIDE_MANY)
        .writeByte((peeking ? 1 : 0) | (queued ? 2 : 0))
        .writeNumber(maxWaitNanos)
        .writeNumber(charges);
  }

  public void charge(ClusterPolicy policy, long fingerprint, long permits, Role role) {
    operations
        .writeByte(Codes.of(role))
        .writeNumber(number(policy))
        .writeLong(fingerprint)
        .writeNumber(permits);
  }

  public void decideOne(ClusterPolicy policy, long fingerprint, long permits, long count) {
    key(OperationReader.Kind.DECIDE_ONE, policy, fingerprint)
        .writeNumber(permits)
        .writeNumber(count);
  }

  public void record(ClusterPolicy policy, long fingerprint, long permits) {
    key(OperationReader.Kind.RECORD, policy, fingerprint).writeNumber(permits);
  }

  public void refund(
      ClusterPolicy policy, long fingerprint, long permits, long atNanos, long resetNanos) {
    key(OperationReader.Kind.REFUND, policy, fingerprint)
        .writeNumber(permits)
        .writeNumber(atNanos)
        .writeNumber(resetNanos - atNanos);
  }

  public void reset(ClusterPolicy policy, long fingerprint) {
    key(OperationReader.Kind.RESET, policy, fingerprint);
  }

  public void renew(ClusterPolicy policy, long fingerprint, long atNanos) {
    key(OperationReader.Kind.RENEW, policy, fingerprint).writeNumber(atNanos);
  }

  private ByteWriter key(OperationReader.Kind kind, ClusterPolicy policy, long fingerprint) {
    return begin(kind).writeNumber(number(policy)).writeLong(fingerprint);
  }

  /** Returns the entry, with room for its stamp. */
  public byte[] toEntry() {
    ByteWriter out = new ByteWriter().writeLong(0).writeByte(Entry.OPERATIONS);
    out.writeNumber(policies.size());
    policies.forEach(each -> out.writeBytes(each.bytes()));
    byte[] all = operations.toBytes();
    return out.copy(all, 0, all.length).toBytes();
  }
}
