package dev.weir.spring.method;

import dev.weir.engine.Answer;
import dev.weir.engine.seats.RequestSeat;
import dev.weir.spring.RateLimitExceededException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** One call of a limited method. Used once. */
final class LimitedCall {
  private final LimitedMethod method;
  private final MethodInvocation invocation;
  private final LimitSupport deciding;

  LimitedCall(LimitedMethod method, MethodInvocation invocation, LimitSupport deciding) {
    this.method = method;
    this.invocation = invocation;
    this.deciding = deciding;
  }

  /** Returns the same call, to be run once more. */
  LimitedCall again() {
    MethodInvocation copy =
        invocation instanceof ProxyMethodInvocation proxied ? proxied.invocableClone() : invocation;
    return new LimitedCall(method, copy, deciding);
  }

  /** Returns the place of the method, for messages. */
  String place() {
    return method.place();
  }

  LimitSupport deciding() {
    return deciding;
  }

  /**
   * Returns the request of the call, or null if nothing limits it.
   *
   * @throws IllegalStateException if an expression has no value
   */
  @Nullable CallRequest request() {
    return method.request(deciding.domain(), invocation, deciding.expressions());
  }

  /**
   * Runs the method.
   *
   * @throws Throwable if the method throws it
   */
  @Nullable Object proceed() throws Throwable {
    return invocation.proceed();
  }

  /**
   * Runs the method if it is allowed, else its fallback method.
   *
   * @throws RateLimitExceededException if it is refused and has no fallback method
   * @throws IllegalStateException if the request could not be decided
   * @throws Throwable if the method or its fallback method throws it
   */
  @Nullable Object finish(CallRequest asked, Answer answer) throws Throwable {
    return answer.allowed() ? proceed() : refuse(asked, answer);
  }

  /**
   * Returns the seats that an allowed call has taken, which are renewed from now on; null if none.
   * To be called once, and ended when the result is there.
   */
  @Nullable RequestSeat seat(CallRequest asked, Answer answer) {
    return deciding.seats().take(asked.request(), answer, place());
  }

  /**
   * Runs the fallback method of a call that is refused.
   *
   * @throws RateLimitExceededException if it has none
   * @throws IllegalStateException if the request could not be decided
   * @throws Throwable if the fallback method throws it
   */
  @Nullable Object refuse(CallRequest asked, Answer answer) throws Throwable {
    if (answer.error() != null) {
      throw new IllegalStateException(place() + ": @RateLimit: " + answer.error());
    }
    RateLimitExceededException refusal = deciding.refusal(asked.request(), answer);
    Fallback fallback = asked.fallback(answer);
    if (fallback == null) {
      throw refusal;
    }
    return fallback.answer(invocation.getThis(), invocation.getArguments(), refusal);
  }
}
