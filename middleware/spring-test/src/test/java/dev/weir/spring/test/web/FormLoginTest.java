package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** Tests of failed logins by a form, which redirects after a right password and a wrong one. */
class FormLoginTest {
  private static final String LOGGER = "dev.weir.spring.web.FormLogins";

  private static final String[] FAILED_LOGINS = {
    "weir.filters[0].descriptors[0]=failed={ip}",
    "weir.filters[0].methods=POST",
    "weir.filters[0].paths=/login",
    "weir.filters[0].refund-unless-login-failed=true"
  };

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Pages.class)
  static class App {
    @Bean
    UserDetailsService users() {
      return new InMemoryUserDetailsManager(
          User.withUsername("alice").password("{noop}" + Site.RIGHT).roles("USER").build());
    }

    @Bean
    SecurityFilterChain security(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(all -> all.anyRequest().authenticated())
          .formLogin(Customizer.withDefaults())
          .csrf(AbstractHttpConfigurer::disable) // A test's client has no page with the form.
          .build();
    }
  }

  private static CompletableFuture<HttpResponse<String>> login(Site site, String password) {
    return site.send("POST", "/login?username=alice&password=" + password);
  }

  private static String target(HttpResponse<String> response) {
    return response.statusCode() + " " + response.headers().firstValue("Location").orElse("");
  }

  @Test
  void wrongPasswords_areCountedAndRightOnesGivenBack() {
    try (Site site = Site.start(Site.TOMCAT, App.class, FAILED_LOGINS)) {
      for (int i = 0; i < 4; i++) {
        assertThat(target(login(site, Site.RIGHT).join()))
            .startsWith("302 ")
            .doesNotContain("error");
        SecurityContract.awaitLeft(site, 2);
      }
      assertThat(target(login(site, "wrong").join())).startsWith("302 ").endsWith("/login?error");
      assertThat(target(login(site, "wrong").join())).startsWith("302 ").endsWith("/login?error");
      SecurityContract.awaitLeft(site, 0);
      for (int i = 0; i < 6; i++) {
        assertThat(login(site, "wrong").join().statusCode()).isEqualTo(429);
      }
      assertThat(login(site, Site.RIGHT).join().statusCode()).isEqualTo(429);
    }
  }

  @Test
  void limitByStatusOnAForm_isWarnedOf() {
    String byStatus = "weir.filters[0].refund-unless-status=401";
    try (Warnings warnings = new Warnings(LOGGER)) {
      Site.start(Site.TOMCAT, App.class, FAILED_LOGINS).close();
      Site.start(Site.TOMCAT, App.class, FAILED_LOGINS[0], "weir.filters[0].paths=/api", byStatus)
          .close();
      Site.start(Site.TOMCAT, App.class, FAILED_LOGINS[0], "weir.filters[0].methods=GET", byStatus)
          .close();
      assertThat(warnings.texts()).isEmpty();
      Site.start(Site.TOMCAT, App.class, FAILED_LOGINS[0], byStatus).close();
      Site.start(
              Site.TOMCAT,
              App.class,
              FAILED_LOGINS[0],
              FAILED_LOGINS[1],
              FAILED_LOGINS[2],
              byStatus)
          .close();
      assertThat(warnings.texts())
          .hasSize(2)
          .allSatisfy(
              text ->
                  assertThat(text)
                      .startsWith(
                          "wrong passwords are not counted, weir.filters[0].refund-unless-status:"
                              + " \"[401]\" (expected: refund-unless-login-failed: true"));
    }
  }

  @Test
  void manyWrongPasswordsAtOnce_noMoreThanTheLimitAreTried() {
    try (Site site = Site.start(Site.TOMCAT, App.class, FAILED_LOGINS)) {
      List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        sent.add(login(site, "wrong"));
      }
      assertThat(sent.stream().map(each -> each.join().statusCode()).filter(s -> s == 302))
          .hasSize(2);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Pages.class)
  static class WithoutLogin {}

  @Test
  void webFlux_refusesThePropertyThatItCannotKeep() {
    assertThatThrownBy(
            () ->
                Site.start(
                    Site.NETTY,
                    new Class<?>[] {WithoutLogin.class, Site.Limits.class},
                    Site.REACTIVE,
                    FAILED_LOGINS[0],
                    FAILED_LOGINS[3]))
        .rootCause()
        .hasMessage(
            "weir.filters[0].refund-unless-login-failed: true (expected: false: WebFlux does not"
                + " report them; refund-unless-status: 401)");
  }
}
