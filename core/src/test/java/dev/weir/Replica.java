package dev.weir;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A store that is driven by operations, one after the other, and the bindings that they name. */
final class Replica {
  static final long UNBOUNDED = Long.MAX_VALUE / 2;

  /**
   * The name of a binding in all replicas: a policy bound under its name, and perhaps a variant.
   */
  record Handle(String name, Policy inForce, @Nullable Policy variant) {}

  /** One key that an operation may change. */
  record Touched(Handle handle, long fingerprint) {}

  /** One operation on a replica; returns every number of the answer. */
  interface Step {
    String apply(Replica replica);
  }

  /** An entry of the log. */
  record Entry(long now, List<Touched> touched, String what, Step step) {}

  final MemoryStore store;
  private final Map<Handle, Binding> bindings = new HashMap<>();

  Replica(MemoryStore store) {
    this.store = store;
  }

  Binding binding(Handle handle) {
    return bindings.computeIfAbsent(handle, this::rebound);
  }

  private Binding rebound(Handle handle) {
    Binding base = store.rebound(handle.name(), handle.inForce());
    Policy variant = handle.variant();
    return variant == null ? base : store.reboundVariant(base, variant);
  }

  String bind(Handle handle, long now) {
    try {
      Policy variant = handle.variant();
      Binding made =
          variant == null
              ? store.bind(handle.name(), handle.inForce(), now)
              : store.variant(binding(new Handle(handle.name(), handle.inForce(), null)), variant);
      bindings.put(handle, made);
      return "bound";
    } catch (IllegalStateException e) {
      bindings.remove(handle);
      return "" + e.getMessage();
    }
  }

  String apply(Entry entry) {
    return entry.step().apply(this);
  }

  void before(Image image, Entry entry) {
    for (Touched each : entry.touched()) {
      image.before(binding(each.handle()), each.fingerprint());
    }
  }

  /** Forgets keys that have reset, at times that no entry of the log gives. */
  void sweep(long now) {
    for (String name : List.of("a", "b", "c")) {
      MemoryBinding any =
          (MemoryBinding) store.rebound(name, Policy.of(new Quota(1, Operations.WINDOW)));
      for (ShapeTable each : any.history.tables()) {
        each.table().forgetSome(now);
      }
    }
  }

  static byte[] image(MemoryStore store) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    store.save(out);
    return out.toByteArray();
  }

  static MemoryStore resumed(byte[] image) throws IOException {
    return MemoryStore.resumed(new ByteArrayInputStream(image), UNBOUNDED, UNBOUNDED);
  }

  /**
   * Returns everything in an image of a store that can matter at an instant: the policy in force
   * for each table, and all keys that have not reset, with the counts of their states.
   */
  static Map<String, String> contents(MemoryStore saved, long now) throws IOException {
    MemoryStore store = resumed(image(saved));
    store.verify();
    Map<String, String> contents = new TreeMap<>();
    try (Image image = store.beginImage()) {
      for (Image.Name name : image.names()) {
        for (int i = 0; i < name.tables().size(); i++) {
          TableImage table = name.tables().get(i);
          ShapeTable of = table.of();
          String prefix = name.name() + "/" + i;
          contents.put(
              prefix,
              String.join(
                  ",",
                  of.table().shape.toString(),
                  text(of.last()),
                  text(of.widest()),
                  "left " + of.widestLeftNanos(),
                  "retired " + of.retiredNanos(),
                  "latest " + table.latestNanos()));
          Meter meter = of.table().meter;
          List<Bars> bars =
              table.forEach(
                  image.number(),
                  (fingerprint, state) -> {
                    if (meter.resetAtNanos(state, 0) > now) {
                      contents.put(
                          prefix + "/" + fingerprint, text(meter, state, of.widest(), now));
                    }
                  },
                  () -> {});
          for (Bars some : bars) {
            some.forEach(
                (fingerprint, until) -> {
                  if (until > now) {
                    contents.put(prefix + "/" + fingerprint + "/barred", "until " + until);
                  }
                });
          }
        }
      }
    }
    return contents;
  }

  private static String text(Policy policy) {
    return policy + "/" + policy.burst() + "/" + policy.granularityNanos() + "/" + policy.lateNanos;
  }

  /**
   * Returns the counts of a state as text. Logs may differ in their room, and in expired entries.
   */
  static String text(Meter meter, long[] state, Policy policy, long now) {
    StringBuilder text = new StringBuilder();
    if (meter.words() > 0) {
      for (long word : state) {
        text.append(word).append(' ');
      }
      return text.toString();
    }
    text.append(state[0]).append(':');
    meter.forEachCharge(
        state,
        0,
        now,
        policy,
        (at, permits) -> text.append(at).append('x').append(permits).append(' '));
    if (meter instanceof SeatMeter) {
      text.append(" taken at");
      SeatMeterTest.forEachHeld(
          meter, state, now, policy, (taken, permits) -> text.append(' ').append(taken));
    }
    return text.toString();
  }
}
