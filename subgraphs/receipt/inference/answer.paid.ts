import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { TaskId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { commitTo, type OutputToCommit } from '../../../schema/output-commitment.ts';
import { type Intent, intentOf, type SvcOptions } from '../../../schema/requests/paid-work.ts';
import { AUTO_MODEL } from '../../../schema/route-words.ts';
import { type AnswerEnd, type KeptEnd, keptEnd, WHOLE } from '../../answer-end.ts';
import type { Context } from '../../context.ts';
import type { Piece } from '../../piece.ts';
import {
  CALL_KEYS,
  type JobKind,
  omissionOf,
  type Payer,
  type Stream,
  type Work,
  type WorkBounds,
  type WorkThenSettle,
} from '../../sale.ts';
import { answeredRoute } from './answered-model.ts';
import {
  type Candidate,
  candidatesFor,
  type Demand,
  isRouted,
  type Modality,
  possibleModels,
  ROUTER,
  wireModel,
} from './catalogue.ts';
import { unofferedModel } from './demand.ts';
import { HubFailed } from './hub-failed.ts';
import type { Question } from './hubs/ask.ts';
import type { HubRequest, Usage } from './hubs/chat.ts';
import type { HubRoute, Hubs } from './hubs/open.ts';
import type { StreamedReply } from './hubs/stream.ts';
import { providerCogs } from './provider-cogs.ts';

/* Sells the answer of a model, whole or streamed. This file has what all kinds of answers share; each kind declares only how it differs. */

/** Terms that all calls for an answer of a model share: price, networks, and the keys that are accepted instead of a payment. */
export const callTerms = {
  price_atomic: limits.call_price_atomic,
  networks: ['base', 'solana'],
  reserves: true,
  stand_ins: CALL_KEYS,
  intent: intentOf,
} as const;

/** The model that a request names, and the options of this service in the request. */
export interface RoutePreference extends SvcOptions {
  readonly model: string;
}

type Route = Omit<HubRoute, keyof WorkBounds>;

/** Ids of the models that may answer a call, for the check of its book's policy. */
export function modelsFor({ settings }: Hubs, model: string, demand: Demand): readonly string[] {
  if (isRouted(model)) return [model];
  return possibleModels(settings, model, demand);
}

/**
 * Ids of the models that svc/auto could choose for a request. A grant of svc/auto allows these. It allows a model that the call names only
 * if svc/auto could choose it.
 */
export function autoModels(hubs: Hubs, model: string, demand: Demand): readonly string[] {
  if (model === AUTO_MODEL) return modelsFor(hubs, AUTO_MODEL, demand);
  return candidatesFor(hubs.settings, AUTO_MODEL, demand).map(({ model }) => model);
}

/** Route of a call with the limits of its work: the models that its book allows, its deadline and its cancelation. */
export function boundRoute(
  hubs: Hubs,
  wanted: RoutePreference,
  demand: Demand,
  context: Context,
  { allowed_models, ...bounds }: WorkBounds,
): HubRoute {
  return { ...routeOf(hubs, wanted, demand, context, allowed_models), ...bounds };
}

/**
 * Checks before any claim that a model can answer. A model that the router is known not to have is refused here, because callers could
 * otherwise try out router keys for free. @throws unknown_model, invalid_request
 */
export async function admitRoute(hubs: Hubs, wanted: RoutePreference, demand: Demand, context: Context): Promise<void> {
  const { candidates } = routeOf(hubs, wanted, demand, context);
  const [routed] = candidates.filter(({ hub }) => hub === ROUTER);
  if (routed && !(await hubs.routerMayHave(wireModel(routed)))) throw new Refusal('unknown_model', { param: 'model' });
}

/**
 * Route of a call without the limits of its work.
 * @throws unknown_model if no hub can answer; invalid_request if a router model is named without X-Router-Key
 */
export function routeOf(
  hubs: Hubs,
  { model, svc }: RoutePreference,
  demand: Demand,
  context: Context,
  allowed_models: readonly string[] | null = null,
): Route {
  if (isRouted(model)) return routedTo(hubs, model, context);
  const candidates = candidatesFor(hubs.settings, model, demand, allowed_models);
  if (candidates.length === 0) throw unofferedModel(hubs, model, demand);
  return { candidates, failover: svc?.failover ?? true };
}

/**
 * The router is the only candidate, since no hub can replace it. The router itself reports to the owner of a key if it does not have the
 * model.
 */
function routedTo({ routes }: Hubs, model: string, { router_key }: Context): Route {
  if (!routes) throw new Refusal('unknown_model', { param: 'model' });
  if (!router_key) {
    const detail = 'X-Router-Key is required: a router/* model is called with your own key for the router.';
    throw new Refusal('invalid_request', { param: 'X-Router-Key', detail });
  }
  return { candidates: [{ hub: ROUTER, model }], router_key };
}

/** Terms of one kind of answer, whole or streamed. */
interface AnswerTerms<A> {
  readonly job_kind: JobKind;
  /** What a model and its hub must support. */
  demand(asked: A): Demand;
  /** Returns the demand, or throws a Refusal if no model supports the request. Called before any claim. Absent: `demand` is used. */
  served?(asked: A, hubs: Hubs): Demand;
  former_args?(asked: A): JsonObject | null;
}

function termsOf<A extends RoutePreference & Intent>(
  hubs: Hubs,
  { job_kind, demand, served = demand, former_args }: AnswerTerms<A>,
) {
  return {
    ...callTerms,
    job_kind,
    model: ({ model }: A) => model,
    models: (asked: A) => modelsFor(hubs, asked.model, demand(asked)),
    auto_models: (asked: A) => autoModels(hubs, asked.model, demand(asked)),
    ...(former_args && { former_args }),
    admit: async (asked: A, _payer: Payer | null, context: Context) =>
      admitRoute(hubs, asked, served(asked, hubs), context),
  };
}

/** The part of a hub's answer that is passed on, whole or streamed. */
interface AnswerToSell<T extends JsonObject> {
  readonly by: Candidate;
  /** Model that the hub names in its answer. Null if it names none. */
  readonly answered_model: string | null;
  /** Tokens as the hub counted them. Null if it did not count them. */
  readonly usage: Usage | null;
  readonly sold: SoldOutput<T>;
  readonly end: AnswerEnd;
}

/** The answer that is stored for redelivery, and the output to which its receipt commits. */
type SoldOutput<T extends JsonObject> = OutputToCommit & Pick<Work<T>, 'answer' | 'fetched_there'>;

/** Work of an answer. An answer that broke off is delivered too, but its receipt does not commit to it. */
function workOf<T extends JsonObject>(
  { settings }: Hubs,
  { by, answered_model, usage, sold: { answer, fetched_there = false, ...output }, end }: AnswerToSell<T>,
): Work<T> {
  const committed = end.kind === 'whole' ? commitTo(output) : { output_sha256: null };
  return {
    answer,
    fetched_there,
    route: answeredRoute(settings, by, answered_model),
    ...committed,
    omission_rule: end.kind === 'whole' ? null : omissionOf[end.by],
    provider_cogs: providerCogs(settings, by, usage),
    end,
  };
}

/** Hub, model, task and time of an answer. */
interface AnswerHead {
  readonly by: Candidate;
  readonly task_id: TaskId;
  /** Time of the answer in Unix seconds. */
  readonly at: number;
}

function headOf({ hub, model }: Candidate, task_id: TaskId, { clock }: Context): AnswerHead {
  return { by: { hub, model }, task_id, at: Math.floor(clock.now_ms() / 1000) };
}

/** A hub's whole answer, with its request. */
interface AnswerInHand<A, V> extends AnswerHead {
  readonly asked: A;
  readonly value: V;
}

interface SoldAnswer<A, V extends object, T extends JsonObject> extends Omit<AnswerTerms<A>, 'demand'> {
  readonly field: `Mutation.${string}`;
  /** Name of the field that streams the answer to the same request. Absent if there is none. */
  readonly streamed_by?: string;
  readonly modality: Modality;
  /** Demand of the request. Absent: any model of the modality can answer it. */
  demand?(asked: A): Demand;
  question(asked: A, context: Context): Question<V>;
  /** Tokens as the hub counted them. Absent or null if it does not count them. */
  usage?(value: V): Usage | null;
  answer(in_hand: AnswerInHand<A, V>): SoldOutput<T>;
}

/** Sells one answer of a hub at the fixed price. The hub answers first, and a call without an answer is not charged. */
export function answerPaid<A extends JsonObject & RoutePreference & Intent, V extends object, T extends JsonObject>(
  hubs: Hubs,
  { field, streamed_by, modality, demand = () => modality, ...sold }: SoldAnswer<A, V, T>,
): WorkThenSettle<A, T> {
  const terms = termsOf(hubs, { ...sold, demand });
  return {
    ...terms,
    order: 'work_then_settle',
    field,
    async admit(asked, payer, context) {
      if (streamed_by !== undefined) refuseStream(asked, streamed_by);
      await terms.admit(asked, payer, context);
    },
    async work(asked, task_id, context, bounds) {
      const route = boundRoute(hubs, asked, demand(asked), context, bounds);
      const outcome = await hubs.put(sold.question(asked, context), route);
      if (outcome.kind === 'failed') throw new HubFailed(outcome.attempts);
      const { value, answered_model } = outcome;
      const head = headOf(outcome, task_id, context);
      const usage = sold.usage?.(value) ?? null;
      const answer = sold.answer({ ...head, asked, value });
      return workOf(hubs, { by: head.by, answered_model, usage, sold: answer, end: WHOLE });
    },
  };
}

/** @throws invalid_request if the request is for a stream, which only the field `elsewhere` returns */
function refuseStream({ stream }: JsonObject, elsewhere: string): void {
  if (!stream) return;
  const detail = `stream must be false for this field. Use ${elsewhere} to stream the answer.`;
  throw new Refusal('invalid_request', { param: 'stream', detail });
}

/** A hub's streamed answer, complete or broken off, with its request. `begun` is the answer that was made when the stream began. */
interface StreamedAnswer<A, T> {
  readonly asked: A;
  readonly task_id: TaskId;
  readonly begun: T;
  readonly reply: StreamedReply;
}

interface SoldStream<A, T extends JsonObject> extends AnswerTerms<A> {
  readonly field: `Subscription.${string}`;
  /** The chat that is sent to hubs. */
  chat(asked: A): HubRequest;
  /** Answer without its content, made when the stream begins. */
  beginAnswer(head: AnswerHead): T;
  /** The answer to store. `streamPaid` adds how it ended if it broke off. */
  answer(streamed: StreamedAnswer<A, T>): SoldOutput<T>;
  piecesOf(answer: T): readonly Piece[];
}

/**
 * Sells one answer of a hub while it streams. It is charged once the hub has begun to answer, and is finished and recorded even if the
 * client disconnects.
 */
export function streamPaid<A extends JsonObject & RoutePreference & Intent, T extends JsonObject & KeptEnd>(
  hubs: Hubs,
  sold: SoldStream<A, T>,
): Stream<A, T> {
  return {
    ...termsOf(hubs, sold),
    order: 'stream',
    field: sold.field,
    async open(asked, task_id, context, bounds) {
      const route = boundRoute(hubs, asked, sold.demand(asked), context, bounds);
      const outcome = await hubs.stream(sold.chat(asked), route);
      if (outcome.kind === 'failed') throw new HubFailed(outcome.attempts);
      const { pieces, cancel, reply: replied } = outcome.listening;
      const head = headOf(outcome, task_id, context);
      const { by } = head;
      const begun = sold.beginAnswer(head);
      const spoken = () => {
        const reply = replied();
        const { answered_model, usage, end } = reply;
        const { answer, ...output } = sold.answer({ asked, task_id, begun, reply });
        const kept = { ...output, answer: { ...answer, ...keptEnd(end) } };
        return workOf(hubs, { by, answered_model, usage, sold: kept, end });
      };
      return { route: by, begun, pieces, cancel, finishedWork: spoken };
    },
    piecesOf: sold.piecesOf,
  };
}
