import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { atomicAmount } from '../../../schema/amount.ts';
import type { LaneFacts } from '../../../schema/receipt-lane.ts';
import type { ReceiptPayload } from '../../../schema/receipt-payload.ts';
import { AnsweredAgainNoun, ChainBindingNoun, LocalCheckNoun } from '../../../schema/receipt-shapes.ts';
import { objectType } from '../../graph-type.ts';
import type { ReceiptContext } from '../context.ts';
import { laneOf } from './document.ts';
import { Receipt } from './receipt.entity.ts';

const ReceiptLocalCheck = objectType(
  'ReceiptLocalCheck',
  'A transfer of USDC on Base that a stranger can look for; it does not claim that it took place.',
  LocalCheckNoun,
);
type ReceiptLocalCheck = InstanceType<typeof ReceiptLocalCheck>;
const ReceiptBinding = objectType('ReceiptBinding', 'What binds a receipt to a chain.', ChainBindingNoun);
type ReceiptBinding = InstanceType<typeof ReceiptBinding>;
const ReceiptAnsweredAgain = objectType(
  'ReceiptAnsweredAgain',
  'The whole answer that a payment brought later, where the answer of its receipt broke off.',
  AnsweredAgainNoun,
);
type ReceiptAnsweredAgain = InstanceType<typeof ReceiptAnsweredAgain>;

/** What is known beside a receipt, may change, and is signed by nobody. */
@Resolver(() => Receipt)
export class ReceiptLaneResolver {
  @FieldResolver(() => Boolean, { description: 'Whether the log has a later head than the one that it signs.' })
  anchorChangedSinceBinding(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): boolean {
    return laneIn(receipt, context).anchor_changed_since_binding;
  }

  @FieldResolver(() => Boolean, {
    description: 'A settlement on a book that the issuer vouches for, unsettled as the log went on.',
  })
  freeze(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): boolean {
    return laneIn(receipt, context).freeze;
  }

  @FieldResolver(() => Boolean, {
    description: 'Looked for until the cutoff, and nothing is known of it; that does not mean unpaid.',
  })
  unverifiableFromRegistry(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): boolean {
    return laneIn(receipt, context).unverifiable_from_registry;
  }

  @FieldResolver(() => ReceiptLocalCheck, { nullable: true, description: 'Null but for USDC on Base.' })
  localCheck(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): ReceiptLocalCheck | null {
    const { local_check } = laneIn(receipt, context);
    return local_check && { ...local_check, amount: atomicAmount(BigInt(local_check.amount)) };
  }

  @FieldResolver(() => ReceiptAnsweredAgain, {
    nullable: true,
    description:
      'Null if no rerun of the payment has brought a whole answer. On a book, a correction event commits to it.',
  })
  answeredAgain(@Root() { answeredAgain }: Receipt): ReceiptAnsweredAgain | null {
    if (answeredAgain === null) return null;
    const { at, output_sha256: outputSha256, rerun, hub, model } = answeredAgain;
    const { answered_model: answeredModel, answered_catalogue_model: answeredCatalogueModel } = answeredAgain;
    return { at: new Date(at), outputSha256, rerun, hub, model, answeredModel, answeredCatalogueModel };
  }

  @FieldResolver(() => ReceiptBinding, { description: 'What binds it to a chain.' })
  binding(@Root() receipt: Receipt, @Ctx() context: ReceiptContext): ReceiptBinding {
    return { inProof: laneIn(receipt, context).binding.in_proof };
  }
}

function laneIn(receipt: Receipt, context: ReceiptContext): LaneFacts {
  return laneOf(receipt, JSON.parse(receipt.payload) as ReceiptPayload, context.newestSize());
}
