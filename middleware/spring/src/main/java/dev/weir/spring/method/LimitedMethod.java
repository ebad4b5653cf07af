package dev.weir.spring.method;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** A method and its limits. Immutable. */
final class LimitedMethod {
  private final Method method;
  private final Class<?> targetClass;
  private final List<MethodLimit> limits;
  private final ParameterNameDiscoverer names;
  private final boolean constant;
  private final ReturnKind returns;

  LimitedMethod(
      Method method,
      Class<?> targetClass,
      List<MethodLimit> limits,
      ParameterNameDiscoverer names) {
    this.method = method;
    this.targetClass = targetClass;
    this.limits = limits;
    this.names = names;
    this.constant = limits.stream().allMatch(MethodLimit::isConstant);
    this.returns = ReturnKind.of(method, place());
  }

  /** Returns the place of the method, for messages. */
  String place() {
    return MethodPlace.of(method, targetClass);
  }

  /** Returns the kind of its result, which decides how it depends on the answer. */
  ReturnKind returns() {
    return returns;
  }

  /**
   * Returns the request of a call, or null if nothing limits it.
   *
   * @param shared the parts that all contexts have in common: beans, readers of properties
   * @throws IllegalStateException if an expression has no value for it
   */
  @Nullable CallRequest request(
      String domain, MethodInvocation call, StandardEvaluationContext shared) {
    EvaluationContext context = constant ? null : context(call, shared);
    List<MethodLimit> asked = new ArrayList<>(limits.size());
    List<Descriptor> descriptors = new ArrayList<>(limits.size());
    for (MethodLimit limit : limits) {
      Descriptor descriptor = limit.descriptor(context);
      if (descriptor != null) {
        asked.add(limit);
        descriptors.add(descriptor);
      }
    }
    return asked.isEmpty() ? null : new CallRequest(new Request(domain, descriptors, 1), asked);
  }

  private EvaluationContext context(MethodInvocation call, StandardEvaluationContext shared) {
    Object[] arguments = call.getArguments();
    CallRoot root = new CallRoot(method, call.getThis(), targetClass, arguments);
    MethodBasedEvaluationContext context =
        new MethodBasedEvaluationContext(root, method, arguments, names);
    // The results of reflection are kept in the readers, which are therefore shared.
    shared.applyDelegatesTo(context);
    return context;
  }
}
