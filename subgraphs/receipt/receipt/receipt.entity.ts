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
 * A signed receipt: one leaf of the log. What is signed is written once. Its other columns are the lane's facts, which may change
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

  /** Canonical JSON, verbatim: the leaf is its RFC 6962 hash. */
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

  /** Raw ES256 over the canonical payload, base64url: the form in which version-8 receipts were checked. */
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

  /** `{ref, confirmed_at}`: where a transfer was seen that was only vouched for when this was signed. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  ingressReceipt!: JsonObject | null;

  /** Why the search for that transfer was given up. */
  @Property({ type: 'text', nullable: true })
  omissionRule!: string | null;

  /** Development chain that it was paid on; 0 on Base itself. */
  @Property({ type: 'integer', default: 0 })
  chainEpoch!: number;

  /** The development chain of the payment is gone: the payment cannot be looked up any more. */
  @Property({ type: 'boolean', default: false })
  chainEnded!: boolean;

  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  issuedAt!: Date;

  @Property({ type: 'Date', columnType: 'timestamptz(3)' })
  collectedAt!: Date;

  /** What the same payment brought later, if the answer was not whole. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  answeredAgain!: AnsweredAgain | null;

  /** On the graph, `payload` shows the signed members one by one. */
  get preimage(): string {
    return this.payload;
  }
}
showMembers(Receipt, ReceiptNodeNoun);
