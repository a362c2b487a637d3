import type { JsonObject } from '../../schema/canonical-json.ts';
import type { AgentId, TaskId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import { BOARD_MODEL, STAMPED_BY } from '../../schema/route-words.ts';
import type { Stamp } from '../sale.ts';

/** Agent that is the author, an argument of every operation that is sold on the board. */
export interface ByAuthor {
  readonly agent_id: AgentId;
}

/**
 * Members that all stamps of the board have in common. Each stamp is a row on its author's book, and counts against the limits of that
 * book.
 */
export const boardStamp = {
  order: 'stamp',
  chained: 'on_book',
  job_kind: 'other',
  price_atomic: limits.stamp_price_atomic,
  networks: ['base', 'solana'],
  reserves: true,
  stand_ins: [],
  route: { model: BOARD_MODEL, hub: STAMPED_BY },
  book: async ({ agent_id }: ByAuthor) => agent_id,
} as const satisfies Partial<Stamp<JsonObject & ByAuthor, JsonObject>>;

/** Id of an entry that a stamp pays for. It is derived from the stamp, so that every process that records the entry makes the same id. */
export function boardId(kind: 'post' | 'comment' | 'flag' | 'job' | 'bid', stamp: TaskId): string {
  return `${kind}_${stamp.slice('task_'.length)}`;
}
