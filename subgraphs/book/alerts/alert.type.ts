import 'reflect-metadata';
import { AlertNoun } from '../../../schema/book-alerts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ShowableAs } from '../../../schema/noun.ts';
import { objectType, shownOf } from '../../graph-type.ts';

export const ShownAlert = objectType(
  'BookAlert',
  'An alert of a book, caused by the row that reached a threshold and sent once in a period. It is an event of the book.',
  AlertNoun,
);
export type ShownAlert = InstanceType<typeof ShownAlert>;

/** The members of an `alert` event that are shown. */
export interface AlertEvent {
  readonly position: number;
  readonly seq: number | null;
  readonly taskId: string | null;
  readonly body: JsonObject;
  readonly at: Date;
}

export function shownAlert({ position, seq, taskId, body, at }: AlertEvent): ShownAlert {
  const said = body as ShowableAs<typeof AlertNoun>;
  return shownOf(AlertNoun, { ...said, position, seq: seq ?? 0, task_id: taskId ?? '', at });
}
