import { Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { type TotalsBy, totalsGroups } from '../../../schema/book/book-page.ts';
import { limits } from '../../../schema/limits.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { wordEnum } from '../../graph-enum.ts';

const TotalsByWord = wordEnum(totalsGroups);

@ObjectType({ description: 'What the rows that have something in common came to, of one rail.' })
export class GroupTotal {
  @Field(() => TotalsByWord, { description: 'What they have in common.' }) by!: TotalsBy;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Of hours and days: where it begins.' })
  period!: Date | null;
  @Field(() => String, {
    nullable: true,
    description:
      'What the rows have in common: model, hub, intent, payer, network, or for SESSION the `delegationHash`. Null for rows without it, and for HOUR and DAY.',
  })
  key!: string | null;
  @Field(() => String, { nullable: true, description: 'What was paid with, such as `usdc`.' }) rail!: string | null;
  @Field(() => Int, { description: 'Rows that carry an amount.' }) count!: number;
  @Field(() => AtomicAmountScalar, { description: 'Their sum, in atomic units of the rail.' }) amount!: AtomicAmount;
  @Field(() => Boolean, {
    description: `True if there are more totals of the same \`by\` than the ${limits.totals_groups_max} returned: older hours or days, or smaller amounts.`,
  })
  truncated!: boolean;
}
