package dev.weir.analysis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** The compiler with Error Prone and NullAway, which writes no classes. */
final class Analysis {
  private static final String ERROR_PRONE =
      "-Xplugin:ErrorProne"
          + " -Xep:NullAway:ERROR"
          + " -XepOpt:NullAway:AnnotatedPackages=dev.weir"
          + " -XepOpt:NullAway:ExcludedFieldAnnotations=picocli.CommandLine.Spec";

  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

  private Analysis() {}

  /** Finds the mistakes in files, as the compiler words them, with file and line. */
  static List<String> ofFiles(SourceSet sources) {
    try (StandardJavaFileManager files = COMPILER.getStandardFileManager(null, null, null)) {
      return of(files, files.getJavaFileObjectsFromPaths(sources.files()), sources.classPath());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Finds the mistakes in one source, which needs no class path but this one's. */
  static List<String> of(JavaFileObject source) {
    try (StandardJavaFileManager files = COMPILER.getStandardFileManager(null, null, null)) {
      return of(files, List.of(source), System.getProperty("java.class.path"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> of(
      StandardJavaFileManager files, Iterable<? extends JavaFileObject> sources, String classPath) {
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    List<String> options =
        List.of(
            "--release",
            "17",
            "-proc:none",
            "-XDcompilePolicy=simple",
            "--should-stop=ifError=FLOW",
            "--should-stop=ifNoError=FLOW",
            "-Xmaxwarns",
            "1000",
            "-classpath",
            classPath,
            ERROR_PRONE);
    COMPILER.getTask(null, new OwnPlugins(files), found, options, null, sources).call();
    return found.getDiagnostics().stream()
        .filter(
            each ->
                each.getKind() != Diagnostic.Kind.NOTE && each.getKind() != Diagnostic.Kind.OTHER)
        .map(Object::toString)
        .toList();
  }

  /** The plugins of this class path, which otherwise each call would load anew from a path. */
  private static final class OwnPlugins extends ForwardingJavaFileManager<StandardJavaFileManager> {
    OwnPlugins(StandardJavaFileManager files) {
      super(files);
    }

    @Override
    public boolean hasLocation(Location location) {
      return location == StandardLocation.ANNOTATION_PROCESSOR_PATH || super.hasLocation(location);
    }

    @Override
    public ClassLoader getClassLoader(Location location) {
      return location == StandardLocation.ANNOTATION_PROCESSOR_PATH
          // The compiler closes it; a loader above that stays open.
          ? new ClassLoader(Analysis.class.getClassLoader()) {}
          : super.getClassLoader(location);
    }
  }
}
