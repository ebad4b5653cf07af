package dev.weir.spring.method;

import dev.weir.rules.ShownText;
import java.math.BigInteger;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** SpEL over a method's arguments, parsed once. Immutable. */
final class MethodExpression {
  private static final SpelExpressionParser PARSER = new SpelExpressionParser();

  private final String place;
  private final SpelExpression expression;

  private MethodExpression(String place, SpelExpression expression) {
    this.place = place;
    this.expression = expression;
  }

  /**
   * Parses an expression. An unknown variable is an error here: SpEL treats it as null, and with a
   * misspelt key all calls would share one counter.
   *
   * @param place the method and the attribute, for messages
   * @param variables the names it may use
   * @param expected the constraint in the error for other names
   * @throws IllegalStateException if it is wrong
   */
  static MethodExpression parse(String place, String text, Set<String> variables, String expected) {
    SpelExpression expression;
    try {
      expression = PARSER.parseRaw(text);
    } catch (ParseException e) {
      throw new IllegalStateException(wrong(place, text, "", "SpEL; " + e.getSimpleMessage()), e);
    }
    checkVariables(place, expression, expression.getAST(), variables, expected);
    return new MethodExpression(place, expression);
  }

  private static void checkVariables(
      String place,
      SpelExpression expression,
      SpelNode node,
      Set<String> variables,
      String expected) {
    if (node instanceof VariableReference && !variables.contains(node.toStringAST())) {
      String unknown = ": there is no " + node.toStringAST();
      throw new IllegalStateException(
          wrong(place, expression.getExpressionString(), unknown, expected));
    }
    for (int i = 0; i < node.getChildCount(); i++) {
      checkVariables(place, expression, node.getChild(i), variables, expected);
    }
  }

  /** Returns whether it always has the same value. */
  boolean isLiteral() {
    return expression.getAST() instanceof Literal;
  }

  /**
   * Returns the value.
   *
   * @param context null for a literal
   * @throws IllegalStateException if it has none
   */
  @Nullable Object value(@Nullable EvaluationContext context) {
    try {
      return context == null ? expression.getValue() : expression.getValue(context);
    } catch (EvaluationException e) {
      throw new IllegalStateException(
          wrong(place, text(), "", "SpEL that has a value; " + e.getSimpleMessage()), e);
    }
  }

  /** Returns the value as the value of a descriptor's entry. */
  String key(@Nullable EvaluationContext context) {
    Object value = value(context);
    try {
      return KeyText.of(value);
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(wrong(place, text(), "", String.valueOf(e.getMessage())), e);
    }
  }

  /** Returns the value as a number of permits, at least 0. */
  long permits(@Nullable EvaluationContext context) {
    Object value = value(context);
    long permits = value instanceof Number number && isInteger(number) ? number.longValue() : -1;
    if (permits < 0) {
      throw wrong(value, "an integer, 0 or more");
    }
    return permits;
  }

  private static boolean isInteger(Number number) {
    return number instanceof Integer
        || number instanceof Long
        || number instanceof Short
        || number instanceof Byte
        || (number instanceof BigInteger big && big.bitLength() < Long.SIZE);
  }

  /** Returns the value as a boolean. */
  boolean holds(@Nullable EvaluationContext context) {
    Object value = value(context);
    if (!(value instanceof Boolean holds)) {
      throw wrong(value, "true or false");
    }
    return holds;
  }

  private IllegalStateException wrong(@Nullable Object value, String expected) {
    String is = " is " + ShownText.brief(String.valueOf(value));
    return new IllegalStateException(wrong(place, text(), is, expected));
  }

  private String text() {
    return expression.getExpressionString();
  }

  private static String wrong(String place, String text, String what, String expected) {
    return place + ": " + ShownText.quoted(text) + what + " (expected: " + expected + ")";
  }
}
