package dev.weir.cluster.sim;

import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.BundledLedger;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.Seats;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A log under a {@link BundledLedger}, which counts the bundles, and treats them as a wrong
 * bundling would.
 */
final class SimBundles implements Ledger {
  private static final long SOON_NANOS = 20 * Policies.MILLI;

  private final SimLedger ledger;
  private final Defect defect;
  private final SimHistory history;

  SimBundles(SimLedger ledger, Defect defect, SimHistory history) {
    this.ledger = ledger;
    this.defect = defect;
    this.history = history;
  }

  static boolean is(byte[] entry) {
    return entry.length > STAMP_BYTES && entry[STAMP_BYTES] == BundledLedger.BUNDLE;
  }

  /** Returns the parts of an entry, each with the stamp of the whole. */
  static List<byte[]> parts(byte[] entry) {
    if (!is(entry)) {
      return List.of(entry);
    }
    List<byte[]> parts = new ArrayList<>();
    ByteReader in = new ByteReader(entry, STAMP_BYTES + 1);
    while (!in.atEnd()) {
      byte[] part = in.readBytes();
      System.arraycopy(entry, 0, part, 0, STAMP_BYTES);
      parts.add(part);
    }
    return parts;
  }

  /** Returns the replies to the parts of an entry. */
  static List<byte[]> replies(byte[] entry, byte[] reply) {
    if (!is(entry)) {
      return List.of(reply);
    }
    List<byte[]> replies = new ArrayList<>();
    ByteReader in = new ByteReader(reply, 0);
    while (!in.atEnd()) {
      replies.add(in.readBytes());
    }
    return replies;
  }

  private static byte[] joined(List<byte[]> replies) {
    ByteWriter out = new ByteWriter();
    replies.forEach(out::writeBytes);
    return out.toBytes();
  }

  @Override
  public CompletionStage<byte[]> append(byte[] entry) {
    if (!is(entry)) {
      return ledger.append(entry);
    }
    history.count("bundles", 1);
    return switch (defect) {
      case BUNDLED_ANSWERS_MIXED ->
          ledger
              .append(entry)
              .thenApply(
                  reply -> {
                    List<byte[]> replies = replies(entry, reply);
                    Collections.rotate(replies, 1);
                    return joined(replies);
                  });
      case BUNDLED_TWICE -> appendTwice(entry);
      case BUNDLE_RETRIED -> appendAgain(entry);
      default -> ledger.append(entry);
    };
  }

  /** Appends the last part in the bundle, and also in an entry of its own, whose answer is used. */
  private CompletionStage<byte[]> appendTwice(byte[] entry) {
    List<byte[]> parts = parts(entry);
    byte[] last = parts.get(parts.size() - 1);
    return ledger
        .append(entry)
        .thenCombine(
            ledger.append(last),
            (reply, again) -> {
              List<byte[]> replies = replies(entry, reply);
              replies.set(replies.size() - 1, again);
              return joined(replies);
            });
  }

  private CompletionStage<byte[]> appendAgain(byte[] entry) {
    byte[] again = entry.clone();
    CompletableFuture<byte[]> first = new CompletableFuture<>();
    BiConsumer<byte[], Throwable> answer =
        (reply, error) -> {
          if (reply != null) {
            first.complete(reply);
          } else {
            first.completeExceptionally(error);
          }
        };
    Object unused = ledger.append(entry).whenComplete(answer);
    ledger.node.run(
        SOON_NANOS,
        () -> {
          if (!first.isDone()) {
            Object unusedToo = ledger.append(again).whenComplete(answer);
          }
        });
    return first;
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
  public Seats seats() {
    return ledger.seats();
  }

  @Override
  public void seat(Seats next) {
    ledger.seat(next);
  }

  @Override
  public void leave() {
    ledger.leave();
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
  public void transfer(@Nullable String member) {
    ledger.transfer(member);
  }

  @Override
  public void close() throws IOException {
    ledger.close();
  }
}
