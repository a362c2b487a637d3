import { Refusal } from '../../../schema/errors.ts';
import type { SvcOptions } from '../../../schema/requests/svc.ts';
import type { Context } from '../../context.ts';
import { candidatesFor, isRouted, type Modality, ROUTER } from './catalogue.ts';
import type { Asking, Attempt, Hubs } from './hubs/open.ts';

/** What a request says of who is to answer it. */
export interface Wanted extends SvcOptions {
  readonly model: string;
}

type Route = Omit<Asking, 'until_ms'>;

/** Who may be asked for it. @throws before any claim where nobody can be: `admit` calls it, and so does the work. */
export function routeOf(hubs: Hubs, { model, svc }: Wanted, modality: Modality, context: Context): Route {
  if (isRouted(model)) return routedTo(hubs, model, context);
  const candidates = candidatesFor(hubs.settings, model, modality);
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
  return new Refusal('hub_failed', {
    detail: 'No model hub answered. Nothing was charged; the payment stays usable.',
    facts: { charged: false, attempts: attempts.map(attempt => ({ ...attempt })) },
  });
}
