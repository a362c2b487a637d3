import { Pool } from 'undici';
import { limits } from '../../../../schema/limits.ts';
import type { Clock } from '../../../clock.ts';
import type { Candidate, HubSettings } from '../catalogue.ts';
import { askHub, type HubFailure, type Question } from './ask.ts';
import type { HubCompletion } from './completion.ts';

/** All that a hub learns: no header, address, wallet or id of the caller; every call goes out under our own key. */
export interface HubRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens: number | null;
  readonly temperature: number | null;
}

export interface Attempt {
  readonly hub: string;
  readonly reason: HubFailure;
}

export type HubOutcome =
  | ({ readonly kind: 'answered'; readonly completion: HubCompletion } & Candidate)
  | { readonly kind: 'failed'; readonly attempts: readonly Attempt[] };

export interface Hubs {
  readonly settings: readonly HubSettings[];
  /** Since when this process offers them. */
  readonly opened_at_ms: number;
  /**
   * Asks the candidates one after the other until one answers; the caller has seen no byte by then, so which of them it
   * was makes no difference but the disclosed one. Any number of calls may be open at once.
   */
  complete(request: HubRequest, options: { readonly candidates: readonly Candidate[] }): Promise<HubOutcome>;
  close(): Promise<void>;
}

export interface HubOptions {
  readonly clock: Clock;
  readonly timeout_ms?: number;
  readonly answer_bytes_max?: number;
}

export function openHubs(settings: readonly HubSettings[], options: HubOptions): Hubs {
  const { clock, timeout_ms = limits.hub_timeout_ms, answer_bytes_max = limits.answer_bytes_max } = options;
  const lines = new Map(settings.map(hub => [hub.name, openLine(hub)]));

  return {
    settings,
    opened_at_ms: clock.now_ms(),
    async complete(request, { candidates }) {
      const attempts: Attempt[] = [];
      const ends_at_ms = clock.now_ms() + limits.hubs_timeout_ms;
      const resting = (candidate: Candidate) => (lines.get(candidate.hub)?.rests_until_ms ?? 0) > clock.now_ms();
      for (const candidate of restingLast(candidates, resting)) {
        const line = lines.get(candidate.hub);
        if (!line) throw new Error(`no hub is named ${candidate.hub}`);
        const left_ms = ends_at_ms - clock.now_ms();
        if (left_ms <= 0) break;
        const question: Question = {
          ...line.question,
          body: questionBody(request, candidate.model),
          timeout_ms: Math.min(timeout_ms, left_ms),
          answer_bytes_max,
        };
        const asked = await askHub(line.pool, question);
        if (asked.kind === 'answered') return { ...asked, hub: candidate.hub, model: candidate.model };
        attempts.push({ hub: candidate.hub, reason: asked.reason });
        if (blamesHub(asked.reason)) line.rests_until_ms = clock.now_ms() + limits.hub_rest_ms;
      }
      return { kind: 'failed', attempts };
    },
    async close() {
      await Promise.all([...lines.values()].map(line => line.pool.destroy()));
    },
  };
}

interface Line {
  readonly pool: Pool;
  readonly question: Pick<Question, 'path' | 'headers'>;
  rests_until_ms: number;
}

function openLine(hub: HubSettings): Line {
  const { origin, pathname } = new URL(hub.base_url);
  return {
    pool: new Pool(origin, { connections: limits.hub_connections_max }),
    question: {
      path: `${pathname.replace(/\/$/, '')}/chat/completions`,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        authorization: `Bearer ${hub.api_key}`,
      },
    },
    rests_until_ms: 0,
  };
}

/** Built from known members only, so that nothing of the caller's slips through with a spread. */
function questionBody({ messages, max_tokens, temperature }: HubRequest, model: string): string {
  return JSON.stringify({
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(max_tokens === null ? {} : { max_tokens }),
    ...(temperature === null ? {} : { temperature }),
  });
}

/** A hub that failed a moment ago is asked after the others, and still asked: they may be down too. */
function restingLast(candidates: readonly Candidate[], resting: (candidate: Candidate) => boolean): Candidate[] {
  return [...candidates.filter(candidate => !resting(candidate)), ...candidates.filter(resting)];
}

/** 4xx may be the caller's doing: nobody shall send a hub to rest by asking nonsense. 408 and 429 are the hub's own. */
function blamesHub(reason: HubFailure): boolean {
  return !/^status_4/.test(reason) || reason === 'status_408' || reason === 'status_429';
}
