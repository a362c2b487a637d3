import { Refusal } from '../../../../schema/errors.ts';
import type { MessageBlock } from '../../../../schema/requests/message-blocks.ts';
import type { MessagesRequest } from '../../../../schema/requests/messages.ts';
import type { Stream, WorkThenSettle } from '../../../sale.ts';
import { answerPaid, streamPaid } from '../answer.paid.ts';
import { candidatesFor, isRouted, type MessageDemand } from '../catalogue.ts';
import type { Usage } from '../hubs/chat.ts';
import type { Hubs } from '../hubs/open.ts';
import type { KeptEnd } from '../kept-end.ts';
import { type HubReply, replyQuestion } from '../responses/output.ts';
import { askedOf } from './chat-request.ts';
import { type AnswerBlock, blocksOf, piecesOfBlocks, type StopReason, stopReasonOf } from './content.ts';

/* Messages, whole and streamed: the chat that hubs are asked for, and what of their answer is kept and committed to. */

/** The answer as it is kept: plain JSON in the words of the wire, so that a replay projects the same bytes again. */
export type KeptMessage = {
  readonly id: string;
  readonly model: string;
  readonly hub: string;
  readonly content: readonly AnswerBlock[];
  /** Null where the hub broke off. */
  readonly stop_reason: StopReason | null;
  /** Which text ended it; null where none did, or the hub does not say which of several. */
  readonly stop_sequence: string | null;
  readonly usage: Usage | null;
} & KeptEnd;

/** Where the first block of a kind stands, as the request has it, also within a result; null where there is none. */
function blockAt({ messages }: MessagesRequest, is: (block: MessageBlock) => boolean): string | null {
  const within = (blocks: readonly MessageBlock[], path: string): string | null => {
    for (const [index, block] of blocks.entries()) {
      const at = `${path}.${index}`;
      if (is(block)) return at;
      const inner = Array.isArray(block.content) ? within(block.content, `${at}.content`) : null;
      if (inner !== null) return inner;
      const { content = null } = (block.source ?? {}) as { readonly content?: readonly MessageBlock[] | string };
      const sourced = Array.isArray(content) ? within(content, `${at}.source.content`) : null;
      if (sourced !== null) return sourced;
    }
    return null;
  };
  for (const [index, { content }] of messages.entries()) {
    const at = within(content, `messages.${index}.content`);
    if (at !== null) return at;
  }
  return null;
}

const isImage = ({ type }: MessageBlock) => type === 'image';
const isPdf = ({ type, source }: MessageBlock) =>
  type === 'document' && (source as { readonly type?: string }).type === 'base64';

function abilityFor(request: MessagesRequest): MessageDemand['ability'] {
  if (blockAt(request, isPdf) !== null) return 'message_file';
  return blockAt(request, isImage) === null ? 'message' : 'message_vision';
}

/** `top_k` is no member of a chat. */
function demandOf(request: MessagesRequest): MessageDemand {
  return { ability: abilityFor(request), members: request.top_k === undefined ? [] : ['top_k'] };
}

/**
 * The same, before any claim. @throws invalid_request, naming the block, where it is shown to a model that cannot take it, or `top_k`,
 * which a hub may refuse to be passed; the router judges its own images.
 */
function requireAbility({ settings }: Hubs, request: MessagesRequest): MessageDemand {
  const { model } = request;
  const demand = demandOf(request);
  const pdf = blockAt(request, isPdf);
  if ((isRouted(model) && pdf === null) || candidatesFor(settings, model, demand).length > 0) return demand;
  const isServed = (part: Partial<MessageDemand>) =>
    candidatesFor(settings, model, { ability: 'message', members: [], ...part }).length > 0;
  if (!isRouted(model) && !isServed({})) throw new Refusal('unknown_model', { param: 'model' });
  const at = pdf ?? blockAt(request, isImage);
  if (at === null || isServed({ ability: demand.ability })) {
    const detail = `top_k: no hub that answers for ${model} takes this member.`;
    throw new Refusal('invalid_request', { param: 'top_k', detail });
  }
  const why = pdf === null ? 'looks at no images' : 'reads no PDFs';
  throw new Refusal('invalid_request', { param: at, detail: `${at}: the model ${model} ${why} here.` });
}

/** Who has not asked for thinking may not know what to do with a block of it. */
export function showsThinking({ thinking }: MessagesRequest): boolean {
  return thinking !== undefined && thinking.type !== 'disabled' && thinking.display !== 'omitted';
}

/** Hubs say at most that a text ended their answer: of one it is known which. */
function stopSequenceOf({ stop_sequences = [] }: MessagesRequest, stop_reason: StopReason | null): string | null {
  const [only = null, ...others] = stop_sequences;
  return stop_reason === 'stop_sequence' && others.length === 0 ? only : null;
}

/** What one message is sold for, whole or streamed. */
const messageTerms = {
  job_kind: 'completions',
  demand: demandOf,
  served: (request: MessagesRequest, hubs: Hubs) => requireAbility(hubs, request),
} as const;

const idOf = (task_id: string) => `msg_${task_id}`;

/** One message, sold as a chat completion is. */
export function messagePaid(hubs: Hubs): WorkThenSettle<MessagesRequest, KeptMessage> {
  return answerPaid<MessagesRequest, HubReply, KeptMessage>(hubs, {
    ...messageTerms,
    field: 'Mutation.createMessage',
    streamed_by: 'messageStream',
    modality: 'text',
    question: request => replyQuestion(askedOf(request)),
    usage: ({ usage }) => usage,
    answer({ value, by, task_id, asked }) {
      const [{ message, finish_reason }] = value.choices;
      const content = blocksOf(message, { thinking: showsThinking(asked) });
      const stop_reason = stopReasonOf(finish_reason, message);
      const stop_sequence = stopSequenceOf(asked, stop_reason);
      const answer = { id: idOf(task_id), ...by, content, stop_reason, stop_sequence, usage: value.usage };
      return { answer, output: content, output_member: 'content' };
    },
  });
}

/** One message, sold while it streams, as a streamed chat is: brought to its end in any case. */
export function messageStream(hubs: Hubs): Stream<MessagesRequest, KeptMessage> {
  return streamPaid<MessagesRequest, KeptMessage>(hubs, {
    ...messageTerms,
    field: 'Subscription.messageStream',
    chat: askedOf,
    begun: ({ by, task_id }) => ({
      id: idOf(task_id),
      ...by,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: null,
    }),
    answer({ asked, begun, reply: { message, began, reasoning_text, finish_reason, usage, end } }) {
      const content = blocksOf(message, { thinking: showsThinking(asked), began, reasoning_text });
      const stop_reason = end.kind === 'whole' ? stopReasonOf(finish_reason, message) : null;
      const stop_sequence = stopSequenceOf(asked, stop_reason);
      return {
        answer: { ...begun, content, stop_reason, stop_sequence, usage },
        output: content,
        output_member: 'content',
      };
    },
    piecesOf: ({ content }) => piecesOfBlocks(content),
  });
}
