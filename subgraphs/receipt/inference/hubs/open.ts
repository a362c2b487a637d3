import { limits } from '../../../../schema/limits.ts';
import type { Secret } from '../../../../schema/secret.ts';
import type { Clock, Random } from '../../../clock.ts';
import { type Candidate, type HubSettings, type Modality, ROUTER } from '../catalogue.ts';
import {
  askHub,
  type HubConnection,
  type HubFailure,
  type HubTarget,
  openConnections,
  type Question,
  targetOf,
} from './ask.ts';
import { CHAT_PATH, chatBody, type HubRequest } from './chat.ts';
import type { Awaited } from './choose.ts';
import { RouterModels, type RouterSettings } from './router.ts';
import { type HubStanding, Standings } from './standings.ts';
import { type OpenReply, openReply, type StreamedReply } from './stream.ts';

/** Who may be asked, and until when (by the clock of the hubs). */
export interface HubRoute {
  readonly candidates: readonly Candidate[];
  readonly until_ms: number;
  /** Once it is aborted nobody is asked any more, and who is being asked is hung up on. */
  readonly canceled?: AbortSignal;
  /** False: whoever is asked first answers, or nobody. */
  readonly failover?: boolean;
  /** The caller's own, where the router is asked; nobody else is shown it. */
  readonly router_key?: Secret;
}

export interface HubAttempt {
  readonly hub: string;
  readonly reason: HubFailure;
}

type Answered<T> = { readonly kind: 'answered' } & T;
type Failed = { readonly kind: 'failed'; readonly attempts: readonly HubAttempt[] };

export type HubOutcome<T> = Answered<{ readonly value: T } & Candidate> | Failed;
export type HubStreamOutcome = Answered<{ readonly listening: OpenReply } & Candidate> | Failed;

export interface Hubs {
  readonly settings: readonly HubSettings[];
  /** Whether ids of the router may be asked for. */
  readonly routes: boolean;
  /** Ids of the router that are listed, with their prefix. Never fails. */
  routerModels(): Promise<readonly string[]>;
  /** Whether the router may have a model, by its id there; true where it does not tell. Never fails. */
  routerMayHave(id: string): Promise<boolean>;
  /**
   * Asks the candidates one after the other until one answers; the caller has seen no byte by then, so which of them it
   * was makes no difference but the disclosed one. Any number of calls may be open at once.
   */
  put<T extends object>(question: Question<T>, asking: HubRoute): Promise<HubOutcome<T>>;
  /** A chat: the same until one has begun to answer; from then on it is that one's to go on or to break off. */
  stream(request: HubRequest, asking: HubRoute): Promise<HubStreamOutcome>;
  readonly standings: readonly HubStanding[];
  /** Callers who wait for a socket, by hub. */
  readonly waiting: readonly (readonly [hub: string, callers: number])[];
  close(): Promise<void>;
}

export interface HubOptions {
  readonly clock: Clock;
  /** Without it no call is ever used to try a hub of which little is known. */
  readonly random?: Random;
  readonly router?: RouterSettings | null;
  /** Hears of every question that was put to a hub: what came of it, and how long that took. */
  readonly heard?: (hub: string, failure: HubFailure | null, ms: number) => void;
  readonly timeout_ms?: number;
  readonly stream_ms_max?: number;
  readonly stream_idle_ms_max?: number;
  readonly answer_bytes_max?: number;
  readonly event_chars_max?: number;
}

const usual = {
  random: { bytes: (count: number) => new Uint8Array(count).fill(0xff) },
  router: null,
  timeout_ms: limits.hub_timeout_ms,
  stream_ms_max: limits.hub_stream_ms_max,
  stream_idle_ms_max: limits.hub_stream_idle_ms_max,
  answer_bytes_max: limits.answer_bytes_max,
  event_chars_max: limits.hub_event_chars_max,
  heard: () => {},
} as const;

export function openHubs(settings: readonly HubSettings[], options: HubOptions): Hubs {
  return new PooledHubs(settings, { ...usual, ...options });
}

/** What is asked of whoever's turn it is, and how long that one has for it. */
interface Turn<T> {
  readonly modality: Modality;
  readonly awaited: Awaited;
  ask(reached: HubTarget, candidate: Candidate, timeout_ms: number): Promise<Answered<T> | Refused>;
}
type Refused = { readonly kind: 'failed'; readonly reason: HubFailure };

class PooledHubs implements Hubs {
  readonly settings: readonly HubSettings[];
  readonly #options: Required<HubOptions>;
  readonly #lines: ReadonlyMap<string, HubConnection>;
  readonly #standings: Standings;
  readonly #router: RouterModels | null;

  constructor(settings: readonly HubSettings[], options: Required<HubOptions>) {
    const { clock, random, router } = options;
    this.settings = settings;
    this.#options = options;
    this.#lines = openConnections(settings, router);
    this.#standings = new Standings({ clock, random, connections: this.#lines });
    this.#router = router && new RouterModels(router, clock);
  }

  get routes(): boolean {
    return this.#router !== null;
  }

  async routerModels(): Promise<readonly string[]> {
    return (await this.#router?.ids()) ?? [];
  }

  async routerMayHave(id: string): Promise<boolean> {
    return (await this.#router?.mayHave(id)) ?? false;
  }

  get standings(): readonly HubStanding[] {
    return this.#standings.all;
  }

  get waiting() {
    return [...this.#lines].map(([hub, { waiting }]) => [hub, waiting] as const);
  }

  put<T extends object>(question: Question<T>, asking: HubRoute): Promise<HubOutcome<T>> {
    const { answer_bytes_max = this.#options.answer_bytes_max } = question;
    return this.#inTurn<{ value: T }>(asking, {
      modality: question.modality,
      awaited: 'answer_ms',
      ask: ({ connection: line, model, reasons }, _candidate, timeout_ms) => {
        const { content_type, bytes: body } = question.body(model, reasons);
        const headers = line.headers(content_type, 'application/json', asking.router_key);
        const path = line.path(question.path);
        const { canceled } = asking;
        return askHub(line.pool, { path, headers, body, timeout_ms, canceled, answer_bytes_max }, question);
      },
    });
  }

  stream(request: HubRequest, asking: HubRoute): Promise<HubStreamOutcome> {
    const { clock, answer_bytes_max: text_bytes_max, event_chars_max, stream_idle_ms_max } = this.#options;
    // One time for all who are asked: it is what the caller's claim must outlive.
    const ends_at_ms = clock.now_ms() + this.#options.stream_ms_max;
    const streamed = { stream: true, stream_options: { include_usage: true } };
    return this.#inTurn<{ listening: OpenReply }>(asking, {
      modality: 'text',
      awaited: 'first_piece_ms',
      ask: async ({ connection: line, model, reasons }, candidate, timeout_ms) => {
        const body = chatBody(request, model, reasons);
        const listened = await openReply(line.pool, {
          path: line.path(CHAT_PATH),
          headers: line.headers('application/json', 'text/event-stream', asking.router_key),
          body: JSON.stringify({ ...body, ...streamed }),
          timeout_ms,
          canceled: asking.canceled,
          stream_ms_max: Math.max(0, ends_at_ms - clock.now_ms()),
          stream_idle_ms_max,
          text_bytes_max,
          event_chars_max,
        });
        return listened.kind === 'failed'
          ? listened
          : { ...listened, listening: this.#judged(candidate.hub, listened.listening) };
      },
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lines.values()].map(line => line.pool.destroy()));
    await this.#router?.close();
  }

  async #inTurn<T>(asking: HubRoute, turn: Turn<T>): Promise<Answered<T & Candidate> | Failed> {
    const { clock, timeout_ms } = this.#options;
    const { candidates, until_ms, canceled, failover = true } = asking;
    // Whoever may be answered by one alone, or has no time for a second, is no one to try a doubtful hub with.
    const may_try = failover && until_ms - clock.now_ms() > timeout_ms;
    const attempts: HubAttempt[] = [];
    for (const candidate of this.#standings.order({ ...turn, candidates, may_try })) {
      const left_ms = until_ms - clock.now_ms();
      if (left_ms <= 0 || canceled?.aborted) break;
      const asked = await this.#ask(candidate, turn, Math.min(timeout_ms, left_ms));
      if (asked.kind === 'answered') return { ...asked, ...candidate };
      attempts.push({ hub: candidate.hub, reason: asked.reason });
      if (!failover) break;
    }
    return { kind: 'failed', attempts };
  }

  async #ask<T>(candidate: Candidate, { modality, awaited, ask }: Turn<T>, timeout_ms: number) {
    const { hub } = candidate;
    const reached = targetOf(this.#lines, candidate);
    if (reached.connection.busy) return { kind: 'failed', reason: 'busy' } as const;
    // Its calls are its callers' own: nobody else's go anywhere else for them.
    const standings = hub === ROUTER ? null : this.#standings;
    standings?.asked(hub, modality);
    const from_ms = performance.now();
    // A fault of ours teaches nothing of the hub, and must not leave its probe open for ever.
    let failure: HubFailure | null = 'cancelled';
    try {
      const asked = await ask(reached, candidate, timeout_ms);
      failure = asked.kind === 'failed' ? asked.reason : null;
      return asked;
    } finally {
      const ms = performance.now() - from_ms;
      this.#options.heard(hub, failure, ms);
      if (failure === null) standings?.answered(hub, modality, awaited, ms);
      else standings?.failed(hub, modality, failure);
    }
  }

  /** Whoever breaks off in the midst of an answer has failed like one who gave none: once, however often that is asked. */
  #judged(hub: string, listening: OpenReply): OpenReply {
    let judged = hub === ROUTER;
    const reply = (): StreamedReply => {
      const so_far = listening.reply();
      if (so_far.broke_off !== null && !judged) this.#standings.failed(hub, 'text', so_far.broke_off);
      judged ||= so_far.broke_off !== null;
      return so_far;
    };
    return { ...listening, reply };
  }
}
