import { openLookUps, type RouterLookUps } from '../subgraphs/book/router/look-up.ts';
import { systemClock, systemRandom } from '../subgraphs/clock.ts';
import type { Hubs, openHubs } from '../subgraphs/receipt/inference/hubs/open.ts';
import type { Config } from './config/read-config.ts';
import type { Operations } from './operations/open.ts';
import { watchHubs } from './operations/watch.ts';

interface Upstream {
  readonly hubs: Hubs;
  /** Null where no router is configured. */
  readonly router_look_ups: RouterLookUps | null;
}

interface UpstreamParts {
  readonly openHubs: typeof openHubs;
  readonly operations: Operations;
  readonly closing: AsyncDisposableStack;
}

/** Who answers calls, and the router, which also tells what it has answered to others. */
export function openUpstream(
  { hubs: settings, hub_timeout_ms: timeout_ms, router }: Config,
  { openHubs, operations, closing }: UpstreamParts,
): Upstream {
  const times = { clock: systemClock, random: systemRandom };
  const { hubHeard: heard, hubRefused: refused } = operations;
  const hubs = closing.adopt(openHubs(settings, { ...times, router, timeout_ms, heard, refused }), it => it.close());
  watchHubs(operations.metrics, hubs);
  const router_look_ups = router && closing.adopt(openLookUps(router.base_url), it => it.close());
  return { hubs, router_look_ups };
}
