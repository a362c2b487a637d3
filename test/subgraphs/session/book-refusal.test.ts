import { beforeAll, expect, it } from 'vitest';
import { openQueues } from '../../../gateway/call/claim/queues.ts';
import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { agentId } from '../../../schema/ids.ts';
import { parsePolicy } from '../../../schema/requests/policy.ts';
import { sessionDomain, ZERO_HASH } from '../../../schema/session/typed-data.ts';
import { BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import { setPolicy } from '../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { heldAmounts } from '../../../subgraphs/session/delegation/held-amounts.ts';
import { claimRequest } from '../../harness/claim/fixture.ts';
import { refuser, withBooks } from '../../harness/ledger/fixture.ts';
import { hex32 } from '../../harness/session/delegate.ts';
import { freshStore } from '../../harness/store.ts';

let database: Database;
let queue: ReturnType<typeof openQueues>['claim'];
const BOOK = agentId(1);
beforeAll(async () => {
  database = await freshStore();
  queue = openQueues({ database, faults: null }, { refuser, blocked_calls: new BlockedCalls() }).claim;
  await withBooks(database, BOOK);
  await setPolicy(database, BOOK, parsePolicy('tier2_above', '1999'));
});

const life = { validAfter: 0, sessionExpiry: 4_000_000_000 };
const grant = { payer: '0x', agentPubkey: '0x02', ...life, models: [], doors: [], salt: '0x' };
const call = { field: 'Mutation.x', model: null, models: [], intent_id: null, attempt_index: null, parent_ref: null };

/** A payment under a session that may spend 2,000, on a book that requires an approval above 1,999. */
async function paid(delegation_hash: string, amount: AtomicAmount) {
  const claim_key = hex32();
  const paid_under = {
    delegation_hash,
    path: [delegation_hash],
    agent_pubkey: '0x02',
    holds: String(amount),
    valid_after: life.validAfter,
    session_expiry: life.sessionExpiry,
  };
  const shown = {
    delegation_hash,
    agent_address: '0x',
    signature: '0x',
    act: null,
    domain: sessionDomain('https://svc.example'),
    grant: { ...grant, capAtomic: '2000', parentDelegationHash: ZERO_HASH },
  };
  const { outcome } = await queue.submit({
    request: claimRequest(claim_key, {
      amount_atomic: amount,
      landing: { paid_from_mark: 'mark', delegation: paid_under },
      means: { balance_atomic: 10n ** 9n, moved: [] },
    }),
    book: BOOK,
    holds_atomic: amount,
    under: { shown, paid_under, approval: null },
    sealText: () => Buffer.alloc(0),
    call,
  });
  return { claim_key, kind: outcome.kind };
}

it('a call that its book refuses holds nothing on its session: in its own batch the cap is free again', async () => {
  const session = hex32();
  const [refused, passed] = await Promise.all([
    paid(session, atomicAmount(2_000n)),
    paid(session, atomicAmount(1_000n)),
  ]);
  const transactions = await database.query({
    text: 'select distinct xmin::text from payment_claim where claim_key = any($1)',
    values: [[refused.claim_key, passed.claim_key]],
  });
  expect(transactions).toHaveLength(1);
  expect([refused.kind, passed.kind]).toEqual(['blocked', 'claimed']);
  expect(await database.transaction(tx => heldAmounts(tx, [session], []))).toEqual(new Map([[session, 1_000n]]));
});
