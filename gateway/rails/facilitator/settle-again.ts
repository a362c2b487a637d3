import {
  type DuePost,
  dropPost,
  markCarried,
  noteVouch,
  takeDuePosts,
} from '../../../subgraphs/receipt/claim/settlement/write.ts';
import { type Payment, paymentFromJson } from '../payment.ts';
import type { FacilitatorSettlerOptions } from './settler.ts';

const POSTS_PER_ROUND = 32;

type Parts<P extends Payment> = Pick<
  FacilitatorSettlerOptions<P & { readonly claim_key: string }, P>,
  'facilitator' | 'carried' | 'database' | 'pace' | 'trouble'
>;

/**
 * Takes up what a facilitator was given and the chain was not seen to have, whichever process gave it: after a time-out,
 * a crash, a reorganisation. Given twice it still moves once: the chain takes a nonce once. What its claim comes to is
 * for reconcile to say.
 */
export async function handOverAgain<P extends Payment>(parts: Parts<P>): Promise<void> {
  const { database, carried, pace } = parts;
  const due = await database.transaction(tx => takeDuePosts(tx, carried.network, pace, POSTS_PER_ROUND));
  await Promise.all(due.map(post => takeUp(parts, post)));
}

async function takeUp<P extends Payment>(
  { carried, database, facilitator, trouble }: Parts<P>,
  { settlement_id, from_block, claim_state, authorization: stored }: DuePost,
): Promise<void> {
  const wanted = claim_state === 'settling' || claim_state === 'recorded';
  if (!wanted || stored === null) return dropPost(database, settlement_id);
  const payment = paymentFromJson(stored) as P;
  const seen = await carried.look({ payment, from_block, tx_hash: null });
  if (seen.kind === 'transferred') return database.transaction(tx => markCarried(tx, settlement_id, seen));
  if (seen.kind === 'not_transferred') return dropPost(database, settlement_id);
  const told = await facilitator.settle(carried.request(payment));
  if (told.kind === 'unauthorized') trouble?.(told.cause);
  if (told.kind !== 'success') return;
  const { kind } = await carried.look({ payment, from_block, tx_hash: told.tx_hash });
  if (kind === 'unknown') await noteVouch(database, settlement_id, told.tx_hash);
}
