import { z } from 'zod';
import { limits } from '../limits.ts';
import { ChatMessage, ModelId, Temperature, TokensMax } from './chat-completion.ts';
import { intentMembers } from './intent.ts';
import { listOf, wellFormedText } from './parse.ts';
import { svcMembers } from './svc.ts';

const PARTS_MAX = 100;

/** As OpenAI spells text in parts: what a former answer said can be sent back as it came. */
const Part = z.object({ type: z.enum(['input_text', 'output_text']), text: wellFormedText });
const parts = listOf(Part, PARTS_MAX).transform(given => given.map(({ text }) => text).join(''));

/** Neither may be left out, though a list, being looked at before it is parsed, would be described as if it might. */
const Message = ChatMessage.extend({ content: z.union([wellFormedText, parts]).nonoptional() });
const asked = wellFormedText.transform(content => [{ role: 'user' as const, content }]);

const notServed = (why: string) => ({ error: `is not served here: ${why}` });
const ONE_SHOT = 'each call stands for itself, and nothing of it is kept';
const WHOLE = 'the answer comes in one piece; POST /v1/chat/completions streams';
const NO_TOOLS = 'no tool is offered to the model';

/** Members of OpenAI's that would change what the answer means: refused by name, never dropped in silence. */
const unserved = {
  stream: z.literal(false, notServed(WHOLE)).nullish(),
  background: z.literal(false, notServed(WHOLE)).nullish(),
  previous_response_id: z.null(notServed(ONE_SHOT)).optional(),
  conversation: z.null(notServed(ONE_SHOT)).optional(),
  prompt: z.null(notServed('a prompt is sent as text')).optional(),
  instructions: z.null(notServed('say it in a message of role `system`')).optional(),
  tools: z.tuple([], notServed(NO_TOOLS)).nullish(),
  text: z
    .object({ format: z.object({ type: z.literal('text', notServed('the answer is plain text')) }).nullish() })
    .nullish(),
} as const;

/**
 * Body of POST /v1/responses, stateless. A text and one message of role `user` are the same request, so that one call has
 * one canonical form.
 */
export const ResponsesRequest = z
  .object({
    model: ModelId,
    input: z
      .union([asked, listOf(Message, limits.chat_messages_max)], {
        error: 'must be a text, or a list of {role, content}',
      })
      .nonoptional()
      .describe('A text, or messages.'),
    max_output_tokens: TokensMax,
    temperature: Temperature,
    ...intentMembers,
    ...svcMembers,
    ...unserved,
  })
  .transform(({ model, input, max_output_tokens, temperature, intent_id, attempt_index, svc }) => ({
    model,
    input,
    max_output_tokens,
    temperature,
    intent_id,
    attempt_index,
    ...(svc === undefined ? {} : { svc }),
  }));
export type ResponsesRequest = z.output<typeof ResponsesRequest>;
