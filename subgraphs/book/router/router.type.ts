import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { routerLimits } from '../../../schema/limits.ts';
import { NOT_SETTLED_HERE } from '../../../schema/router/reported.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { graphEnum } from '../../graph-enum.ts';
import { ReceiptReference } from '../page/book.type.ts';
import type { BroadcastLookUp } from './broadcast.ts';

export const RouterLookUpWord = graphEnum<BroadcastLookUp>('RouterLookUp', 'What came of asking the router.', {
  matched: 'It told the same id, the same model, and a cost less than a millionth of a dollar away.',
  matched_before: 'It was not asked: it had told the same before.',
  no_key: 'It was not asked: the router book keeps no key, or there is no router here.',
  resting: 'It was not asked: too many look-ups under this key have come to nothing within the hour.',
  not_found: 'It has no such generation, or shows none to this key.',
  other_generation: 'It told of another generation.',
  other_model: 'It told of another model.',
  other_amount: 'It told another cost.',
  failed: 'It was not reached, did not answer in time, or answered something else. Broadcast again.',
});

@InputType({ description: 'A router book that is to be opened.' })
export class RouterBookInput {
  @Field(() => Int, {
    nullable: true,
    description: 'On whose book what is broadcast lands, too; nobody’s where left out.',
  })
  agentId?: number | null;
  @Field(() => String, { nullable: true, description: 'What its owner calls it.' }) label?: string | null;
}

@InputType({ description: 'What is reported of a generation.' })
export class BroadcastInput {
  @Field(() => String, { description: 'As the router names it.' }) generationId!: string;
  @Field(() => String, { description: 'The model, as the router names it.' }) model!: string;
  @Field(() => AtomicAmountScalar, { description: 'What it is said to have cost: millionths of a dollar.' })
  amount!: AtomicAmount;
  @Field(() => String, { description: 'How it is said to have been paid for, such as `credits`.' }) rail!: string;
  @Field(() => String, { nullable: true, description: 'A payment that is said to be its own; it proves nothing.' })
  paymentRef?: string | null;
}

@ObjectType({ description: 'A router book as it was opened, with the key by which it is broadcast to.' })
export class OpenedRouterBook {
  @Field(() => String, { description: 'Its own id.' }) bookId!: string;
  @Field(() => Int, { nullable: true, description: 'On whose book what is broadcast lands, too.' })
  agentId!: number | null;
  @Field(() => String, { nullable: true, description: 'What its owner calls it.' }) label!: string | null;
  @Field(() => String, { description: 'Shown here and never again.' }) ingestKey!: string;
  @Field(() => DateTimeScalar, { description: 'When it was opened.' }) openedAt!: Date;
  @Field(() => String, { description: 'What this service has not done.' }) attestationNote: string = NOT_SETTLED_HERE;
}

@ObjectType({ description: "That a router book keeps its router's key; the key itself is never shown." })
export class KeptRouterKey {
  @Field(() => String, { description: 'Of which router book.' }) bookId!: string;
  @Field(() => Boolean, { description: 'true.' }) hasRouterKey!: boolean;
  @Field(() => DateTimeScalar, { description: 'Since when.' }) setAt!: Date;
}

@ObjectType({ description: `A generation of a third-party router. ${NOT_SETTLED_HERE}` })
export class BroadcastGeneration {
  @Field(() => String, { description: 'To which router book.' }) bookId!: string;
  @Field(() => String, { description: 'As the router names it.' }) generationId!: string;
  @Field(() => String, { description: 'Of its receipt.' }) taskId!: string;
  @Field(() => String, { description: 'The public page of its receipt.' }) verifyUrl!: string;
  @Field(() => ReceiptReference, { description: 'Its receipt: it signs what was said, and no payment.' })
  receipt!: ReceiptReference;
  @Field(() => String, { description: 'As it was reported.' }) model!: string;
  @Field(() => AtomicAmountScalar, { description: 'As it was reported: millionths of a dollar.' })
  amount!: AtomicAmount;
  @Field(() => String, { description: 'As it was reported.' }) rail!: string;
  @Field(() => String, { nullable: true, description: 'As it was reported; it proves nothing.' })
  paymentRef!: string | null;
  @Field(() => String, { nullable: true, description: 'The router that told the same; null: none has.' })
  verifiedWith!: string | null;
  @Field(() => RouterLookUpWord, { description: 'What came of asking it now.' }) lookUp!: BroadcastLookUp;
  @Field(() => Boolean, { description: 'The same was broadcast before.' }) idempotentReplay!: boolean;
  @Field(() => DateTimeScalar, { description: 'When it was reported first.' }) reportedAt!: Date;
  @Field(() => String, { description: 'What this service has not done.' }) attestationNote: string = NOT_SETTLED_HERE;
}

@ObjectType({ description: 'Verified generations of one rail, as it was reported.' })
export class RouterRailSum {
  @Field(() => String, { description: 'As it was reported.' }) rail!: string;
  @Field(() => Int, { description: 'How many.' }) count!: number;
  @Field(() => AtomicAmountScalar, { description: 'Their sum, in millionths of a dollar.' }) amount!: AtomicAmount;
}

@ObjectType({ description: 'What of a router book a look-up at the router has found to be as it was reported.' })
export class RouterBookSummary {
  @Field(() => String, { description: 'Its own id.' }) bookId!: string;
  @Field(() => Int, { nullable: true, description: 'On whose book what is broadcast lands, too.' })
  agentId!: number | null;
  @Field(() => String, { nullable: true, description: 'What its owner calls it.' }) label!: string | null;
  @Field(() => Boolean, { description: 'Whether it keeps a key of the router.' }) hasRouterKey!: boolean;
  @Field(() => Int, { description: 'Verified generations; of all others nothing is counted.' }) count!: number;
  @Field(() => AtomicAmountScalar, { description: 'Their sum, in millionths of a dollar.' }) amount!: AtomicAmount;
  @Directive(`@listSize(assumedSize: ${routerLimits.summary_rails_max})`)
  @Field(() => [RouterRailSum], { description: `By rail: the ${routerLimits.summary_rails_max} with the most.` })
  byRail!: readonly RouterRailSum[];
  @Field(() => Boolean, { description: 'True if generations were reported for rails that byRail does not show.' })
  byRailTruncated!: boolean;
  @Field(() => String, { description: 'What this service has not done.' }) attestationNote: string = NOT_SETTLED_HERE;
}
