import fc from 'fast-check';
import { atomicAmount } from '../../../schema/amount.ts';
import type { InitialFacts } from '../../../schema/book-row.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { collectAll, collectedFactsOf, collection, letIdle, withBooks } from '../ledger/fixture.ts';

/** Members of a row that differ from those of the fixture. */
export type RowChanges = Partial<InitialFacts>;

/** Appends rows to a new book by the ledger's own functions, some in each transaction. Numbers start at 1. */
export async function bookOf(database: Database, agent_id: AgentId, rows: readonly RowChanges[]): Promise<void> {
  await withBooks(database, agent_id);
  const items = rows.map((differently, index) => {
    const number = agent_id * 100_000 + index;
    const { prepared } = collection(agent_id, number);
    const born = { ...collectedFactsOf(`task_${agent_id}_${number}`, number), ...differently };
    return { prepared, landing: { agent_id, birth: born, reserved: atomicAmount(0n) } };
  });
  for (let at = 0; at < items.length; at += AT_ONCE)
    await database.transaction(async tx => {
      await letIdle(tx);
      await collectAll(tx, items.slice(at, at + AT_ONCE));
    });
}

const AT_ONCE = 16;

/** Texts that a caller may choose: formulas, quotes, line breaks, control characters and words of other scripts. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('=1+1', '+1', '-1', '@sum', '\t=1', '\r=1', '＝1', '"q"', 'a,b', 'a\nb', 'a;b|c', '\\', '', ' ', "'"),
);
const callerText = text.filter(it => it.isWellFormed() && !it.includes('\0'));

const blocked: RowChanges = {
  evidence: 'policy_blocked',
  collected: false,
  payment_ref: null,
  transfer_index: null,
  rail: null,
  amount: null,
};

/** A row of any kind. Members that a caller can choose have any text. */
export const anyRow: fc.Arbitrary<RowChanges> = fc.oneof(
  fc.record({
    model: callerText,
    hub: callerText,
    intent_id: fc.option(callerText),
    amount: fc.bigInt({ min: 0n, max: 10n ** 40n }).map(atomicAmount),
  }),
  fc.record({
    rail: fc.constantFrom('usdc', 'xno', 'tfuel'),
    amount: fc.bigInt({ min: 0n, max: 10n ** 12n }).map(atomicAmount),
  }),
  fc
    .record({
      intent_id: callerText,
      facts: fc.record({ reason: callerText, policy_code: callerText, refusal_id: fc.constant('refusal_1') }),
    })
    .map(it => ({ ...blocked, ...it })),
  fc.record({ attempt_index: fc.nat(9), facts: fc.record({ inflow_claim: fc.record({ allocation: callerText }) }) }),
);
