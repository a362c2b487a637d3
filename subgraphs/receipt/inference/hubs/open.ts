import { limits } from '../../../../schema/limits.ts';
import type { Secret } from '../../../../schema/secret.ts';
import type { Clock, Random } from '../../../clock.ts';
import {
  type Candidate,
  type Dialect,
  type HubSettings,
  hasModelsFor,
  type Modality,
  modalities,
  modelIdsOf,
  ROUTER,
  tokenLimitMembers,
  wireModel,
} from '../catalogue.ts';
import { AnthropicEvents, asCompletion, betaHeaders, MESSAGES_PATH } from './anthropic.ts';
import {
  type AskFailure,
  answerMismatches,
  askFailure,
  askHub,
  type CalledModel,
  type HubConnection,
  type HubFailure,
  type HubTarget,
  openConnections,
  type Question,
  targetOf,
} from './ask.ts';
import { CHAT_PATH, chatBody, type HubRequest } from './chat.ts';
import type { LatencyKind } from './choose.ts';
import { namesOfTools } from './discretion.ts';
import { type RefusalReport, reportOf } from './refusal-report.ts';
import { type RouterListing, RouterModels, type RouterSettings } from './router.ts';
import { type HubStanding, Standings } from './standings.ts';
import { type OpenReply, openReply } from './stream.ts';
import {
  type AnswerTooLarge,
  answeredModelOf,
  type HubRefusal,
  type HubVerdict,
  type RevealRules,
  revealingTexts,
  spellingsOf,
  verdictOf,
} from './verdict.ts';

/** Candidates of a call, and its deadline by the clock of the hubs. */
export interface HubRoute {
  readonly candidates: readonly Candidate[];
  readonly until_ms: number;
  /** After this signal is aborted, no further hub is called and open requests are closed. */
  readonly canceled?: AbortSignal;
  /** Whether other hubs are tried after a failure. Default: true. */
  readonly failover?: boolean;
  /** The caller's own key for the router, which is never sent to another hub. */
  readonly router_key?: Secret;
}

export interface HubAttempt {
  readonly hub: string;
  readonly reason: HubFailure;
  /** The part of the hub's response that the caller should receive. Absent if there is none. */
  readonly verdict?: HubVerdict;
}

type Succeeded<T> = { readonly kind: 'answered' } & T;
type Failed = { readonly kind: 'failed'; readonly attempts: readonly HubAttempt[] };

/** A whole answer. `answered_model` is the model that the hub names in the answer; null if it names none. */
interface WholeAnswer<T> {
  readonly value: T;
  readonly answered_model: string | null;
}
export type HubOutcome<T> = Succeeded<WholeAnswer<T> & Candidate> | Failed;
export type HubStreamOutcome = Succeeded<{ readonly listening: OpenReply } & Candidate> | Failed;

export interface Hubs {
  readonly settings: readonly HubSettings[];
  /** Whether models of the router may be requested. */
  readonly routes: boolean;
  /** Models of the router that are listed, as ids with its prefix. Never fails. */
  routerModels(): Promise<RouterListing>;
  /** Whether the router is known to have a model. `id` is the model's id at the router. */
  routerTells(id: string): Promise<boolean>;
  /**
   * Whether the router may have a model. `id` is the model's id at the router. True if the router publishes no list and none is configured.
   * Never fails.
   */
  routerMayHave(id: string): Promise<boolean>;
  /**
   * Tries the candidates one after the other until one answers. The caller receives nothing before that, so the choice is visible only
   * where it is disclosed. Any number of calls may be open at once.
   */
  put<T extends object>(question: Question<T>, asking: HubRoute): Promise<HubOutcome<T>>;
  /**
   * Tries the candidates for a chat one after the other until one begins to answer. No other hub is tried after that, even if the answer
   * breaks off.
   */
  stream(request: HubRequest, asking: HubRoute): Promise<HubStreamOutcome>;
  readonly standings: readonly HubStanding[];
  /** Kinds of work for which all hubs rest: each hub has failed recently, and none has answered since. */
  readonly away: readonly Modality[];
  /** Number of callers that wait for a socket of each hub. */
  readonly waiting: readonly (readonly [hub: string, callers: number])[];
  close(): Promise<void>;
}

export interface HubOptions {
  readonly clock: Clock;
  /** Absent: no call is used to try a hub with little data. */
  readonly random?: Random;
  readonly router?: RouterSettings | null;
  /** Called after every request to a hub, with the failure (null if it succeeded) and the duration. */
  readonly onCallEnd?: (hub: string, failure: HubFailure | null, ms: number) => void;
  /** Receives every refusal of a hub that is not passed on to the caller. */
  readonly onRefusal?: (report: RefusalReport) => void;
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
  onCallEnd: () => {},
  onRefusal: () => {},
} as const;

export function openHubs(settings: readonly HubSettings[], options: HubOptions): Hubs {
  return new PooledHubs(settings, { ...usual, ...options });
}

/** A request that is sent to one hub after the other. */
interface Turn<T> {
  readonly modality: Modality;
  readonly awaited: LatencyKind;
  /** Whether the request limits the tokens of its answer. */
  readonly limits_tokens: boolean;
  /** Names of the members that this service adds. */
  readonly added: readonly string[];
  readonly too_large?: AnswerTooLarge | undefined;
  ask(reached: HubTarget, candidate: Candidate, timeout_ms: number): Promise<Succeeded<T> | AskFailure>;
}

class PooledHubs implements Hubs {
  readonly settings: readonly HubSettings[];
  readonly #options: Required<HubOptions>;
  readonly #lines: ReadonlyMap<string, HubConnection>;
  readonly #standings: Standings;
  readonly #router: RouterModels | null;
  /** Keys and addresses of all hubs, because an answer of one hub might contain those of another. */
  readonly #secrets: readonly string[];
  /** Rules for what no answer may reveal, by hub. For a call with the caller's router key, they are made again to include that key. */
  readonly #tells: ReadonlyMap<HubConnection, RevealRules>;
  /** Configured names of models, which are not secret even if they look like a secret. */
  readonly #published: ReadonlySet<string>;

  constructor(settings: readonly HubSettings[], options: Required<HubOptions>) {
    const { clock, random, router } = options;
    this.settings = settings;
    this.#options = options;
    this.#lines = openConnections(settings, router);
    this.#secrets = [...this.#lines.values()].flatMap(({ secrets }) => secrets);
    this.#tells = new Map([...this.#lines.values()].map(line => [line, revealingTexts(this.#secrets, line.hosts)]));
    this.#published = new Set(
      settings.flatMap(hub => [...modelIdsOf(hub), ...Object.values(hub.aliases ?? {}).flat()]),
    );
    this.#standings = new Standings({ clock, random, connections: this.#lines });
    this.#router = router && new RouterModels(router, clock);
  }

  get routes(): boolean {
    return this.#router !== null;
  }

  async routerModels(): Promise<RouterListing> {
    const { ids, more } = (await this.#router?.listed()) ?? { ids: [], more: false };
    const line = this.#lines.get(ROUTER);
    const tells = line && this.#tells.get(line);
    return { ids: ids.filter(id => !tells?.link(id)), more };
  }

  async routerTells(id: string): Promise<boolean> {
    return (await this.#router?.tells(id)) ?? false;
  }

  async routerMayHave(id: string): Promise<boolean> {
    return (await this.#router?.mayHave(id)) ?? false;
  }

  get standings(): readonly HubStanding[] {
    return this.#standings.all;
  }

  get away(): readonly Modality[] {
    return modalities.filter(modality => {
      const serving = this.settings.filter(hub => hasModelsFor(hub, modality));
      return serving.length > 0 && serving.every(({ name }) => this.#standings.rests(name, modality));
    });
  }

  get waiting() {
    return [...this.#lines].map(([hub, { waiting }]) => [hub, waiting] as const);
  }

  put<T extends object>(question: Question<T>, asking: HubRoute): Promise<HubOutcome<T>> {
    const { answer_bytes_max = this.#options.answer_bytes_max } = question;
    return this.#inTurn<WholeAnswer<T>>(asking, {
      modality: question.modality,
      awaited: 'answer_ms',
      limits_tokens: question.limits_tokens ?? false,
      added: question.added,
      too_large: question.too_large,
      ask: async ({ connection, ...asked }, candidate, timeout_ms) => {
        const {
          content_type,
          bytes: body,
          path: asked_at,
          betas,
          read,
        } = requestFor(connection.dialect, question, asked);
        const headers = { ...connection.headers(content_type, 'application/json', asking.router_key), ...betas };
        const path = connection.path(asked_at);
        const { canceled } = asking;
        const answer = await askHub(
          connection.pool,
          { path, headers, body, timeout_ms, canceled, answer_bytes_max },
          { modality: question.modality, read },
        );
        if (answer.kind === 'failed') return answer;
        const { kind, named_model } = answer;
        const { value } = question.discreet
          ? { value: question.discreet(answer.value, this.#toldBy(connection, asking)) }
          : answer;
        if (value === null) return askFailure(answerMismatches[question.modality]);
        return { kind, value, answered_model: this.#answeredModel(candidate, named_model, asking) };
      },
    });
  }

  stream(request: HubRequest, asking: HubRoute): Promise<HubStreamOutcome> {
    const { clock, answer_bytes_max: text_bytes_max, event_chars_max, stream_idle_ms_max } = this.#options;
    // All hubs share one deadline, because the caller's claim must outlive it.
    const ends_at_ms = clock.now_ms() + this.#options.stream_ms_max;
    const added = ['model', ...Object.keys(streamed)];
    return this.#inTurn<{ listening: OpenReply }>(asking, {
      modality: 'text',
      awaited: 'first_piece_ms',
      limits_tokens: request.max_tokens !== null,
      added,
      ask: async ({ connection, ...asked }, candidate, timeout_ms) => {
        const { path, body, betas, chunks, in_blocks } = streamFrom(connection.dialect, request, asked);
        const listened = await openReply(connection.pool, {
          path: connection.path(path),
          headers: { ...connection.headers('application/json', 'text/event-stream', asking.router_key), ...betas },
          body,
          chunks,
          in_blocks,
          timeout_ms,
          canceled: asking.canceled,
          stream_ms_max: Math.max(0, ends_at_ms - clock.now_ms()),
          stream_idle_ms_max,
          text_bytes_max,
          event_chars_max,
          discretion: { tells: this.#toldBy(connection, asking), tools: namesOfTools(request.tools) },
          rules: { by_router: candidate.hub === ROUTER, added, secrets: this.#secretsWith(asking.router_key) },
        });
        return listened.kind === 'failed'
          ? listened
          : { ...listened, listening: this.#judged(candidate, listened.listening, asking) };
      },
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lines.values()].map(line => line.pool.destroy()));
    await this.#router?.close();
  }

  async #inTurn<T>(asking: HubRoute, turn: Turn<T>): Promise<Succeeded<T & Candidate> | Failed> {
    const { clock, timeout_ms } = this.#options;
    const { candidates, until_ms, canceled, failover = true } = asking;
    // A call that may use only one hub, or has no time for a second one, does not first try a hub with little data.
    const may_try = failover && until_ms - clock.now_ms() > timeout_ms;
    const attempts: HubAttempt[] = [];
    for (const candidate of this.#standings.order({ ...turn, candidates, may_try })) {
      const left_ms = until_ms - clock.now_ms();
      if (left_ms <= 0 || canceled?.aborted) break;
      const target = targetOf(this.#lines, candidate);
      const asked = await this.#ask(candidate, target, turn, Math.min(timeout_ms, left_ms));
      if (asked.kind === 'answered') return { ...asked, ...candidate };
      const first = this.#verdictOn(asked, candidate, turn, asking);
      const renamed = await this.#askRenamed(candidate, target, turn, asking, first);
      if (renamed?.kind === 'answered') return { ...renamed, ...candidate };
      const verdict = renamed ? renamed.verdict : first;
      const { reason, refusal } = renamed ?? asked;
      if (refusal && !verdict) this.#report(candidate, refusal, asking.router_key);
      attempts.push({ hub: candidate.hub, reason, ...(verdict && { verdict }) });
      // A request at fault, or an answer that is too large, would have the same result at the next hub.
      if (!failover || verdict?.kind === 'request' || verdict?.kind === 'too_large') break;
    }
    return { kind: 'failed', attempts };
  }

  #verdictOn(
    { reason, refusal }: AskFailure,
    { hub }: Candidate,
    { added, too_large }: Pick<Turn<unknown>, 'added' | 'too_large'>,
    { router_key }: HubRoute,
  ): HubVerdict | null {
    if (refusal === null) return reason === 'too_large' ? (too_large ?? null) : null;
    const by_router = hub === ROUTER;
    const secrets = this.#secretsWith(router_key);
    return verdictOf(refusal, { by_router, added, secrets, now_ms: this.#options.clock.now_ms() });
  }

  #answeredModel(candidate: Candidate, named: unknown, { router_key }: HubRoute): string | null {
    if (named === wireModel(candidate)) return String(named);
    return answeredModelOf(named, this.#published, this.#secretsWith(router_key));
  }

  #secretsWith(router_key: Secret | undefined): readonly string[] {
    return router_key ? [...this.#secrets, ...spellingsOf(router_key.reveal())] : this.#secrets;
  }

  #toldBy(line: HubConnection, { router_key }: HubRoute): RevealRules {
    const known = router_key === undefined ? this.#tells.get(line) : undefined;
    return known ?? revealingTexts(this.#secretsWith(router_key), line.hosts);
  }

  #report({ hub }: Candidate, refusal: HubRefusal, router_key: Secret | undefined): void {
    this.#options.onRefusal(reportOf(hub, refusal, this.#secretsWith(router_key)));
  }

  /**
   * Calls the hub once more if the model refused the name of the token limit. The second call uses the other name, which is remembered if
   * the model answers; otherwise the second verdict counts. If the model refuses both names, the caller is not at fault, and the verdict is
   * null. Returns null if there was no second call.
   */
  async #askRenamed<T>(
    candidate: Candidate,
    target: HubTarget,
    turn: Turn<T>,
    asking: HubRoute,
    verdict: HubVerdict | null,
  ): Promise<Succeeded<T> | (AskFailure & { readonly verdict: HubVerdict | null }) | null> {
    const { token_limit_member: sent, connection } = target;
    if (!turn.limits_tokens || !refusesMember(verdict, sent)) return null;
    const left_ms = asking.until_ms - this.#options.clock.now_ms();
    const token_limit_member = tokenLimitMembers.find(name => name !== sent);
    if (left_ms <= 0 || token_limit_member === undefined) return null;
    const renamed = { ...target, token_limit_member };
    const asked = await this.#ask(candidate, renamed, turn, Math.min(this.#options.timeout_ms, left_ms));
    if (asked.kind === 'answered') {
      connection.learn(candidate.model, token_limit_member);
      return asked;
    }
    const second = this.#verdictOn(asked, candidate, turn, asking);
    return { ...asked, verdict: refusesMember(second, token_limit_member) ? null : second };
  }

  async #ask<T>(candidate: Candidate, reached: HubTarget, { modality, awaited, ask }: Turn<T>, timeout_ms: number) {
    const { hub } = candidate;
    if (reached.connection.busy) return askFailure('busy');
    // Calls of the router use the callers' own keys and have no alternative, so the router's health is not measured.
    const standings = hub === ROUTER ? null : this.#standings;
    standings?.recordCall(hub, modality);
    const from_ms = performance.now();
    // An error of our own shows nothing about the hub, and must not leave its probe open for ever.
    let failure: HubFailure | null = 'cancelled';
    try {
      const asked = await ask(reached, candidate, timeout_ms);
      failure = asked.kind === 'failed' ? asked.reason : null;
      return asked;
    } finally {
      const ms = performance.now() - from_ms;
      this.#options.onCallEnd(hub, failure, ms);
      if (failure === null) standings?.recordAnswer(hub, modality, awaited, ms);
      else standings?.recordFailure(hub, modality, failure);
    }
  }

  /**
   * The reply of a hub that has begun to answer. If the hub breaks off, that counts as a failure of the hub, once, however often `reply` is
   * called.
   */
  #judged(candidate: Candidate, listening: OpenReply, asking: HubRoute): OpenReply {
    const { hub } = candidate;
    let judged = hub === ROUTER;
    const reply = () => {
      const so_far = listening.reply();
      const { end } = so_far;
      if (end.kind === 'broke_off') {
        if (!judged) this.#standings.recordFailure(hub, 'text', end.reason);
        judged = true;
      }
      return { ...so_far, answered_model: this.#answeredModel(candidate, so_far.answered_model, asking) };
    };
    return { ...listening, reply };
  }
}

const streamed = { stream: true, stream_options: { include_usage: true } } as const;

/** The request in the hub's dialect, and the reader of its answer. */
function requestFor<T extends object>(dialect: Dialect, question: Question<T>, asked: CalledModel) {
  const { path, in_anthropic } = question;
  if (dialect === 'openai')
    return { ...question.body(asked), path, betas: {}, read: (answer: Buffer) => question.read(answer) };
  const bytes = JSON.stringify({ model: asked.model, ...in_anthropic?.body });
  const betas = betaHeaders(in_anthropic?.betas ?? []);
  const read = (answer: Buffer) => {
    const { bytes: completion, blocks } = asCompletion(answer);
    return question.read(completion, blocks);
  };
  return { content_type: 'application/json', bytes, path: MESSAGES_PATH, betas, read } as const;
}

/** The request for a stream in the hub's dialect, and the translation of its events to the chunks of a chat. */
function streamFrom(dialect: Dialect, request: HubRequest, asked: CalledModel) {
  if (dialect === 'openai') {
    const body = JSON.stringify({ ...chatBody(request, asked), ...streamed });
    return { path: CHAT_PATH, body, betas: {}, in_blocks: false, chunks: (data: string) => [data] } as const;
  }
  const events = new AnthropicEvents();
  const { in_anthropic } = request;
  const body = JSON.stringify({ model: asked.model, ...in_anthropic?.body, stream: true });
  const betas = betaHeaders(in_anthropic?.betas ?? []);
  return { path: MESSAGES_PATH, body, betas, in_blocks: true, chunks: (data: string) => events.chunks(data) } as const;
}

function refusesMember(verdict: HubVerdict | null, member: string): boolean {
  if (verdict?.kind !== 'request') return false;
  const { code, param } = verdict.error;
  return code === 'unsupported_parameter' && param === member;
}
