import { z } from 'zod';
import { present } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { ChatRequestMessage, ImageDetail, ImageUrl, type ToolCall, ToolName } from './chat-message.ts';
import { listOf, wellFormedText } from './parse.ts';

/*
 * What POST /v1/responses is asked with, item by item, and the chat that it comes to: hubs are asked in one language.
 */

const NOT_KEPT = 'is not served here: nothing is kept, so what is meant is sent whole';

/** What a former answer said can be sent back as it came. */
const Text = z
  .object({ type: z.enum(['input_text', 'output_text']), text: wellFormedText })
  .transform(({ text }) => ({ type: 'text' as const, text }));
const Refused = z
  .object({ type: z.literal('refusal'), refusal: wellFormedText })
  .transform(({ refusal }) => ({ type: 'text' as const, text: refusal }));
const Image = z
  .object({
    type: z.literal('input_image'),
    image_url: ImageUrl,
    detail: ImageDetail,
    file_id: z.null(NOT_KEPT).optional(),
  })
  .transform(({ image_url: url, detail }) => ({ type: 'image_url' as const, image_url: present({ url, detail }) }));

const PARTS = 'is not served here: content is text, and images where the model takes them';
const parts = listOf(z.discriminatedUnion('type', [Text, Refused, Image], { error: PARTS }), limits.content_parts_max);
const content = z.union([wellFormedText, parts]).nonoptional();
const texts = listOf(Text, limits.content_parts_max).transform(given => given.map(({ text }) => text).join(''));

const Id = wellFormedText.min(1).max(limits.tool_call_id_chars_max);

const Message = z
  .object({
    type: z.literal('message').optional(),
    role: z.enum(['system', 'developer', 'user', 'assistant']),
    content,
  })
  .transform(({ role, content: given }, context) => {
    const { data, error } = ChatRequestMessage.safeParse({ role, content: given });
    if (data) return data;
    for (const { message, path } of error.issues) context.addIssue({ code: 'custom', message, path });
    return z.NEVER;
  });
const Call = z
  .object({ type: z.literal('function_call'), call_id: Id, name: ToolName, arguments: wellFormedText })
  .transform(({ call_id: id, name, arguments: given }) => ({
    call: { id, type: 'function' as const, function: { name, arguments: given } } satisfies ToolCall,
  }));
const Output = z
  .object({
    type: z.literal('function_call_output'),
    call_id: Id,
    output: z.union([wellFormedText, texts]).nonoptional(),
  })
  .transform(
    ({ call_id: tool_call_id, output }): ChatRequestMessage => ({ role: 'tool', content: output, tool_call_id }),
  );

const Item = z.discriminatedUnion('type', [Message, Call, Output], {
  error: ({ input }) => (input === undefined ? undefined : NOT_SERVED),
});
const NOT_SERVED = 'is not served here: an item is a message, a function_call or a function_call_output';

const asked = wellFormedText.transform((text): ChatRequestMessage[] => [{ role: 'user', content: text }]);

/** A text is one message of the user's. */
export const ResponseItems = z
  .union([asked, listOf(Item, limits.chat_messages_max).transform(chatOf)], {
    error: 'must be a text, or a list of {role, content}',
  })
  .nonoptional();

/** Calls follow what was said in the same turn: as chat has it, they are one message. */
function chatOf(items: readonly z.output<typeof Item>[]): ChatRequestMessage[] {
  const chat: ChatRequestMessage[] = [];
  for (const item of items) {
    if (!isCall(item)) {
      chat.push(item);
      continue;
    }
    const last = chat.at(-1);
    const turn = last?.role === 'assistant' ? last : { role: 'assistant' as const, content: null };
    const called = { ...turn, tool_calls: [...(turn.tool_calls ?? []), item.call] };
    chat.splice(turn === last ? -1 : chat.length, 1, called);
  }
  return chat;
}

function isCall(item: z.output<typeof Item>): item is z.output<typeof Call> {
  return 'call' in item;
}
