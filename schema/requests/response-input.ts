import { z } from 'zod';
import { type Json, type JsonObject, present } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { optionalConstantText } from '../words.ts';
import { ChatRequestMessage, messageMembers, type ToolCall, ToolName } from './chat-message.ts';
import { AudioPartData, AudioPartFormat, FileData, FileId, FileName, ImageDetail, ImageUrl } from './content.ts';
import { extraOf } from './forwarded/extra.ts';
import { openPlace } from './forwarded/foreign-members.ts';
import { listOf } from './parse.ts';
import { returnedReasoning } from './returned-reasoning.ts';
import { wellFormedText } from './text.ts';

/*
 * Input items of POST /v1/responses, and the chat that they are translated to, because all hubs receive a chat.
 */

/** Members of an earlier answer that may be sent back; they are not passed on. */
const returned = ['annotations', 'logprobs'];
const textPlace = openPlace(['type', 'text'], { without_effect: returned });
const refusalPlace = openPlace(['type', 'refusal']);
const imagePlace = openPlace(['type', 'image_url', 'detail', 'file_id']);
const audioPlace = openPlace(['type', 'input_audio']);
const filePlace = openPlace(['type', 'file_data', 'filename', 'file_id', 'file_url', 'detail']);

const Text = z
  .looseObject({
    type: z.enum(['input_text', 'output_text', 'text']).describe('Kind of the text. All values have the same effect.'),
    text: wellFormedText.describe('Text of this part.'),
  })
  .transform((given, context) => ({
    ...extraOf(given as JsonObject, textPlace, context),
    type: 'text' as const,
    text: given.text,
  }));
const Refused = z
  .looseObject({
    type: z.literal('refusal'),
    refusal: wellFormedText.describe('Sentence in which the model refused to answer.'),
  })
  .transform((given, context) => ({
    ...extraOf(given as JsonObject, refusalPlace, context),
    type: 'text' as const,
    text: given.refusal,
  }));
const Image = z
  .looseObject({
    type: z.literal('input_image'),
    image_url: ImageUrl,
    detail: ImageDetail,
    file_id: FileId,
  })
  .transform((given, context) => ({
    ...extraOf(given as JsonObject, imagePlace, context),
    type: 'image_url' as const,
    image_url: present({ url: given.image_url, detail: given.detail }),
  }));
const Audio = z
  .looseObject({
    type: z.literal('input_audio'),
    input_audio: z
      .looseObject({ data: AudioPartData, format: AudioPartFormat })
      .describe('The audio: its bytes and format.'),
  })
  .transform((given, context) => ({
    ...extraOf(given as JsonObject, audioPlace, context),
    type: 'input_audio' as const,
    input_audio: given.input_audio as JsonObject,
  }));
const File = z
  .looseObject({
    type: z.literal('input_file'),
    file_data: FileData,
    filename: FileName,
    file_id: FileId,
    file_url: z
      .null('is not supported: send the file itself in file_data')
      .optional()
      .describe('Not supported: send the file itself in `file_data`.'),
  })
  .transform((given, context) => ({
    ...extraOf(given as JsonObject, filePlace, context),
    type: 'file' as const,
    // A file of a chat has no `detail`, so it is passed on as an unknown member.
    file: present({ file_data: given.file_data, filename: given.filename, detail: given.detail as Json }),
  }));

const PARTS = 'is not supported: content may be text and, if the model accepts them, images, input_audio and files';
const parts = listOf(
  z.discriminatedUnion('type', [Text, Refused, Image, Audio, File], { error: PARTS }),
  limits.content_parts_max,
  0,
);
const content = z
  .union([wellFormedText, parts])
  .nonoptional()
  .describe(
    'In a message, required: text, or a list of parts: texts, refusals and, if the model accepts them, images, audio and files.',
  );
const texts = listOf(Text, limits.content_parts_max);

const Id = wellFormedText
  .min(1)
  .max(limits.tool_call_id_chars_max)
  .describe('Id of the function call, as the answer of the model has it.');

/** Members of an item of an earlier answer that have no effect. */
const ofAnswers = { without_effect: ['id', 'status', 'phase'] };
const messagePlace = openPlace(['type', 'role', 'content', ...messageMembers], ofAnswers);
const callPlace = openPlace(['type', 'call_id', 'name', 'arguments'], ofAnswers);
const outputPlace = openPlace(['type', 'call_id', 'output'], ofAnswers);

/** Parsed by the schema of a chat, so that a payment is bound to the same bytes. */
function asMessage(message: JsonObject, context: z.core.$RefinementCtx): ChatRequestMessage {
  const { data, error } = ChatRequestMessage.safeParse(message);
  if (data) return data;
  for (const { message: text, path } of error.issues) context.addIssue({ code: 'custom', message: text, path });
  return z.NEVER;
}

const Message = z
  .looseObject({
    type: z.literal('message').optional().describe(optionalConstantText('message')),
    role: z
      .enum(['system', 'developer', 'user', 'assistant'])
      .describe('Role of the author: `system` and `developer` both give the model instructions.'),
    content,
  })
  .transform((given, context): { readonly message: ChatRequestMessage } => {
    const extra = extraOf(given as JsonObject, messagePlace, context);
    const { type: _, ...members } = given;
    const known = Object.entries(members).filter(([name]) => messagePlace.known.has(name));
    return { message: asMessage({ ...(Object.fromEntries(known) as JsonObject), extra }, context) };
  });
const Call = z
  .looseObject({
    type: z.literal('function_call'),
    call_id: Id,
    name: ToolName,
    arguments: wellFormedText.describe('Arguments of the call: JSON, as the model wrote it.'),
  })
  .transform((given, context) => {
    const { call_id: id, name, arguments: written } = given;
    const extra = extraOf(given as JsonObject, callPlace, context);
    const call: ToolCall = { ...extra, id, type: 'function', function: { name, arguments: written } };
    return { call };
  });
const Output = z
  .looseObject({
    type: z.literal('function_call_output'),
    call_id: Id,
    output: z
      .union([wellFormedText, texts])
      .nonoptional()
      .describe('Result of the function call: a text, or a list of parts of text.'),
  })
  .transform((given, context) => {
    const extra = extraOf(given as JsonObject, outputPlace, context);
    const { call_id: tool_call_id, output } = given;
    return { message: asMessage({ role: 'tool', content: output, tool_call_id, extra }, context) };
  });

const AS_TEXT = 'is not supported: a part of reasoning is passed on as its text';
const thoughtPlace = openPlace(['type', 'text']);
const Thought = z
  .looseObject({
    type: z
      .enum(['reasoning_text', 'summary_text', 'text'])
      .describe('Kind of the text. All values have the same effect.'),
    text: wellFormedText.describe('Text of this part.'),
  })
  .transform((given, context) => {
    const unknown = Object.keys(extraOf(given as JsonObject, thoughtPlace, context) ?? {});
    for (const name of unknown) context.addIssue({ code: 'custom', path: [name], message: AS_TEXT });
    return given.text;
  });
const thoughts = listOf(Thought, limits.content_parts_max, 0)
  .nullish()
  .transform(given => (given ?? []).join('\n\n'));
const reasoningPlace = openPlace(['type', 'content', 'summary', 'encrypted_content'], ofAnswers);

const CHANGED = 'was changed: send it as it came, or leave it out';

/**
 * Reasoning of the model before the turn that follows. It is passed on with that turn: in the members of the hub's own answer if
 * `encrypted_content` has them, otherwise as text.
 */
const Reasoning = z
  .looseObject({
    type: z.literal('reasoning'),
    content: thoughts.describe('In reasoning: its text, in parts. Default: none.'),
    summary: thoughts.describe(
      'Summary of the reasoning, in parts, passed on if there is no `content`. Default: none.',
    ),
    encrypted_content: wellFormedText
      .nullish()
      .describe(
        'Reasoning of an earlier answer of this service, in base64 (not encrypted), sent back unchanged; it replaces `content` and `summary`. Reasoning of another service has no effect. Default: none.',
      ),
  })
  .transform((given, context): Thoughts => {
    const extra = extraOf(given as JsonObject, reasoningPlace, context);
    const returned = returnedReasoning(given.encrypted_content ?? '');
    if (returned === 'invalid') context.addIssue({ code: 'custom', path: ['encrypted_content'], message: CHANGED });
    if (returned === 'invalid' || returned === null) return { thought: given.content || given.summary, extra };
    const { reasoning_content: thought = '', ...returned_members } = returned;
    return { thought, ...returned_members, extra };
  });

const Item = z.discriminatedUnion('type', [Message, Call, Output, Reasoning], {
  error: ({ input }) => (input === undefined ? undefined : NOT_SERVED),
});
const NOT_SERVED = 'is not supported: an item is a message, a function_call, a function_call_output or reasoning';

const textInput = wellFormedText.transform((text): ChatRequestMessage[] => [{ role: 'user', content: text }]);

/** A text is one message of role `user`. */
export const ResponseItems = z
  .union([textInput, listOf(Item, limits.chat_messages_max).transform(chatOf)], {
    error: 'must be a text, or a list of {role, content}',
  })
  .nonoptional();

/**
 * Joins thoughts and calls of one turn to one message, as a chat has them. A thought belongs to the message or call that follows it.
 * Without either it is a turn of its own or, if it has no text, part of the turn before it, because a stream sends it last.
 */
function chatOf(items: readonly z.output<typeof Item>[]): ChatRequestMessage[] {
  const chat: ChatRequestMessage[] = [];
  let thought: Thoughts = NO_THOUGHT;
  for (const item of items) {
    const last = chat.at(-1);
    if ('thought' in item) {
      thought = joinThoughts(thought, item);
      continue;
    }
    if ('call' in item) {
      const turn: ChatRequestMessage = last?.role === 'assistant' ? last : { role: 'assistant', content: null };
      const tool_calls: readonly ToolCall[] = [...(turn.tool_calls ?? []), item.call];
      chat.splice(turn === last ? -1 : chat.length, 1, {
        ...withThought(turn, thought),
        tool_calls,
      } as ChatRequestMessage);
    } else if (item.message.role === 'assistant') {
      chat.push(withThought(item.message, thought));
    } else {
      addAlone(chat, thought);
      chat.push(item.message);
    }
    thought = NO_THOUGHT;
  }
  addAlone(chat, thought);
  return chat;
}

interface Thoughts {
  readonly thought: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly JsonObject[];
  readonly extra: JsonObject | null;
}
const NO_THOUGHT: Thoughts = { thought: '', extra: null };

function joinThoughts(first: Thoughts, second: Thoughts): Thoughts {
  const both = (one = '', other = '') => [one, other].filter(text => text !== '').join('\n\n');
  const reasoning = both(first.reasoning, second.reasoning);
  const reasoning_details = [...(first.reasoning_details ?? []), ...(second.reasoning_details ?? [])];
  return {
    thought: both(first.thought, second.thought),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(reasoning_details.length === 0 ? {} : { reasoning_details }),
    extra: first.extra || second.extra ? { ...first.extra, ...second.extra } : null,
  };
}

function withThought(turn: ChatRequestMessage, before: Thoughts): ChatRequestMessage {
  const { reasoning_content, reasoning, reasoning_details, extra: own = null } = turn;
  const own_thought = { thought: reasoning_content ?? '', ...present({ reasoning, reasoning_details }) } as const;
  const { thought, extra, ...others } = joinThoughts(
    { ...own_thought, extra: before.extra },
    { ...before, extra: own },
  );
  return { ...turn, ...present({ reasoning_content: thought || reasoning_content, ...others, extra }) };
}

function addAlone(chat: ChatRequestMessage[], { thought, ...before }: Thoughts): void {
  const { reasoning, reasoning_details, extra } = before;
  if (thought === '' && reasoning === undefined && reasoning_details === undefined && extra === null) return;
  const last = chat.at(-1);
  const has_text = thought !== '' || reasoning !== undefined;
  if (last?.role === 'assistant' && !has_text && extra === null)
    chat.splice(-1, 1, withThought(last, { thought, ...before }));
  else chat.push(withThought({ role: 'assistant', content: null }, { thought, ...before }));
}
