import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import type { Context } from '../../../context.ts';
import type { Charged, ChargedStream } from '../../../sale.ts';
import { svcOf } from '../completions/svc.ts';
import { numbered, OutputEvents, type ResponseEvent } from './events.ts';
import { textOf } from './output.ts';
import type { ResponseAnswer } from './response.paid.ts';

/** A stream that cannot be recorded ends with the reason: as an event, since the graph hides what a source throws. */
export type StreamedEvent = ResponseEvent | Error;

/** A paid stream as the Responses API tells of it; the last event brings the whole response and its receipt. */
export async function* eventsOf(
  charged: ChargedStream<ResponseAnswer>,
  context: Context,
): AsyncGenerator<StreamedEvent> {
  const number = numbered();
  const output = new OutputEvents(charged.task_id);
  const nothing = { ...charged.begun, output: [], fault: null, usage: null };
  const response = documentOf(nothing, 'in_progress');
  yield number({ type: 'response.created', response });
  yield number({ type: 'response.in_progress', response });
  for await (const piece of charged.pieces) for (const event of output.of(piece)) yield number(event);
  let recorded: Charged<ResponseAnswer>;
  try {
    recorded = await charged.recorded;
  } catch (error) {
    yield error instanceof Error ? error : new Error('the stream was not recorded', { cause: error });
    return;
  }
  const { answer } = recorded;
  for (const event of output.ends(answer.output)) yield number(event);
  const status = answer.fault === null ? 'completed' : 'failed';
  const { svc } = svcOf(recorded, context);
  yield number({ type: `response.${status}`, response: { ...documentOf(answer, status), svc } });
}

/** The answer in the words of the wire, as POST /v1/responses has it in one piece. */
function documentOf({ id, created_at, model, output, fault, usage }: ResponseAnswer, status: string): JsonObject {
  return {
    id,
    object: 'response',
    created_at,
    model,
    status,
    error: fault,
    output,
    output_text: textOf(output),
    usage: usage && { ...usage, input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens },
  } satisfies Record<string, Json>;
}
