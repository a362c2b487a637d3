import { canonicalHash, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { TaskId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { type Intent, intentOf, type SvcOptions } from '../../../schema/requests/paid-work.ts';
import type { Context } from '../../context.ts';
import { CALL_KEYS, type JobKind, type Work, type WorkBounds, type WorkThenSettle } from '../../sale.ts';
import {
  type Ability,
  allowedAmong,
  type Candidate,
  candidatesFor,
  isRouted,
  type Modality,
  ROUTER,
  wireModel,
} from './catalogue.ts';
import type { Question } from './hubs/ask.ts';
import type { Usage } from './hubs/chat.ts';
import type { HubAttempt, HubRoute, Hubs } from './hubs/open.ts';
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
export function modelsFor({ settings }: Hubs, model: string, ability: Ability): readonly string[] {
  if (isRouted(model)) return [model];
  return [...new Set(candidatesFor(settings, model, ability).map(candidate => candidate.model))];
}

/** Who is asked, within what its book allows, and until when or until it is canceled. */
export function boundRoute({ candidates, ...route }: Route, { allowed_models, ...bounds }: WorkBounds): HubRoute {
  return { ...route, candidates: allowedAmong(candidates, allowed_models), ...bounds };
}

/**
 * Before any claim: whether anybody can be asked. A model that the router does not list is not asked for there, or its keys
 * could be tried out for nothing. @throws unknown_model, invalid_request
 */
export async function admitRoute(hubs: Hubs, wanted: Wanted, ability: Ability, context: Context): Promise<void> {
  const { candidates } = routeOf(hubs, wanted, ability, context);
  const [routed] = candidates.filter(({ hub }) => hub === ROUTER);
  if (routed && !(await hubs.routerMayHave(wireModel(routed)))) throw new Refusal('unknown_model', { param: 'model' });
}

/** Who may be asked for it. @throws where nobody can be. */
export function routeOf(hubs: Hubs, { model, svc }: Wanted, ability: Ability, context: Context): Route {
  if (isRouted(model)) return routedTo(hubs, model, context);
  const candidates = candidatesFor(hubs.settings, model, ability);
  if (candidates.length === 0) throw new Refusal('unknown_model', { param: 'model' });
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

/** No hub answered; `by_caller`: since the router refused this very request, or the key that came with it. */
export class HubFailed extends Refusal {
  readonly by_caller: boolean;

  constructor(attempts: readonly HubAttempt[]) {
    super('hub_failed', {
      detail: 'No model hub answered. Nothing was charged; the payment stays usable.',
      facts: { charged: false, attempts: attempts.map(attempt => ({ ...attempt })) },
    });
    this.by_caller = attempts.length > 0 && attempts.every(isRefusedByRouter);
  }
}

/** A 4xx is the caller's fault (RFC 9110 §15.5), but for 408, which says that the router was slow to be asked. */
function isRefusedByRouter({ hub, reason }: HubAttempt): boolean {
  return hub === ROUTER && /^status_4\d\d$/.test(reason) && reason !== 'status_408';
}

/** A hub's answer, whose it is, and when it came. */
export interface AnswerInHand<V> {
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
  /** What a model must be able to do for it; without it, what answers in its modality do. */
  ability?(asked: A): Ability;
  question(asked: A, context: Context): Question<V>;
  /** The tokens that its hub counted. */
  usage?(value: V): Usage | null;
  /** What is kept of it for redelivery, and what of that the receipt commits to. */
  answer(in_hand: AnswerInHand<V>): { readonly output: Json } & Pick<Work<T>, 'answer' | 'fetched_there'>;
}

/** One answer of a hub, sold at the fixed price: the hub answers first, and only an answer in hand is charged. */
export function answerPaid<A extends JsonObject & Wanted & Intent, V extends object, T extends JsonObject>(
  hubs: Hubs,
  { field, job_kind, modality, ability = () => modality, ...sold }: SoldAnswer<A, V, T>,
): WorkThenSettle<A, T> {
  return {
    ...callTerms,
    order: 'work_then_settle',
    field,
    job_kind,
    model: ({ model }) => model,
    models: asked => modelsFor(hubs, asked.model, ability(asked)),
    admit: (asked, _payer, context) => admitRoute(hubs, asked, ability(asked), context),
    async work(asked, task_id, context, bounds) {
      const route = boundRoute(routeOf(hubs, asked, ability(asked), context), bounds);
      const outcome = await hubs.put(sold.question(asked, context), route);
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, value } = outcome;
      const by = { hub, model };
      const at = Math.floor(context.clock.now_ms() / 1000);
      const { output, ...kept } = sold.answer({ value, by, task_id, at });
      const provider_cogs = providerCogs(hubs.settings, by, sold.usage?.(value) ?? null);
      return { ...kept, route: by, output_sha256: canonicalHash(output), omission_rule: null, provider_cogs };
    },
  };
}
