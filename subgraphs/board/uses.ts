import { Refusal } from '../../schema/errors.ts';
import { type CountedUse, takeUse } from '../counted-use.ts';
import type { Database } from '../database.ts';
import { beforeKey } from '../receipt/written-once/written-once.ts';

/** What is counted within an hour. */
interface HourlyUse extends Pick<CountedUse, 'holder' | 'max'> {
  /** What whoever is refused is told. */
  readonly detail: string;
}

/**
 * Takes one use of what nobody pays for. By itself, before the transaction of what it is taken for: what is refused there has cost
 * as much, and counts.
 * @throws rate_limited
 */
export async function takeBoardUse(reads: Pick<Database, 'query'>, { detail, ...use }: HourlyUse): Promise<void> {
  const retry_after_seconds = await takeUse(beforeKey(reads), 'board_use', { ...use, period: 'hour' });
  if (retry_after_seconds !== null) throw new Refusal('rate_limited', { detail, facts: { retry_after_seconds } });
}
