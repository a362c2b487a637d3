import { Refusal } from '../../../schema/errors.ts';
import type { SvcOptions } from '../../../schema/requests/svc.ts';
import type { Context } from '../../context.ts';
import { type Ability, candidatesFor, isRouted, ROUTER, wireModel } from './catalogue.ts';
import type { Asking, Attempt, Hubs } from './hubs/open.ts';

/** What a request says of who is to answer it. */
export interface Wanted extends SvcOptions {
  readonly model: string;
}

type Route = Omit<Asking, 'until_ms'>;

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

export function hubFailed(attempts: readonly Attempt[]): Refusal {
  return new HubFailed(attempts);
}

/** No hub answered; `by_caller`: since the router refused this very request, or the key that came with it. */
export class HubFailed extends Refusal {
  readonly by_caller: boolean;

  constructor(attempts: readonly Attempt[]) {
    super('hub_failed', {
      detail: 'No model hub answered. Nothing was charged; the payment stays usable.',
      facts: { charged: false, attempts: attempts.map(attempt => ({ ...attempt })) },
    });
    this.by_caller = attempts.length > 0 && attempts.every(isRefusedByRouter);
  }
}

/** A 4xx is the caller's fault (RFC 9110 §15.5), but for 408, which says that the router was slow to be asked. */
function isRefusedByRouter({ hub, reason }: Attempt): boolean {
  return hub === ROUTER && /^status_4\d\d$/.test(reason) && reason !== 'status_408';
}
