import type { Clock, Random } from '../../../clock.ts';
import type { Candidate, Modality } from '../catalogue.ts';
import type { HubConnection, HubFailure } from './ask.ts';
import {
  afterAnswer,
  afterAsking,
  afterFailure,
  afterNothing,
  choose,
  failureWeight,
  type HubHealth,
  type LatencyKind,
  unknownHealth,
} from './choose.ts';

/** Health of a hub in one kind of work, for operators. */
export interface HubStanding {
  readonly hub: string;
  readonly modality: Modality;
  /** Health from 1 (no recent failure) to 0 (the circuit is not closed). */
  readonly health: number;
  /** Moving average of the time until a whole answer. Null until the hub has given one. */
  readonly answer_ms: number | null;
  readonly first_piece_ms: number | null;
}

/** The facts about a request on which the order of hubs depends. */
export interface OrderRequest {
  readonly modality: Modality;
  readonly awaited: LatencyKind;
  readonly candidates: readonly Candidate[];
  readonly may_try: boolean;
}

interface StandingsOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Connections by hub name. */
  readonly connections: ReadonlyMap<string, Pick<HubConnection, 'crowding'>>;
}

/** Health of the hubs in this process, by hub and kind of work, and the leading hub of each set of candidates. */
export class Standings {
  readonly #options: StandingsOptions;
  readonly #opened_at_ms: number;
  readonly #healths = new Map<string, { readonly hub: string; readonly modality: Modality; health: HubHealth }>();
  /**
   * Leading hub of each set of candidates. The number of sets is bounded by the configuration: callers name models, but cannot create sets.
   */
  readonly #leaders = new Map<string, string | null>();

  constructor(options: StandingsOptions) {
    this.#options = options;
    this.#opened_at_ms = options.clock.now_ms();
  }

  order({ modality, candidates, ...turn }: OrderRequest): readonly Candidate[] {
    if (candidates.length < 2) return candidates;
    const key = [modality, ...candidates.flatMap(({ hub, model }) => [hub, model])].join('\n');
    const contenders = candidates.map(candidate => ({
      candidate,
      health: this.#kept(candidate.hub, modality).health,
      crowding: this.#options.connections.get(candidate.hub)?.crowding ?? 0,
    }));
    const leader = this.#leaders.get(key) ?? null;
    const chosen = choose({ ...turn, contenders, leader, now_ms: this.#now_ms(), draw: this.#draw() });
    this.#leaders.set(key, chosen.leader);
    return chosen.order;
  }

  recordCall(hub: string, modality: Modality): void {
    this.#move(hub, modality, health => afterAsking(health, this.#now_ms()));
  }

  recordAnswer(hub: string, modality: Modality, awaited: LatencyKind, ms: number): void {
    this.#move(hub, modality, health => afterAnswer(health, this.#now_ms(), awaited, ms));
  }

  recordFailure(hub: string, modality: Modality, reason: HubFailure): void {
    const judged = blames(modality, reason) ? afterFailure : afterNothing;
    this.#move(hub, modality, health => judged(health, this.#now_ms()));
  }

  get all(): readonly HubStanding[] {
    const now_ms = this.#now_ms();
    return [...this.#healths.values()].map(({ hub, modality, health }) => {
      const { circuit, answer_ms, first_piece_ms } = health;
      const well = circuit.kind === 'closed' ? 1 - failureWeight(health, now_ms) : 0;
      return { hub, modality, health: well, answer_ms, first_piece_ms };
    });
  }

  /** Whether the circuit of a hub is open or half open: it failed repeatedly and has answered nothing since. */
  rests(hub: string, modality: Modality): boolean {
    return (this.#healths.get(nameOf(hub, modality))?.health.circuit.kind ?? 'closed') !== 'closed';
  }

  #move(hub: string, modality: Modality, moved: (health: HubHealth) => HubHealth): void {
    const kept = this.#kept(hub, modality);
    kept.health = moved(kept.health);
  }

  #kept(hub: string, modality: Modality) {
    const key = nameOf(hub, modality);
    const kept = this.#healths.get(key) ?? { hub, modality, health: unknownHealth(this.#opened_at_ms) };
    this.#healths.set(key, kept);
    return kept;
  }

  #now_ms(): number {
    return this.#options.clock.now_ms();
  }

  #draw(): number {
    return Buffer.from(this.#options.random.bytes(4)).readUInt32BE() / 2 ** 32;
  }
}

const nameOf = (hub: string, modality: Modality) => `${modality}\n${hub}`;

const by_any: readonly HubFailure[] = [
  ...(['status_400', 'status_403', 'status_409', 'status_413', 'status_414'] as const),
  ...(['status_415', 'status_422', 'status_431', 'status_451', 'cancelled'] as const),
];

/**
 * Failures that a caller's request may cause at any hub. They do not count against the hub, because a caller could otherwise disable it.
 */
const causedByRequests: Readonly<Record<Modality, ReadonlySet<HubFailure>>> = {
  text: new Set(by_any),
  /** The size of an image depends on the request, and an image that is too large costs its caller nothing. */
  image: new Set([...by_any, 'too_large']),
  audio: new Set(by_any),
  /** The size of vectors depends on the input in the same way. */
  embedding: new Set([...by_any, 'too_large']),
};

function blames(modality: Modality, reason: HubFailure): boolean {
  return !causedByRequests[modality].has(reason);
}
