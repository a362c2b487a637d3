import {
  type AnchorBirth,
  anchorStanding,
  journalAnchor,
  openAnchor,
} from '../../../subgraphs/receipt/log/anchor-journal.ts';
import { type TreeHeadFacts } from '../../../subgraphs/receipt/log/tree-head.ts';
import { feesNow } from '../../rails/base/settle/fees.ts';
import { signTransaction } from '../../rails/base/settle/transaction.ts';
import { anchorCall, deployment, gasLimits, LOG_ANCHOR } from './contract.ts';
import { type AnchorDesk, away, type Move } from './desk.ts';
import { follow } from './follow.ts';

/**
 * One move at a time, by whichever process: what is under way is brought to its end; or else, where the head has grown
 * and the time has come, the next is signed, journalled and only then broadcast. `on_demand`: the time has come.
 */
export async function move(desk: AnchorDesk, grown: TreeHeadFacts | null, on_demand: boolean): Promise<Move> {
  const open = await openAnchor(desk.database, desk.place);
  if (open) return follow(desk, open);
  return grown === null ? { kind: 'still' } : begin(desk, grown, on_demand ? null : desk.pace_ms);
}

async function begin(desk: AnchorDesk, head: TreeHeadFacts, pace_ms: number | null): Promise<Move> {
  const { chain, database, fee_day_max_wei, key, place } = desk;
  const { due, spent_wei } = await anchorStanding(database, place, { purpose: 'anchor', pace_ms });
  if (!due) return { kind: 'still' };
  const [market, nonce, code] = await Promise.all([
    chain.market([key.address]),
    // Not the pending count: a nonce behind one that the pool may lose would wait for ever.
    chain.transactionCount(key.address, 'latest'),
    chain.code(LOG_ANCHOR),
  ]);
  if (market.kind !== 'ok') return away(market.cause);
  if (nonce.kind !== 'ok') return away(nonce.cause);
  if (code.kind !== 'ok') return away(code.cause);

  const purpose = code.value === '0x' ? 'deployment' : 'anchor';
  const gas = gasLimits[purpose];
  const { head: block, priority_fee_wei, keys } = market.value;
  // What is left of the day is the ceiling: there is no other use for it.
  const ceiling_wei = (fee_day_max_wei - spent_wei) / BigInt(gas);
  const priced = feesNow({ base_fee_wei: block.base_fee_wei, priority_fee_wei }, ceiling_wei);
  if (priced.kind !== 'priced') return { kind: 'trouble', trouble: 'fee_too_high' };
  const fee_max_wei = BigInt(gas) * priced.fees.max_fee_wei;
  if ((keys[0]?.balance_wei ?? 0n) < fee_max_wei) return { kind: 'trouble', trouble: 'unfunded' };

  const call = purpose === 'anchor' ? anchorCall(head) : deployment;
  const { raw, hash } = signTransaction(key, { ...call, nonce: nonce.value, gas, fees: priced.fees });
  const { max_fee_wei } = priced.fees;
  return send(desk, pace_ms, {
    anchor_id: `anc_${Buffer.from(desk.random.bytes(16)).toString('hex')}`,
    ...{ purpose, head, nonce: nonce.value, fee_max_wei },
    attempt: {
      ...{ tx_hash: hash, raw },
      max_fee_wei: String(max_fee_wei),
      priority_fee_wei: String(priced.fees.priority_fee_wei),
    },
  });
}

async function send(desk: AnchorDesk, pace_ms: number | null, birth: AnchorBirth): Promise<Move> {
  const { chain, database, faults, fee_day_max_wei, place } = desk;
  const journalled = await journalAnchor(database, place, birth, { fee_day_max_wei, pace_ms });
  if (journalled.kind === 'over_budget') return { kind: 'trouble', trouble: 'fee_too_high' };
  if (journalled.kind === 'not_due') return { kind: 'still' };
  await faults?.('after_journal');
  // Whatever the node says to it: what was sent is followed until the chain shows it.
  await chain.broadcast(birth.attempt.raw as `0x${string}`);
  await faults?.('after_broadcast');
  return { kind: 'sent', tx_hash: birth.attempt.tx_hash };
}
