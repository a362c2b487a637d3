import type { OutputToCommit } from '../../../../schema/output-commitment.ts';
import { reasoningMembersOf, reasoningText } from '../../../../schema/reasoning.ts';
import type { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import { formerArgs } from '../../../../schema/requests/forwarded/known-members.ts';
import { type AnswerEnd, endOf, type KeptEnd } from '../../../answer-end.ts';
import type { Piece } from '../../../piece.ts';
import type { Stream, WorkThenSettle } from '../../../sale.ts';
import { answerPaid, streamPaid } from '../answer.paid.ts';
import { demandOf, requireServed } from '../demand.ts';
import { type AssistantMessage, chatQuestion, type HubCompletion, isText } from '../hubs/chat.ts';
import { finishReasonIn } from '../hubs/finish-reason.ts';
import type { Hubs } from '../hubs/open.ts';

/* Paid chat completions, whole and streamed: what is sent to hubs, and which part of the answer is stored and committed to. */

/**
 * Output to which the receipt of a chat commits: its choices if they are text, otherwise the message with all its calls and reasoning. The
 * receipt policy states this rule. The output can be computed from the answer, whole or streamed.
 */
function committedOf(choices: KeptChat['choices']): OutputToCommit {
  const [choice] = choices;
  if (choice && !isText(choice.message)) return { output: choice.message };
  return { output: choices, output_member: 'choices' };
}

/** Pieces of a stream for a stored message. */
export function piecesOf({ content, tool_calls = [], refusal, ...message }: AssistantMessage): readonly Piece[] {
  const calls = tool_calls.map(({ id, function: called }, call) => ({ call, id, ...called }));
  const reasoning = reasoningMembersOf(message);
  const thought = Object.keys(reasoning).length === 0 ? [] : [{ reasoning, text: reasoningText(reasoning) }];
  return [...thought, ...(content ? [content] : []), ...(refusal === undefined ? [] : [{ refusal }]), ...calls];
}

/** The answer as it is stored: plain JSON with the member names of the wire, so that a replay returns the same bytes. */
export type KeptChat = {
  readonly id: string;
  /** Time of the answer in Unix seconds. */
  readonly created: number;
  /** Model that was requested from the hub, even if the caller named `svc/auto`. */
  readonly model: string;
  readonly hub: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: AssistantMessage;
    readonly finish_reason: string | null;
  }[];
  readonly usage: HubCompletion['usage'];
} & KeptEnd;

/** Terms of one chat completion, whole or streamed. */
const chatTerms = {
  job_kind: 'completions',
  former_args: formerArgs,
  demand: (request: ChatRequest) => demandOf(request, request.messages),
  served: (request: ChatRequest, hubs: Hubs) => requireServed(hubs, request, request.messages, 'messages'),
} as const;

const idOf = (task_id: string) => `chatcmpl-${task_id}`;

/** Sells one chat completion at the fixed price. The hub answers first, and a call without an answer is not charged. */
export function completionPaid(hubs: Hubs): WorkThenSettle<ChatRequest, KeptChat> {
  return answerPaid<ChatRequest, HubCompletion, KeptChat>(hubs, {
    ...chatTerms,
    field: 'Mutation.createChatCompletion',
    streamed_by: 'chatCompletionStream',
    modality: 'text',
    question: chatQuestion,
    usage: ({ usage }) => usage,
    answer({ value, by, task_id, at }) {
      const choices = value.choices.map(choice => ({ ...choice, finish_reason: finishReasonIn(choice.finish_reason) }));
      return { answer: { id: idOf(task_id), created: at, ...by, ...value, choices }, ...committedOf(choices) };
    },
  });
}

/**
 * Sells one chat completion while it streams. It is charged when the hub has begun to answer, and is finished and recorded even if the
 * client disconnects.
 */
export function completionStream(hubs: Hubs): Stream<ChatRequest, KeptChat> {
  return streamPaid<ChatRequest, KeptChat>(hubs, {
    ...chatTerms,
    field: 'Subscription.chatCompletionStream',
    chat: request => request,
    beginAnswer: ({ by, task_id, at }) => ({ id: idOf(task_id), created: at, ...by, choices: [], usage: null }),
    answer({ begun, reply: { message, finish_reason, usage } }) {
      const choices = [{ index: 0, message, finish_reason: finishReasonIn(finish_reason) }];
      return { answer: { ...begun, choices, usage }, ...committedOf(choices) };
    },
    piecesOf: answer => answer.choices.flatMap(({ message }) => piecesOf(message)),
  });
}

/**
 * Finish reason in stored answers of former versions that broke off. It is this service's word, not the hub's; those versions stored no
 * other sign of the break.
 */
const ENDED_BY_BREAK = 'error';

export function chatEndOf(answer: KeptChat): AnswerEnd {
  return endOf(
    answer,
    answer.choices.some(({ finish_reason }) => finish_reason === ENDED_BY_BREAK),
  );
}
