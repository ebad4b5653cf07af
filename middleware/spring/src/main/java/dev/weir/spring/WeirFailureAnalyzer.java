package dev.weir.spring;

import dev.weir.engine.RulesException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * The analyzer of errors in the properties or the rules; its message leaves out the beans in
 * between.
 */
@Order(Ordered.HIGHEST_PRECEDENCE) // Boot's own would name the first exception it finds.
final class WeirFailureAnalyzer implements FailureAnalyzer {
  @Override
  public @Nullable FailureAnalysis analyze(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof WeirPropertiesException) {
        return analysis(
            "Properties of Weir are wrong",
            cause,
            "Correct each value as the text in brackets says.");
      } else if (cause instanceof RulesException || cause instanceof RuleProblemsException) {
        return analysis(
            "Rules of Weir have errors",
            cause,
            "Correct each place; its line and column stand before it.");
      }
    }
    return null;
  }

  private static FailureAnalysis analysis(String what, Throwable cause, String action) {
    String lines = String.valueOf(cause.getMessage()).indent(4).stripTrailing();
    return new FailureAnalysis(what + ":\n\n" + lines, action, cause);
  }
}
