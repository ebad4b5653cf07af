package dev.weir.server.internal.settings;

import dev.weir.server.settings.ServerOption;
import java.util.Locale;

/**
 * One setting of the server: its name, the values it accepts, its default, and its sources. {@link
 * Settings} lists all of them. Immutable.
 *
 * @param <T> the type of its value
 */
public final class Setting<T> implements ServerOption {
  /** The variable of a setting that envoyproxy/ratelimit does not have. */
  static final String NO_SUCH_VARIABLE = "";

  private final String name;
  private final SettingKind<T> kind;
  private final String defaultText;
  private final String description;
  private final String envoyVariable;

  Setting(
      String name,
      SettingKind<T> kind,
      String defaultText,
      String description,
      String envoyVariable) {
    this.name = name;
    this.kind = kind;
    this.defaultText = defaultText;
    this.description = description;
    this.envoyVariable = envoyVariable;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String flag() {
    return "--" + name;
  }

  @Override
  public String variable() {
    return "WEIR_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  @Override
  public String envoyVariable() {
    return envoyVariable;
  }

  @Override
  public String placeholder() {
    return kind.placeholder();
  }

  @Override
  public boolean isSwitch() {
    return kind.placeholder().isEmpty();
  }

  /** Returns a description of the accepted values for help texts and errors. */
  public String expected() {
    return kind.expected();
  }

  @Override
  public String defaultText() {
    return defaultText;
  }

  @Override
  public String description() {
    return description;
  }

  SettingKind<T> kind() {
    return kind;
  }

  @Override
  public String toString() {
    return name;
  }
}
