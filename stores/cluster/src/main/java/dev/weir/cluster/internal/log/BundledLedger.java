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
 * A log that has several entries in one, where they come faster than it takes them. Safe for use by
 * many threads.
 */
public final class BundledLedger implements Ledger {
  /*
   * Why bundles? What a log costs is by the entry: some ten threads hand it over, three disks flush
   * it, and each member's network carries it by itself. Every server that asks collects what its own
   * clients ask while a call is under way, but the more servers there are, the more calls come to a
   * leader. So the leader does the same once more: while few entries are on their way to a majority,
   * the next waits, and takes along what has come meanwhile. One alone is appended as it is, at once.
   *
   * The machine does not know of bundles: it applies one part after the other, at the instant of the
   * bundle. A part that makes no sense is answered for itself, by every replica alike.
   */

  /** The byte after the stamp of a bundle; no other entry has it. */
  public static final byte BUNDLE = (byte) 0xff;

  /**
   * With two, an entry has about half as many decisions, which take as long and cost more processor
   * time.
   */
  private static final int MOST_IN_FLIGHT = 1;

  /** Larger ones go alone; what comes to this together is a bundle. */
  private static final int MOST_BYTES = 1 << 18;

  /** Far more than can be decided before its callers give up. */
  private static final long MOST_WAITING_BYTES = 1 << 24;

  private final Ledger ledger;
  private final Queue<Part> queue = new ConcurrentLinkedQueue<>();
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicInteger inFlight = new AtomicInteger();
  private final Pump pump = new Pump(this::sendAll);

  /** An entry that waits, and its reply. */
  @SuppressWarnings("ArrayRecordComponent") // Compared by nobody.
  private record Part(byte[] entry, CompletableFuture<byte[]> reply) {}

  /**
   * @param ledger whose machine is {@linkplain #machine one that knows bundles}; closed with this
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

  /** Appends what waits. */
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
    pump.run(); // First: the next has waited for it.
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

  /** Returns a machine that has another apply the parts of bundles. */
  public static Machine machine(Machine parts) {
    return new Unbundling(parts);
  }

  /** Applies the parts of bundles. */
  private record Unbundling(Machine machine) implements Machine {
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
