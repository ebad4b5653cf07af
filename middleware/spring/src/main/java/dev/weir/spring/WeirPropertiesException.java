package dev.weir.spring;

import java.util.List;
import java.util.stream.Collectors;

/** The wrong properties of Weir: all of them, a line each. */
public final class WeirPropertiesException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  /** Makes an exception for one problem at least. */
  public WeirPropertiesException(List<PropertyProblem> problems) {
    super(problems.stream().map(PropertyProblem::toString).collect(Collectors.joining("\n")));
  }

  WeirPropertiesException(PropertyProblem problem) {
    this(List.of(problem));
  }
}
