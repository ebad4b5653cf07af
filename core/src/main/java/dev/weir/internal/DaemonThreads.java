package dev.weir.internal;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Daemon threads, which do not keep a process alive, with names. */
public final class DaemonThreads {
  private DaemonThreads() {}

  /** Returns a thread that is not started yet. */
  public static Thread create(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Returns a factory of threads of one name: for one thread after the other. */
  public static ThreadFactory named(String name) {
    return task -> create(name, task);
  }

  /** Returns a factory of threads whose names are a prefix, a hyphen and a number from 1. */
  public static ThreadFactory numbered(String prefix) {
    AtomicInteger last = new AtomicInteger();
    return task -> create(prefix + '-' + last.incrementAndGet(), task);
  }
}
