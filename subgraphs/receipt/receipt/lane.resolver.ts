import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { atomicAmount } from '../../../schema/amount.ts';
import type { LaneFacts } from '../../../schema/receipt-lane.ts';
import {
  AnsweredAgainNoun,
  ChainBindingNoun,
  LocalCheckNoun,
  ReceiptNoun,
  type ReceiptPayload,
} from '../../../schema/receipt-shapes.ts';
import { descriptionOptions, objectType, shownOf } from '../../graph-type.ts';
import type { ReceiptContext } from '../context.ts';
import { laneOf } from './document.ts';
import { Receipt } from './receipt.entity.ts';

const ReceiptLocalCheck = objectType(
  'ReceiptLocalCheck',
  'Transfer of USDC on Base that anybody can look up. It is no claim that the transfer took place.',
  LocalCheckNoun,
);
type ReceiptLocalCheck = InstanceType<typeof ReceiptLocalCheck>;
const ReceiptBinding = objectType(
  'ReceiptBinding',
  'Whether a proof binds the receipt itself to a blockchain. This service uses none.',
  ChainBindingNoun,
);
type ReceiptBinding = InstanceType<typeof ReceiptBinding>;
const ReceiptAnsweredAgain = objectType(
  'ReceiptAnsweredAgain',
  'Whole answer that a payment brought later, after the first answer broke off.',
  AnsweredAgainNoun,
);
type ReceiptAnsweredAgain = InstanceType<typeof ReceiptAnsweredAgain>;

const members = ReceiptNoun.shape;

/** Unsigned facts of a receipt, which may change. */
@Resolver(() => Receipt)
export class ReceiptLaneResolver {
  @FieldResolver(() => Boolean, descriptionOptions(members.anchor_changed_since_binding))
  anchorChangedSinceBinding(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): boolean {
    return laneIn(receipt, context).anchor_changed_since_binding;
  }

  @FieldResolver(() => Boolean, descriptionOptions(members.freeze))
  freeze(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): boolean {
    return laneIn(receipt, context).freeze;
  }

  @FieldResolver(() => Boolean, descriptionOptions(members.unverifiable_from_registry))
  unverifiableFromRegistry(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): boolean {
    return laneIn(receipt, context).unverifiable_from_registry;
  }

  @FieldResolver(() => ReceiptLocalCheck, { nullable: true, ...descriptionOptions(members.local_check) })
  localCheck(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): ReceiptLocalCheck | null {
    const { local_check } = laneIn(receipt, context);
    return local_check && { ...local_check, amount: atomicAmount(BigInt(local_check.amount)) };
  }

  @FieldResolver(() => ReceiptAnsweredAgain, { nullable: true, ...descriptionOptions(members.answered_again) })
  answeredAgain(@Root() { answeredAgain }: Receipt): ReceiptAnsweredAgain | null {
    return answeredAgain && shownOf(AnsweredAgainNoun, answeredAgain);
  }

  @FieldResolver(() => ReceiptBinding, descriptionOptions(members.binding))
  binding(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): ReceiptBinding {
    return { inProof: laneIn(receipt, context).binding.in_proof };
  }
}

function laneIn(receipt: Receipt, context: ReceiptContext): LaneFacts {
  return laneOf(receipt, JSON.parse(receipt.payload) as ReceiptPayload, context.newestSize());
}
