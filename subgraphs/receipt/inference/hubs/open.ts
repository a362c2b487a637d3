import { Pool } from 'undici';
import { limits } from '../../../../schema/limits.ts';
import type { Clock } from '../../../clock.ts';
import type { Candidate, HubSettings } from '../catalogue.ts';
import { askHub, type HubFailure } from './ask.ts';
import type { HubCompletion } from './completion.ts';
import { type Listening, listenTo } from './listen.ts';
import type { Spoken } from './speech.ts';

/** All that a hub learns: no header, address, wallet or id of the caller; every call goes out under our own key. */
export interface HubRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens: number | null;
  readonly temperature: number | null;
}

/** Who may be asked, in the order of trying, and until when (by the clock of the hubs). */
export interface Asking {
  readonly candidates: readonly Candidate[];
  readonly until_ms: number;
}

export interface Attempt {
  readonly hub: string;
  readonly reason: HubFailure;
}

type Answered<T> = { readonly kind: 'answered' } & T;
type Failed = { readonly kind: 'failed'; readonly attempts: readonly Attempt[] };

export type HubOutcome = Answered<{ readonly completion: HubCompletion } & Candidate> | Failed;
export type HubStreamOutcome = Answered<{ readonly listening: Listening } & Candidate> | Failed;

export interface Hubs {
  readonly settings: readonly HubSettings[];
  /** Since when this process offers them. */
  readonly opened_at_ms: number;
  /**
   * Asks the candidates one after the other until one answers; the caller has seen no byte by then, so which of them it
   * was makes no difference but the disclosed one. Any number of calls may be open at once.
   */
  complete(request: HubRequest, asking: Asking): Promise<HubOutcome>;
  /** The same until one has begun to answer; from then on it is that one's to go on or to break off. */
  stream(request: HubRequest, asking: Asking): Promise<HubStreamOutcome>;
  close(): Promise<void>;
}

export interface HubOptions {
  readonly clock: Clock;
  /** Hears of every question that was put to a hub: what came of it, and how long that took. */
  readonly heard?: (hub: string, failure: HubFailure | null, ms: number) => void;
  readonly timeout_ms?: number;
  readonly stream_ms_max?: number;
  readonly answer_bytes_max?: number;
  readonly event_chars_max?: number;
}

const usual = {
  timeout_ms: limits.hub_timeout_ms,
  stream_ms_max: limits.hub_stream_ms_max,
  answer_bytes_max: limits.answer_bytes_max,
  event_chars_max: limits.hub_event_chars_max,
  heard: () => {},
} as const;

export function openHubs(settings: readonly HubSettings[], options: HubOptions): Hubs {
  return new PooledHubs(settings, { ...usual, ...options });
}

interface Line {
  readonly pool: Pool;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  rests_until_ms: number;
}

class PooledHubs implements Hubs {
  readonly settings: readonly HubSettings[];
  readonly opened_at_ms: number;
  readonly #options: Required<HubOptions>;
  readonly #lines: ReadonlyMap<string, Line>;

  constructor(settings: readonly HubSettings[], options: Required<HubOptions>) {
    this.settings = settings;
    this.opened_at_ms = options.clock.now_ms();
    this.#options = options;
    this.#lines = new Map(settings.map(hub => [hub.name, openLine(hub)]));
  }

  complete(request: HubRequest, asking: Asking): Promise<HubOutcome> {
    const { answer_bytes_max } = this.#options;
    return this.#inTurn<{ completion: HubCompletion }>(asking, ({ pool, path, headers }, model, timeout_ms) =>
      askHub(pool, {
        path,
        headers: { ...headers, accept: 'application/json' },
        body: JSON.stringify(bodyOf(request, model)),
        timeout_ms,
        answer_bytes_max,
      }),
    );
  }

  stream(request: HubRequest, asking: Asking): Promise<HubStreamOutcome> {
    const { clock, answer_bytes_max: text_bytes_max, event_chars_max } = this.#options;
    // One time for all who are asked: it is what the caller's claim must outlive.
    const ends_at_ms = clock.now_ms() + this.#options.stream_ms_max;
    return this.#inTurn<{ listening: Listening }>(asking, async (line, model, timeout_ms) => {
      const { pool, path, headers } = line;
      const streamed = { stream: true, stream_options: { include_usage: true } };
      const listened = await listenTo(pool, {
        path,
        headers: { ...headers, accept: 'text/event-stream' },
        body: JSON.stringify({ ...bodyOf(request, model), ...streamed }),
        timeout_ms,
        stream_ms_max: Math.max(0, ends_at_ms - clock.now_ms()),
        text_bytes_max,
        event_chars_max,
      });
      if (listened.kind === 'failed') return listened;
      const { listening } = listened;
      const spoken = () => this.#judged(line, listening.spoken());
      return { kind: 'answered', listening: { ...listening, spoken } };
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lines.values()].map(line => line.pool.destroy()));
  }

  async #inTurn<T>(
    { candidates, until_ms }: Asking,
    ask: (
      line: Line,
      model: string,
      timeout_ms: number,
    ) => Promise<Answered<T> | { kind: 'failed'; reason: HubFailure }>,
  ): Promise<Answered<T & Candidate> | Failed> {
    const { clock, timeout_ms, heard } = this.#options;
    const attempts: Attempt[] = [];
    for (const { hub, model } of this.#restingLast(candidates)) {
      const line = this.#lines.get(hub);
      if (!line) throw new Error(`no hub is named ${hub}`);
      const left_ms = until_ms - clock.now_ms();
      if (left_ms <= 0) break;
      const from_ms = performance.now();
      const asked = await ask(line, model, Math.min(timeout_ms, left_ms));
      heard(hub, asked.kind === 'failed' ? asked.reason : null, performance.now() - from_ms);
      if (asked.kind === 'answered') return { ...asked, hub, model };
      attempts.push({ hub, reason: asked.reason });
      this.#blame(line, asked.reason);
    }
    return { kind: 'failed', attempts };
  }

  /** A hub that failed a moment ago is asked after the others, and still asked: they may be down too. */
  #restingLast(candidates: readonly Candidate[]): Candidate[] {
    const now_ms = this.#options.clock.now_ms();
    const resting = ({ hub }: Candidate) => (this.#lines.get(hub)?.rests_until_ms ?? 0) > now_ms;
    return [...candidates.filter(candidate => !resting(candidate)), ...candidates.filter(resting)];
  }

  #blame(line: Line, reason: HubFailure): void {
    if (blamesHub(reason)) line.rests_until_ms = this.#options.clock.now_ms() + limits.hub_rest_ms;
  }

  /** Whoever broke off in the midst of an answer rests like one who gave none. */
  #judged(line: Line, spoken: Spoken): Spoken {
    if (spoken.broke_off !== null) this.#blame(line, spoken.broke_off);
    return spoken;
  }
}

function openLine(hub: HubSettings): Line {
  const { origin, pathname } = new URL(hub.base_url);
  return {
    pool: new Pool(origin, { connections: limits.hub_connections_max }),
    path: `${pathname.replace(/\/$/, '')}/chat/completions`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${hub.api_key}` },
    rests_until_ms: 0,
  };
}

/** Built from known members only, so that nothing of the caller's slips through with a spread. */
function bodyOf({ messages, max_tokens, temperature }: HubRequest, model: string): object {
  return {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(max_tokens === null ? {} : { max_tokens }),
    ...(temperature === null ? {} : { temperature }),
  };
}

/** 4xx may be the caller's doing: nobody shall send a hub to rest by asking nonsense. 408 and 429 are the hub's own. */
function blamesHub(reason: HubFailure): boolean {
  if (reason === 'cancelled') return false;
  return !/^status_4/.test(reason) || reason === 'status_408' || reason === 'status_429';
}
