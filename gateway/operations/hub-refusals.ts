import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Clock } from '../../subgraphs/clock.ts';
import type { HubOptions } from '../../subgraphs/receipt/inference/hubs/open.ts';

/* Refusals of hubs that only the operator can mend, as lines of the log. */

const REST_MS = 60_000;
const KNOWN_MAX = 1_000;

/** A line for each refusal, at most one a minute for each hub, status and code: a hub that refuses every request must not fill the log. */
export function openHubRefusals(logger: Logger, clock: Clock): NonNullable<HubOptions['refused']> {
  const logged_at_ms = new LRUCache<string, number>({ max: KNOWN_MAX });
  return ({ hub, status, code: hub_code, type: hub_type }) => {
    const name = JSON.stringify([hub, status, hub_code]);
    const now_ms = clock.now_ms();
    const last_ms = logged_at_ms.get(name);
    if (last_ms !== undefined && now_ms - last_ms < REST_MS) return;
    logged_at_ms.set(name, now_ms);
    logger.warn(
      { hub, status, hub_code, hub_type },
      'A model hub refused a request. The refusal is not passed on to the caller.',
    );
  };
}
