import { z } from 'zod';
import { MessageTokensNoun, ModelMessageNoun } from '../../schema/inference/message-answer.ts';
import { SIGNED_RECEIPT } from '../../schema/inference/paid-answer.ts';
import { nameComponents } from '../answer-shapes.ts';
import { SvcAnswer } from '../receipt/signed-receipt.ts';
import { MessageStreamFault } from './stream-fault.ts';

/* What POST /v1/messages answers, as Anthropic's clients read it. */

const TextBlock = z.object({ type: z.literal('text'), text: z.string(), citations: z.null() });
const ToolUseBlock = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z
    .union([z.record(z.string(), z.unknown()), z.string()])
    .describe('Arguments of the call; text where the model wrote what is no JSON object.'),
  caller: z.object({ type: z.literal('direct') }),
});
const ThinkingBlock = z.object({
  type: z.literal('thinking'),
  thinking: z.string().describe('Thinking of the model. Empty with display: "omitted".'),
  signature: z.string().describe('By which the maker of the model knows it again; empty where the hub gives none.'),
});
const RedactedThinkingBlock = z.object({
  type: z.literal('redacted_thinking'),
  data: z.string().describe('Encrypted thinking. Send it back unchanged in the history.'),
});
const Block = z.discriminatedUnion('type', [ThinkingBlock, RedactedThinkingBlock, TextBlock, ToolUseBlock]);

const { stop_reason, stop_sequence, stop_details, usage } = ModelMessageNoun.shape;
const Svc = SvcAnswer.describe(SIGNED_RECEIPT);

export const MessageAnswer = ModelMessageNoun.omit({ hub: true }).extend({
  content: z.array(Block).describe('Blocks of the answer. The receipt commits to this list as it stands here.'),
  svc: Svc,
});

const Begun = MessageAnswer.omit({ svc: true }).extend({ content: z.array(Block).max(0), stop_reason: z.null() });
const index = z.int().min(0).describe('Which block of the answer, from 0.');
const Delta = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text_delta'), text: z.string() }),
  z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.object({ type: z.literal('signature_delta'), signature: z.string() }),
  z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
]);
const BlockBegun = z.discriminatedUnion('type', [
  ThinkingBlock,
  RedactedThinkingBlock,
  TextBlock,
  ToolUseBlock.extend({ input: z.strictObject({}).describe('Empty until its deltas have come.') }),
]);

/** One event of a streamed message, as Anthropic spells it: `event:` says its type once more. */
export const MessageEventAnswer = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: Begun }),
  z.object({ type: z.literal('content_block_start'), index, content_block: BlockBegun }),
  z.object({ type: z.literal('content_block_delta'), index, delta: Delta }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason, stop_sequence, stop_details }),
    usage,
  }),
  z
    .object({ type: z.literal('ping'), svc: Svc })
    .describe('The receipt, in an event whose `event:` is `svc`, before the last event. Clients pass over it.'),
  z.object({ type: z.literal('message_stop') }).describe('The answer is complete.'),
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
