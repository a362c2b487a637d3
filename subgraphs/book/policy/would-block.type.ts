import { Field, ObjectType } from 'type-graphql';
import { type AtomicAmount, parseAtomic } from '../../../schema/amount.ts';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import type { PolicyCode, PolicyType } from '../../../schema/policy-kinds.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { PolicyCodeWord, PolicyTypeWord } from '../../words.ts';

@ObjectType('WouldBlock', { description: 'What a policy in shadow mode would have refused the call of a row for.' })
export class ShownWouldBlock {
  @Field(() => PolicyCodeWord, { description: 'Which rule.' }) policyCode!: PolicyCode;
  @Field(() => PolicyTypeWord, { nullable: true, description: 'Where a cap of a clock period would have.' })
  policyKey!: PolicyType | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Collected under that rule when it was judged.' })
  spentAtomic!: AtomicAmount | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Null where no amount decides.' })
  capAtomic!: AtomicAmount | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Null where no clock period decides.' })
  periodStart!: Date | null;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When the book let the call pass, before its row landed.',
  })
  judgedAt!: Date | null;
  @Field(() => String, { description: 'The same in words.' }) reason!: string;
}

/** The body of a `would_block` event, as ../ledger/would-block.ts has made it. */
export function shownWouldBlock(body: JsonObject): ShownWouldBlock {
  return {
    policyCode: body.policy_code as PolicyCode,
    policyKey: (body.policy_key ?? null) as PolicyType | null,
    spentAtomic: amount(body.spent_atomic),
    capAtomic: amount(body.cap_atomic),
    periodStart: moment(body.period_start),
    judgedAt: moment(body.judged_at),
    reason: String(body.reason),
  };
}

const amount = (said: Json | undefined) => (typeof said === 'string' ? parseAtomic(said) : null);
const moment = (said: Json | undefined) => (typeof said === 'string' ? new Date(said) : null);
