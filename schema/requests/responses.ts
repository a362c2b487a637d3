import { z } from 'zod';
import { limits } from '../limits.ts';
import { ChatMessage, ModelId, Temperature, TokensMax } from './chat-completion.ts';
import { intentMembers } from './intent.ts';
import { listOf, wellFormedText } from './parse.ts';
import { svcMembers } from './svc.ts';
import { only, textFormat, unservedTools, unset } from './unserved.ts';

const PARTS_MAX = 100;

/** As OpenAI spells text in parts: what a former answer said can be sent back as it came. */
const Part = z.object({ type: z.enum(['input_text', 'output_text']), text: wellFormedText });
const parts = listOf(Part, PARTS_MAX).transform(given => given.map(({ text }) => text).join(''));

/** Neither may be left out, though a list, being looked at before it is parsed, would be described as if it might. */
const Message = ChatMessage.extend({ content: z.union([wellFormedText, parts]).nonoptional() });
const asked = wellFormedText.transform(content => [{ role: 'user' as const, content }]);

const ONE_SHOT = 'each call stands for itself, and nothing of it is kept';
const WHOLE = 'the answer comes in one piece; POST /v1/chat/completions streams';

const unserved = {
  stream: only(WHOLE, false),
  background: only(WHOLE, false),
  previous_response_id: unset(ONE_SHOT),
  conversation: unset(ONE_SHOT),
  prompt: unset('a prompt is sent as text'),
  instructions: unset('say it in a message of role `system`'),
  text: z.object({ format: textFormat }).nullish(),
  ...unservedTools,
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
