package dev.weir.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** The result of one run of the command. */
public record Ran(int status, String out, String err) {
  public static Ran weir(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int status = line.execute(arguments);
    line.getOut().flush();
    line.getErr().flush();
    return new Ran(status, out.toString(), err.toString());
  }
}
