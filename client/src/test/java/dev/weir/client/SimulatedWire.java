package dev.weir.client;

import dev.weir.client.internal.wire.Wire;
import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;
import java.util.HashSet;
import java.util.Set;
import java.util.function.UnaryOperator;

/** A network that delays messages, and loses some of them and of their answers. */
public class SimulatedWire implements Wire {
  /** The least time that a message takes in one direction. */
  private static final long FASTEST_NANOS = 50_000L;

  private static final long USUAL_NANOS = 3_000_000L;
  private static final long SLOWEST_NANOS = 400_000_000L;

  private final World world;
  private final Machine machine;
  private final SimulatedService service;
  private final Set<Reply> out = new HashSet<>();
  boolean down;

  public SimulatedWire(World world, Machine machine, SimulatedService service) {
    this.world = world;
    this.machine = machine;
    this.service = service;
  }

  /** Changes the messages that the client sends, for clients that are known to be bad. */
  public LeaseRequest sent(LeaseRequest message) {
    return message;
  }

  /** Changes the messages that the client receives, for clients that are known to be bad. */
  public UnaryOperator<LeaseResponse> heard() {
    return response -> response;
  }

  @Override
  public void send(LeaseRequest message, Reply reply) {
    out.add(reply);
    if (down) {
      var unused = world.after(FASTEST_NANOS, () -> machine.run(() -> fail(reply)));
      return;
    }
    LeaseRequest sent = sent(message);
    UnaryOperator<LeaseResponse> heard = heard();
    if (world.once(20)) {
      return; // The answer is lost.
    }
    // The message leaves when the machine is done with its current work.
    var unused =
        world.at(
            machine.now() + delay(),
            () -> {
              LeaseResponse response = service.answer(sent);
              if (!world.once(10)) {
                var unusedToo =
                    world.after(delay(), () -> machine.run(() -> answer(reply, response, heard)));
              }
            });
  }

  private void answer(Reply reply, LeaseResponse response, UnaryOperator<LeaseResponse> heard) {
    if (out.remove(reply)) {
      reply.answered(heard.apply(response));
    }
  }

  private void fail(Reply reply) {
    if (out.remove(reply)) {
      reply.failed("cut", true);
    }
  }

  private long delay() {
    return world.once(50)
        ? world.between(USUAL_NANOS, SLOWEST_NANOS)
        : world.between(FASTEST_NANOS, USUAL_NANOS);
  }

  @Override
  public void reset() {
    for (Reply each : Set.copyOf(out)) {
      fail(each);
    }
  }

  @Override
  public void close() {}
}
