import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type ErrorCode, errors, Refusal } from '../../../schema/errors.ts';
import type { TaskId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { commitTo, type OutputToCommit } from '../../../schema/output-commitment.ts';
import { type Intent, intentOf, type SvcOptions } from '../../../schema/requests/paid-work.ts';
import { AUTO_MODEL } from '../../../schema/route-words.ts';
import type { Context } from '../../context.ts';
import { CALL_KEYS, type JobKind, type Work, type WorkBounds, type WorkThenSettle } from '../../sale.ts';
import { answeredRoute } from './answered-model.ts';
import {
  type Candidate,
  candidatesFor,
  type Demand,
  isRouted,
  type Modality,
  modelsMeant,
  ROUTER,
  wireModel,
} from './catalogue.ts';
import { unofferedModel } from './demand.ts';
import type { Question } from './hubs/ask.ts';
import type { Usage } from './hubs/chat.ts';
import type { HubAttempt, HubRoute, Hubs } from './hubs/open.ts';
import type { HubError, RequestStatus } from './hubs/verdict.ts';
import { providerCogs } from './provider-cogs.ts';

/** What every call of a paid door costs, wherever it is paid. */
export const callTerms = {
  price_atomic: limits.call_price_atomic,
  networks: ['base', 'solana'],
  reserves: true,
  stand_ins: CALL_KEYS,
  intent: intentOf,
} as const;

/** What a request says of who is to answer it. */
export interface Wanted extends SvcOptions {
  readonly model: string;
}

type Route = Omit<HubRoute, keyof WorkBounds>;

/** Ids of the models one of which would answer: what a book is asked about. */
export function modelsFor({ settings }: Hubs, model: string, demand: Demand): readonly string[] {
  if (isRouted(model)) return [model];
  return modelsMeant(settings, model, demand);
}

/**
 * Ids of those that svc/auto may choose among for the same: what a grant of svc/auto allows. Where the call names a model itself, it
 * is allowed only if svc/auto would take that one by itself.
 */
export function autoModels(hubs: Hubs, model: string, demand: Demand): readonly string[] {
  if (model === AUTO_MODEL) return modelsFor(hubs, AUTO_MODEL, demand);
  return candidatesFor(hubs.settings, AUTO_MODEL, demand).map(({ model: chosen }) => chosen);
}

/** Who is asked, within what its book allows, and until when or until it is canceled. */
export function boundRoute(
  hubs: Hubs,
  wanted: Wanted,
  demand: Demand,
  context: Context,
  { allowed_models, ...bounds }: WorkBounds,
): HubRoute {
  return { ...routeOf(hubs, wanted, demand, context, allowed_models), ...bounds };
}

/**
 * Before any claim: whether anybody can be asked. A model that the router does not list is not asked for there, or its keys
 * could be tried out for nothing. @throws unknown_model, invalid_request
 */
export async function admitRoute(hubs: Hubs, wanted: Wanted, demand: Demand, context: Context): Promise<void> {
  const { candidates } = routeOf(hubs, wanted, demand, context);
  const [routed] = candidates.filter(({ hub }) => hub === ROUTER);
  if (routed && !(await hubs.routerMayHave(wireModel(routed)))) throw new Refusal('unknown_model', { param: 'model' });
}

/** Who may be asked for it. @throws where nobody can be. */
export function routeOf(
  hubs: Hubs,
  { model, svc }: Wanted,
  demand: Demand,
  context: Context,
  allowed_models: readonly string[] | null = null,
): Route {
  if (isRouted(model)) return routedTo(hubs, model, context);
  const candidates = candidatesFor(hubs.settings, model, demand, allowed_models);
  if (candidates.length === 0) throw unofferedModel(hubs, model, demand);
  return { candidates, failover: svc?.failover ?? true };
}

/** Nobody stands in for the router: which models it has it says itself, to whom the key is. */
function routedTo({ routes }: Hubs, model: string, { router_key }: Context): Route {
  if (!routes) throw new Refusal('unknown_model', { param: 'model' });
  if (!router_key) {
    const detail = 'X-Router-Key: a router/* model is answered under your own key for that router.';
    throw new Refusal('invalid_request', { param: 'X-Router-Key', detail });
  }
  return { candidates: [{ hub: ROUTER, model }], router_key };
}

export function hubFailed(attempts: readonly HubAttempt[]): Refusal {
  return new HubFailed(attempts);
}

/** No hub answered. Nothing was charged; the payment stays usable. */
export class HubFailed extends Refusal {
  /** What of the call is at fault: the request, or the key that it brought for the router. Null where neither is known to be. */
  readonly by_caller: 'request' | 'router_key' | null;
  /** The caller is told that the hubs take no more for now. */
  readonly crowded: boolean;

  constructor(attempts: readonly HubAttempt[]) {
    const answer = answerOf(attempts);
    super(answer.code, {
      detail: answer.detail,
      facts: { charged: false, attempts: attempts.map(({ hub, reason }) => ({ hub, reason })), ...answer.facts },
    });
    const refused_by_router = attempts.length > 0 && attempts.every(isRefusedByRouter);
    this.by_caller = answer.by_caller ?? (refused_by_router ? 'router_key' : null);
    this.crowded = answer.crowded ?? false;
  }
}

/** A 4xx is the caller's fault (RFC 9110 §15.5), but for 408, which says that the router was slow to be asked, and 429. */
function isRefusedByRouter({ hub, reason }: HubAttempt): boolean {
  return hub === ROUTER && /^status_4\d\d$/.test(reason) && reason !== 'status_408' && reason !== 'status_429';
}

interface HubFailedAnswer {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly facts?: JsonObject;
  readonly by_caller?: 'request' | 'router_key';
  readonly crowded?: true;
}

const requestCodes = {
  400: 'hub_rejected_request',
  403: 'hub_rejected_content',
  413: 'hub_request_too_large',
  422: 'hub_unprocessable_request',
} as const satisfies Record<RequestStatus, ErrorCode>;

/** What a caller is told: the verdict on its request or key first, then how long the hubs take no more. */
function answerOf(attempts: readonly HubAttempt[]): HubFailedAnswer {
  const verdicts = attempts.flatMap(({ verdict }) => verdict ?? []);
  const judged = verdicts.find(({ kind }) => kind !== 'crowded');
  if (judged?.kind === 'too_large')
    return { code: 'answer_too_large', detail: judged.detail, facts: { param: judged.param }, by_caller: 'request' };
  if (judged?.kind === 'request') {
    const code = requestCodes[judged.status];
    return { ...refusedBy(code, judged.error), by_caller: 'request' };
  }
  if (judged?.kind === 'key') {
    const { error, hub_status } = judged;
    // Also a 402 of the router's: a client of x402 would take it for our own price, and pay again.
    const { facts, ...said } = refusedBy(hub_status === 401 ? 'router_key_invalid' : 'router_refused', error);
    return { ...said, facts: { ...facts, hub_status }, by_caller: 'router_key' };
  }
  const crowded = verdicts.filter(verdict => verdict.kind === 'crowded');
  const [first] = crowded;
  if (first === undefined)
    return { code: 'hub_failed', detail: 'No model hub answered. Nothing was charged; the payment stays usable.' };
  const waits = crowded.flatMap(({ retry_after_seconds }) => retry_after_seconds ?? []);
  const code = crowded.some(({ status }) => status === 429) ? 'hub_rate_limited' : 'hub_overloaded';
  return {
    code,
    detail: `${errors[code][1]} Nothing was charged; the payment stays usable.`,
    facts: waits.length === 0 ? {} : { retry_after_seconds: Math.min(...waits) },
    crowded: true,
  };
}

function refusedBy(code: ErrorCode, { message, ...words }: HubError) {
  return { code, detail: message ?? errors[code][1], facts: { hub_error: words } };
}

/** A hub's answer, whose it is, and when it came. */
export interface AnswerInHand<A, V> {
  readonly asked: A;
  readonly value: V;
  readonly by: Candidate;
  readonly task_id: TaskId;
  /** Unix seconds. */
  readonly at: number;
}

interface SoldAnswer<A, V extends object, T extends JsonObject> {
  readonly field: `Mutation.${string}`;
  readonly job_kind: JobKind;
  readonly modality: Modality;
  /** What whoever answers must be able to do and take; without it, what answers in its modality do. */
  demand?(asked: A): Demand;
  question(asked: A, context: Context): Question<V>;
  /** The tokens that its hub counted. */
  usage?(value: V): Usage | null;
  /** What is kept of it for redelivery, and what of that the receipt commits to. */
  answer(in_hand: AnswerInHand<A, V>): OutputToCommit & Pick<Work<T>, 'answer' | 'fetched_there'>;
}

/** One answer of a hub, sold at the fixed price: the hub answers first, and only an answer in hand is charged. */
export function answerPaid<A extends JsonObject & Wanted & Intent, V extends object, T extends JsonObject>(
  hubs: Hubs,
  { field, job_kind, modality, demand = () => modality, ...sold }: SoldAnswer<A, V, T>,
): WorkThenSettle<A, T> {
  return {
    ...callTerms,
    order: 'work_then_settle',
    field,
    job_kind,
    model: ({ model }) => model,
    models: asked => modelsFor(hubs, asked.model, demand(asked)),
    auto_models: asked => autoModels(hubs, asked.model, demand(asked)),
    admit: (asked, _payer, context) => admitRoute(hubs, asked, demand(asked), context),
    async work(asked, task_id, context, bounds) {
      const route = boundRoute(hubs, asked, demand(asked), context, bounds);
      const outcome = await hubs.put(sold.question(asked, context), route);
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, value, answered_model } = outcome;
      const by = { hub, model };
      const at = Math.floor(context.clock.now_ms() / 1000);
      const { answer, fetched_there = false, ...output } = sold.answer({ asked, value, by, task_id, at });
      const provider_cogs = providerCogs(hubs.settings, by, sold.usage?.(value) ?? null);
      const answered = answeredRoute(hubs.settings, by, answered_model);
      return { answer, fetched_there, route: answered, ...commitTo(output), omission_rule: null, provider_cogs };
    },
  };
}
