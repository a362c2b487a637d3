import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type DuePost, dropPost, markCarried, noteVouch, takeDuePosts } from '../../../subgraphs/receipt/index.ts';
import { authorizationFromJson } from '../base/authorization.ts';
import { signatureFromJson } from '../base/signature.ts';
import type { SettleItem } from '../settle/submission.ts';
import { lookFor } from './seen.ts';
import type { FacilitatorSettlerOptions } from './settler.ts';
import { settleRequest } from './wire.ts';

const POSTS_PER_ROUND = 32;

type Parts = Pick<FacilitatorSettlerOptions<SettleItem>, 'facilitator' | 'chain' | 'database' | 'pace'>;

/**
 * Takes up what a facilitator was given and the chain was not seen to have, whichever process gave it: after a time-out,
 * a crash, a reorganisation. Given twice it still moves once: the chain takes a nonce once. What its claim comes to is
 * for reconcile to say.
 */
export async function handOverAgain(parts: Parts): Promise<void> {
  const { database, pace } = parts;
  const due = await database.transaction(tx => takeDuePosts(tx, pace, POSTS_PER_ROUND));
  await Promise.all(due.map(post => takeUp(parts, post)));
}

async function takeUp(parts: Parts, { settlement_id, from_block, claim_state, authorization: stored }: DuePost) {
  const { chain, database, facilitator } = parts;
  const wanted = claim_state === 'settling' || claim_state === 'recorded';
  if (!wanted || stored === null) return dropPost(database, settlement_id);
  const { signature, ...rest } = stored;
  const authorization = authorizationFromJson(rest);
  const seen = await lookFor(chain, { authorization, from_block, tx_hash: null });
  if (seen.kind === 'transferred') return database.transaction(tx => markCarried(tx, settlement_id, seen));
  if (seen.kind === 'not_transferred') return dropPost(database, settlement_id);
  const told = await facilitator.settle(settleRequest(authorization, signatureFromJson(signature as JsonObject)));
  if (told.kind !== 'success') return;
  const { kind } = await lookFor(chain, { authorization, from_block, tx_hash: told.tx_hash });
  if (kind === 'unknown') await noteVouch(database, settlement_id, told.tx_hash);
}
