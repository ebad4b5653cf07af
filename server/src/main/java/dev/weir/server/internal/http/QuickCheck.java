package dev.weir.server.internal.http;

import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.RequestBatch;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.server.internal.deciding.ByteText;
import dev.weir.server.internal.deciding.QuickRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.function.BiConsumer;

/**
 * The writer of answers of {@code /v1/check} on the quick path, by the code of the general path.
 * Confined to one event loop.
 */
final class QuickCheck implements QuickPath {
  private final CheckFields fields;

  QuickCheck(CheckFields fields) {
    this.fields = fields;
  }

  @Override
  public boolean takes(CurrentLimit limit) {
    return true;
  }

  @Override
  public void write(QuickRequest asked, RequestBatch decided, ByteText answers) {
    Answer answer = decided.answer(0);
    CheckAnswer check = new CheckAnswer(asked.request(), answer, fields.older());
    BiConsumer<CharSequence, CharSequence> field =
        (name, value) -> answers.add("\r\n").add(name).add(": ").add(value);
    answers.add("HTTP/1.1 ").add(HttpResponseStatus.valueOf(check.httpStatus()).toString());
    fields.add(check, answer, field);
    QuickRequests.body(answers, answer.allowed() ? Reply.JSON : Reply.PROBLEM, check.json());
  }
}
