package dev.weir.spring.gateway.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.weir.spring.WeirPropertiesException;
import org.junit.jupiter.api.Test;

/** Tests of the errors of a gateway with wrong routes, which does not start. */
class WrongRoutesTest {
  private static final String ROUTES = "spring.cloud.gateway.server.webflux.routes";

  private static String weir(int filter, String argument) {
    return ROUTES + "[0].filters[" + filter + "].args." + argument;
  }

  private static String[] properties() {
    String filters = ROUTES + "[0].filters";
    return new String[] {
      "spring.cloud.gateway.server.webflux.default-filters[0]=Weir=ip={",
      ROUTES + "[0].id=wrong",
      ROUTES + "[0].uri=http://127.0.0.1",
      ROUTES + "[0].predicates[0]=Path=/**",
      filters + "[0].name=Weir",
      weir(0, "permits=-1"),
      weir(0, "domain= "),
      weir(0, "descriptors[0]=ip={adress}"),
      weir(0, "descriptors[1]=ip={ip}"),
      weir(0, "missing=refused"),
      weir(0, "refund-unless-status=401,999"),
      weir(0, "limit=5"),
      filters + "[1].name=Weir",
      weir(1, "permits=many"),
      weir(1, "descriptors=ip={ip}"),
      filters + "[2].name=RequestRateLimiter",
      weir(2, "weir-rate-limiter.permits=-2"),
      weir(2, "weir-rate-limiter.permit=2"),
      weir(2, "redis-rate-limiter.replenishRate=10"),
      filters + "[3].name=Weir",
      weir(3, "permits=1"),
    };
  }

  @Test
  void wrongRoutes_stopTheStartWithAllThatIsWrong() {
    try (Backend backend = new Backend()) {
      assertThatExceptionOfType(WeirPropertiesException.class)
          .isThrownBy(() -> new Gateway(backend, properties()).close())
          .satisfies(
              wrong ->
                  assertThat(String.valueOf(wrong.getMessage()).lines())
                      .containsExactlyInAnyOrder(
                          "spring.cloud.gateway.server.webflux.default-filters[0]: \"ip={\""
                              + " (expected: a } behind {)",
                          weir(0, "permits: -1 (expected: a whole number, at least 0)"),
                          weir(0, "domain: \" \" (expected: 1..1024 characters)"),
                          weir(0, "descriptors[0]: \"ip={adress}\" (expected: {ip}, {ip/48},")
                              + " {login}, {path}, {route}, {method}, {host}, {header:NAME},"
                              + " {cookie:NAME}, {query:NAME} or {secret:NAME} in place of"
                              + " \"{adress}\")",
                          weir(0, "missing: \"refused\" (expected: shared, skip or refuse)"),
                          weir(0, "refund-unless-status: 999 (expected: statuses of 100..599")
                              + " with commas between them, such as 401,403)",
                          weir(0, "limit: \"5\" (expected: domain, descriptor, descriptors,")
                              + " permits, missing or refund-unless-status)",
                          weir(1, "permits: \"many\" (expected: a whole number, at least 0)"),
                          weir(1, "descriptors: \"ip={ip}\" (expected: a list of descriptors;")
                              + " a single one is descriptor, without an s)",
                          weir(2, "weir-rate-limiter.permits: -2 (expected: a whole number,")
                              + " at least 0)",
                          weir(2, "weir-rate-limiter.permit: \"2\" (expected:")
                              + " weir-rate-limiter.domain or weir-rate-limiter.permits)",
                          weir(2, "redis-rate-limiter.replenishRate: \"10\" (expected:")
                              + " weir-rate-limiter.domain or weir-rate-limiter.permits, which"
                              + " WeirRateLimiter reads, or rate-limiter with another bean)"));
    }
  }
}
