package dev.weir.shared;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A transport to a {@link MemoryStore} in this process, which decides like a remote server. Safe
 * for use by many threads.
 */
final class MemoryShard implements Shard {
  private static final long MICRO = 1_000;

  private final MemoryStore server;
  private final LongSupplier serverNanos;

  /** The encoding of a policy for the server. */
  record Code(String name, Binding binding, Binding recording) implements PolicyCode {}

  MemoryShard(MemoryStore server, LongSupplier serverNanos) {
    this.server = server;
    this.serverNanos = serverNanos;
  }

  /** Opens a store of this process that shares the server with others. */
  static SharedStore open(MemoryStore server, StoreSettings settings, LongSupplier serverNanos) {
    MemoryShard shard = new MemoryShard(server, serverNanos);
    return new SharedStore(settings, new OneShard(shard, settings)) {};
  }

  private long now(long nowNanos) {
    long now = nowNanos == Call.SHARDS_TIME ? serverNanos.getAsLong() : nowNanos;
    return now - Math.floorMod(now, MICRO);
  }

  @Override
  public Call newCall() {
    return new MemoryCall();
  }

  @Override
  public CompletionStage<? extends Reply> probe() {
    return CompletableFuture.completedStage(new MemoryReply(now(Call.SHARDS_TIME)));
  }

  @Override
  public CompletionStage<?> turn() {
    return CompletableFuture.completedStage(null);
  }

  @Override
  public int slot(SharedBinding binding, long fingerprint) {
    return 0;
  }

  @Override
  public int maxInFlight() {
    return 2;
  }

  /** A link to the only shard. */
  private static final class OneShard implements Link {
    private final MemoryShard shard;
    private final Caller caller;
    private final StoreSettings settings;

    OneShard(MemoryShard shard, StoreSettings settings) {
      this.shard = shard;
      this.settings = settings;
      caller = new Caller(shard, settings);
    }

    @Override
    public PolicyCode code(String name, Policy policy) {
      long permits = policy.quota().permits();
      // A window counts the same state under any quota: this one also counts permits that do not
      // fit.
      boolean seats = policy.algorithm() == Algorithm.CONCURRENCY;
      boolean own = policy.algorithm().bucket() || seats;
      Binding recording =
          shard.server.bind(name, counted(policy, own ? permits : Quota.MAX_PERMITS), 0);
      return new Code(name, shard.server.bind(name, counted(policy, permits), 0), recording);
    }

    /** Returns the policy by which the server counts. */
    private static Policy counted(Policy policy, long permits) {
      Quota quota = new Quota(permits, whole(SharedBinding.countedWindowNanos(policy)));
      Algorithm algorithm = SharedBinding.countedAlgorithm(policy);
      Policy.Builder builder = Policy.builder(quota).algorithm(algorithm);
      if (algorithm.granular()) {
        builder.granularity(Duration.ofNanos(whole(policy.granularityNanos())));
      }
      if (policy.algorithm().bucket()) {
        builder.burst(policy.burst());
      }
      return builder.build();
    }

    private static long whole(long nanos) {
      return -Math.floorDiv(-nanos, MICRO) * MICRO;
    }

    @Override
    public PolicyCode variant(PolicyCode code, Policy policy) {
      Code base = (Code) code;
      Binding variant =
          shard.server.variant(base.binding, counted(policy, policy.quota().permits()));
      return new Code(base.name, variant, policy.algorithm().bucket() ? variant : base.recording);
    }

    @Override
    public @Nullable Caller caller(SharedBinding binding, long fingerprint) {
      return caller;
    }

    @Override
    public boolean oneSlot() {
      return true;
    }

    @Override
    public int slot(SharedBinding binding, long fingerprint) {
      return 0;
    }

    @Override
    public void tick() {
      caller.tick();
    }

    @Override
    public boolean available() {
      return caller.available();
    }

    @Override
    public String problem() {
      return caller.problem();
    }

    @Override
    public long queued() {
      return caller.queued();
    }

    @Override
    public void close() {
      Caller.closeAll(List.of(caller), settings.timeoutNanos());
    }
  }

  /** A call that decides its operations when it is sent. */
  private final class MemoryCall implements Call {
    private final List<java.util.function.BiConsumer<Long, MemoryReply>> parts = new ArrayList<>();
    private Charges charges = new Charges();

    private Binding binding(SharedBinding binding) {
      return ((Code) binding.code()).binding;
    }

    @Override
    public void decideMany(int count, boolean peeking, boolean queued, long maxWaitNanos) {
      Charges request = new Charges();
      charges = request;
      parts.add(
          (now, reply) -> {
            if (peeking) {
              request.peek();
            }
            if (queued) {
              request.maxWait(maxWaitNanos);
            }
            server.decide(request, now);
            reply.add(request.allowed() ? 1 : 0);
            for (int i = 0; i < count; i++) {
              reply.add(result(request, i));
            }
          });
    }

    @Override
    public void charge(SharedBinding binding, long fingerprint, long permits, Role role) {
      charges.add(binding(binding), fingerprint, permits, role);
    }

    @Override
    public void decideOne(SharedBinding binding, long fingerprint, long permits, long count) {
      parts.add(
          (now, reply) -> {
            long times = 0;
            Charges last = new Charges();
            for (boolean fits = true; fits && times < count; ) {
              Charges request = new Charges().add(binding(binding), fingerprint, permits);
              server.decide(request, now);
              fits = request.allowed();
              last = fits || times == 0 ? request : last;
              times += fits ? 1 : 0;
            }
            Result said = result(last, 0);
            if (times < count && times > 0) {
              Charges refused = new Charges().add(binding(binding), fingerprint, permits).peek();
              server.decide(refused, now);
              said =
                  new Result(
                      said.reason(),
                      said.remaining(),
                      refused.retryAfterNanos(0),
                      said.resetAfterNanos(),
                      said.atNanos());
            }
            reply.add(times);
            reply.add(said);
          });
    }

    @Override
    public void record(SharedBinding binding, long fingerprint, long permits) {
      parts.add(
          (now, reply) -> {
            Binding recording = ((Code) binding.code()).recording;
            if (recording.policy().algorithm() == Algorithm.CONCURRENCY) {
              Decision unused = server.record(recording, fingerprint, permits, now);
            } else {
              server.decide(new Charges().add(recording, fingerprint, permits), now);
            }
            Charges look = new Charges().add(binding(binding), fingerprint, 0).peek();
            server.decide(look, now);
            reply.add(result(look, 0));
          });
    }

    @Override
    public void refund(
        SharedBinding binding, long fingerprint, long permits, long atNanos, long resetNanos) {
      parts.add(
          (now, reply) -> {
            Binding own = binding(binding);
            Decision charged =
                new Decision(
                    true,
                    Reason.WITHIN_LIMIT,
                    own.policy().name(),
                    own.policy().burst(),
                    0,
                    0,
                    resetNanos - atNanos,
                    atNanos);
            reply.add(server.refund(own, fingerprint, permits, charged, now));
          });
    }

    @Override
    public void reset(SharedBinding binding, long fingerprint) {
      parts.add(
          (now, reply) -> reply.add(server.reset(binding(binding), fingerprint, now) ? 1 : 0));
    }

    @Override
    public void renew(SharedBinding binding, long fingerprint, long atNanos) {
      parts.add(
          (now, reply) -> {
            Binding own = binding(binding);
            Decision charged =
                new Decision(true, Reason.WITHIN_LIMIT, own.name(), 0, 0, 0, 0, atNanos);
            reply.add(server.renew(own, fingerprint, charged, now) ? 1 : 0);
          });
    }

    @Override
    public CompletionStage<? extends Reply> send(long nowNanos) {
      synchronized (server) {
        long now = now(nowNanos);
        MemoryReply reply = new MemoryReply(now);
        parts.forEach(part -> part.accept(now, reply));
        return CompletableFuture.completedStage(reply);
      }
    }
  }

  private static Result result(Charges charges, int i) {
    return new Result(
        charges.reason(i),
        charges.remaining(i),
        charges.retryAfterNanos(i),
        charges.resetAfterNanos(i),
        charges.atNanos(i));
  }

  /** A reply of numbers and results in the order in which they were added. */
  private static final class MemoryReply implements Reply {
    private final long nowNanos;
    private final Queue<Object> values = new ArrayDeque<>();

    MemoryReply(long nowNanos) {
      this.nowNanos = nowNanos;
    }

    void add(Object value) {
      values.add(value);
    }

    @Override
    public long nowNanos() {
      return nowNanos;
    }

    @Override
    public long number() {
      return ((Number) values.remove()).longValue();
    }

    @Override
    public Result result() {
      return (Result) values.remove();
    }
  }
}
