package dev.weir.server.settings;

/** A setting of the server, as users write it, for help texts and command lines. Immutable. */
public interface ServerOption {
  /** Returns the name, as in a settings file: {@code grpc-port}. */
  String name();

  /** Returns the flag on the command line: {@code --grpc-port}. */
  String flag();

  /** Returns the environment variable: {@code WEIR_GRPC_PORT}. */
  String variable();

  /**
   * Returns the variable of envoyproxy/ratelimit that is read if {@link #variable} is not set, or
   * an empty text.
   */
  String envoyVariable();

  /** Returns the placeholder of the value in a help text: {@code N}; empty for a switch. */
  String placeholder();

  /** Returns whether the flag may stand alone, which means true. */
  boolean isSwitch();

  /** Returns the default in the form in which a user would write it; empty if there is none. */
  String defaultText();

  /** Returns the description of the setting. */
  String description();
}
