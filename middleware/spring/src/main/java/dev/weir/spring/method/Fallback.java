package dev.weir.spring.method;

import dev.weir.rules.ShownText;
import dev.weir.spring.RateLimitExceededException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.util.ReflectionUtils;

/** The method that answers in place of a refused call. Immutable. */
final class Fallback {
  private final Method method;
  private final boolean takesException;

  private Fallback(Method method, boolean takesException) {
    this.method = method;
    this.takesException = takesException;
  }

  /**
   * Finds the method in a class or its superclasses. A method that takes the exception is preferred
   * to one that does not.
   *
   * @param place the limited method and the attribute, for messages
   * @throws IllegalStateException if there is none that fits
   */
  static Fallback find(String place, Method limited, Class<?> targetClass, String name) {
    Method fitting = null;
    for (Method candidate : named(targetClass, name)) {
      boolean better =
          fitting == null || candidate.getParameterCount() > fitting.getParameterCount();
      if (better && fits(candidate, limited, targetClass)) {
        fitting = candidate;
      }
    }
    if (fitting == null) {
      throw new IllegalStateException(
          place
              + ": "
              + ShownText.quoted(name)
              + " (expected: another method of "
              + targetClass.getName()
              + " with the parameters "
              + MethodPlace.parameters(limited)
              + ", the last one followed by a RateLimitExceededException or not, that returns "
              + limited.getGenericReturnType().getTypeName()
              + ")");
    }
    fitting.setAccessible(true);
    return new Fallback(fitting, fitting.getParameterCount() > limited.getParameterCount());
  }

  /** Returns the methods of that name, those of a subclass first. */
  private static List<Method> named(Class<?> targetClass, String name) {
    List<Method> methods = new ArrayList<>();
    ReflectionUtils.doWithMethods(
        targetClass, methods::add, method -> method.getName().equals(name) && !method.isBridge());
    return methods;
  }

  private static boolean fits(Method candidate, Method limited, Class<?> targetClass) {
    Class<?>[] given = limited.getParameterTypes();
    Class<?>[] taken = candidate.getParameterTypes();
    boolean exception = taken.length == given.length + 1 && takesRefusal(taken[given.length]);
    return (exception || (taken.length == given.length && !candidate.equals(limited)))
        && Arrays.equals(given, 0, given.length, taken, 0, given.length)
        && !Modifier.isAbstract(candidate.getModifiers())
        && ResolvableType.forMethodReturnType(limited, targetClass)
            .isAssignableFrom(ResolvableType.forMethodReturnType(candidate, targetClass));
  }

  private static boolean takesRefusal(Class<?> type) {
    return Throwable.class.isAssignableFrom(type)
        && type.isAssignableFrom(RateLimitExceededException.class);
  }

  /**
   * Answers a refused call.
   *
   * @throws Throwable if the method throws it
   */
  @Nullable Object answer(
      @Nullable Object target, Object[] arguments, RateLimitExceededException refusal)
      throws Throwable {
    Object[] given = arguments;
    if (takesException) {
      given = Arrays.copyOf(arguments, arguments.length + 1, Object[].class);
      given[arguments.length] = refusal;
    }
    try {
      return method.invoke(target, given);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }
}
