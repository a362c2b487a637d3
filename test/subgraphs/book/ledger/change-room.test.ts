import { beforeAll, describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { policyLimits } from '../../../../schema/limits.ts';
import { parsePolicy } from '../../../../schema/requests/policy.ts';
import { setAlerts } from '../../../../subgraphs/book/ledger/alert-settings.ts';
import { setBudget, setPolicy } from '../../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { withBooks } from '../../../harness/ledger/fixture.ts';
import { usdc } from '../../../harness/ledger/policy-call.ts';
import { freshStore } from '../../../harness/store.ts';

const max = policyLimits.changes_per_book_hour_max;
const refused = { code: 'rate_limited', extensions: { retry_after_seconds: expect.any(Number) } };

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await withBooks(database, 1, 2, 3);
});

const switched = (agent: number, on: boolean) =>
  setPolicy(database, agentId(agent), parsePolicy('kill_switch', on), null);

async function fill(agent: number): Promise<void> {
  for (let at = 0; at < max; at++) await setBudget(database, agentId(agent), usdc(at));
}

describe('changes of a book that nobody pays for', () => {
  it('are so many in an hour, budget and policy together, and those of another book are its own', async () => {
    await fill(1);
    await expect(setBudget(database, agentId(1), null)).rejects.toMatchObject(refused);
    const cap = { ...parsePolicy('daily_cap', '5'), mode: 'shadow' } as const;
    await expect(setPolicy(database, agentId(1), cap)).rejects.toMatchObject(refused);
    // A value that is already set is no change.
    await setBudget(database, agentId(1), usdc(max - 1));
    await setBudget(database, agentId(2), usdc(1));
    await database.query({
      text: `update book_event set at = at - interval '1 hour' where agent_id = 1 and position = 1`,
    });
    await setBudget(database, agentId(1), null);
  });

  it('never keep the kill switch from being put on', async () => {
    await fill(3);
    expect(await switched(3, true)).toMatchObject({ policy: { kill_switch: true } });
    await expect(switched(3, false)).rejects.toMatchObject(refused);
  });

  it('are so many of its alerts, too, beside those', async () => {
    for (let at = 0; at < max; at++) await setAlerts(database, agentId(2), null, { burn_factor: 2 + at });
    await expect(setAlerts(database, agentId(2), null, { burn_factor: 2 })).rejects.toMatchObject(refused);
    await setBudget(database, agentId(2), usdc(7));
  });
});
