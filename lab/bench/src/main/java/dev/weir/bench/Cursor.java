package dev.weir.bench;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** A thread's place in a {@link Draw}; each thread starts at another place. */
@State(Scope.Thread)
public class Cursor {
  private static final AtomicInteger THREADS = new AtomicInteger();

  private int next = THREADS.getAndIncrement() * 400_009;

  /** Returns the next place. */
  int next() {
    return next++ & (Draw.LENGTH - 1);
  }
}
