import { z } from 'zod';
import { MessageTokensNoun, ModelMessageNoun } from '../../schema/inference/message-answer.ts';
import { SIGNED_RECEIPT } from '../../schema/inference/paid-answer.ts';
import { nameComponents } from '../answer-shapes.ts';
import { SvcAnswer } from '../receipt/signed-receipt.ts';
import { MessageStreamFault } from './stream-fault.ts';

/* Responses of POST /v1/messages in the form of Anthropic's API. */

const TextBlock = z.object({
  type: z.literal('text'),
  text: z.string().describe('Text of this block of the answer.'),
  citations: z.null().describe('Always null: answers have no citations.'),
});
const ToolUseBlock = z.object({
  type: z.literal('tool_use'),
  id: z.string().describe('Id of the tool call. Send it back as `tool_use_id` with the result.'),
  name: z.string().describe('Name of the tool to call, as the request gave it.'),
  input: z
    .union([z.record(z.string(), z.unknown()), z.string()])
    .describe('Input of the tool: an object, or a text if the model wrote something that is not a JSON object.'),
  caller: z
    .object({ type: z.literal('direct') })
    .describe('Always `{type: "direct"}`: the model itself calls the tool.'),
});
const ThinkingBlock = z.object({
  type: z.literal('thinking'),
  thinking: z
    .string()
    .describe(
      'Thinking of the model. Empty if `thinking.display` in the request is `omitted`, or if the hub returns no text of it.',
    ),
  signature: z
    .string()
    .describe('Signature by which the provider of the model recognizes the block. Empty if the hub gives none.'),
});
const RedactedThinkingBlock = z.object({
  type: z.literal('redacted_thinking'),
  data: z.string().describe('Encrypted thinking. Send it back unchanged in the history.'),
});
const Block = z.discriminatedUnion('type', [ThinkingBlock, RedactedThinkingBlock, TextBlock, ToolUseBlock]);

const { stop_reason, stop_sequence, stop_details, usage } = ModelMessageNoun.shape;
const Svc = SvcAnswer.describe(SIGNED_RECEIPT);

export const MessageAnswer = ModelMessageNoun.omit({ hub: true }).extend({
  content: z
    .array(Block)
    .describe('Blocks of the answer: thinking, text and tool calls. The receipt commits to this list unchanged.'),
  svc: Svc,
});

const StartedMessage = MessageAnswer.omit({ svc: true }).extend({
  content: z.array(Block).max(0).describe('Always empty: the blocks follow in later events.'),
  stop_reason: z.null().describe('Always null: `message_delta` has the reason.'),
});
const index = z.int().min(0).describe('Index of the block in `content`, from 0.');
const Delta = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text_delta'), text: z.string().describe('Next piece of the text, to be appended.') }),
  z.object({
    type: z.literal('thinking_delta'),
    thinking: z.string().describe('Next piece of the thinking, to be appended.'),
  }),
  z.object({
    type: z.literal('signature_delta'),
    signature: z.string().describe('Signature of the thinking, whole. Send it back unchanged in the history.'),
  }),
  z.object({
    type: z.literal('input_json_delta'),
    partial_json: z.string().describe('Next piece of the input. All pieces together are JSON, as the model wrote it.'),
  }),
]);
const StartedBlock = z.discriminatedUnion('type', [
  ThinkingBlock,
  RedactedThinkingBlock,
  TextBlock,
  ToolUseBlock.extend({ input: z.strictObject({}).describe('Always empty: the input follows as `partial_json`.') }),
]);

/** One event of a streamed message in the form of Anthropic. `event:` repeats its type. */
export const MessageEventAnswer = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_start'),
    message: StartedMessage.describe('The message, still without content.'),
  }),
  z.object({
    type: z.literal('content_block_start'),
    index,
    content_block: StartedBlock.describe(
      'The block at its start, without content. Only `data` of `redacted_thinking` is whole here.',
    ),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index,
    delta: Delta.describe('Next piece of the block at `index`.'),
  }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z
      .object({ stop_reason, stop_sequence, stop_details })
      .describe('What the event adds to the message: why the answer ended.'),
    usage,
  }),
  z
    .object({ type: z.literal('ping'), svc: Svc })
    .describe('The receipt, in an event with `event: svc` before the last event. Clients of Anthropic ignore it.'),
  z.object({ type: z.literal('message_stop') }).describe('Last event: the answer is complete.'),
  MessageStreamFault,
]);

nameComponents({
  Message: MessageAnswer,
  MessageTextBlock: TextBlock,
  MessageThinkingBlock: ThinkingBlock,
  MessageRedactedThinkingBlock: RedactedThinkingBlock,
  MessageToolUseBlock: ToolUseBlock,
  MessageUsage: usage,
  MessageEvent: MessageEventAnswer,
  MessageTokens: MessageTokensNoun,
});
