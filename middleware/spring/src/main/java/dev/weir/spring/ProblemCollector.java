package dev.weir.spring;

import dev.weir.internal.Choice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.boot.origin.Origin;
import org.springframework.util.unit.DataSize;

/**
 * The collector of all problems with the properties of Weir; Boot itself would stop at the first
 * wrong value. It finds values that cannot be converted, unknown names, and the problems of {@link
 * PropertyChecks}. It ignores other properties. Used by one thread for one binding at a time.
 */
final class ProblemCollector extends AbstractBindHandler {
  private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("weir");

  /** The name of a property with a comma in its values, at which Boot splits a text into a list. */
  private static final String DESCRIPTORS = "descriptors";

  private static final String NOT_IN_LIST =
      "no such property; the elements of a list are counted from 0 without a gap";

  private final Map<String, PropertyProblem> problems = new TreeMap<>();
  private final Map<String, String> origins = new HashMap<>();
  private final Set<ConfigurationPropertyName> bound = new HashSet<>();

  ProblemCollector(BindHandler parent) {
    super(parent);
  }

  private static boolean isOurs(ConfigurationPropertyName name) {
    return ROOT.equals(name) || ROOT.isAncestorOf(name);
  }

  @Override
  public <T> @Nullable Bindable<T> onStart(
      ConfigurationPropertyName name, Bindable<T> target, BindContext context) {
    if (ROOT.equals(name)) {
      problems.clear();
      origins.clear();
      bound.clear();
    } else if (isOurs(name)) {
      bound.add(name);
    }
    return super.onStart(name, target, context);
  }

  @Override
  public @Nullable Object onSuccess(
      ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
    ConfigurationProperty property = context.getConfigurationProperty();
    if (isOurs(name) && property != null && property.getName().equals(name)) {
      add(name, property);
    }
    return super.onSuccess(name, target, context, result);
  }

  @Override
  public void onFinish(
      ConfigurationPropertyName name,
      Bindable<?> target,
      BindContext context,
      @Nullable Object result)
      throws Exception {
    super.onFinish(name, target, context, result);
    if (ROOT.equals(name) && context.getDepth() == 0) {
      addUnknown(context);
      if (result instanceof WeirProperties properties) {
        PropertyChecks.problems(properties).forEach(this::add);
      }
      throwIfAny();
    }
  }

  private void add(ConfigurationPropertyName name, ConfigurationProperty property) {
    Origin origin = property.getOrigin();
    if (origin != null) {
      origins.put(name.toString(), origin.toString());
    }
    boolean descriptors =
        !name.isLastElementIndexed()
            && name.getLastElement(ConfigurationPropertyName.Form.UNIFORM).equals(DESCRIPTORS);
    if (descriptors && String.valueOf(property.getValue()).contains(",")) {
      add(
          new PropertyProblem(
              name.toString(),
              property.getValue(),
              "a list, " + name + "[0] and so on: a descriptor may have a comma itself"));
    }
  }

  @Override
  public @Nullable Object onFailure(
      ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error)
      throws Exception {
    if (isOurs(name) && error instanceof UnboundConfigurationPropertiesException unbound) {
      // The elements of a list end at the first one without a value, or with a wrong one.
      for (ConfigurationProperty each : unbound.getUnboundProperties()) {
        add(each.getName(), each);
        add(new PropertyProblem(each.getName().toString(), each.getValue(), NOT_IN_LIST));
      }
      return null;
    }
    ConfigurationProperty property = isOurs(name) ? property(name, context) : null;
    if (property == null || ROOT.equals(name)) {
      return super.onFailure(name, target, context, error);
    }
    ConfigurationPropertyName wrong = property.getName();
    add(wrong, property);
    problems.computeIfAbsent(
        wrong.toString(), key -> new PropertyProblem(key, property.getValue(), expected(target)));
    return null;
  }

  /** Returns the property that is being bound; the context does not always have it. */
  private static @Nullable ConfigurationProperty property(
      ConfigurationPropertyName name, BindContext context) {
    for (ConfigurationPropertySource source : context.getSources()) {
      ConfigurationProperty property = source.getConfigurationProperty(name);
      if (property != null) {
        return property;
      }
    }
    return context.getConfigurationProperty();
  }

  private static String expected(Bindable<?> target) {
    Class<?> type = target.getType().resolve(Object.class);
    if (Collection.class.isAssignableFrom(type)) {
      type = target.getType().asCollection().getGeneric().resolve(Object.class);
    }
    if (type.isEnum()) {
      return Arrays.stream(type.getEnumConstants())
          .map(each -> Choice.text((Enum<?>) each))
          .collect(Collectors.joining(", "));
    } else if (type == Duration.class) {
      return "a time such as 100ms or 2s";
    } else if (type == DataSize.class) {
      return "a size such as 64MB";
    } else if (type == boolean.class || type == Boolean.class) {
      return "true or false";
    } else if (type.isRecord() || type == Map.class) {
      return "no value of its own, only properties below it";
    }
    return "a whole number";
  }

  /** Adds set names that are not properties: a typing error would otherwise lift a limit. */
  private void addUnknown(BindContext context) {
    UnboundElementsSourceFilter deliberate = new UnboundElementsSourceFilter();
    for (ConfigurationPropertySource source : context.getSources()) {
      if (source instanceof IterableConfigurationPropertySource names && deliberate.apply(source)) {
        for (ConfigurationPropertyName name : names) {
          if (ROOT.isAncestorOf(name) && !bound.contains(name) && !isPartOfAText(name)) {
            ConfigurationProperty property = source.getConfigurationProperty(name);
            if (property != null) {
              add(name, property);
              add(new PropertyProblem(name.toString(), property.getValue(), "no such property"));
            }
          }
        }
      }
    }
  }

  /** Returns whether a source with higher precedence has the whole list instead of its elements. */
  private boolean isPartOfAText(ConfigurationPropertyName name) {
    return name.isLastElementIndexed() && bound.contains(name.getParent());
  }

  private void throwIfAny() {
    if (!problems.isEmpty()) {
      List<PropertyProblem> all = new ArrayList<>();
      problems.values().forEach(each -> all.add(each.from(origins.get(each.name()))));
      throw new WeirPropertiesException(all);
    }
  }

  /** Adds a problem unless there is one for the same property. */
  private void add(PropertyProblem problem) {
    problems.putIfAbsent(problem.name(), problem);
  }
}
