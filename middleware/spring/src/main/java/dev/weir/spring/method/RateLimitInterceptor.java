package dev.weir.spring.method;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/** The interceptor that decides every call of a limited method. Safe for use by many threads. */
final class RateLimitInterceptor implements MethodInterceptor {
  private final LimitedMethods methods;
  private final LimitSupport deciding;

  RateLimitInterceptor(LimitedMethods methods, LimitSupport deciding) {
    this.methods = methods;
    this.deciding = deciding;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    Object target = invocation.getThis();
    Class<?> targetClass =
        target == null
            ? invocation.getMethod().getDeclaringClass()
            : AopUtils.getTargetClass(target);
    LimitedMethod limited = methods.find(invocation.getMethod(), targetClass);
    return limited == null || !deciding.isEnabled()
        ? invocation.proceed()
        : limited.returns().run(new LimitedCall(limited, invocation, deciding));
  }
}
