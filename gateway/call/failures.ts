import { LRUCache } from 'lru-cache';
import { limits } from '../../schema/limits.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import type { CanceledNotice } from '../../subgraphs/live-channels.ts';
import type { HubFailed } from '../../subgraphs/receipt/inference/hub-failed.ts';
import { Meter, rateHeaders } from '../rates/rate.ts';

/** A payer whose payments the chain reverted, as seen by this process. */
interface Reverts {
  readonly count: number;
  readonly until_ms: number;
}

interface Rest {
  readonly seconds: number;
  /** RateLimit and RateLimit-Policy, if the wait comes from a rate. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Counts uncharged failures that cost others, in the memory of this process. By payer (or API key) and by address it counts guessed router
 * keys and grants, requests that hubs refuse, and canceled tasks. By payer it counts payments that pass every check and are reverted. A
 * revert costs our gas, so the payer's wait doubles with each. Contract wallets wait by their claims instead, because their code decides
 * about each payment.
 */
export class Failures {
  readonly #tried: Meter;
  /** Cancels and refused requests by address, because a new wallet for each is free, and an address may be shared. */
  readonly #burdensFrom: Meter;
  /** Recent cancels. Every process is notified of each cancel, and this process may have counted it before. */
  readonly #canceled = new LRUCache<string, true>({ max: CANCELED_KNOWN_MAX });
  readonly #clock: Clock;
  /** Reverts by payer. The cache is created with the first revert, because it allocates memory for all payers at once. */
  #reverts: LRUCache<string, Reverts> | null = null;

  constructor(tried: Meter, clock: Clock) {
    this.#tried = tried;
    const { count, seconds } = tried.rate;
    this.#burdensFrom = new Meter({ count: count * ADDRESS_SHARE, seconds }, clock);
    this.#clock = clock;
  }

  /** Counts a call that failed because of its own request, router key or grant. */
  tried(caller: string, address_mark: string): void {
    for (const each of callersOf(caller, address_mark)) this.#tried.take(each);
  }

  /**
   * Counts a call that a hub refused because of the request itself or because it has no room: the hub did work and nothing was charged. A
   * busy hub is not the caller's fault, but repeated requests keep it busy.
   */
  failedAtHub(
    { by_caller, crowded }: Pick<HubFailed, 'by_caller' | 'crowded'>,
    caller: string,
    address_mark: string,
  ): void {
    if (by_caller === 'router_key') this.tried(caller, address_mark);
    if (by_caller !== 'request' && !crowded) return;
    this.#tried.take(refusedTo(caller));
    this.#burdensFrom.take(address_mark);
  }

  /** Counts a canceled task, for which a hub may have worked, in any process. */
  canceled({ task_id, by }: CanceledNotice): void {
    if (by === null || this.#canceled.has(task_id)) return;
    this.#canceled.set(task_id, true);
    this.#tried.take(canceledBy(by.payer));
    this.#burdensFrom.take(by.paid_from_mark);
  }

  reverted(payer: string): void {
    const now_ms = this.#clock.now_ms();
    const count = (this.#lately(payer, now_ms)?.count ?? 0) + 1;
    const rest_seconds = Math.min(
      limits.payer_reverted_rest_seconds * 2 ** (count - 1),
      limits.wallet_reverted_rest_seconds,
    );
    this.#reverts ??= new LRUCache({ max: limits.rate_callers_max });
    this.#reverts.set(payer, { count, until_ms: now_ms + rest_seconds * 1_000 });
  }

  /**
   * How long this caller must wait with calls that use a router key or grant (`tries`), a hub or our gas. Null if they are accepted now.
   */
  rest(caller: string, address_mark: string, tries: boolean): Rest | null {
    const now_ms = this.#clock.now_ms();
    const left_ms = (this.#lately(caller, now_ms)?.until_ms ?? now_ms) - now_ms;
    const counted = [...(tries ? callersOf(caller, address_mark) : []), canceledBy(caller), refusedTo(caller)];
    const rests = this.#restsOf(counted, address_mark);
    return longest(left_ms > 0 ? [...rests, { seconds: Math.ceil(left_ms / 1_000), headers: {} }] : rests);
  }

  /**
   * How long this caller must wait until a hub is asked again for a call that was paid before. Null if it may be asked now. Cancels and
   * reverts do not delay an answer that is owed. Only requests that hubs refused do, and with a router key (`tries`) those that the router
   * refused.
   */
  restOfOwed(caller: string, address_mark: string, tries: boolean): Rest | null {
    const counted = [...(tries ? callersOf(caller, address_mark) : []), refusedTo(caller)];
    return longest(this.#restsOf(counted, address_mark));
  }

  #restsOf(counted: readonly string[], address_mark: string): readonly Rest[] {
    return [...counted.flatMap(each => restBy(this.#tried, each)), ...restBy(this.#burdensFrom, address_mark)];
  }

  /** The payer's reverts. Null if there was none, or the longest wait has passed since. */
  #lately(payer: string, now_ms: number): Reverts | null {
    const reverts = this.#reverts?.get(payer);
    return reverts && now_ms < reverts.until_ms + limits.wallet_reverted_rest_seconds * 1_000 ? reverts : null;
  }
}

/** An address may have this many times as many cancels and refusals as one caller. */
const ADDRESS_SHARE = 10;
const CANCELED_KNOWN_MAX = 10_000;

function restBy(meter: Meter, caller: string): readonly Rest[] {
  const turn = meter.look(caller);
  if (turn.kind !== 'beyond') return [];
  return [{ seconds: turn.retry_after_seconds, headers: rateHeaders('uncharged', meter.rate, turn) }];
}

const longest = (rests: readonly Rest[]): Rest | null =>
  rests.toSorted((one, other) => other.seconds - one.seconds)[0] ?? null;

const canceledBy = (payer: string): string => `canceled:payer:${payer}`;
const refusedTo = (caller: string): string => `refused:${caller}`;

function callersOf(caller: string, address_mark: string): readonly string[] {
  return [`caller:${caller}`, `address:${address_mark}`];
}

/** The name under which failures of an API key are counted. No wallet has this form. */
export const callerByKey = (key_hash: string): string => `key:${key_hash}`;
