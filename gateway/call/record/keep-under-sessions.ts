import type { Tx } from '../../../subgraphs/database.ts';
import { landingsOf } from '../../../subgraphs/receipt/claim/landing.ts';
import { keepCalls, type RecordedCall } from '../../../subgraphs/session/delegation/count-spent.ts';
import type { Landing, Recording } from './facts.ts';

/**
 * Stores the session of each item before the rows of the batch are written, and what counts as spent under one: the calls' own
 * payments, and that of a payment held until now, which counted both. Calls by API key count towards no cap.
 */
export async function keepUnderSessions(
  tx: Tx,
  paid: readonly Extract<Recording, { lease: object }>[],
  by_key: readonly Recording[],
): Promise<readonly RecordedCall[]> {
  const siblings = paid.flatMap(({ sibling }) => sibling ?? []);
  const held = siblings.length === 0 ? [] : await landingsOf(tx, siblings);
  const spent = [
    ...madeUnder(paid),
    ...held.flatMap(({ landing, ...call }): RecordedCall[] => {
      const { delegation } = landing as Landing;
      return delegation ? [{ ...call, under: delegation }] : [];
    }),
  ];
  keepCalls(tx, [...spent, ...madeUnder(by_key)]);
  return spent;
}

function madeUnder(recordings: readonly Pick<Recording, 'settled'>[]): RecordedCall[] {
  return recordings.flatMap(({ settled: { task_id, agent_id, landing } }) =>
    landing.delegation ? [{ task_id, agent_id, under: landing.delegation }] : [],
  );
}
