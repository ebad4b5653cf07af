package dev.weir.bench;

import java.util.regex.Pattern;

/** What a member does for a decision, by the threads that do it. */
enum ClusterStage {
  /** Parses requests, routes them to a group and writes replies. */
  DOOR("vert\\.x-eventloop"),
  /** Carries calls and entries between members, with TLS. */
  PEER("weir-peer-\\d"),
  /** Looks first at what is refused anyway, coalesces, and hands replies on. */
  ASKING("weir-cluster"),
  /** Appends entries at the leader. */
  APPEND("weir-append"),
  /** Writes entries and flushes them. */
  LOG("SegmentedRaftLogWorker"),
  /** Finds out at the leader what a majority has. */
  COMMIT("LeaderStateImpl|EventProcessor"),
  /** Decides what is committed. */
  APPLY("StateMachineUpdater"),
  /** Sends entries to followers, and takes them there. */
  REPLICATE("LogAppender|weir-raft-append|GrpcLogAppender"),
  /** Says at a follower that an entry is on its disk. */
  POOL("server-thread|ForkJoinPool"),
  /** Collects garbage, while all other threads are stopped. */
  COLLECT("VM Thread|GC Thread|G1 "),
  /** Compiles, keeps time. */
  OTHER("");

  private final Pattern threads;

  ClusterStage(String threads) {
    this.threads = Pattern.compile(threads);
  }

  static ClusterStage of(String thread) {
    for (ClusterStage each : values()) {
      if (each != OTHER && each.threads.matcher(thread).find()) {
        return each;
      }
    }
    return OTHER;
  }
}
