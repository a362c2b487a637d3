import type { Carried, HandedOver, Seen } from '../facilitator/facilitated-chain.ts';
import { settleRequest } from '../facilitator/wire.ts';
import type { BasePayment } from '../payment.ts';
import type { Hex } from './abi.ts';
import type { Authorization } from './authorization.ts';
import type { BaseChain, ChainReceipt } from './chain.ts';
import { MULTICALL3, USDC } from './contracts.ts';
import { decidePayment, isTooLate, transferred } from './decide.ts';
import { lookBack } from './settle/journal.ts';

/** Base, as far as a facilitator's settlements are looked after. */
export function carriedOnBase(chain: BaseChain): Carried<BasePayment> {
  return {
    network: 'base',
    async before({ authorization }) {
      const head = await chain.block('latest');
      if (head.kind !== 'ok' || head.value === null) return { kind: 'unreachable' };
      if (await isTooLate(chain, authorization, head.value)) return { kind: 'too_late' };
      return { kind: 'in_time', from_block: lookBack(head.value.number) };
    },
    async isUnused({ authorization }) {
      const head = await chain.block('latest');
      if (head.kind !== 'ok' || head.value === null) return false;
      const used = await chain.used(authorization, head.value.number);
      return used.kind === 'ok' && !used.value;
    },
    request: ({ authorization, signature }) => settleRequest(authorization, signature),
    look: handed => lookFor(chain, handed),
  };
}

/**
 * What the chain says of a payment that a facilitator was given. A transaction that it names is looked into first, and
 * believed only where it made this very transfer: the name may be wrong, and the payment moved in another.
 */
async function lookFor(
  chain: BaseChain,
  { payment: { authorization }, from_block, tx_hash }: HandedOver<BasePayment>,
): Promise<Seen> {
  const [receipt] = tx_hash === null ? [] : await chain.receipts([tx_hash as Hex]);
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
