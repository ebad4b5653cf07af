package dev.weir.cluster;

import dev.weir.internal.DaemonThreads;
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
        Executors.newFixedThreadPool(ASKING_THREADS, DaemonThreads.numbered("weir-cluster-asking")),
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-cluster-ticking")),
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("weir-cluster-seating")));
  }
}
