package dev.weir.spring.method;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.util.ClassUtils;

/**
 * All limited methods, each read once. Safe for use by many threads.
 *
 * <p>When a bean is created, Spring checks class by class whether it needs a proxy. All methods of
 * the class are read then, so that an error in one of them is found before the first call. There
 * are at most as many entries as methods of the application's beans.
 */
final class LimitedMethods extends StaticMethodMatcherPointcut {
  private final Map<MethodClassKey, Optional<LimitedMethod>> methods = new ConcurrentHashMap<>();
  private final ParameterNameDiscoverer names;

  LimitedMethods() {
    this(new DefaultParameterNameDiscoverer());
  }

  LimitedMethods(ParameterNameDiscoverer names) {
    this.names = names;
    setClassFilter(this::matches);
  }

  private boolean matches(Class<?> targetClass) {
    return !MethodIntrospector.selectMethods(
            ClassUtils.getUserClass(targetClass), (Method method) -> find(method, targetClass))
        .isEmpty();
  }

  @Override
  public boolean matches(Method method, Class<?> targetClass) {
    return find(method, targetClass) != null;
  }

  /**
   * Returns the limits of a method of a class, or null if there are none.
   *
   * @throws IllegalStateException if an annotation is wrong
   */
  @Nullable LimitedMethod find(Method method, Class<?> targetClass) {
    MethodClassKey key = new MethodClassKey(method, targetClass);
    Optional<LimitedMethod> known = methods.get(key);
    if (known == null) {
      known = Optional.ofNullable(read(method, ClassUtils.getUserClass(targetClass)));
      methods.put(key, known);
    }
    return known.orElse(null);
  }

  private @Nullable LimitedMethod read(Method method, Class<?> targetClass) {
    Method specific = specific(method, targetClass);
    FoundLimits found = FoundLimits.of(specific, targetClass);
    if (found.isEmpty()) {
      return null;
    }
    Class<?> shown = Proxy.isProxyClass(targetClass) ? specific.getDeclaringClass() : targetClass;
    LimitReader reader = new LimitReader(specific, shown, names);
    return new LimitedMethod(specific, shown, reader.read(found.all()), names);
  }

  /**
   * Returns the method of the class itself. If a bean is a proxy, its interface has more
   * information.
   */
  private static Method specific(Method method, Class<?> targetClass) {
    return Proxy.isProxyClass(targetClass)
        ? ClassUtils.getInterfaceMethodIfPossible(method, targetClass)
        : AopUtils.getMostSpecificMethod(method, targetClass);
  }
}
