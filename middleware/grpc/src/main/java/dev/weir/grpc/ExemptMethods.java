package dev.weir.grpc;

import dev.weir.rules.ShownText;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The services and methods that no limit applies to. */
final class ExemptMethods {
  /**
   * The methods of probes and tools: if these were limited, probes would take a server for dead.
   */
  static final ExemptMethods DEFAULT =
      new ExemptMethods(
          Set.of(
              "grpc.health.v1.Health",
              "grpc.reflection.v1.ServerReflection",
              "grpc.reflection.v1alpha.ServerReflection"));

  private final Set<String> names;

  private ExemptMethods(Set<String> names) {
    this.names = names;
  }

  /**
   * @param names names of services, {@code shop.Cart}, and methods, {@code shop.Cart/Add}
   * @throws IllegalArgumentException if one can be neither
   */
  static ExemptMethods of(String... names) {
    for (String name : names) {
      int slash = name.indexOf('/');
      if (name.isEmpty() || slash == 0 || slash == name.length() - 1) {
        throw new IllegalArgumentException(
            "exempt: "
                + ShownText.quoted(name)
                + " (expected: a service such as shop.Cart, or a method such as shop.Cart/Add)");
      }
    }
    return new ExemptMethods(Set.copyOf(List.of(names)));
  }

  boolean contains(MethodDescriptor<?, ?> method) {
    @Nullable String service = method.getServiceName();
    return (service != null && names.contains(service))
        || names.contains(method.getFullMethodName());
  }
}
