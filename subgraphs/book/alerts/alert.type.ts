import 'reflect-metadata';
import { parseAtomic } from '../../../schema/amount.ts';
import { type AlertCeiling, type AlertKind, AlertNoun } from '../../../schema/book-alerts.ts';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { objectType } from '../../graph-type.ts';

export const ShownAlert = objectType(
  'BookAlert',
  'An alert of a book, sent once in its period because of the row that reached it: an event of the book.',
  AlertNoun,
);
export type ShownAlert = InstanceType<typeof ShownAlert>;

/** An event of the kind `alert`, by what of it is read. */
export interface AlertEvent {
  readonly position: number;
  readonly seq: number | null;
  readonly taskId: string | null;
  readonly body: JsonObject;
  readonly at: Date;
}

export function shownAlert({ position, seq, taskId, body, at }: AlertEvent): ShownAlert {
  return {
    position,
    alert: body.alert as AlertKind,
    ceiling: (body.ceiling ?? null) as AlertCeiling | null,
    percent: integer(body.percent),
    spentAtomic: amount(body.spent_atomic),
    capAtomic: amount(body.cap_atomic),
    rateAtomic: amount(body.rate_atomic),
    habitAtomic: amount(body.habit_atomic),
    factor: integer(body.factor),
    periodStart: moment(body.period_start),
    budgetEndsAt: moment(body.budget_ends_at),
    seq: seq ?? 0,
    taskId: taskId ?? '',
    at,
  };
}

const integer = (said: Json | undefined) => (typeof said === 'number' ? said : null);
const amount = (said: Json | undefined) => (typeof said === 'string' ? parseAtomic(said) : null);
const moment = (said: Json | undefined) => (typeof said === 'string' ? new Date(said) : null);
