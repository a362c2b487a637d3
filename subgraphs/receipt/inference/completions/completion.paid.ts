import { Refusal } from '../../../../schema/errors.ts';
import { commitTo, type OutputToCommit } from '../../../../schema/output-commitment.ts';
import { reasoningMembersOf, reasoningText } from '../../../../schema/reasoning.ts';
import type { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import { formerArgs } from '../../../../schema/requests/forwarded/known-members.ts';
import type { Piece } from '../../../piece.ts';
import { omissionOf, type Stream, type Work, type WorkThenSettle } from '../../../sale.ts';
import { admitRoute, answerPaid, autoModels, boundRoute, callTerms, hubFailed, modelsFor } from '../answer.paid.ts';
import { answeredRoute } from '../answered-model.ts';
import { broke_off_before } from '../broken-stream.ts';
import { demandOf, requireServed } from '../demand.ts';
import type { BrokeOff } from '../hubs/broke-off.ts';
import { type AssistantMessage, chatQuestion, type HubCompletion, isText } from '../hubs/chat.ts';
import { finishReasonIn } from '../hubs/finish-reason.ts';
import type { HeardReply, Hubs } from '../hubs/open.ts';
import { providerCogs } from '../provider-cogs.ts';

/**
 * What the receipt of a chat commits to: its choices where they are text, as ever, and else the message, with all that it
 * calls and thought. The receipt policy says so, and anybody can compute it from the answer, whole or streamed.
 */
function committedOf(choices: KeptChat['choices']): OutputToCommit {
  const [choice] = choices;
  if (choice && !isText(choice.message)) return { output: choice.message };
  return { output: choices, output_member: 'choices' };
}

/** A message that was kept, as pieces of a stream. */
export function piecesOf({ content, tool_calls = [], refusal, ...message }: AssistantMessage): readonly Piece[] {
  const calls = tool_calls.map(({ id, function: called }, call) => ({ call, id, ...called }));
  const reasoning = reasoningMembersOf(message);
  const thought = Object.keys(reasoning).length === 0 ? [] : [{ reasoning, text: reasoningText(reasoning) }];
  return [...thought, ...(content ? [content] : []), ...(refusal === undefined ? [] : [{ refusal }]), ...calls];
}

/** The answer as it is kept: plain JSON in the words of the wire, so that a replay projects the same bytes again. */
export type KeptChat = {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  /** The model that the hub was asked for, whatever alias the caller named. */
  readonly model: string;
  readonly hub: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: AssistantMessage;
    readonly finish_reason: string | null;
  }[];
  readonly usage: HubCompletion['usage'];
  /** Left out of an answer that is whole. */
  readonly broke_off?: BrokeOff;
};

/** What one chat completion is sold for, whole or streamed. */
const chatTerms = {
  ...callTerms,
  job_kind: 'completions',
  model: ({ model }: ChatRequest) => model,
  former_args: formerArgs,
} as const;

/** One chat completion, sold at the fixed price: the hub answers first, and only an answer in hand is charged. */
export function completionPaid(hubs: Hubs): WorkThenSettle<ChatRequest, KeptChat> {
  const sold = answerPaid<ChatRequest, HubCompletion, KeptChat>(hubs, {
    field: 'Mutation.createChatCompletion',
    job_kind: chatTerms.job_kind,
    modality: 'text',
    demand: request => demandOf(request, request.messages),
    question: chatQuestion,
    usage: ({ usage }) => usage,
    answer({ value, by, task_id, at }) {
      const choices = value.choices.map(choice => ({ ...choice, finish_reason: finishReasonIn(choice.finish_reason) }));
      return {
        answer: { id: `chatcmpl-${task_id}`, created: at, ...by, ...value, choices },
        ...committedOf(choices),
      };
    },
  });
  return {
    ...sold,
    former_args: formerArgs,
    async admit(request, _payer, context) {
      requireWhole(request, 'chatCompletionStream');
      await admitRoute(hubs, request, requireServed(hubs, request, request.messages, 'messages'), context);
    },
  };
}

/** @throws invalid_request where an answer in many pieces is asked for, which another field gives. */
export function requireWhole({ stream }: { readonly stream?: boolean }, elsewhere: string): void {
  if (!stream) return;
  const detail = `stream: this field answers in one piece, ${elsewhere} in many.`;
  throw new Refusal('invalid_request', { param: 'stream', detail });
}

/** How answers ended that broke off and were kept before they said so: not by a word of their hub's. */
const ENDED_BY_BREAK = 'error';

/** Why a kept answer is not whole; null where it is. */
export function chatBreakOf({ broke_off, choices }: KeptChat): BrokeOff | null {
  return broke_off ?? (choices.some(({ finish_reason }) => finish_reason === ENDED_BY_BREAK) ? broke_off_before : null);
}

/** One chat completion, sold while it streams: charged when the hub has begun, brought to its end in any case. */
export function completionStream(hubs: Hubs): Stream<ChatRequest, KeptChat> {
  return {
    ...chatTerms,
    order: 'stream',
    field: 'Subscription.chatCompletionStream',
    models: request => modelsFor(hubs, request.model, demandOf(request, request.messages)),
    auto_models: request => autoModels(hubs, request.model, demandOf(request, request.messages)),
    async admit(request, _payer, context) {
      await admitRoute(hubs, request, requireServed(hubs, request, request.messages, 'messages'), context);
    },
    async open(request, task_id, context, bounds) {
      const route = boundRoute(hubs, request, demandOf(request, request.messages), context, bounds);
      const outcome = await hubs.stream(request, route);
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, listening } = outcome;
      const created = Math.floor(context.clock.now_ms() / 1000);
      const begun: KeptChat = { id: `chatcmpl-${task_id}`, created, model, hub, choices: [], usage: null };
      const { pieces, cancel } = listening;
      return { route: { hub, model }, begun, pieces, cancel, spoken: () => workOf(hubs, begun, listening.reply()) };
    },
    piecesOf: answer => answer.choices.flatMap(({ message }) => piecesOf(message)),
  };
}

/** An answer is delivered as far as it came; the receipt commits to it only where it came to its end. */
function workOf(
  { settings }: Hubs,
  begun: KeptChat,
  { message, finish_reason, usage, answered_model, broken }: HeardReply,
): Work<KeptChat> {
  const route = { hub: begun.hub, model: begun.model };
  const choices = [{ index: 0, message, finish_reason: finishReasonIn(finish_reason) }];
  return {
    answer: { ...begun, choices, usage, ...(broken && { broke_off: broken }) },
    route: answeredRoute(settings, route, answered_model),
    provider_cogs: providerCogs(settings, route, usage),
    ...(broken ? { output_sha256: null } : commitTo(committedOf(choices))),
    omission_rule: broken && omissionOf[broken.by],
    broke_off: broken?.by ?? null,
  };
}
