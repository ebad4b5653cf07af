package dev.weir.spring.method;

import dev.weir.spring.RateLimit;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ReflectionUtils;

/**
 * The annotations in force for a method. Of those on the methods that it overrides or implements
 * only the nearest count, and the same for its class. Annotations on other annotations are found
 * too.
 *
 * @param ofClass those of the class
 * @param ofMethod those of the method itself
 */
record FoundLimits(List<RateLimit> ofClass, List<RateLimit> ofMethod) {
  private static final FoundLimits NONE = new FoundLimits(List.of(), List.of());

  /** The annotations on one element. */
  private record ElementAnnotations(int distance, List<RateLimit> limits) {
    static ElementAnnotations of(MergedAnnotations annotations) {
      int distance = Integer.MAX_VALUE;
      List<RateLimit> limits = new ArrayList<>();
      for (MergedAnnotation<RateLimit> each : annotations.stream(RateLimit.class).toList()) {
        if (each.getAggregateIndex() < distance) {
          distance = each.getAggregateIndex();
          limits.clear();
        }
        if (each.getAggregateIndex() == distance) {
          limits.add(each.synthesize());
        }
      }
      return new ElementAnnotations(distance, List.copyOf(limits));
    }
  }

  /**
   * Finds them.
   *
   * @param method the method of the class itself
   * @throws IllegalStateException if they contradict each other, or the method cannot be limited
   */
  static FoundLimits of(Method method, Class<?> targetClass) {
    if (ReflectionUtils.isObjectMethod(method) || method.isSynthetic()) {
      return NONE;
    }
    MergedAnnotations annotations = search(method);
    ElementAnnotations own = ElementAnnotations.of(annotations);
    MergedAnnotation<RateLimit.Exempt> exempt = annotations.get(RateLimit.Exempt.class);
    int exemptDistance = exempt.isPresent() ? exempt.getAggregateIndex() : Integer.MAX_VALUE;
    if (exempt.isPresent() && exemptDistance == own.distance) {
      throw wrong(method, targetClass, "@RateLimit and @RateLimit.Exempt", "one of them");
    }
    if (exemptDistance < own.distance) {
      return NONE;
    }
    boolean reachable = isReachable(method);
    if (!own.limits.isEmpty() && !reachable) {
      throw wrong(
          method,
          targetClass,
          "@RateLimit on a method that is " + Modifier.toString(method.getModifiers()),
          "one that a proxy can override: not private, static or final");
    }
    if (!Modifier.isPublic(method.getModifiers())) {
      return new FoundLimits(List.of(), own.limits);
    }
    List<RateLimit> ofClass = ElementAnnotations.of(search(targetClass)).limits;
    if (!reachable) {
      if (!ofClass.isEmpty()
          && Modifier.isFinal(method.getModifiers())
          && method.getDeclaringClass() == targetClass) {
        throw wrong(
            method,
            targetClass,
            "@RateLimit on a class with a final method",
            "not final, or @RateLimit.Exempt");
      }
      return NONE;
    }
    return new FoundLimits(ofClass, own.limits);
  }

  private static MergedAnnotations search(AnnotatedElement element) {
    return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
  }

  private static boolean isReachable(Method method) {
    return (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) == 0;
  }

  private static IllegalStateException wrong(
      Method method, Class<?> targetClass, String what, String expected) {
    return new IllegalStateException(
        MethodPlace.of(method, targetClass) + ": " + what + " (expected: " + expected + ")");
  }

  /** Returns whether there are none. */
  boolean isEmpty() {
    return ofClass.isEmpty() && ofMethod.isEmpty();
  }

  /** Returns all of them, those of the class first. */
  List<RateLimit> all() {
    List<RateLimit> all = new ArrayList<>(ofClass);
    all.addAll(ofMethod);
    return all;
  }
}
