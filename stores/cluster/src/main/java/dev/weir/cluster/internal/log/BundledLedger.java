package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.shared.Pump;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A log that puts several entries into one if they come faster than it takes them. Safe for use by
 * many threads.
 */
public final class BundledLedger implements Ledger {
  /*
   * Why bundles? Each entry of a log has a cost: some ten threads hand it over, three disks flush
   * it, and each member's network carries it separately. Every server collects the requests of its
   * own clients while a call is in flight, but the more servers there are, the more calls come to a
   * leader. So the leader does the same once more: while entries are on their way to a majority,
   * the next waits, and is joined by those that have come meanwhile. A single one is appended as it
   * is, at once.
   *
   * The machine does not see bundles: it applies one part after the other, at the instant of the
   * bundle. An invalid part is answered on its own, in the same way by every replica.
   */

  /** The byte after the stamp of a bundle; no other entry has it. */
  public static final byte BUNDLE = (byte) 0xff;

  /**
   * The most entries in flight. With two, an entry has about half as many decisions, which take as
   * long and cost more processor time.
   */
  private static final int MOST_IN_FLIGHT = 1;

  /** The largest bundle in bytes; larger entries are appended alone. */
  private static final int MOST_BYTES = 1 << 18;

  /** The most bytes that wait; far more than can be decided before their callers give up. */
  private static final long MOST_WAITING_BYTES = 1 << 24;

  private final Ledger ledger;
  private final Queue<Part> queue = new ConcurrentLinkedQueue<>();
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicInteger inFlight = new AtomicInteger();
  private final Pump pump = new Pump(this::sendAll);

  /** An entry that waits, and its reply. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Part(byte[] entry, CompletableFuture<byte[]> reply) {}

  /**
   * Creates a log.
   *
   * @param ledger whose machine is {@linkplain #machine one that applies bundles}; closed with this
   */
  public BundledLedger(Ledger ledger) {
    this.ledger = ledger;
  }

  @Override
  public CompletionStage<byte[]> append(byte[] entry) {
    if (entry.length < STAMP_BYTES || entry.length > MOST_BYTES) {
      return ledger.append(entry);
    }
    CompletableFuture<byte[]> reply = new CompletableFuture<>();
    if (waitingBytes.addAndGet(entry.length) > MOST_WAITING_BYTES) {
      waitingBytes.addAndGet(-entry.length);
      reply.completeExceptionally(
          new LedgerException(
              Outcome.OVERLOADED, null, "more than " + MOST_WAITING_BYTES + " bytes wait"));
      return reply;
    }
    queue.add(new Part(entry, reply));
    pump.run();
    return reply;
  }

  private void sendAll() {
    while (!queue.isEmpty() && inFlight.get() < MOST_IN_FLIGHT) {
      send();
    }
  }

  /** Appends the waiting entries. */
  private void send() {
    List<Part> parts = new ArrayList<>();
    int bytes = 0;
    for (Part next = queue.peek(); next != null; next = queue.peek()) {
      bytes += next.entry.length;
      if (!parts.isEmpty() && bytes > MOST_BYTES) {
        break;
      }
      parts.add(queue.remove());
      waitingBytes.addAndGet(-next.entry.length);
    }
    inFlight.incrementAndGet();
    CompletionStage<byte[]> appended;
    try {
      appended = ledger.append(parts.size() == 1 ? parts.get(0).entry : bundle(parts));
    } catch (RuntimeException e) {
      appended = CompletableFuture.failedStage(e);
    }
    Object unused = appended.whenComplete((reply, error) -> replied(parts, reply, error));
  }

  private static byte[] bundle(List<Part> parts) {
    ByteWriter out = new ByteWriter().writeLong(0).writeByte(BUNDLE);
    parts.forEach(each -> out.writeBytes(each.entry));
    return out.toBytes();
  }

  private void replied(List<Part> parts, byte @Nullable [] reply, @Nullable Throwable error) {
    inFlight.decrementAndGet();
    pump.run(); // First: the next entries have waited for it.
    if (reply == null) {
      Throwable why = error == null ? new IllegalStateException("no reply") : error;
      parts.forEach(each -> each.reply.completeExceptionally(why));
    } else if (parts.size() == 1) {
      parts.get(0).reply.complete(reply);
    } else {
      ByteReader in = new ByteReader(reply, 0);
      parts.forEach(each -> each.reply.complete(in.readBytes()));
    }
  }

  /** Returns a machine that applies the parts of bundles by another one. */
  public static Machine machine(Machine parts) {
    return new UnbundlingMachine(parts);
  }

  /** A machine that applies the parts of bundles. */
  private record UnbundlingMachine(Machine machine) implements Machine {
    @Override
    public void stamp(long term, byte[] entry) {
      machine.stamp(term, entry);
    }

    @Override
    public byte[] apply(long index, long term, byte[] entry) {
      if (entry.length <= STAMP_BYTES || entry[STAMP_BYTES] != BUNDLE) {
        return machine.apply(index, term, entry);
      }
      ByteReader in = new ByteReader(entry, STAMP_BYTES + 1);
      ByteWriter replies = new ByteWriter();
      while (!in.atEnd()) {
        byte[] part = in.readBytes();
        System.arraycopy(entry, 0, part, 0, STAMP_BYTES);
        replies.writeBytes(machine.apply(index, term, part));
      }
      return replies.toBytes();
    }

    @Override
    public CompletionStage<?> image(Path file) throws IOException {
      return machine.image(file);
    }

    @Override
    public void restore(Path file) throws IOException {
      machine.restore(file);
    }

    @Override
    public void elected(String leader) {
      machine.elected(leader);
    }

    @Override
    public void stopped(String why) {
      machine.stopped(why);
    }
  }

  @Override
  public @Nullable String leader() {
    return ledger.leader();
  }

  @Override
  public boolean leads() {
    return ledger.leads();
  }

  @Override
  public CompletionStage<Snapshot> snapshot() {
    return ledger.snapshot();
  }

  @Override
  public Status status() {
    return ledger.status();
  }

  @Override
  public FlushedIndexes flushed() {
    return ledger.flushed();
  }

  @Override
  public long logBytes() {
    return ledger.logBytes();
  }

  @Override
  public void transfer(@Nullable String member) throws IOException {
    ledger.transfer(member);
  }

  @Override
  public Seats seats() {
    return ledger.seats();
  }

  @Override
  public void seat(Seats next) throws IOException {
    ledger.seat(next);
  }

  @Override
  public void leave() throws IOException {
    ledger.leave();
  }

  @Override
  public void close() throws IOException {
    ledger.close();
  }
}
