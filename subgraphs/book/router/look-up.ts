import { Agent, request } from 'undici';
import { z } from 'zod';
import { routerLimits } from '../../../schema/limits.ts';
import { type CostMatch, matchCost, type ReportedCost } from '../../../schema/router/cost.ts';
import type { Secret } from '../../../schema/secret.ts';
import { readBounded } from '../../receipt/inference/hubs/ask.ts';
import { Semaphore } from '../../semaphore.ts';

/** What came of asking the router for a generation under a book's own key. */
export type LookUp =
  | CostMatch
  /** It has none of that id, or none that it shows to this key. */
  | 'not_found'
  /** It was not reached, did not answer in time, or answered something else. */
  | 'failed';

/** Asks the third-party router, and nobody else. For one process: how many ask at once is bounded in all, and for each key. */
export interface RouterLookUps {
  /** By which it is named where a look-up has matched. */
  readonly router: string;
  /** Null where no turn came in time. Never throws. `asker`: whose key it is. */
  ask(asker: string, key: Secret, reported: ReportedCost): Promise<LookUp | null>;
  close(): Promise<void>;
}

const Told = z.object({ data: z.object({ id: z.string(), model: z.string(), total_cost: z.string() }) });

export function openLookUps(base_url: string): RouterLookUps {
  const { look_ups_at_once_max, look_ups_per_key_at_once_max, look_up_connect_ms_max } = routerLimits;
  const agent = new Agent({ connections: look_ups_at_once_max, connect: { timeout: look_up_connect_ms_max } });
  const turns = new Semaphore({ at_once_max: look_ups_at_once_max, ...patience });
  /** Of each key that is asked with at present. */
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

/** No error of it goes on: what a client library says of a request may hold its headers, and so the key. */
async function lookUp(base_url: string, agent: Agent, key: Secret, reported: ReportedCost): Promise<LookUp> {
  try {
    const query = new URLSearchParams({ id: reported.generation_id });
    // undici's `request` follows no redirect.
    const { statusCode, body } = await request(`${base_url.replace(/\/$/, '')}/generation?${query}`, {
      dispatcher: agent,
      headers: { accept: 'application/json', authorization: `Bearer ${key.reveal()}` },
      signal: AbortSignal.timeout(routerLimits.look_up_ms_max),
    });
    body.on('error', () => {});
    const bytes = statusCode === 200 ? await readBounded(body, routerLimits.look_up_bytes_max) : null;
    if (bytes === null) body.destroy();
    if (statusCode === NOT_FOUND) return 'not_found';
    const told = bytes && Told.safeParse(withNumbersAsWritten(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
    return told?.success ? matchCost(reported, told.data.data) : 'failed';
  } catch {
    return 'failed';
  }
}

type Revive = (name: string, value: unknown, context: { readonly source?: string }) => unknown;
const parse = JSON.parse as (text: string, revive: Revive) => unknown;

/** JSON with the text of each number in its place: to be read as money, which no float is (ECMA-262, JSON.parse source text). */
function withNumbersAsWritten(text: string): unknown {
  return parse(text, (_name, value, { source }) => (typeof value === 'number' ? source : value));
}
