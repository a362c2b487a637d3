import { Refusal } from '../../schema/errors.ts';
import { type CountedUse, takeUse } from '../counted-use.ts';
import type { Database } from '../database.ts';
import { databaseBeforeKey } from '../receipt/written-once/written-once.ts';

/** A use whose number within an hour is limited. */
interface HourlyUse extends Pick<CountedUse, 'holder' | 'max'> {
  /** Detail of the error rate_limited. */
  readonly detail: string;
}

/**
 * Counts one unpaid use. It is counted in a separate transaction before the use, because a refused request has cost as much and counts too.
 * @throws rate_limited
 */
export async function takeBoardUse(reads: Pick<Database, 'query'>, { detail, ...use }: HourlyUse): Promise<void> {
  const retry_after_seconds = await takeUse(databaseBeforeKey(reads), 'board_use', { ...use, period: 'hour' });
  if (retry_after_seconds !== null) throw new Refusal('rate_limited', { detail, facts: { retry_after_seconds } });
}
