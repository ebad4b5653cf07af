package dev.weir.spring.web;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** The analyzer that explains how the address of a client can be found safely. */
@Order(Ordered.HIGHEST_PRECEDENCE) // The server's own failure is around it.
final class UnsafeAddressAnalyzer implements FailureAnalyzer {
  @Override
  public @Nullable FailureAnalysis analyze(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnsafeAddressException) {
        return new FailureAnalysis(
            "Any client could choose the address that it is counted by:\n\n    "
                + cause.getMessage(),
            "Set server.forward-headers-strategy=none, and say which proxies are yours by"
                + " weir.client-address.trusted-proxies and weir.client-address.header."
                + " Or use Tomcat, or Spring's own handling (framework) in a servlet application.",
            cause);
      }
    }
    return null;
  }
}
