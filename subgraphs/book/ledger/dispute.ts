import { type JsonObject } from '../../../schema/canonical-json.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { appendEvent, type Head, storeBooks } from './append.ts';
import type { RowName } from './correct.ts';

/**
 * Records a judgement of a dispute as an event. `head` is the locked head under which it was made. Returns the position of the
 * event.
 */
export function noteDispute(tx: Tx, head: Head, { agent_id, seq, task_id }: RowName, body: JsonObject): number {
  const appended = appendEvent(head, { kind: 'dispute', seq, task_id, body }, iso(head.now_ms));
  storeBooks(tx, new Map([[agent_id, appended.head]]), [appended.event]);
  return appended.event.position;
}
