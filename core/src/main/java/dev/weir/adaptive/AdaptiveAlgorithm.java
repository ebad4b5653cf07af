package dev.weir.adaptive;

/** The algorithms that find the limit of an {@link AdaptiveLimiter}. */
public enum AdaptiveAlgorithm {
  /**
   * Compares the latency of a window with an average over many windows. The limit falls by the
   * quotient of both once the latency is beyond a tolerance, and rises by the room of a small queue
   * otherwise. For most backends: noise of latencies matters little.
   *
   * <p>Source: the description of {@code Gradient2Limit} in Netflix concurrency-limits (2018). The
   * long average is set anew from time to time, by a measurement under a lower limit.
   */
  GRADIENT,
  /**
   * Estimates how many requests are in the backend's queue, from the latency with and without a
   * queue. The limit rises by a step while they are few, falls by a step while they are many, and
   * is doubled at the start until a queue is seen. Stays nearest to the capacity, for backends
   * whose requests cost alike.
   *
   * <p>Source: Brakmo and Peterson, TCP Vegas: End to End Congestion Avoidance on a Global Internet
   * (IEEE JSAC 13(8), 1995), with bounds that grow with the logarithm of the limit.
   */
  VEGAS,
  /**
   * Additive increase, multiplicative decrease: the limit rises by one a window while it is in use,
   * and falls by a tenth when a request is dropped. It does not look at latencies, so it needs a
   * backend that refuses requests, or {@link AdaptiveLimiter.Builder#droppedFrom}.
   *
   * <p>Source: Chiu and Jain, Analysis of the Increase and Decrease Algorithms for Congestion
   * Avoidance in Computer Networks (Computer Networks and ISDN Systems 17, 1989).
   */
  AIMD
}
