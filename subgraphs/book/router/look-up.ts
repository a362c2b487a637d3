import { Agent, request } from 'undici';
import { z } from 'zod';
import { routerLimits } from '../../../schema/limits.ts';
import { type CostMatch, matchCost, type ReportedCost } from '../../../schema/router/cost.ts';
import type { Secret } from '../../../schema/secret.ts';
import { readBounded } from '../../receipt/inference/hubs/ask.ts';
import { Semaphore } from '../../semaphore.ts';

/** Result of the lookup of a generation at the router, with the key of a router book. */
export type LookUp =
  | CostMatch
  /** The router has no such id, or does not show it to this key. */
  | 'not_found'
  /** The router was not reached, did not respond in time, or sent another response. */
  | 'failed';

/** Client of the third-party router. A process limits concurrent lookups in total and per key. */
export interface RouterLookUps {
  /** Name of the router in `verified_with`. */
  readonly router: string;
  /** Looks a generation up. Null if too many other lookups were running. Never throws. @param asker router book that has the key */
  ask(asker: string, key: Secret, reported: ReportedCost): Promise<LookUp | null>;
  close(): Promise<void>;
}

const RouterResponse = z.object({ data: z.object({ id: z.string(), model: z.string(), total_cost: z.string() }) });

export function openLookUps(base_url: string): RouterLookUps {
  const { look_ups_at_once_max, look_ups_per_key_at_once_max, look_up_connect_ms_max } = routerLimits;
  const agent = new Agent({ connections: look_ups_at_once_max, connect: { timeout: look_up_connect_ms_max } });
  const turns = new Semaphore({ at_once_max: look_ups_at_once_max, ...patience });
  /** Limiters of the keys that are in use, by router book. */
  const keys = new Map<string, { readonly turns: Semaphore; askers: number }>();
  return {
    router: new URL(base_url).host,
    async ask(asker, key, reported) {
      const own = keys.get(asker) ?? {
        turns: new Semaphore({ at_once_max: look_ups_per_key_at_once_max, ...patience }),
        askers: 0,
      };
      keys.set(asker, own);
      own.askers++;
      try {
        const look = async () => ({ look_up: await lookUp(base_url, agent, key, reported) });
        const looked = await own.turns.take(asker, async () => ({ turn: await turns.take(asker, look) }));
        return looked?.turn?.look_up ?? null;
      } finally {
        if (--own.askers === 0) keys.delete(asker);
      }
    },
    close: () => agent.destroy(),
  };
}

const patience = {
  wait_ms_max: routerLimits.look_up_wait_ms_max,
  waiting_per_asker_max: routerLimits.look_up_waiting_per_key_max,
} as const;

const NOT_FOUND = 404;

/** Passes no error on, because errors of an HTTP client may contain the request headers and so the key. */
async function lookUp(base_url: string, agent: Agent, key: Secret, reported: ReportedCost): Promise<LookUp> {
  try {
    const query = new URLSearchParams({ id: reported.generation_id });
    // undici's `request` follows no redirects.
    const { statusCode, body } = await request(`${base_url.replace(/\/$/, '')}/generation?${query}`, {
      dispatcher: agent,
      headers: { accept: 'application/json', authorization: `Bearer ${key.reveal()}` },
      signal: AbortSignal.timeout(routerLimits.look_up_ms_max),
    });
    body.on('error', () => {});
    const bytes = statusCode === 200 ? await readBounded(body, routerLimits.look_up_bytes_max) : null;
    if (bytes === null) body.destroy();
    if (statusCode === NOT_FOUND) return 'not_found';
    const reply =
      bytes && RouterResponse.safeParse(withNumbersAsWritten(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
    return reply?.success ? matchCost(reported, reply.data.data) : 'failed';
  } catch {
    return 'failed';
  }
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;
const parse = JSON.parse as (text: string, revive: Reviver) => unknown;

/** Parses JSON and keeps each number as its text, because money is never read as a float (ECMA-262, JSON.parse source text). */
function withNumbersAsWritten(text: string): unknown {
  return parse(text, (_name, value, { source }) => (typeof value === 'number' ? source : value));
}
