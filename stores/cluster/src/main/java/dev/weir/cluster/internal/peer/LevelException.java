package dev.weir.cluster.internal.peer;

/**
 * Thrown for data of a level that this process does not understand: it has to stop there, and must
 * neither guess the meaning nor skip the data.
 */
public final class LevelException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  public LevelException(String message) {
    super(message);
  }
}
