package dev.weir.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits the calls of a method, or of all public methods of a class, by the rules of the
 * application.
 *
 * <pre>{@code
 * @RateLimit(name = "checkout", key = "#user.id", permits = "#items.size()", fallback = "later")
 * Receipt checkout(User user, List<Item> items) { ... }
 * }</pre>
 *
 * <p>Each annotation is one descriptor, {@code name=checkout,key=<value>}, in the domain {@code
 * weir.domain}; a rule for it sets the limit. All annotations of a method, and those of its class,
 * are one request: every one of them is charged, or none. A method's own annotations take the place
 * of those on the method it overrides or implements, and a class's own of those on its superclass.
 * May be put on other annotations, whose attributes {@code @AliasFor} passes on.
 *
 * <p>{@code key}, {@code permits} and {@code condition} are SpEL over the arguments, by name or as
 * {@code #p0}, {@code #p1}, over beans, {@code @tenants.current()}, and over {@code #root.method},
 * {@code #root.target}, {@code #root.targetClass} and {@code #root.args}. Names need class files
 * compiled with {@code -parameters}. They are read once, when the bean is created; this fails if
 * one of them is wrong.
 *
 * <p>A refused call never reaches the method's body. It ends with {@link
 * RateLimitExceededException}, or with the result of {@link #fallback}. A method that returns a
 * {@code CompletionStage} is decided before its body runs, without blocking. A method that returns
 * a {@code Mono} or {@code Flux} is decided, and charged, at each subscription. With any other
 * method the caller's thread waits if the decision comes over a network.
 *
 * <p>A call that takes a seat of a limit at the same time ({@code concurrency}) holds it until its
 * {@code CompletionStage}, {@code Mono} or {@code Flux} has ended; with any other method until that
 * has returned, whatever becomes of its result.
 *
 * <p>The annotation works only if the call goes through Spring's proxy, so not for calls from
 * within the same object.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@Repeatable(RateLimit.Several.class)
public @interface RateLimit {
  /** Returns the value of the descriptor's entry {@code name}. Not empty. */
  String name();

  /**
   * Returns SpEL for the value of the descriptor's entry {@code key}: calls with the same value are
   * counted together. A collection stands for all its elements. A value without a {@code toString}
   * of its own is an error. Empty: there is no such entry, and all calls share one counter.
   *
   * <p>All calls for which it yields null or an empty text share one counter, {@code key=} with
   * nothing behind it, which no other value leads to.
   */
  String key() default "";

  /**
   * Returns SpEL for the permits that a call costs, an integer of at least 0. A call for 0 permits
   * is not limited by this annotation.
   */
  String permits() default "1";

  /** Returns SpEL for the condition under which this annotation limits a call; empty: always. */
  String condition() default "";

  /**
   * Returns the name of a method of the same class that answers in place of a refused call. It has
   * the same parameters, and may have the exception as one more at the end; its return type is the
   * limited method's. It is called only for refusals by this annotation, not for exceptions of the
   * method itself. Empty: there is none.
   */
  String fallback() default "";

  /**
   * Returns the longest that a call waits for its turn if the rule that refuses it has a queue, for
   * example {@code 2s} or {@code 500ms}, 1 ms to 1 minute. Empty: it does not wait.
   */
  String maxWait() default "";

  /** An annotation that exempts a method from the limits of its class. */
  @Documented
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
  @interface Exempt {}

  /** Several limits at one place; the compiler writes it. */
  @Documented
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.TYPE, ElementType.METHOD})
  @interface Several {
    /** Returns the limits. */
    RateLimit[] value();
  }
}
