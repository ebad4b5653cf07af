import dev.weir.Decision;
import dev.weir.Quota;
import dev.weir.RateLimiter;

class Limit {
  public static void main(String[] arguments) {
    RateLimiter limiter = RateLimiter.of(Quota.perMinute(3));
    for (int i = 1; i <= 4; i++) {
      Decision decision = limiter.tryAcquire("alice");
      System.out.println(
          (decision.allowed() ? "allowed" : "refused")
              + ", remaining "
              + decision.remaining()
              + ", retry after "
              + decision.retryAfterSeconds()
              + " s");
    }
  }
}
