package dev.weir.spring.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.security.Principal;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class KeyTextTest {
  @Test
  void values_areWrittenAsText() {
    Principal ann = () -> "ann";
    assertThat(KeyText.of(null)).isEmpty();
    assertThat(KeyText.of(Optional.empty())).isEmpty();
    assertThat(KeyText.of(Optional.of(7))).isEqualTo("7");
    assertThat(KeyText.of(ann)).isEqualTo("ann");
    assertThat(KeyText.of(List.of("a,b", "c%"))).isEqualTo("a%2Cb,c%25");
    assertThat(KeyText.of("grüße \uD83D\uDE00")).isEqualTo("grüße \uD83D\uDE00");
  }

  @Test
  void textThatIsLongOrHidesSomething_isHashed() {
    assertThat(KeyText.of("x".repeat(1_024))).hasSize(1_024);
    assertThat(KeyText.of("x".repeat(1_025))).startsWith("sha256:").hasSize(29);
    assertThat(KeyText.of("a\nb")).startsWith("sha256:");
    assertThat(KeyText.of("sha256:a")).startsWith("sha256:").isNotEqualTo("sha256:a");
  }

  @Test
  void valueWithoutText_isAnError() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KeyText.of(new Object()))
        .withMessage("a value with a toString of its own, which java.lang.Object has not");
    assertThatIllegalArgumentException().isThrownBy(() -> KeyText.of(new int[1]));
  }
}
