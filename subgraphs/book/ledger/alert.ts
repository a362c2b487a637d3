import { period_ms } from '../../../schema/clock-window.ts';
import { isSpentElsewhere } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { alertLimits } from '../../../schema/limits.ts';
import type { Tx } from '../../database.ts';
import { judgeAlerts, wantsHabit } from '../alerts/judge.ts';
import { dayOf, habitOf, hourPassed } from '../alerts/rate.ts';
import { appendEvent, type appendRow, type EventRecord, type Head, type Heads, headOf } from './append.ts';

/*
 * Part of the ledger: what a book tells its owner before a wall is reached. Judged by the counters of the head that a row is
 * counted on, and written with it: no row and no day is scanned for it.
 */

/** @param before the head that the row was appended to. Its alerts follow the row, which they are of. */
export function appendAlerts(
  before: Head,
  { head, row }: Pick<ReturnType<typeof appendRow>, 'head' | 'row'>,
): { head: Head; events: readonly EventRecord[] } {
  if (row.amount === null || isSpentElsewhere(row.evidence)) return { head, events: [] };
  const alert_state = hourPassed(head.alert_state, before.hour, head.hour);
  const { told, state } = judgeAlerts({ ...head, alert_state }, Date.parse(row.collected_at));
  let grown: Head = { ...head, alert_state: state };
  const events = told.map(body => {
    const { seq, task_id, collected_at } = row;
    const appended = appendEvent(grown, { kind: 'alert', seq, task_id, body }, collected_at);
    grown = appended.head;
    return appended.event;
  });
  return { head: grown, events };
}

const DAYS = `select agent_id, sum(amount) as amount from book_sum where agent_id = any($1) and dimension = 'day' and bucket = ''
    and period >= $2::timestamptz and period < $3::timestamptz
  group by agent_id, period having sum(amount) > 0`;

/**
 * Books with what they are used to: read off the sums of their last days, at most once a day for each, and only once it may
 * matter. @param landing what is about to be collected of them, together
 */
export async function withHabits(
  tx: Tx,
  books: Heads,
  landing: readonly { readonly agent_id: AgentId; readonly amount: bigint }[],
  at_ms: number,
): Promise<Heads> {
  const sums = new Map<AgentId, bigint>();
  for (const { agent_id, amount } of landing) sums.set(agent_id, (sums.get(agent_id) ?? 0n) + amount);
  const wanting = [...sums].filter(([id, sum]) => wantsHabit(headOf(books, id), sum, at_ms)).map(([id]) => id);
  if (wanting.length === 0) return books;
  const day = dayOf(at_ms);
  const from = new Date(Date.parse(day) - alertLimits.habit_days_max * period_ms.day).toISOString();
  const { rows } = await tx.query<{ agent_id: AgentId; amount: bigint }>({
    name: 'days of habit',
    text: DAYS,
    values: [wanting, from, day],
  });
  const spent = Map.groupBy(rows, row => row.agent_id);
  const known = new Map(books);
  for (const id of wanting) {
    const habit = habitOf(
      day,
      (spent.get(id) ?? []).map(({ amount }) => amount),
    );
    const head = headOf(books, id);
    known.set(id, { ...head, alert_state: { ...head.alert_state, habit } });
  }
  return known;
}
