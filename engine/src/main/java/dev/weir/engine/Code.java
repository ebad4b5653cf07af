package dev.weir.engine;

/** The verdict on a descriptor, or on a request, in the words of Envoy's rate limit service. */
public enum Code {
  OK,
  OVER_LIMIT
}
