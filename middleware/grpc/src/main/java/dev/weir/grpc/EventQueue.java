package dev.weir.grpc;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue that holds events back until their target is there, and then passes them on, in order and
 * one at a time. The thread that opens it runs the events held back; later events run on their own
 * thread.
 *
 * <p>gRPC sends the events of one call one after another, and opening ends only when none is left.
 * So two events never run at the same time.
 */
final class EventQueue<T> {
  private final Queue<Consumer<? super T>> events = new ArrayDeque<>();
  private volatile @Nullable T target;

  /** Returns the target, null before it is open. */
  @Nullable T target() {
    return target;
  }

  void run(Consumer<? super T> event) {
    T open = target;
    if (open == null) {
      synchronized (this) {
        open = target;
        if (open == null) {
          events.add(event);
          return;
        }
      }
    }
    event.accept(open);
  }

  /** Passes on the events held back, and everything from now on. To be called once. */
  void open(T to) {
    while (true) {
      Consumer<? super T> next;
      synchronized (this) {
        next = events.poll();
        if (next == null) {
          target = to;
          return;
        }
      }
      next.accept(to);
    }
  }

  /** Opens the queue like {@link #open}, but drops the events held back. */
  void openWithout(T to) {
    synchronized (this) {
      events.clear();
      target = to;
    }
  }
}
