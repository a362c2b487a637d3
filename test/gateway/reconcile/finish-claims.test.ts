import { beforeAll, expect, it } from 'vitest';
import { openGivingUp } from '../../../gateway/charge/give-up.ts';
import { ReleaseLater } from '../../../gateway/charge/release-later.ts';
import { type FinishParts, finishOrphans } from '../../../gateway/reconcile/finish-claims.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { LogHalt } from '../../../subgraphs/receipt/log/halt.ts';
import { claim, claimRequest, OTHER, OWNER, stateOf } from '../../harness/claim/fixture.ts';
import { freshStore } from '../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const head = { tree_size: 1, root_hash: '00' };
const halt: LogHalt = { known: head, found: head, at: '2026-01-02T03:04:05.000Z', by: 'here' };

/** A round of a process whose look at the log finds what is told. */
async function round(found: LogHalt | null): Promise<void> {
  const log: { halt: LogHalt | null } = { halt: null };
  const parts: Pick<FinishParts, 'database' | 'giving_up' | 'log' | 'owner' | 'proveLog'> = {
    database,
    log,
    owner: OWNER,
    giving_up: openGivingUp({ database, log, later: new ReleaseLater() }),
    async proveLog() {
      log.halt = found;
    },
  };
  await finishOrphans(parts as FinishParts);
}

it('leaves alone what nobody seems to hold where the database has gone back and no beat has told yet; releases it where it has not', async () => {
  await claim(database, claimRequest('held by nobody', { lease_owner: OTHER }));
  await round(halt);
  expect(await stateOf(database, 'held by nobody')).toBe('claimed');
  await database.query({ text: `update payment_claim set lease_owner = $1`, values: [OTHER] });
  await round(null);
  expect(await stateOf(database, 'held by nobody')).toBe('released');
});
