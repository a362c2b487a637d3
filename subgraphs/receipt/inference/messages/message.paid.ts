import { Refusal } from '../../../../schema/errors.ts';
import type { MessageBlock } from '../../../../schema/requests/message-blocks.ts';
import type { MessagesRequest } from '../../../../schema/requests/messages.ts';
import type { KeptEnd } from '../../../answer-end.ts';
import type { Stream, WorkThenSettle } from '../../../sale.ts';
import { answerPaid, streamPaid } from '../answer.paid.ts';
import { type Ability, candidatesFor, isRouted, type MemberDemand } from '../catalogue.ts';
import { invalidRequest, memberNotServed } from '../demand.ts';
import type { HubBlock } from '../hubs/anthropic.ts';
import type { Question } from '../hubs/ask.ts';
import type { Usage } from '../hubs/chat.ts';
import { discreetReply, namesOfTools } from '../hubs/discretion.ts';
import type { Hubs } from '../hubs/open.ts';
import { type HubReply, replyQuestion } from '../responses/output.ts';
import { chatRequestOf } from './chat-request.ts';
import {
  type AnswerBlock,
  blocksOf,
  piecesOfBlocks,
  type ShownThinking,
  type StopReason,
  stopReasonOf,
} from './content.ts';
import { type UnknownInMessage, unknownInMessage } from './unknown-members.ts';

/* Paid messages, whole and streamed: which hubs can answer one, and which part of the answer is stored and committed to. */

/** The answer as it is stored: plain JSON with the member names of the wire, so that a replay returns the same bytes. */
export type KeptMessage = {
  readonly id: string;
  readonly model: string;
  readonly hub: string;
  readonly content: readonly AnswerBlock[];
  /** Null if the answer broke off. */
  readonly stop_reason: StopReason | null;
  /** Stop sequence that ended the answer. Null if none did, or if the hub does not say which. */
  readonly stop_sequence: string | null;
  readonly usage: Usage | null;
} & KeptEnd;

/** Path of the first block in the request for which `is` returns true, also within tool results and documents. Null if there is none. */
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

function abilityFor(request: MessagesRequest): Extract<Ability, `message${string}`> {
  if (blockAt(request, isPdf) !== null) return 'message_file';
  return blockAt(request, isImage) === null ? 'message' : 'message_vision';
}

/** `top_k` is a member of messages but not of OpenAI's chats. For a hub of that dialect it counts as unknown, so `forward` applies. */
const TOP_K: UnknownInMessage = { name: 'top_k', at: 'top_k', in_chat: true };

function demandOf(request: MessagesRequest): MemberDemand {
  return { ability: abilityFor(request), ...membersOf(unknownInMessage(request), request.top_k !== undefined) };
}

function membersOf(
  unknown: readonly UnknownInMessage[],
  has_top_k: boolean,
): Pick<MemberDemand, 'members' | 'as_chat'> {
  const members = [...new Set(unknown.map(({ name }) => name))];
  const as_chat = has_top_k ? [...members, TOP_K.name] : members;
  return { members, as_chat: unknown.every(({ in_chat }) => in_chat) ? as_chat : null };
}

/**
 * Demand of a message, checked before any claim so that no part of a request is dropped silently. Messages become chats for the router,
 * which decides itself which images it accepts.
 * @throws invalid_request, naming the block that the model does not accept, or the member that no hub of that model accepts; unknown_model
 */
function requireAbility({ settings }: Hubs, request: MessagesRequest): MemberDemand {
  const { model } = request;
  const demand = demandOf(request);
  const pdf = blockAt(request, isPdf);
  const is_routed = isRouted(model);
  if (is_routed ? pdf === null && demand.as_chat !== null : isServedBy(settings, model, demand)) return demand;
  const isServed = (part: Partial<MemberDemand>) =>
    isServedBy(settings, model, { ability: 'message', members: [], as_chat: [], ...part });
  if (!is_routed && !isServed({})) throw new Refusal('unknown_model', { param: 'model' });
  const { ability } = demand;
  const at = pdf ?? blockAt(request, isImage);
  if (at !== null && (is_routed ? pdf !== null : !isServed({ ability }))) {
    const why = pdf === null ? 'does not accept images' : 'does not accept PDFs';
    throw invalidRequest(at, `the model ${model} ${why} here`);
  }
  const unknown = unknownInMessage(request);
  throw memberNotServed(model, request.top_k === undefined ? unknown : [...unknown, TOP_K], member => {
    const asked = member === TOP_K ? membersOf([], true) : membersOf([member], false);
    return is_routed ? asked.as_chat !== null : isServed({ ability, ...asked });
  });
}

function isServedBy(settings: Hubs['settings'], model: string, demand: MemberDemand): boolean {
  return candidatesFor(settings, model, demand).length > 0;
}

/**
 * The part of the thinking to show. A caller without `thinking` may be unable to read thinking blocks. A caller that omits the text needs
 * the signature to send the block back.
 */
export function shownThinking({ thinking }: MessagesRequest): ShownThinking {
  if (thinking === undefined || thinking.type === 'disabled') return 'hidden';
  return thinking.display === 'omitted' ? 'signed' : 'whole';
}

/** A hub's answer, and the blocks in which the hub sent it. `blocks` is null if the hub's dialect has none. */
type MessageReply = HubReply & { readonly blocks: readonly HubBlock[] | null };

function messageQuestion(request: MessagesRequest): Question<MessageReply> {
  const asked = chatRequestOf(request);
  const question = replyQuestion(asked);
  return {
    ...question,
    read(answer, blocks) {
      const reply = question.read(answer);
      return reply && { ...reply, blocks: blocks ?? null };
    },
    discreet: (reply, tells) => discreetReply(reply, { tells, tools: namesOfTools(asked.tools) }),
  };
}

/** Stop sequence that ended an answer. Hubs report at most that there was one, so it is known only if the request has exactly one. */
function stopSequenceOf({ stop_sequences = [] }: MessagesRequest, stop_reason: StopReason | null): string | null {
  const [only = null, ...others] = stop_sequences;
  return stop_reason === 'stop_sequence' && others.length === 0 ? only : null;
}

/** Terms of one message, whole or streamed. */
const messageTerms = {
  job_kind: 'completions',
  demand: demandOf,
  served: (request: MessagesRequest, hubs: Hubs) => requireAbility(hubs, request),
} as const;

const idOf = (task_id: string) => `msg_${task_id}`;

/** Sells one message at the fixed price. The hub answers first, and a call without an answer is not charged. */
export function messagePaid(hubs: Hubs): WorkThenSettle<MessagesRequest, KeptMessage> {
  return answerPaid<MessagesRequest, MessageReply, KeptMessage>(hubs, {
    ...messageTerms,
    field: 'Mutation.createMessage',
    streamed_by: 'messageStream',
    modality: 'text',
    question: messageQuestion,
    usage: ({ usage }) => usage,
    answer({ value, by, task_id, asked }) {
      const [{ message, finish_reason }] = value.choices;
      const content = blocksOf(message, { thinking: shownThinking(asked), blocks: value.blocks });
      const stop_reason = stopReasonOf(finish_reason, message);
      const stop_sequence = stopSequenceOf(asked, stop_reason);
      const answer = { id: idOf(task_id), ...by, content, stop_reason, stop_sequence, usage: value.usage };
      return { answer, output: content, output_member: 'content' };
    },
  });
}

/**
 * Sells one message while it streams. It is charged when the hub has begun to answer, and is finished and recorded even if the client
 * disconnects.
 */
export function messageStream(hubs: Hubs): Stream<MessagesRequest, KeptMessage> {
  return streamPaid<MessagesRequest, KeptMessage>(hubs, {
    ...messageTerms,
    field: 'Subscription.messageStream',
    chat: chatRequestOf,
    beginAnswer: ({ by, task_id }) => ({
      id: idOf(task_id),
      ...by,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: null,
    }),
    answer({ asked, begun, reply: { message, began, blocks, reasoning_text, finish_reason, usage, end } }) {
      const content = blocksOf(message, { thinking: shownThinking(asked), began, blocks, reasoning_text });
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
