import 'reflect-metadata';
import { Directive, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import type { ProofOutcome, SettledBy } from '../../../schema/receipt-payload.ts';
import { type AnsweredAgain, ReceiptNodeNoun } from '../../../schema/receipt-shapes.ts';
import { showMembers } from '../../graph-type.ts';
import { AtomicAmountColumn, BigIntType, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A signed receipt, which is one leaf of the log. Signed columns are written once. The other columns are the lane's facts, which may change
 * (`settledBy`, `proofOutcome`, `ingressReceipt`, `omissionRule`, `answeredAgain`), and in development `chainEnded`.
 */
@Directive('@key(fields: "taskId")')
@ObjectType({ description: 'A signed spend receipt: one leaf of the append-only log.' })
@Entity()
@Index({
  name: 'receipt_payer',
  properties: ['payerWallet', 'leafIndex'],
  where: 'payer_wallet is not null and payment_ref is not null',
})
@Index({ name: 'receipt_agent', properties: ['agentId', 'leafIndex'], where: 'agent_id is not null' })
export class Receipt implements MembersOf<typeof ReceiptNodeNoun> {
  @PrimaryKey({ type: 'text' })
  taskId!: string;

  @Property({ type: new BigIntType('number'), unique: true })
  leafIndex!: number;

  @Property({ type: new BigIntType('number') })
  treeSize!: number;

  @Property({ type: 'text' })
  rootHash!: string;

  @Property({ type: 'text' })
  treeHeadHash!: string;

  /** Signed payload as canonical JSON, byte for byte. Its RFC 6962 hash is the leaf. */
  @Property({ type: 'text' })
  payload!: string;

  @Property({ type: 'text' })
  payloadHash!: string;

  @Property({ type: 'smallint' })
  payloadVersion!: number;

  @Property({ type: 'text' })
  jws!: string;

  @Property({ type: 'text' })
  kid!: string;

  /** Raw ES256 signature over the canonical payload, in base64url. Version-8 receipts were checked in this form. */
  @Property({ type: 'text' })
  value!: string;

  @Property({ type: 'json', columnType: 'jsonb' })
  signature!: JsonObject;

  @Property({ type: 'json', columnType: 'jsonb' })
  coSignature!: JsonObject;

  @Property({ type: 'text', nullable: true })
  paymentRef!: string | null;

  @Property({ type: 'integer', nullable: true })
  agentId!: number | null;

  @Property({ type: new BigIntType('number'), nullable: true })
  bookSeq!: number | null;

  @Property({ type: 'text', nullable: true })
  payerWallet!: string | null;

  @Property({ type: 'text' })
  hub!: string;

  @Property({ type: 'text' })
  model!: string;

  @Property({ type: new AtomicAmountColumn(), nullable: true })
  amount!: AtomicAmount | null;

  @Property({ type: 'text', nullable: true })
  settledBy!: SettledBy | null;

  @Property({ type: 'text' })
  proofOutcome!: ProofOutcome;

  /** `{ref, confirmed_at}` of a transfer that was only vouched for when the receipt was signed, and that was seen later. Null otherwise. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  ingressReceipt!: JsonObject | null;

  /** Why the search for such a transfer was given up. Null if it was not. */
  @Property({ type: 'text', nullable: true })
  omissionRule!: string | null;

  /** Number of the development chain that the payment was on. 0 on Base itself. */
  @Property({ type: 'integer', default: 0 })
  chainEpoch!: number;

  /** True if the development chain of the payment no longer exists, so that the payment cannot be looked up. */
  @Property({ type: 'boolean', default: false })
  chainEnded!: boolean;

  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  issuedAt!: Date;

  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  collectedAt!: Date;

  /** Complete answer that the same payment bought later, if the first answer broke off. Null otherwise. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  answeredAgain!: AnsweredAgain | null;

  /** Shows the text of `payload` on the graph, where `payload` shows the signed members one by one. */
  get preimage(): string {
    return this.payload;
  }
}
showMembers(Receipt, ReceiptNodeNoun);
