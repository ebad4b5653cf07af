package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.wire.testkit.RedisServer;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Tests of two applications with one Redis, with the Lettuce of this Spring Boot. */
class RedisStoreTest {
  private static Site start(RedisServer redis) {
    return Site.start(
        Site.TOMCAT,
        new Class<?>[] {WebContract.App.class, ServletWebTest.Open.class},
        "spring.main.web-application-type=servlet",
        "weir.store.uri=redis://127.0.0.1:" + redis.port(),
        "weir.store.timeout=20s",
        "weir.limits.all.requests=3",
        "weir.limits.all.per=day",
        "weir.limits.all.by=ip");
  }

  @Test
  void twoApplications_shareALimit() throws IOException {
    try (RedisServer redis = RedisServer.start();
        Site one = start(redis);
        Site other = start(redis)) {
      assertThat(one.status("/page")).isEqualTo(200);
      assertThat(other.status("/page")).isEqualTo(200);
      assertThat(one.status("/page")).isEqualTo(200);
      assertThat(other.status("/page")).isEqualTo(429);
      assertThat(one.status("/page")).isEqualTo(429);
    }
  }
}
