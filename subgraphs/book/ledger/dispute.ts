import { type JsonObject } from '../../../schema/canonical-json.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { appendEvent, type Head, storeBooks } from './append.ts';
import type { RowName } from './correct.ts';

/** Records a judgement under the head that it was made under. Returns its position. */
export function noteDispute(tx: Tx, head: Head, { agent_id, seq, task_id }: RowName, body: JsonObject): number {
  const appended = appendEvent(head, { kind: 'dispute', seq, task_id, body }, iso(head.now_ms));
  storeBooks(tx, new Map([[agent_id, appended.head]]), [appended.event]);
  return appended.event.position;
}
