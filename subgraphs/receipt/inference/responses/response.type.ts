import type { JsonObject } from '../../../../schema/canonical-json.ts';
import {
  ModelResponseNoun,
  ResponseContentNoun,
  ResponseFaultNoun,
  ResponseIncompletionNoun,
  ResponseItemNoun,
  ResponseStreamEventNoun,
  ResponseUsageNoun,
} from '../../../../schema/inference/response-answer.ts';
import { ResponseCall } from '../../../../schema/requests/responses.ts';
import { inputType, objectType, shownOf } from '../../../graph-type.ts';
import { paidAnswerType } from '../work.type.ts';
import { howResponseEnded, responseUsage, textOf } from './output.ts';
import type { KeptResponse } from './response.paid.ts';

/* Graph types of responses: requests, answers and events. */

export const ResponseInput = inputType(
  'ResponseInput',
  'Request of the Responses API, complete in itself. The limits are those of POST /v1/responses.',
  ResponseCall,
);

objectType('ResponseContent', 'A part of a message or of reasoning.', ResponseContentNoun);
objectType(
  'ResponseItem',
  'Item of a response: reasoning, a message or a function call. Members of the other kinds are null.',
  ResponseItemNoun,
);
objectType(
  'ResponseIncompletion',
  'Why an answer was cut short: by its token limit, or by a filter.',
  ResponseIncompletionNoun,
);
objectType('ResponseFault', 'Why an answer failed, as a code and a sentence.', ResponseFaultNoun);
const ResponseUsage = objectType(
  'ResponseUsage',
  'Numbers of tokens, as the hub counts them. Two have a second name: `inputTokens` is the same as `promptTokens`, and `outputTokens` as `completionTokens`.',
  ResponseUsageNoun,
);
type ResponseUsage = InstanceType<typeof ResponseUsage>;

export const ModelResponse = paidAnswerType(
  'ModelResponse',
  'A paid answer in the items of the Responses API, with its receipt.',
  ModelResponseNoun,
);
export type ModelResponse = InstanceType<typeof ModelResponse>;

/** The stored answer with the member names of the graph, without its receipt. */
export function responseOf(answer: KeptResponse, svc: JsonObject): Omit<ModelResponse, 'receipt'> {
  const { output, fault, usage, ...kept } = answer;
  const ended = howResponseEnded(output, fault);
  const said = { ...kept, object: 'response', ...ended, output, output_text: textOf(output), svc } as const;
  return { ...shownOf(ModelResponseNoun, said), usage: usage && usageOf(usage) };
}

function usageOf(usage: NonNullable<KeptResponse['usage']>): ResponseUsage {
  const { prompt_tokens, completion_tokens, total_tokens, input_tokens, output_tokens, ...details } =
    responseUsage(usage);
  return shownOf(ResponseUsageNoun, {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    input_tokens,
    output_tokens,
    details,
  });
}

export const ResponseStreamEvent = objectType(
  'ResponseStreamEvent',
  'One event of a streamed answer of the Responses API: its type, its number, and the whole event as JSON.',
  ResponseStreamEventNoun,
);
export type ResponseStreamEvent = InstanceType<typeof ResponseStreamEvent>;
