import { Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { graphEnum } from '../../graph-enum.ts';

export type TotalsBy = 'HOUR' | 'DAY' | 'MODEL' | 'HUB' | 'INTENT' | 'PAYER' | 'NETWORK';

export const TotalsByWord = graphEnum<TotalsBy>('TotalsBy', 'By what the rows of a book are added up.', {
  HOUR: 'By the hour (UTC) in which they were collected.',
  DAY: 'By the day (UTC) on which they were collected.',
  MODEL: 'By the model that answered.',
  HUB: 'By the hub that answered.',
  INTENT: 'By the treasury intent that they name.',
  PAYER: 'By the wallet that paid.',
  NETWORK: 'By the network that was paid on.',
});

@ObjectType({ description: 'What the rows that have something in common came to, of one rail.' })
export class GroupTotal {
  @Field(() => TotalsByWord, { description: 'What they have in common.' }) by!: TotalsBy;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Of hours and days: where it begins.' })
  period!: Date | null;
  @Field(() => String, {
    nullable: true,
    description: 'Of all others: the model, hub and so on; null for rows without.',
  })
  key!: string | null;
  @Field(() => String, { nullable: true, description: 'What was paid with, such as `usdc`.' }) rail!: string | null;
  @Field(() => Int, { description: 'Rows that carry an amount.' }) count!: number;
  @Field(() => AtomicAmountScalar, { description: 'Their sum, in atomic units of the rail.' }) amount!: AtomicAmount;
}
