import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { AtomicAmountScalar } from '../../../../schema/scalars.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import { IntentInput } from '../work.type.ts';
import type { KeptTask, PaymentRail } from './task.paid.ts';

@InputType({ description: 'By which rail a task is labelled.' })
class TaskPaymentInput {
  @Field(() => String, {
    nullable: true,
    description: '`usdc` (the default) or `tfuel`, which changes the answer alone.',
  })
  rail?: string | null;
}

@InputType({
  description: 'What a task and a forecast of it have in common. The limits are those of the REST endpoints.',
})
abstract class TaskMembers extends IntentInput {
  @Field(() => String, { defaultValue: 'svc/auto', description: 'Live catalogue id.' })
  modelId!: string;
  @Field(() => String, { nullable: true, description: 'keccak256 of the input: 0x and 64 hex digits.' })
  inputHash?: string | null;
  @Field(() => TaskPaymentInput, { nullable: true, description: 'How it is paid; USDC where it is left out.' })
  payment?: TaskPaymentInput | null;
}

@InputType({ description: 'A task to be accepted. The limits are those of the REST endpoint.' })
export class TaskRequestInput extends TaskMembers {
  @Field(() => String, { description: 'Only `inference_request`.' })
  messageType!: string;
  @Field(() => String, { description: 'Network name.' })
  chainId!: string;
  @Field(() => String, { description: 'Gross task value, atomic USDC: the price of the call.' })
  amount!: string;
  @Field(() => String, { description: 'Who owns the task and pays for it.' })
  sender!: string;
}

@InputType({ description: 'The same, and nothing of it has to be known yet.' })
export class TaskQuoteInput extends TaskMembers {
  @Field(() => String, { nullable: true, description: 'Only `inference_request`.' })
  messageType?: string | null;
  @Field(() => String, { nullable: true, description: 'Network name.' })
  chainId?: string | null;
  @Field(() => String, { nullable: true, description: 'Gross task value, atomic USDC.' })
  amount?: string | null;
  @Field(() => String, { nullable: true, description: 'Who would own the task.' })
  sender?: string | null;
}

@ObjectType()
abstract class TaskAmounts {
  @Field(() => String, { description: '`usdc` or `tfuel`.' }) paymentRail!: PaymentRail;
  @Field(() => AtomicAmountScalar, {
    nullable: true,
    description:
      'Atomic USDC: what the payee receives. Null if an API key was used in place of a payment: nothing was paid.',
  })
  grossAmount!: string | null;
  @Field(() => GraphQLJSONObject, { description: 'Internal, inside the settled amount; no deduction on the chain.' })
  accounting!: JsonObject;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Of the legacy rail alone.' }) feeAmount!:
    | string
    | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Of the legacy rail alone.' }) netAmount!:
    | string
    | null;
  @Field(() => Int, { nullable: true, description: 'Of the legacy rail alone.' }) feeBps!: number | null;
}

@ObjectType({ description: 'A task that was taken on, with its receipt.' })
export class AcceptedTask extends TaskAmounts {
  @Field(() => String, { description: 'By which its status and its receipt are found.' }) taskId!: string;
  @Field(() => String, { description: 'Always `accepted`.' }) status!: 'accepted';
  @Field(() => String, { nullable: true, description: '`network:txHash`; null while it is unpaid.' })
  paymentRef!: string | null;
  @Field(() => AtomicAmountScalar, {
    nullable: true,
    description: 'The gross amount once there is a payment; null before.',
  })
  settledAmount!: string | null;
  @Field(() => String, { description: 'Public receipt page.' }) verifyUrl!: string;
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true, description: 'The same, to be selected from.' }) receipt!: Receipt | null;
}

@ObjectType({
  description: 'What a task would come to; the receipt commits to the canonical JSON of it, as REST spells it.',
})
export class TaskForecast extends TaskAmounts {
  @Field(() => String, { description: 'The model that would answer now.' }) model!: string;
  @Field(() => String, { description: 'The hub that would answer now.' }) hub!: string;
}

@ObjectType({ description: 'A forecast, no invoice.' })
export class TaskQuote {
  @Field(() => String, { description: 'Of the forecast itself.' }) taskId!: string;
  @Field(() => String, { description: 'Always `forecast`.' }) status!: 'forecast';
  @Field(() => Boolean, { description: 'Always false: nobody owes anything by it.' }) invoice!: false;
  @Field(() => TaskForecast, { description: 'What it would come to.' }) forecast!: TaskForecast;
  @Field(() => String, { description: 'Public receipt page.' }) verifyUrl!: string;
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true, description: 'The same, to be selected from.' }) receipt!: Receipt | null;
}

/** The kept task in the graph's words. */
export function amountsOf({ payment_rail, gross_amount, accounting, fee }: KeptTask): TaskAmounts {
  return {
    paymentRail: payment_rail,
    grossAmount: gross_amount,
    accounting,
    feeAmount: fee?.fee_amount ?? null,
    netAmount: fee?.net_amount ?? null,
    feeBps: fee?.fee_bps ?? null,
  };
}
