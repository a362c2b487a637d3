import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { appendEvent, type Head, storeBooks } from './append.ts';

interface AnsweredCall {
  readonly agentId: AgentId;
  readonly seq: number;
  readonly taskId: string;
}

/** Records the answer to an approval request as an event. `head` is the locked head under which the answer was given. */
export function noteApproval(tx: Tx, head: Head, { agentId, seq, taskId }: AnsweredCall, body: JsonObject): void {
  const appended = appendEvent(head, { kind: 'approval', seq, task_id: taskId, body }, iso(head.now_ms));
  storeBooks(tx, new Map([[agentId, appended.head]]), [appended.event]);
}
