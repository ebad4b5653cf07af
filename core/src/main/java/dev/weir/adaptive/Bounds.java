package dev.weir.adaptive;

/** The bounds of a limit, both at least 1. */
record Bounds(int floor, int ceiling) {
  double clamp(double limit) {
    return Math.max(floor, Math.min(ceiling, limit));
  }
}
