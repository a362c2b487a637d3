import { Field, ObjectType } from 'type-graphql';
import { type AtomicAmount, parseAtomic } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { givenUpAmount } from '../../../schema/evidence.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';

@ObjectType('AmountGivenUp', {
  description: 'Amount that left all sums of the book, because its transfer was not found.',
})
export class ShownGivenUp {
  @Field(() => AtomicAmountScalar, { description: 'Amount that the row had been counted with, in atomic units.' })
  amount!: AtomicAmount;
  @Field(() => String, {
    nullable: true,
    description: 'Why the row has no amount any more, such as `no_ingress_receipt_at_cutoff`.',
  })
  omissionRule!: string | null;
}

/** The body of a `transition`; null where it took no amount away. */
export function shownGivenUp(body: JsonObject): ShownGivenUp | null {
  const amount = parseAtomic(givenUpAmount(body) ?? '');
  const { omission_rule } = body;
  if (amount === null) return null;
  return { amount, omissionRule: typeof omission_rule === 'string' ? omission_rule : null };
}
