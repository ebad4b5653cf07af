package dev.weir.cluster.internal.peer;

/**
 * Something is of a level that this process does not understand, so that it would have to guess
 * what it means: it has to stop there, and must not skip it.
 */
public final class LevelException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  public LevelException(String message) {
    super(message);
  }
}
