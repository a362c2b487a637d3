import { expect } from 'vitest';
import type { RefusalPayload } from '../../../schema/refusal.ts';
import type { Database } from '../../../subgraphs/database.ts';

interface BlockedRow {
  readonly agent_id: number;
  readonly seq: number;
  readonly task_id: string;
  readonly amount: bigint | null;
  readonly collected_at: Date;
  readonly facts: { readonly refusal_id: string; readonly policy_code: string };
}

/** Every blocked row must have its signed refusal and every refusal its row, with the same content. Neither may have an amount. */
export async function auditRefusals(database: Database): Promise<void> {
  const rows = await database.query<BlockedRow>({
    text: `select agent_id, seq, task_id, amount, collected_at, facts from book_row where evidence = 'policy_blocked'
      order by agent_id, seq`,
  });
  const refusals = await database.query<{ payload: string }>({
    text: 'select payload from refusal order by agent_id, book_seq',
  });
  const said = refusals.map(({ payload }) => JSON.parse(payload) as RefusalPayload);
  expect(said.map(saidOfRow)).toEqual(
    rows.map(({ agent_id, seq, task_id, collected_at, facts: { refusal_id, policy_code } }) => ({
      agent_id,
      policy_blocked_seq: seq,
      task_id,
      timestamp: collected_at.toISOString(),
      refusal_id,
      policy_code,
    })),
  );
  expect(rows.filter(({ amount }) => amount !== null)).toEqual([]);
}

function saidOfRow({ agent_id, policy_blocked_seq, task_id, timestamp, refusal_id, policy_code }: RefusalPayload) {
  return { agent_id, policy_blocked_seq, task_id, timestamp, refusal_id, policy_code };
}
