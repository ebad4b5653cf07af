package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Tests of paths in properties that no request has, because of a context path. */
class IdlePathsTest {
  private static final String CONTEXT = "server.servlet.context-path=/shop";
  private static final String SERVLET = "spring.mvc.servlet.path=/api";
  private static final String LOGGER = "dev.weir.spring.web.IdlePaths";

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Pages.class)
  static class App {
    @Bean
    SecurityFilterChain security(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(all -> all.anyRequest().permitAll()).build();
    }
  }

  /** A page whose path begins as the context path does. */
  @RestController
  static class Shop {
    @GetMapping("/shop/window")
    String window() {
      return "served";
    }
  }

  private static Site start(Class<?>[] classes, String paths, String... properties) {
    String[] all = new String[properties.length + 2];
    all[0] = "weir.filters[0].descriptors[0]=ip={ip}";
    all[1] = "weir.filters[0].paths=" + paths;
    System.arraycopy(properties, 0, all, 2, properties.length);
    return Site.start(Site.TOMCAT, classes, all);
  }

  private static Site start(String paths, String... properties) {
    return start(new Class<?>[] {App.class, Site.Limits.class}, paths, properties);
  }

  @Test
  void pathWithTheContextPath_isWarnedOf() {
    try (Warnings warnings = new Warnings(LOGGER);
        Site site = start("/shop/page,/other,/shopping", CONTEXT)) {
      assertThat(warnings.texts())
          .containsExactly(
              "no request has this path, weir.filters[0].paths: \"/shop/page\" (expected: a path"
                  + " below the context path /shop: /page)");
      for (int i = 0; i < 3; i++) {
        assertThat(site.status("/shop/page")).as("it limits nothing").isEqualTo(200);
      }
      assertThat(site.status("/shop/other")).isEqualTo(200);
      assertThat(site.status("/shop/other")).isEqualTo(200);
      assertThat(site.status("/shop/other")).isEqualTo(429);
    }
  }

  @Test
  void pathWithoutThatOfTheServlet_isWarnedOf() {
    try (Warnings warnings = new Warnings(LOGGER);
        Site site = start("/page,/api/other,/shop/api/shared/*", CONTEXT, SERVLET)) {
      assertThat(warnings.texts())
          .containsExactly(
              "no request has this path, weir.filters[0].paths: \"/page\" (expected: a path with"
                  + " that of Spring MVC's servlet: /api/page)",
              "no request has this path, weir.filters[0].paths: \"/shop/api/shared/*\" (expected: a"
                  + " path below the context path /shop: /api/shared/*)");
      assertThat(site.status("/shop/api/other")).isEqualTo(200);
      assertThat(site.status("/shop/api/other")).isEqualTo(200);
      assertThat(site.status("/shop/api/other")).isEqualTo(429);
    }
  }

  @Test
  void pathsThatRequestsHave_areNotWarnedOf() {
    try (Warnings warnings = new Warnings(LOGGER)) {
      start("/page,/shop/page").close();
      start("/page,/login,/**", CONTEXT).close();
      Class<?>[] classes = {App.class, Shop.class, Site.Limits.class};
      start(classes, "/shop/window", CONTEXT).close();
      assertThat(warnings.texts()).isEmpty();
    }
  }

  @Test
  void pathsOfLimitsAndExemptOnes_areWarnedOf() {
    try (Warnings warnings = new Warnings(LOGGER)) {
      start(
              "/page",
              CONTEXT,
              "weir.filters[0].exempt=/shop/health",
              "weir.limits.pages.requests=5",
              "weir.limits.pages.per=minute",
              "weir.limits.pages.paths=/shop")
          .close();
      assertThat(warnings.texts())
          .containsExactly(
              "no request has this path, weir.filters[0].exempt: \"/shop/health\" (expected: a path"
                  + " below the context path /shop: /health)",
              "no request has this path, weir.limits.pages.paths: \"/shop\" (expected: a path below"
                  + " the context path /shop: /)");
    }
  }
}
