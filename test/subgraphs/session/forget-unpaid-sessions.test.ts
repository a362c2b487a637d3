import { beforeAll, expect, it } from 'vitest';
import { openQueues } from '../../../gateway/call/claim/queues.ts';
import { atomicAmount } from '../../../schema/amount.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import { sessionDomain, ZERO_HASH } from '../../../schema/session/typed-data.ts';
import { BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { countSpent } from '../../../subgraphs/session/delegation/count-spent.ts';
import { forgetUnpaidSessions } from '../../../subgraphs/session/delegation/forget-unpaid-sessions.ts';
import { abandonLease, claimRequest, startSettling } from '../../harness/claim/fixture.ts';
import { eventually } from '../../harness/faults/ground.ts';
import { refuser } from '../../harness/ledger/fixture.ts';
import { hex32 } from '../../harness/session/delegate.ts';
import { freshStore } from '../../harness/store.ts';

let database: Database;
let queue: ReturnType<typeof openQueues>['claim'];
beforeAll(async () => {
  database = await freshStore();
  queue = openQueues({ database, faults: null }, { refuser, blocked_calls: new BlockedCalls() }).claim;
});

const life = { validAfter: 0, sessionExpiry: 4_000_000_000 };

/** A payment under a new session, whose claim also stores the session. */
async function claimed(delegation_hash: string = hex32(), holds = '5') {
  const grant = { payer: '0x', agentPubkey: '0x02', capAtomic: '9', ...life, models: [], doors: [], salt: '0x' };
  const paid_under = {
    delegation_hash,
    path: [delegation_hash],
    agent_pubkey: '0x02',
    holds,
    valid_after: life.validAfter,
    session_expiry: life.sessionExpiry,
  };
  const shown = {
    delegation_hash,
    agent_address: '0x',
    signature: '0x',
    act: null,
    domain: sessionDomain('https://svc.example'),
    grant: { ...grant, parentDelegationHash: ZERO_HASH },
  };
  const { outcome } = await queue.submit({
    request: claimRequest(hex32(), {
      landing: { paid_from_mark: 'mark', delegation: paid_under },
      means: { balance_atomic: 10n ** 9n, moved: [] },
    }),
    book: null,
    holds_atomic: atomicAmount(0n),
    under: { shown, paid_under, approval: null },
    sealText: () => Buffer.alloc(0),
    call: { field: 'Mutation.x', model: null, models: [], intent_id: null, attempt_index: null, parent_ref: null },
  });
  if (outcome.kind !== 'claimed') throw new Error(`not claimed but ${outcome.kind}`);
  return { delegation_hash, lease: outcome.lease, paid_under };
}

const older = () =>
  database.query({
    text: 'update delegation set created_at = created_at - make_interval(secs => $1)',
    values: [sessionLimits.unbound_kept_seconds],
  });
const known = async () =>
  (await database.query<{ name: string }>({ text: 'select delegation_hash as name from delegation' })).map(
    it => it.name,
  );

it('a session is forgotten once its time is over, unless a payment has bound it, or holds it still', async () => {
  const [released, open, sent, bound] = [await claimed(), await claimed(), await claimed(), await claimed()];
  await abandonLease(database, released.lease, true);
  await startSettling(database, sent.lease);
  await database.transaction(tx =>
    countSpent(tx, [{ task_id: 'task_bound', agent_id: null, under: bound.paid_under }]),
  );
  await forgetUnpaidSessions(database);
  expect(await known()).toHaveLength(4);
  await older();
  await forgetUnpaidSessions(database);
  expect(new Set(await known())).toEqual(new Set([open, sent, bound].map(it => it.delegation_hash)));
  // Its grant is still valid, so a payment under it stores the session again.
  await claimed(released.delegation_hash);
  expect(await known()).toHaveLength(4);
  await abandonLease(database, open.lease, true);
  await older();
  await forgetUnpaidSessions(database);
  expect(await known()).not.toContain(open.delegation_hash);
});

it('a session that is claimed under while it is being forgotten keeps what the claim holds', async () => {
  const first = await claimed();
  await abandonLease(database, first.lease, true);
  await older();
  const seen = Promise.withResolvers<void>();
  const claimed_since = Promise.withResolvers<void>();
  // Pauses between the statement that locks the row and the one that deletes it. A claim made during the pause waits, and then finds that
  // the row was deleted.
  const forgetting = forgetUnpaidSessions({
    transaction: run =>
      database.transaction(tx =>
        run({
          ...tx,
          write: tx.write.bind(tx),
          async query(statement: never) {
            const answer = await tx.query(statement);
            if ((statement as { name: string }).name === 'lock unbound sessions') {
              seen.resolve();
              await claimed_since.promise;
            }
            return answer;
          },
        } as never),
      ),
  });
  await seen.promise;
  const during = claimed(first.delegation_hash, '9');
  claimed_since.resolve();
  const { lease, paid_under } = await during;
  await forgetting;
  expect(await known()).toContain(first.delegation_hash);
  await expect(claimed(first.delegation_hash, '9')).rejects.toThrow('refused_by_session');
  await startSettling(database, lease);
  await database.transaction(tx => countSpent(tx, [{ task_id: 'task_during', agent_id: null, under: paid_under }]));
  await expect(
    database.transaction(tx =>
      countSpent(tx, [{ task_id: 'task_gone', agent_id: null, under: { ...paid_under, path: [hex32()] } }]),
    ),
  ).rejects.toThrow('counted');
});

it('a session that is claimed under as those to forget are looked for stays', async () => {
  const first = await claimed();
  await abandonLease(database, first.lease, true);
  await older();
  // The claim is committed after the check began and before the row is locked, as can happen with many rows.
  const forgetting = forgetUnpaidSessions({
    transaction: run =>
      database.transaction(tx =>
        run({
          query: (statement: { text: string }) =>
            tx.query({
              ...statement,
              name: undefined,
              text: statement.text.replace(
                'where bound_at is null',
                'where pg_sleep(1) is not null and bound_at is null',
              ),
            } as never),
        } as never),
      ),
  });
  await eventually('the look', async () => {
    const looking = await database.query({
      text: `select 1 from pg_stat_activity where pid <> pg_backend_pid() and state = 'active' and query like '%pg_sleep(1)%'`,
    });
    return looking.length > 0 || null;
  });
  await claimed(first.delegation_hash, '9');
  await forgetting;
  expect(await known()).toContain(first.delegation_hash);
  await expect(claimed(first.delegation_hash, '9')).rejects.toThrow('refused_by_session');
});
