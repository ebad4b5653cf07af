package dev.weir.spring.method;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** The object {@code #root} in an expression. It has getters because SpEL searches for those. */
final class CallRoot {
  private final Method method;
  private final @Nullable Object target;
  private final Class<?> targetClass;
  private final Object[] args;

  CallRoot(Method method, @Nullable Object target, Class<?> targetClass, Object[] args) {
    this.method = method;
    this.target = target;
    this.targetClass = targetClass;
    this.args = args;
  }

  public Method getMethod() {
    return method;
  }

  public @Nullable Object getTarget() {
    return target;
  }

  public Class<?> getTargetClass() {
    return targetClass;
  }

  public Object[] getArgs() {
    return args;
  }
}
