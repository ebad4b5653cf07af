package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import org.junit.jupiter.api.Test;

class LimitFiltersTest {
  private static List<WeirProperties.Filter> filters(String... properties) {
    return LimitFilters.of(LimitRulesTest.limits(properties));
  }

  @Test
  void samePaths_shareAFilterSoThatAllOrNothingIsCharged() {
    List<WeirProperties.Filter> filters =
        filters("address.by=ip", "address.paths=/api/**", "all.by=none", "all.paths=/api/**");
    assertThat(filters).hasSize(1);
    assertThat(filters.get(0).descriptors())
        .containsExactlyInAnyOrder("limit=address,ip={ip}", "limit=all");
    assertThat(filters.get(0).paths()).containsExactly("/api/**");
  }

  @Test
  void byLogin_hasAFilterOfItsOwn() {
    assertThat(filters("address.by=ip", "user.by=login|ip"))
        .extracting(WeirProperties.Filter::descriptors)
        .containsExactlyInAnyOrder(
            List.of("limit=address,ip={ip}"), List.of("limit=user,login\\|ip={login|ip}"));
  }

  @Test
  void reportedCosts_haveAFilterOfTheirOwn() {
    assertThat(filters("requests.by=ip", "tokens.by=ip", "tokens.costs=reported"))
        .extracting(WeirProperties.Filter::descriptors, WeirProperties.Filter::costs)
        .containsExactlyInAnyOrder(
            tuple(List.of("limit=requests,ip={ip}"), WeirProperties.Costs.BEFORE),
            tuple(List.of("limit=tokens,ip={ip}"), WeirProperties.Costs.REPORTED));
  }

  @Test
  void pathsWithoutBy_areByAddress() {
    assertThat(filters("login.paths=/login").get(0).descriptors())
        .containsExactly("limit=login,ip={ip}");
  }

  @Test
  void neitherByNorPaths_hasNoFilter() {
    assertThat(filters("checkout.requests=5")).isEmpty();
  }
}
