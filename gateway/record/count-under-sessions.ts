import type { Tx } from '../../subgraphs/database.ts';
import { landingsOf } from '../../subgraphs/receipt/claim/landing-of.ts';
import { countSpent, type RecordedUnder } from '../../subgraphs/session/delegation/count-spent.ts';
import type { Landing, Recording } from './facts.ts';

/**
 * What calls of a batch have held under sessions is spent from now on: their own, and that of a payment that was held until
 * now, which has counted both. Last, as sessions are locked after book heads; nothing is asked where nothing is held.
 */
export async function countUnderSessions(
  tx: Tx,
  paid: readonly Extract<Recording, { lease: object }>[],
): Promise<void> {
  const own = paid.flatMap(({ settled: { task_id, agent_id, landing } }) =>
    landing.delegation ? [{ task_id, agent_id, under: landing.delegation }] : [],
  );
  const siblings = paid.flatMap(({ sibling }) => sibling ?? []);
  const held = siblings.length === 0 ? [] : await landingsOf(tx, siblings);
  await countSpent(tx, [
    ...own,
    ...held.flatMap(({ landing, ...call }): RecordedUnder[] => {
      const { delegation } = landing as Landing;
      return delegation ? [{ ...call, under: delegation }] : [];
    }),
  ]);
}
