import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';
import { type AtomicAmount, parseAtomic } from '../../../schema/amount.ts';
import type { AlertCeiling, AlertKind } from '../../../schema/book-alerts.ts';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { graphEnum } from '../../graph-enum.ts';

const AlertKindWord = graphEnum<AlertKind>('BookAlertKind', 'What a book tells its owner before a wall.', {
  threshold: 'What was collected has reached a percent of a cap or of the budget.',
  burn: 'The last hour spent many times what the book is used to.',
  budget_end: 'At the rate of the last hour the budget will soon have ended.',
});

const AlertCeilingWord = graphEnum<AlertCeiling>('BookCeiling', 'What is filled by what a book collects.', {
  hourly_cap: 'The cap of a UTC clock hour.',
  daily_cap: 'The cap of a UTC day.',
  budget: 'The budget.',
});

@ObjectType('BookAlert', { description: 'Told once in its period, by the row that reached it: an event of the book.' })
export class ShownAlert {
  @Field(() => Int, { description: 'Its place among the events of the book.' }) position!: number;
  @Field(() => AlertKindWord, { description: 'What is told.' }) alert!: AlertKind;
  @Field(() => AlertCeilingWord, { nullable: true, description: 'Of what; null of `burn`.' })
  ceiling!: AlertCeiling | null;
  @Field(() => Int, { nullable: true, description: 'The percent that was reached, of `threshold`.' })
  percent!: number | null;
  @Field(() => AtomicAmountScalar, {
    nullable: true,
    description:
      'Amount counted under the ceiling, including this row, in atomic units: collected amounts and amounts of rows with evidence RECORDED_BY_SETTLE.',
  })
  spentAtomic!: AtomicAmount | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'The ceiling as it then stood.' })
  capAtomic!: AtomicAmount | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Collected in the last 60 minutes.' })
  rateAtomic!: AtomicAmount | null;
  @Field(() => AtomicAmountScalar, {
    nullable: true,
    description: 'What the book is used to spend in an hour: a 24th of its median day.',
  })
  habitAtomic!: AtomicAmount | null;
  @Field(() => Int, { nullable: true, description: 'How many times that it takes for `burn`.' })
  factor!: number | null;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      'When the hour or day (UTC) began in which it is told once; null of the budget, until that is set anew.',
  })
  periodStart!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'The UTC clock hour in which the budget ends.' })
  budgetEndsAt!: Date | null;
  @Field(() => Int, { description: 'The place of the row that reached it.' }) seq!: number;
  @Field(() => String, { description: 'The call that the row is of.' }) taskId!: string;
  @Field(() => DateTimeScalar, { description: 'When.' }) at!: Date;
}

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
