package dev.weir;

/** Whether a request may pass. */
public enum Outcome {
  ALLOWED,
  DENIED
}
