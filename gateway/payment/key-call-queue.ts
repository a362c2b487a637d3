import type { AgentId, RefusalId } from '../../schema/ids.ts';
import { type Asking, reserve } from '../../subgraphs/book/index.ts';
import type { Tx } from '../../subgraphs/database.ts';
import { beginKeyCalls, type KeyCallHold, type Refuser } from '../../subgraphs/receipt/index.ts';
import type { Landing } from './record.ts';

/** A call by key as it is asked for, and what its book is told of it. */
export interface KeyCalling {
  readonly hold: KeyCallHold;
  readonly agent_id: AgentId | null;
  readonly landing: Landing;
  /** As the request names it. */
  readonly model: string | null;
}

export type KeyCallOutcome = { readonly kind: 'held' } | { readonly kind: 'blocked'; readonly refusal_id: RefusalId };

/** Asks each call's book, as for a payment but for no money, and holds the tasks of those that may pass. */
export async function holdKeyCalls(
  tx: Tx,
  refuser: Refuser,
  callings: readonly KeyCalling[],
): Promise<readonly KeyCallOutcome[]> {
  const asking = callings.flatMap(calling => askingOf(calling) ?? []);
  const reserved = await reserve(tx, refuser, asking);
  const blocked = new Map(
    asking.flatMap(({ task_id }, index) => {
      const outcome = reserved[index];
      return outcome?.kind === 'blocked' ? [[task_id, outcome]] : [];
    }),
  );
  const holds = callings.map(({ hold }) => hold);
  beginKeyCalls(
    tx,
    holds.filter(({ task_id }) => !blocked.has(task_id)),
  );
  return holds.map(({ task_id }) => blocked.get(task_id) ?? { kind: 'held' });
}

function askingOf({ hold, agent_id, landing, model }: KeyCalling): Asking | null {
  if (agent_id === null) return null;
  const { intent_id, attempt_index } = landing;
  const { task_id } = hold;
  return { agent_id, amount: null, task_id, payer_wallet: null, model, intent_id, attempt_index, owed: false };
}
