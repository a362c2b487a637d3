import { atomicAmount } from '../../../schema/amount.ts';
import { taskId } from '../../../schema/ids.ts';
import type { Database } from '../../../subgraphs/database.ts';
import {
  type ClaimOutcome,
  type ClaimRequest,
  claimPayments,
  type Lease,
} from '../../../subgraphs/receipt/claim/claim.ts';
import { abandonClaim, beginSettling, markRecorded } from '../../../subgraphs/receipt/claim/transitions.ts';

export const OWNER = '11111111-1111-4111-8111-111111111111';
export const OTHER = '22222222-2222-4222-8222-222222222222';

let number = 0;

/** A claim as a paid call makes it. Each has a new task id. */
export function claimRequest(claim_key: string, differently: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    claim_key,
    field: 'Mutation.createChatCompletion',
    request_hash: 'the request',
    task_id: taskId(1_760_000_000_000, Buffer.from(String(++number).padStart(10, '0'))),
    agent_id: null,
    lease_owner: OWNER,
    network: 'base',
    payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    payment_id: claim_key,
    amount_atomic: atomicAmount(2000n),
    reserved_atomic: atomicAmount(0n),
    valid_before: 2_000_000_000,
    authorization: {},
    landing: {},
    request_box: Buffer.from('sealed'),
    slots: [],
    means: null,
    ...differently,
  };
}

export const claim = (database: Database, ...requests: ClaimRequest[]): Promise<ClaimOutcome[]> =>
  database.transaction(tx => claimPayments(tx, requests));

export async function stateOf(database: Database, claim_key: string): Promise<string | undefined> {
  const [row] = await database.query<{ state: string }>({
    text: 'select state from payment_claim where claim_key = $1',
    values: [claim_key],
  });
  return row?.state;
}

export function heldLease(outcome: ClaimOutcome | undefined): Lease {
  if (outcome?.kind !== 'claimed') throw new Error(`not claimed but ${outcome?.kind}`);
  return outcome.lease;
}

export const startSettling = (database: Database, lease: Lease) =>
  database.transaction(tx =>
    beginSettling(tx, [{ ...lease, settlement_id: 's', from_block: 1, answer_box: null, worked: {} }]),
  );

export const recordClaim = (database: Database, lease: Lease) => database.transaction(tx => markRecorded(tx, [lease]));

export const abandonLease = (
  database: Database,
  lease: Lease,
  definite: boolean,
  { reason = 'test', by_caller = false } = {},
) => database.transaction(tx => abandonClaim(tx, lease, reason, definite, by_caller));
