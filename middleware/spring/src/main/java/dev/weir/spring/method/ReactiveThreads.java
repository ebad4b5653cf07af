package dev.weir.spring.method;

import org.springframework.util.ClassUtils;
import reactor.core.scheduler.Schedulers;

/** The threads that must not be blocked, if there is Reactor at all. */
final class ReactiveThreads {
  private static final boolean REACTOR =
      ClassUtils.isPresent(
          "reactor.core.scheduler.Schedulers", ReactiveThreads.class.getClassLoader());

  private ReactiveThreads() {}

  static boolean isReactorThere() {
    return REACTOR;
  }

  /** Returns whether this thread must not be blocked. */
  static boolean isCurrent() {
    return REACTOR && Schedulers.isInNonBlockingThread();
  }
}
