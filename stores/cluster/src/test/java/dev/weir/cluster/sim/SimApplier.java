package dev.weir.cluster.sim;

import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.sim.SimDisk.Image;
import dev.weir.cluster.sim.SimDisk.Item;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The applier of committed entries of one member's log, which takes time and answers waiting
 * callers.
 */
final class SimApplier {
  private static final long MICRO = Policies.MICRO;
  private static final long MILLI = Policies.MILLI;

  private final SimGroup group;
  private final int number;
  private final SimNode node;
  private final SimDisk disk;
  private final Scheduler scheduler;

  /** The longest time that a committed entry waits to be applied. */
  long mostLagNanos = MILLI / 2;

  // All of this is lost in a crash.
  private Ledger.Machine machine;
  private boolean applying;
  private boolean imaging;
  private long committed;
  private long applied;
  private final TreeMap<Long, Pending> pending = new TreeMap<>();

  private record Pending(long term, CompletableFuture<byte[]> reply) {
    void unknown(String why) {
      reply.completeExceptionally(new LedgerException(Outcome.UNKNOWN, null, why));
    }
  }

  SimApplier(SimGroup group, int number, SimNode node, SimDisk disk, Ledger.Machine machine) {
    this.group = group;
    this.number = number;
    this.node = node;
    this.disk = disk;
    this.scheduler = node.scheduler;
    this.machine = machine;
  }

  /** Starts after a crash, with the content of the disk. */
  void restart(Ledger.Machine fresh) {
    pending.clear();
    applying = false;
    imaging = false;
    rebuild(fresh);
  }

  private void rebuild(Ledger.Machine fresh) {
    machine = fresh;
    applied = 0;
    Image image = disk.image();
    if (image != null) {
      restore(image);
    }
    committed = applied;
  }

  private void restore(Image image) {
    try {
      machine.restore(image.file());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    applied = image.index();
  }

  Ledger.Machine machine() {
    return machine;
  }

  long applied() {
    return applied;
  }

  long committed() {
    return committed;
  }

  /** Returns the number of callers that wait for a reply. */
  int waiting() {
    return pending.size();
  }

  /** Returns the reply to an entry, once it is applied here. */
  CompletionStage<byte[]> await(long index, long term) {
    CompletableFuture<byte[]> reply = new CompletableFuture<>();
    pending.put(index, new Pending(term, reply));
    return reply;
  }

  /** Fails the callers that wait for an entry, or a later one: its outcome is not known. */
  void unknown(long index, String why) {
    List<Pending> unknown = List.copyOf(pending.tailMap(index, true).values());
    pending.tailMap(index, true).clear();
    unknown.forEach(each -> each.unknown(why));
  }

  /** Called when an entry and all after it are gone. */
  void truncated(long index) {
    unknown(index, "it was not committed");
    if (index <= applied) { // Only with a defect.
      rebuild(group.newMachine(number));
    }
    committed = Math.min(committed, disk.last());
  }

  /** Continues from an image that another member has made. */
  void install(Image image) {
    unknown(0, "it is in an image, if it was committed");
    restore(image);
    commit(applied);
  }

  /** Commits entries up to one. */
  void commit(long index) {
    committed = Math.max(committed, index);
    if (!applying && applied < committed) {
      applying = true;
      node.run(
          scheduler.between(10 * MICRO, mostLagNanos),
          () -> {
            applying = false;
            apply();
          });
    }
  }

  private void apply() {
    while (applied < committed) {
      Item item = disk.at(applied + 1);
      byte[] bytes = item.bytes();
      byte[] reply =
          bytes == null ? new byte[0] : machine.apply(item.index(), item.term(), bytes.clone());
      applied++;
      group.applied(number, item, reply);
      answer(pending.remove(item.index()), item, reply);
    }
    imageIfDue();
  }

  private static void answer(@Nullable Pending asked, Item item, byte[] reply) {
    if (asked != null && asked.term == item.term()) {
      asked.reply.complete(reply);
    } else if (asked != null) {
      asked.unknown("it was not committed");
    }
  }

  private void imageIfDue() {
    Image last = disk.image();
    long since = applied - (last == null ? 0 : last.index());
    if (imaging || since < group.imageEvery || disk.flushed() < applied) {
      return;
    }
    long index = applied;
    long term = disk.termAt(index);
    Path file = group.newFile();
    try {
      imaging = true;
      machine.image(file).toCompletableFuture().join();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    node.run(
        scheduler.between(MILLI, 200 * MILLI),
        () -> {
          imaging = false;
          Image newest = disk.image();
          boolean newer = newest == null || newest.index() < index;
          if (newer && disk.termAt(index) == term) {
            disk.keep(new Image(index, term, file), scheduler.random.nextInt(60));
          }
        });
  }
}
