import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from '../base/abi.ts';
import type { Authorization } from '../base/authorization.ts';
import type { ChainReceipt } from '../base/base-shapes.ts';
import type { BaseChain } from '../base/chain.ts';
import { decidePayment } from '../base/decide.ts';
import { MULTICALL3 } from '../base/multicall.ts';
import { type Decision, transferred } from '../base/outcome.ts';
import { USDC } from '../base/usdc.ts';

/** A payment in a facilitator's hands. */
export interface HandedOver {
  readonly authorization: Authorization;
  /** The block before which it cannot have moved. */
  readonly from_block: number;
  /** In which it says that it moved; null where it has named none. */
  readonly tx_hash: Hex | null;
}

/** `contradicted`: the named transaction was mined, has nothing to do with it, and it is unused: the word is worth nothing. */
export type Seen = Decision | { readonly kind: 'contradicted' };

/**
 * What the chain says of a payment that a facilitator was given. A transaction that it names is looked into first, and
 * believed only where it made this very transfer: the name may be wrong, and the payment moved in another.
 */
export async function lookFor(chain: BaseChain, { authorization, from_block, tx_hash }: HandedOver): Promise<Seen> {
  const [receipt] = tx_hash === null ? [] : await chain.receipts([tx_hash]);
  const named = receipt?.kind === 'ok' ? receipt.value : null;
  const done = named && transferred(named, authorization, 'us');
  if (done) return done;
  const decision = await decidePayment(chain, { authorization, attempts: [], from_block });
  if (decision.kind === 'transferred') return { ...decision, by: 'us' };
  if (named === null || decision.kind !== 'unknown' || decision.reason !== 'not_mined') return decision;
  const failed = !named.succeeded && (await carries(chain, named, authorization));
  return failed ? { kind: 'not_transferred', reason: 'reverted' } : { kind: 'contradicted' };
}

/** Whether a transaction was to move it: anybody's that failed could be named. */
async function carries(chain: BaseChain, { tx_hash, to }: ChainReceipt, { nonce }: Authorization): Promise<boolean> {
  if (to !== USDC && to !== MULTICALL3) return false;
  const data = await chain.calldata(tx_hash);
  return data.kind === 'ok' && data.value !== null && data.value.includes(nonce.slice(2).toLowerCase());
}

/** A development chain mines at once, Base every two seconds: look soon, then less and less often. */
const POLL_MS_FIRST = 15;

/** Looks until the chain has decided, or for so long. */
export async function lookUntil(chain: BaseChain, payment: HandedOver, until: Patience): Promise<Seen> {
  const deadline_ms = performance.now() + until.wait_ms;
  for (let pause_ms = POLL_MS_FIRST; ; pause_ms = Math.min(2 * pause_ms, until.poll_ms)) {
    const seen = await lookFor(chain, payment);
    const decided = seen.kind === 'transferred' || seen.kind === 'not_transferred';
    if (decided || until.signal.aborted || performance.now() + pause_ms > deadline_ms) return seen;
    await sleep(pause_ms, undefined, { signal: until.signal }).catch(() => {});
  }
}

export interface Patience {
  readonly wait_ms: number;
  readonly poll_ms: number;
  readonly signal: AbortSignal;
}
