package dev.weir.cluster;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The threads of a member.
 *
 * @param asking runs early refusals, and hands replies on
 * @param ticking runs the periodic work of the groups, and the moves of slots
 * @param seating runs the changes of voters, and the entry of this member into the cluster's map
 */
record MemberThreads(
    ExecutorService asking, ScheduledExecutorService ticking, ScheduledExecutorService seating) {
  private static final int ASKING_THREADS = 4;

  static MemberThreads start() {
    return new MemberThreads(
        // In a pool with timed waits, each hand-over would wake two threads.
        Executors.newFixedThreadPool(ASKING_THREADS, MemberThreads::thread),
        Executors.newSingleThreadScheduledExecutor(MemberThreads::thread),
        Executors.newSingleThreadScheduledExecutor(MemberThreads::thread));
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "weir-cluster");
    thread.setDaemon(true);
    return thread;
  }
}
