package dev.weir.shared;

import dev.weir.Policy;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A link to shards whose answers a test determines; the first has all keys. */
public class FakeLink implements Link {
  private final List<Caller> callers;

  public FakeLink(StoreSettings settings, FakeShard... shards) {
    callers = Stream.of(shards).map(shard -> new Caller(shard, settings)).toList();
  }

  @Override
  public PolicyCode code(String name, Policy policy) {
    return new PolicyCode() {};
  }

  @Override
  public PolicyCode variant(PolicyCode code, Policy policy) {
    return code;
  }

  @Override
  public @Nullable Caller caller(SharedBinding binding, long fingerprint) {
    return callers.get(slot(binding, fingerprint));
  }

  @Override
  public boolean oneSlot() {
    return callers.size() == 1;
  }

  @Override
  public int slot(SharedBinding binding, long fingerprint) {
    return 0;
  }

  @Override
  public void tick() {
    callers.forEach(Caller::tick);
  }

  @Override
  public boolean idle() {
    return available() && callers.stream().allMatch(Caller::idle);
  }

  @Override
  public boolean available() {
    return callers.stream().allMatch(Caller::available);
  }

  @Override
  public String problem() {
    return "";
  }

  @Override
  public long queued() {
    return 0;
  }

  @Override
  public void close() {}
}
