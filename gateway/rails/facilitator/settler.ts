import type { SettleRequest } from '@x402/core/types';
import type { Database } from '../../../subgraphs/database.ts';
import {
  type DuePost,
  dropPost,
  journalPost,
  markCarried,
  noteVouch,
  type PostPace,
  takeDuePosts,
} from '../../../subgraphs/receipt/claim/settlement/write.ts';
import { notSent, type SettleOutcome, unknown } from '../outcome.ts';
import { type Payment, paymentFromJson } from '../payment.ts';
import { type JournalOutcome, journalOne, outcomeWithoutJournal, type Settler, type SettlerParts } from '../settler.ts';
import type { Facilitator, FacilitatorAnswer } from './client.ts';
import { type FacilitatedChain, type FacilitatedOutcome, type HandedPayment, lookUntil } from './facilitated-chain.ts';

export interface FacilitatorSettlerOptions<I extends P & { readonly claim_key: string }, P extends Payment>
  extends SettlerParts<I>,
    Omit<FacilitatorTimes, 'verify_ms' | 'settle_ms'> {
  readonly facilitator: Facilitator;
  /** Queries about the network on which the facilitator settles. */
  readonly facilitated: FacilitatedChain<P>;
}

/** Time limits and pauses of settling by a facilitator. */
export interface FacilitatorTimes {
  readonly verify_ms: number;
  readonly settle_ms: number;
  /** How long the chain is queried for the outcome that the facilitator reported. A few blocks nearly always suffice. */
  readonly seen_ms: number;
  readonly poll_ms: number;
  /** Pace at which open payments are handed over again while they are valid. */
  readonly pace: PostPace;
}

/**
 * The first pause of `pace` exceeds the time of a response and of the queries after it, so that no payment is handed over twice in
 * that time.
 */
export const facilitatorDefaults: FacilitatorTimes = {
  verify_ms: 5_000,
  settle_ms: 20_000,
  seen_ms: 6_000,
  poll_ms: 500,
  pace: { rest_ms: 40_000, rest_ms_max: 300_000 },
};

/** Settles by an x402 facilitator, one payment per request. Its response is only a hint; the chain decides. */
export function openFacilitatorSettler<I extends P & { readonly claim_key: string }, P extends Payment>(
  options: FacilitatorSettlerOptions<I, P>,
): Settler<I> {
  return new FacilitatorSettler(options);
}

class FacilitatorSettler<I extends P & { readonly claim_key: string }, P extends Payment> implements Settler<I> {
  readonly #options: FacilitatorSettlerOptions<I, P>;
  readonly #closing = new AbortController();
  readonly #again = new Set<Promise<void>>();

  constructor(options: FacilitatorSettlerOptions<I, P>) {
    this.#options = options;
  }

  /** All checks that can refuse come before the commit: chain or facilitator unreachable, too late, payment not accepted. */
  async settle(item: I): Promise<SettleOutcome> {
    const { facilitated, facilitator } = this.#options;
    if (this.#closing.signal.aborted) return notSent('stopped');
    const before = await facilitated.handOverWindow(item);
    if (before.kind === 'unreachable') return notSent('chain_unavailable');
    if (before.kind === 'too_late') return { kind: 'not_transferred', reason: 'expired' };
    const request = facilitated.request(item);
    const verdict = await facilitator.verify(request);
    if (verdict.kind === 'unreachable' || verdict.kind === 'unauthorized') {
      this.#options.trouble?.(verdict.cause);
      return notSent('facilitator_unavailable');
    }
    // A used payment is not declined: someone else may have submitted it in our favour, which is checked below.
    if (verdict.kind === 'invalid' && (await facilitated.isUnused(item)))
      return { kind: 'declined', reason: verdict.reason };
    return this.#handOver(item, request, before.from_block);
  }

  /** Runs in the background, because a facilitator may be slow and the caller must not wait. */
  async rebroadcast(): Promise<void> {
    const posts = handOverAgain(this.#options).catch(cause => this.#options.trouble?.(cause));
    this.#again.add(posts);
    void posts.finally(() => this.#again.delete(posts));
  }

  reachable(): Promise<boolean> {
    return this.#options.facilitator.reachable();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#options.facilitator.close();
    await Promise.all(this.#again);
  }

  async #handOver(item: I, request: SettleRequest, from_block: number): Promise<SettleOutcome> {
    const { facilitator, faults, trouble } = this.#options;
    const outcome = await journalHandOver(this.#options, item, from_block);
    if (outcome.kind !== 'journalled') return outcomeWithoutJournal(outcome, this.#options);
    const { settlement_id } = outcome.journalled;
    await faults?.reach('after_settling');
    const told = await facilitator.settle(request);
    await faults?.reach('after_broadcast');
    if ('cause' in told) trouble?.(told.cause);
    if (told.kind === 'unsent') return this.#dropped(settlement_id, notSent('facilitator_unavailable'));
    const tx_hash = told.kind === 'success' || told.kind === 'pending' ? told.tx_hash : null;
    const seen = await this.#look({ payment: item, from_block, tx_hash }, told);
    return this.#concluded(settlement_id, told, seen);
  }

  /**
   * If the facilitator did not respond, the time is already used up and the chain is queried once. Any other response may arrive
   * before its block is visible here.
   */
  #look(handed: HandedPayment<P>, told: FacilitatorAnswer): Promise<FacilitatedOutcome> {
    const { facilitated, seen_ms: wait_ms, poll_ms } = this.#options;
    const { signal } = this.#closing;
    return told.kind === 'silent'
      ? facilitated.look(handed)
      : lookUntil(facilitated, handed, { wait_ms, poll_ms, signal });
  }

  async #concluded(settlement_id: string, told: FacilitatorAnswer, seen: FacilitatedOutcome): Promise<SettleOutcome> {
    if (seen.kind === 'transferred') {
      await this.#noted(database => database.transaction(tx => markCarried(tx, settlement_id, seen)));
      return seen;
    }
    if (seen.kind === 'not_transferred') return this.#dropped(settlement_id, seen);
    if (seen.kind === 'contradicted') return unknown('chain_inconsistent');
    if (this.#closing.signal.aborted) return unknown('stopped');
    if (told.kind === 'success') {
      await this.#noted(database => noteVouch(database, settlement_id, told.tx_hash));
      return { kind: 'vouched', tx_hash: told.tx_hash };
    }
    if (told.kind === 'failure' && seen.reason === 'not_mined')
      return this.#dropped(settlement_id, { kind: 'declined', reason: told.reason });
    // Here a 401 or 403 counts as no response: it may come from a proxy and does not prove that nothing was sent.
    return told.kind === 'pending' ? { ...seen, tx_hash: told.tx_hash } : seen;
  }

  async #dropped<S extends SettleOutcome>(settlement_id: string, settlement: S): Promise<S> {
    await this.#noted(database => dropPost(database, settlement_id));
    return settlement;
  }

  /**
   * Writes a note that only helps later requests. Losing it changes no outcome, and it is written again when the next request is
   * due.
   */
  async #noted(note: (database: Database) => Promise<void>): Promise<void> {
    await note(this.#options.database).catch(cause => this.#options.trouble?.(cause));
  }
}

/** Commits a payment that is handed over, with the first block in which it may have moved, in one database transaction. */
export function journalHandOver<I extends Payment & { readonly claim_key: string }>(
  parts: SettlerParts<I>,
  item: I,
  from_block: number,
): Promise<JournalOutcome<{ readonly settlement_id: string }>> {
  const { network, valid_before_seconds: valid_before } = item.authorization;
  return journalOne(parts, item, from_block, (tx, settlement_id) =>
    journalPost(tx, { network, settlement_id, from_block, valid_before }),
  );
}

const POSTS_PER_ROUND = 32;

type Parts<P extends Payment> = Pick<
  FacilitatorSettlerOptions<P & { readonly claim_key: string }, P>,
  'facilitator' | 'facilitated' | 'database' | 'pace' | 'trouble'
>;

/**
 * Hands open payments over again, whichever process handed them over first: after a time-out, a crash or a reorganisation. The
 * chain accepts a nonce once, so the payment moves once. Reconciliation decides the claim.
 */
async function handOverAgain<P extends Payment>(parts: Parts<P>): Promise<void> {
  const { database, facilitated, pace } = parts;
  const due = await database.transaction(tx => takeDuePosts(tx, facilitated.network, pace, POSTS_PER_ROUND));
  await Promise.all(due.map(post => takeUp(parts, post)));
}

async function takeUp<P extends Payment>(
  { facilitated, database, facilitator, trouble }: Parts<P>,
  { settlement_id, from_block, claim_state, authorization: stored }: DuePost,
): Promise<void> {
  const wanted = claim_state === 'settling' || claim_state === 'recorded';
  if (!wanted || stored === null) return dropPost(database, settlement_id);
  const payment = paymentFromJson(stored) as P;
  const seen = await facilitated.look({ payment, from_block, tx_hash: null });
  if (seen.kind === 'transferred') return database.transaction(tx => markCarried(tx, settlement_id, seen));
  if (seen.kind === 'not_transferred') return dropPost(database, settlement_id);
  const told = await facilitator.settle(facilitated.request(payment));
  if (told.kind === 'unauthorized') trouble?.(told.cause);
  if (told.kind !== 'success') return;
  const { kind } = await facilitated.look({ payment, from_block, tx_hash: told.tx_hash });
  if (kind === 'unknown') await noteVouch(database, settlement_id, told.tx_hash);
}
